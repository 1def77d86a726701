/** Zones that two processes publish at once: serials only rise, steps lead from every version to the newest, nothing waits. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { beginEpoch } from '../../../src/control/publishing/pages.ts';
import type { Store } from '../../../src/control/store/store.ts';
import { createZonePublisher, type ZonePublisher } from '../../../src/control/zones/publish-zones.ts';
import { settingsId, type ZoneSettings } from '../../../src/control/zones/settings.ts';
import { readRecords, splitRecords, TYPES } from '../../../src/control/zones/wire/records.ts';
import { createZoneMaker } from '../../../src/control/zones/zone-maker.ts';
import {
  catalogContent,
  createStoreSource,
  isGreater,
  type ZoneHead,
} from '../../../src/control/zones/zone-source.ts';
import { activeDomain, newDomain, newRecord, T } from '../../support/sample-rows.ts';
import { sizeOf } from '../../support/size.ts';
import { kinds, type Place } from './databases.ts';

const ROUNDS = sizeOf('EDGEPLAN_ZONE_ROUNDS', { usual: 6, full: 40 });
const SETTINGS: ZoneSettings = {
  nameservers: ['ns1.edge.test', 'ns2.edge.test'],
  edgeAddresses: ['192.0.2.1', '2001:db8::1'],
  caaIssuers: [],
  catalog: 'catalog.edge.test',
};
const CATALOG = SETTINGS.catalog;

/** For hangs only. */
const PATIENCE = { timeout: 300_000 };

/** A version as a secondary has it. */
interface Copy {
  readonly serial: number;
  readonly content: Uint8Array;
}

const step = fc.record({
  name: fc.constantFrom('a', 'b', 'c'),
  what: fc.constantFrom('add', 'add', 'add', 'change', 'remove', 'delete', 'ban', 'external', 'managed'),
  label: fc.constantFrom('@', 'www', 'api', '*'),
  octet: fc.integer({ min: 1, max: 250 }),
  /** Milliseconds that pass, and whether secondaries transfer afterwards. */
  pause: fc.constantFrom(0, 0, 1, 1_000),
  transfer: fc.boolean(),
});

describe.each(kinds)('$name', (kind) => {
  let place: Place;
  let stores: Store[];
  let publishers: ZonePublisher[];
  let heads: ZoneHead[];
  let clock: { now: number };

  beforeEach(async () => {
    place = await kind.place();
    clock = { now: T };
    heads = [];
    stores = [await place.open()];
    // A second process; SQLite has one alone.
    if (kind.name === 'postgres') stores.push(await place.open());
    publishers = stores.map((store) =>
      createZonePublisher({
        store,
        maker: createZoneMaker({ store, settings: SETTINGS, file: null }),
        settings: SETTINGS,
        notify: (head) => heads.push(head),
        forget: () => undefined,
        clock: () => clock.now,
        log: { warn: (details, message) => expect.fail(`${message} ${JSON.stringify(details)}`) },
      }),
    );
    for (const publisher of publishers) await publisher.start();
  });
  afterEach(async () => {
    for (const publisher of publishers) await publisher.stop();
    for (const store of stores) await store.close();
    await place.dispose();
  });

  /** Waits until no zone waits. */
  async function settled(): Promise<void> {
    while ((await stores[0]!.latest.zones.waiting()).zones > 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Brings a copy up to date as a secondary does, by steps if there are any. */
  async function refreshed(name: string, copy: Copy | undefined): Promise<Copy | undefined> {
    const source = createStoreSource(stores.at(-1)!, CATALOG);
    const whole = await source.whole(name);
    if (whole === null) return undefined;
    const { head, content } = whole;
    if (copy === undefined) return { serial: head.serial, content };
    expect(head.serial === copy.serial || isGreater(head.serial, copy.serial)).toBe(true);
    const since = await source.since(name, copy.serial);
    // Another version was published between the two reads.
    if (since?.head.serial !== head.serial) return refreshed(name, copy);
    if (since.steps !== null) {
      const records = new Set(splitRecords(copy.content).map(hex));
      for (const { removed, added } of since.steps) {
        for (const record of splitRecords(removed)) expect(records.delete(hex(record))).toBe(true);
        for (const record of splitRecords(added)) records.add(hex(record));
      }
      expect([...records].sort()).toEqual(splitRecords(content).map(hex).sort());
    }
    return { serial: head.serial, content };
  }

  test(
    'every version is reached by its steps, and the last one is that of the records',
    PATIENCE,
    async () => {
      let round = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
          round += 1;
          const copies = new Map<string, Copy | undefined>();
          const nameOf = (name: string): string => `${name}${round}.example`;
          const names = ['a', 'b', 'c'].map(nameOf);
          for (const { name, what, label, octet, pause, transfer } of steps) {
            clock.now += pause;
            const store = stores[octet % stores.length]!;
            await change(store, nameOf(name), { what, label, octet });
            if (!transfer) continue;
            for (const each of [CATALOG, ...names]) copies.set(each, await refreshed(each, copies.get(each)));
          }
          await settled();
          for (const each of [CATALOG, ...names]) await refreshed(each, copies.get(each));
          for (const each of names) {
            const [domain = null] = await stores[0]!.latest.domains.named(each);
            const zone = await stores[0]!.latest.zones.get(each);
            const serves = domain !== null && domain.status !== 'banned' && domain.dns_mode === 'managed';
            expect(zone !== null).toBe(serves);
            if (zone === null || domain === null) continue;
            expect(zone.domain_id).toBe(domain.id);
            const stored = (await stores[0]!.latest.records.list(domain.id)).map(
              ({ name, destination }) => `${name === '@' ? each : `${name}.${each}`} ${destination}`,
            );
            const served = readRecords(zone.content)
              .filter(({ type }) => type === TYPES.A)
              .map(({ name, rdata }) => `${name} ${[...rdata].join('.')}`);
            expect(served.sort()).toEqual([...new Set(stored)].sort());
          }
          const members = await stores[0]!.latest.zones.members();
          const catalog = await createStoreSource(stores[0]!, CATALOG).whole(CATALOG);
          expect(hex(catalog!.content)).toBe(hex(catalogContent(CATALOG, members)));
        }),
        { numRuns: ROUNDS },
      );
    },
  );

  async function change(
    store: Store,
    name: string,
    { what, label, octet }: { readonly what: string; readonly label: string; readonly octet: number },
  ): Promise<void> {
    await store.write(async (tx) => {
      const [found] = await tx.domains.named(name);
      const accounts = await tx.accounts.list();
      const account =
        accounts[0] ??
        (await tx.accounts.insert({ name: 'owner', active: true, created_at: T, updated_at: T }));
      const domain = found ?? (await tx.domains.insert(activeDomain(name, account.id)));
      const records = await tx.records.list(domain.id);
      const [record] = records;
      const fields = { name: label, type: 'A', destination: `192.0.2.${octet}`, proxied: false } as const;
      if (what === 'add') await tx.records.insert([newRecord(domain.id, fields)]);
      if (what === 'change' && record !== undefined)
        await tx.records.update(domain.id, [{ ...record, destination: `198.51.100.${octet}` }]);
      if (what === 'remove' && record !== undefined) await tx.records.remove(domain.id, [record.id]);
      if (what === 'delete') await tx.domains.remove(domain.id);
      if (what === 'ban') await tx.domains.update(domain.id, { status: 'banned' });
      if (what === 'external') await tx.domains.update(domain.id, { dns_mode: 'external' });
      if (what === 'managed') await tx.domains.update(domain.id, { dns_mode: 'managed', status: 'active' });
    });
  }

  test('a name that two accounts claim has no zone until one of them has proved it', async () => {
    const store = stores[0]!;
    const [first, second] = await store.write(async (tx) => {
      const times = { created_at: T, updated_at: T };
      const one = await tx.accounts.insert({ name: 'one', active: true, ...times });
      const two = await tx.accounts.insert({ name: 'two', active: true, ...times });
      return [
        await tx.domains.insert(newDomain('contested.example', one.id)),
        await tx.domains.insert(newDomain('contested.example', two.id)),
      ];
    });
    await settled();
    expect(await store.latest.zones.head('contested.example')).toBeNull();
    await store.write(async (tx) => {
      await tx.domains.remove(first!.id);
      await tx.domains.update(second!.id, { unproved_since: null, status: 'active' });
    });
    await settled();
    expect((await store.latest.zones.head('contested.example'))?.domain_id).toBe(second!.id);
  });

  test('a new epoch gives every zone and the catalog a new serial without history', async () => {
    const store = stores[0]!;
    await change(store, 'epoch.example', { what: 'add', label: 'www', octet: 1 });
    await settled();
    await change(store, 'epoch.example', { what: 'add', label: 'www', octet: 2 });
    await settled();
    const source = createStoreSource(store, CATALOG);
    const before = { zone: await source.head('epoch.example'), catalog: await source.head(CATALOG) };
    await beginEpoch(store, clock.now);
    await settled();
    for (const head of [before.zone!, before.catalog!]) {
      const since = await source.since(head.name, head.serial);
      expect(since!.steps).toBeNull();
      expect(isGreater(since!.head.serial, head.serial)).toBe(true);
    }
  });

  test('other settings make every zone anew, and the same settings make none', async () => {
    const store = stores[0]!;
    await change(store, 'settings.example', { what: 'add', label: 'www', octet: 1 });
    await settled();
    await store.write((tx) => tx.zones.markOthers(settingsId(SETTINGS), T));
    expect((await store.latest.zones.waiting()).zones).toBe(0);
    for (const publisher of publishers) await publisher.stop();
    await store.write((tx) => tx.zones.markOthers('others', T));
    expect((await store.latest.zones.waiting()).zones).toBe(1);
  });

  test('a change during a making is in the next version, however often it happens', async () => {
    const store = stores[0]!;
    for (let octet = 1; octet <= 60; octet++) {
      await change(stores[octet % stores.length]!, 'busy.example', { what: 'add', label: 'www', octet });
    }
    await settled();
    const zone = await store.latest.zones.get('busy.example');
    expect(readRecords(zone!.content).filter(({ type }) => type === TYPES.A)).toHaveLength(60);
    expect(heads.at(-1)?.serial).toBe(zone!.serial);
  });

  test('a deleted domain leaves no mark where it had no zone', async () => {
    for (const publisher of publishers) await publisher.stop();
    const store = stores[0]!;
    await change(store, 'gone.example', { what: 'add', label: 'www', octet: 1 });
    expect((await store.latest.zones.change('gone.example')) !== null).toBe(true);
    await change(store, 'gone.example', { what: 'delete', label: 'www', octet: 1 });
    expect(await store.latest.zones.change('gone.example')).toBeNull();
  });

  test('the history has bounds, and beyond them the whole zone is transferred', async () => {
    for (const publisher of publishers) await publisher.stop();
    const store = stores[0]!;
    const zone = {
      ...{ name: 'steps.example', domain_id: 1, primary_name: 'ns1.edge.test', content: new Uint8Array() },
      ...{ records: 0, settings: '', problems_json: '', updated_at: T },
    };
    const octets = (count: number) => ({ removed: new Uint8Array(), added: new Uint8Array(count) });
    for (let serial = 2; serial <= 9; serial++) {
      const step = { from_serial: serial - 1, to_serial: serial, ...octets(serial === 6 ? 90 : 10) };
      const bounds = serial < 9 ? { steps: 4, octets: 1_000 } : { steps: 4, octets: 100 };
      await store.write((tx) => tx.zones.put({ ...zone, serial }, step, bounds));
      const from = (await store.latest.zones.steps('steps.example', serial - 1)).map((one) => one.to_serial);
      expect(from).toEqual([serial]);
    }
    const source = createStoreSource(store, CATALOG);
    const reach = async (serial: number) =>
      (await source.since('steps.example', serial))!.steps?.length ?? null;
    // Of the last four steps, the oldest is 90 octets and does not fit beside the others.
    expect(await Promise.all([1, 4, 5, 6, 7, 8, 9].map(reach))).toEqual([null, null, null, 3, 2, 1, 0]);
  });

  test('targets of ALIAS records are known while a zone uses them', async () => {
    const store = stores[0]!;
    await store.write(async (tx) => {
      await tx.zones.setTargets('one.example', ['x.test', 'y.test']);
      await tx.zones.setTargets('two.example', ['y.test']);
    });
    const claim = { now: T, until: T + 60_000, limit: 10, failing: false };
    const due = await store.write((tx) => tx.zones.claimTargets(claim));
    expect(due.map(({ target }) => target).sort()).toEqual(['x.test', 'y.test']);
    expect(await store.write((tx) => tx.zones.claimTargets(claim))).toEqual([]);
    const row = {
      target: 'y.test',
      addresses_json: '["192.0.2.7"]',
      good_at: T,
      failures: 0,
      next_at: T + 1,
    };
    await store.write((tx) => tx.zones.putTarget(row));
    const failed = { ...row, target: 'x.test', failures: 1, next_at: T };
    await store.write((tx) => tx.zones.putTarget(failed));
    expect(await store.write((tx) => tx.zones.claimTargets(claim))).toEqual([]);
    const again = await store.write((tx) => tx.zones.claimTargets({ ...claim, failing: true }));
    expect(again.map(({ target }) => target)).toEqual(['x.test']);
    expect(await store.latest.zones.flattened(['y.test'])).toEqual([row]);
    expect(await store.latest.zones.usersOf('y.test')).toEqual(['one.example', 'two.example']);
    await store.write((tx) => tx.zones.setTargets('one.example', []));
    expect((await store.latest.zones.flattened(['x.test', 'y.test'])).map(({ target }) => target)).toEqual([
      'y.test',
    ]);
  });
});

function hex(octets: Uint8Array): string {
  return Buffer.from(octets).toString('hex');
}
