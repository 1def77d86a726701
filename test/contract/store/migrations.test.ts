/** From an empty database and from older ones to this version's tables, on both databases. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isStoreFault } from '../../../src/base/storage/fault.ts';
import { openDatabase } from '../../../src/base/storage/sqlite.ts';
import type { Store, WriteTransaction } from '../../../src/control/store/store.ts';
import type { NewDomain } from '../../../src/control/store/tables/domains.ts';
import { type Migration, migrationsOf } from '../../../src/control/store/tables/steps.ts';
import { asAdmin } from '../../support/postgres.ts';
import { newDomain, newRecord, newRule, outboxRow, seed, T } from '../../support/sample-rows.ts';
import { type Kind, kinds, type Place } from './databases.ts';

/** The version whose step creates the tables of zones. */
const ZONES = 17;
const STEPS = { sqlite: migrationsOf('sqlite'), postgres: migrationsOf('postgres') } as const;

test('both databases have the same steps, numbered without gaps', () => {
  const versions = migrationsOf('sqlite').map((step) => step.version);
  expect(migrationsOf('postgres').map((step) => step.version)).toEqual(versions);
  expect(versions).toEqual(versions.map((_, index) => index + 1));
  // Landed steps never change, so neither do the tables and columns they name.
  const columns = (steps: readonly Migration[]) =>
    steps.map((step) =>
      // SQLite makes a table anew where PostgreSQL drops a constraint.
      [
        ...step.ddl
          .replaceAll(/CREATE TABLE \w+_next \([^;]*;/g, '')
          // What begins a line inside a function of PostgreSQL is no column.
          .replaceAll(/\$\$[^$]*\$\$/g, '')
          .matchAll(/^(?:CREATE (?:UNLOGGED )?TABLE| {2})(?: )?([a-z][a-z0-9_]*)\b/gm),
      ].map((match) => match[1]),
    );
  // Processes divide budgets among themselves, and log entries have tables, on PostgreSQL alone; a step may make no table.
  const alone = ['request_shares', 'decision_logs'];
  const shared = (names: readonly unknown[]) =>
    names.length > 0 && !alone.some((name) => names.includes(name));
  expect(columns(migrationsOf('postgres')).filter(shared)).toEqual(
    columns(migrationsOf('sqlite')).filter(shared),
  );
});

/** As `seed`, with the columns that every version has. */
async function seedOlder(tx: WriteTransaction, name = 'example.com') {
  const times = { created_at: T, updated_at: T };
  const account = await tx.accounts.insert({ name: `owner of ${name}`, active: true, ...times });
  const { unproved_since: _, ...columns } = newDomain(name, account.id);
  return { account, domain: await tx.domains.insert(columns as NewDomain) };
}

async function addRule(
  kind: Kind,
  place: Place,
  { domainId, body }: { readonly domainId: number; readonly body: string },
): Promise<void> {
  const { type, priority, created_at, updated_at } = newRule(domainId);
  const values = [domainId, type, priority, body, created_at, updated_at];
  const given = values.map((value) => (typeof value === 'number' ? value : `'${value}'`)).join();
  await execute(
    kind,
    place,
    `INSERT INTO rules (domain_id, type, priority, body, created_at, updated_at) VALUES (${given})`,
  );
}

/** Runs SQL on a database that no store has open. */
async function execute(kind: Kind, place: Place, text: string): Promise<void> {
  if (kind.name === 'postgres') {
    await asAdmin(text, place.database);
    return;
  }
  const database = openDatabase(join(place.database, 'edgeplan.db'));
  try {
    database.exec(text);
  } finally {
    database.close();
  }
}

describe.each(kinds)('$name', (kind) => {
  let place: Place;
  const steps = STEPS[kind.name];
  const zones = steps.find(({ version }) => version === ZONES)!.ddl;

  /** A store of an older version. A write of a domain marks its zone, so it has the tables of zones until it is closed. */
  async function openOlder(version: number): Promise<Pick<Store, 'write' | 'close'>> {
    const { ddl } = steps[version - 1]!;
    const extra = version < ZONES ? zones : '';
    const store = await place.open([...steps.slice(0, version - 1), { version, ddl: ddl + extra }]);
    return {
      write: (work) => store.write(work),
      async close() {
        await store.close();
        const tables = [...extra.matchAll(/CREATE TABLE (\w+)/g)].map((match) => `DROP TABLE ${match[1]};`);
        if (tables.length > 0) await execute(kind, place, tables.join(' '));
      },
    };
  }

  beforeEach(async () => {
    place = await kind.place();
  });
  afterEach(() => place.dispose());

  test.each(steps.slice(0, -1))('from version $version', async ({ version }) => {
    const older = await openOlder(version);
    const { domain } = await older.write((tx) => seedOlder(tx));
    await older.close();
    // What writes a rule now writes tables that an older version has not got.
    await addRule(kind, place, { domainId: domain.id, body: '{"kept":true}' });
    const newer = await place.open(steps);
    // Version 9 gives what is unproved its time; rows of later ones are as they were written.
    const unproved_since = version < 9 ? expect.closeTo(Date.now(), -5) : null;
    expect(await newer.latest.domains.get(domain.id)).toEqual({ ...domain, unproved_since });
    expect(await newer.latest.rules.listAll(domain.id)).toMatchObject([{ body: '{"kept":true}' }]);
    await newer.write((tx) => tx.outbox.append(outboxRow(domain)));
    expect(await newer.latest.outbox.backlog()).toMatchObject({ rows: 1 });
    await newer.close();
  });

  test('the rules of an older version are counted when their totals come', async () => {
    const older = await openOlder(6);
    const { domain } = await older.write((tx) => seedOlder(tx));
    const bare = await older.write((tx) => seedOlder(tx, 'bare.example'));
    await older.close();
    const bodies = ['{"ips":["192.0.2.1","192.0.2.2"],"b":"é"}', '{"ips":[]}', '{"path_match_type":"regex"}'];
    for (const body of bodies) await addRule(kind, place, { domainId: domain.id, body });
    await addRule(kind, place, { domainId: bare.domain.id, body: '{"ips":[]}' });
    const newer = await place.open(steps);
    const octets = Buffer.byteLength(bodies.join(''));
    expect(await newer.latest.rules.totals(domain.id)).toEqual([
      { type: 'drop', rules: 3, octets, addresses: 2 },
    ]);
    const none = { octets: 0, build: 0, eighths: 0 };
    expect(await newer.latest.rules.patternCosts(domain.id, { without: 0 })).toEqual({
      ...none,
      counted: false,
    });
    expect(await newer.latest.rules.patternCosts(bare.domain.id, { without: 0 })).toEqual({
      ...none,
      counted: true,
    });
    const [, , third] = await newer.latest.rules.listAll(domain.id);
    const pattern = { digest: 'd', octets: 7, build: 9, eighths: 8, prefix: '2f00' };
    await newer.write((tx) => tx.rules.countPatterns(domain.id, new Map([[third!.id, [pattern]]])));
    await newer.write((tx) => tx.rules.countPatterns(domain.id, new Map([[third!.id, [pattern]]])));
    const counted = { octets: 7, build: 9, eighths: 8, counted: true };
    expect(await newer.latest.rules.patternCosts(domain.id, { without: 0 })).toEqual(counted);
    await newer.close();
  });

  test('after the migration a name may have several domains, and ids continue', async () => {
    const older = await openOlder(8);
    const { domain, account } = await older.write((tx) => seedOlder(tx));
    const proved = await older.write((tx) => seedOlder(tx, 'proved.example'));
    const gone = await older.write((tx) => seedOlder(tx, 'gone.example'));
    await older.write(async (tx) => {
      await tx.domains.update(proved.domain.id, { status: 'active', ever_active: true });
      const times = { created_at: T, updated_at: T };
      await tx.members.put({ domain_id: domain.id, account_id: proved.account.id, role: 'viewer', ...times });
      await tx.records.insert([newRecord(domain.id)]);
      await tx.domains.remove(gone.domain.id);
    });
    await older.close();
    const newer = await place.open(steps);
    expect(await newer.latest.members.list(domain.id)).toHaveLength(1);
    expect(await newer.latest.records.list(domain.id)).toHaveLength(1);
    expect((await newer.latest.domains.get(proved.domain.id))?.unproved_since).toBeNull();
    const beside = await newer.write((tx) => tx.domains.insert(newDomain(domain.name, proved.account.id)));
    expect(beside.id).toBeGreaterThan(gone.domain.id);
    const conflict = (error: unknown) => isStoreFault(error, 'conflict', 'domains.name');
    for (const [name, owner] of [
      [domain.name, account.id],
      [domain.name, proved.account.id],
    ] as const) {
      const again = newer.write((tx) => tx.domains.insert(newDomain(name, owner)));
      await expect(again).rejects.toSatisfy(conflict);
    }
    await newer.write((tx) => tx.domains.update(beside.id, { unproved_since: null }));
    for (const changes of [{ unproved_since: null }, { status: 'active' }] as const) {
      const second = newer.write((tx) => tx.domains.update(domain.id, changes));
      await expect(second).rejects.toSatisfy(conflict);
    }
    await newer.write((tx) => tx.domains.remove(domain.id));
    expect(await newer.latest.records.list(domain.id)).toEqual([]);
    await newer.close();
  });

  test('a domain that an older version has suspended is suspended by the operator, and no other', async () => {
    const older = await openOlder(15);
    const made = ['active.example', 'since.example', 'timeless.example'] as const;
    const [active, since, timeless] = await Promise.all(
      made.map((name) => older.write(async (tx) => (await seedOlder(tx, name)).domain)),
    );
    await older.write(async (tx) => {
      await tx.domains.update(since!.id, { suspended: true, suspended_at: T + 5 });
      await tx.domains.update(timeless!.id, { suspended: true, updated_at: T + 7 });
    });
    await older.close();
    const newer = await place.open(steps);
    const causes = (id: number) => newer.latest.suspensions.list(id);
    expect(await causes(active!.id)).toEqual([]);
    expect(await causes(since!.id)).toEqual([{ domain_id: since!.id, cause: 'operator', at: T + 5 }]);
    expect(await causes(timeless!.id)).toEqual([{ domain_id: timeless!.id, cause: 'operator', at: T + 7 }]);
    await newer.write((tx) => tx.domains.remove(since!.id));
    expect(await causes(since!.id)).toEqual([]);
    await newer.close();
  });

  test('traffic of an older version becomes sums by hour, or by day where it is old', async () => {
    const older = await openOlder(11);
    const { domain } = await older.write((tx) => seedOlder(tx));
    const node = await older.write((tx) =>
      tx.nodes.insert({ name: 'node-1', token_hash: 'hash', created_at: T }),
    );
    await older.close();
    const day = Math.floor(Date.now() / 86_400_000) * 1_440;
    const old = day - 40 * 1_440;
    const rows = [day - 61, day - 60, day - 1, day, old, old + 90, old + 1_439].map(
      (minute, index) => `(${domain.id}, ${minute}, ${index + 1}, ${2 ** 40}, 1)`,
    );
    await execute(
      kind,
      place,
      `INSERT INTO usage (domain_id, minute, requests, octets, gateway_requests) VALUES ${rows.join()};
       INSERT INTO node_batches (node_id, batch) VALUES (${node.id}, 77)`,
    );
    const newer = await place.open(steps);
    const span = { from: 0, to: day + 1_440 };
    const sums = async (unit: 'hours' | 'days'): Promise<unknown> =>
      (await newer.latest.traffic.wholeBlocks(unit, [domain.id], span)).map(
        ({ start, requests, octets_out, octets_in, gateway_requests, counts, tops }) => {
          expect([octets_in, counts.length, tops]).toEqual([0, 0, null]);
          return [start, requests, octets_out / 2 ** 40, gateway_requests];
        },
      );
    expect(await sums('hours')).toEqual([
      [day - 120, 1, 1, 1],
      [day - 60, 5, 2, 2],
      [day, 4, 1, 1],
    ]);
    expect(await sums('days')).toEqual([[old, 18, 3, 3]]);
    const take = (batch: number) =>
      newer.write((tx) => tx.nodes.takeBatch(node.id, { batch, at: Date.now() }));
    expect([await take(77), await take(76)]).toEqual([false, true]);
    await newer.write((tx) => tx.domains.remove(domain.id));
    expect(await sums('hours')).toEqual([]);
    await newer.close();
  });

  test('a failed migration changes nothing, and can be repeated once it is corrected', async () => {
    await (await place.open(steps)).close();
    const next = steps.length + 1;
    const bad = [
      ...steps,
      { version: next, ddl: 'CREATE TABLE extra (id bigint); CREATE TABLE accounts (id bigint);' },
    ];
    await expect(place.open(bad)).rejects.toThrow('already exists');
    const good = [...steps, { version: next, ddl: 'CREATE TABLE extra (id bigint);' }];
    await (await place.open(good)).close();
    await (await place.open(good)).close();
  });

  test('tables of a later version are refused and not changed', async () => {
    const later = [...steps, { version: steps.length + 1, ddl: 'CREATE TABLE extra (id bigint);' }];
    await (await place.open(later)).close();
    const older = place.open(steps);
    await expect(older).rejects.toSatisfy((error) => isStoreFault(error, 'too_new'));
    await expect(older).rejects.toThrow(`version ${steps.length + 1}`);
    await (await place.open(later)).close();
  });

  test('several processes that start together create the tables once', async () => {
    if (kind.name === 'sqlite') return expect(kind.name).toBe('sqlite'); // one server a folder
    const stores = await Promise.all(Array.from({ length: 4 }, () => place.open(steps)));
    await stores[0]!.write((tx) => seed(tx));
    expect(await stores[3]!.latest.domains.byName('example.com')).not.toBeNull();
    await Promise.all(stores.map((store) => store.close()));
  });
});
