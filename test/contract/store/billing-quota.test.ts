/** Traffic against quotas, on both databases: notices, and suspensions where the operator refuses traffic over a quota. */
import { beforeEach, describe, expect, test } from 'vitest';
import { resolveEntitlements } from '../../../src/control/accounts/entitlements.ts';
import { changeSubscription } from '../../../src/control/accounts/subscriptions.ts';
import type { OverQuota } from '../../../src/control/billing/quota.ts';
import { GIGABYTE } from '../../../src/control/billing/quota-use.ts';
import { type BillingNote, createBillingWatch } from '../../../src/control/billing/settle.ts';
import { suspendDomain } from '../../../src/control/domains/suspensions.ts';
import type { Store } from '../../../src/control/store/store.ts';
import { type AccountRow, SERVICE } from '../../../src/control/store/tables/accounts.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import { activeDomain } from '../../support/sample-rows.ts';
import { storeTraffic } from '../../support/traffic-requests.ts';
import { kinds, openForAll, type Place } from './databases.ts';

const DAY = 86_400_000;
/** When the domains and their quota periods begin. */
const BEGIN = Date.UTC(2026, 0, 1);
/** Ten days later. */
const NOW = BEGIN + 10 * DAY;

describe.each(kinds)('$name', (kind) => {
  let place: Place;
  let store: Store;
  let count = 0;
  let account: AccountRow;
  let domain: DomainRow;

  openForAll(kind, (opened) => {
    ({ place, store } = opened);
  });
  beforeEach(async () => {
    count += 1;
    const times = { created_at: BEGIN, updated_at: BEGIN };
    account = await store.write((tx) => tx.accounts.insert({ name: `q${count}`, active: true, ...times }));
    domain = await addDomain(`q${count}.example`);
    await setQuota(100);
  });

  const addDomain = (name: string): Promise<DomainRow> =>
    store.write((tx) => tx.domains.insert(activeDomain(name, account.id, { created_at: BEGIN })));

  const setQuota = (gb: number | null, of = domain): Promise<unknown> =>
    store.write(async (tx) => {
      const overrides = [{ name: 'max_traffic_gb', value: gb }] as const;
      const outcome = await changeSubscription(tx, of, { tier: 'pro', overrides, now: BEGIN });
      if (!outcome.ok) throw new Error(outcome.reason);
    });

  /** Traffic in percent of 100 GB, a request each of a tenth or less. */
  const send = async (percent: number, at = NOW - DAY): Promise<void> => {
    const octets = percent * GIGABYTE;
    const rest = octets % 3;
    const part = (octets - rest) / 3;
    await storeTraffic(
      store,
      domain.id,
      [part, part, part, rest].map((octetsOut, index) => ({ at: at + index * 60_000, octetsOut })),
    );
  };

  interface Watched {
    poll(now?: number): Promise<readonly BillingNote[]>;
  }
  const watchOf = (overQuota: OverQuota, of = store): Watched => {
    let [notes, now]: [BillingNote[], number] = [[], NOW];
    const watch = createBillingWatch({
      ...{ store: of, overQuota },
      entitlementsOf: async (tx, row) =>
        resolveEntitlements({
          domain: row,
          subscription: await tx.subscriptions.get(row.id),
          fallback: 'enterprise',
          now,
        }),
      clock: () => now,
      note: (note) => notes.push(note),
    });
    return {
      async poll(at = NOW) {
        [notes, now] = [[], at];
        await watch.poll();
        return notes.filter(
          (note) => note.kind === 'failed' || !('domain' in note) || note.domain === domain.name,
        );
      },
    };
  };

  const notices = async (): Promise<readonly string[]> =>
    (
      await store.latest.notifications.list(account.id, {
        before: Number.MAX_SAFE_INTEGER,
        limit: 500,
        unread: false,
      })
    )
      .filter(({ domain: about }) => about === domain.name)
      .map(({ kind: name, data_json }) => {
        const { used, limit } = JSON.parse(data_json);
        return limit === undefined ? name : `${name} ${used} of ${limit}`;
      })
      .reverse();
  const causes = async (): Promise<readonly string[]> => {
    const list = (await store.latest.suspensions.list(domain.id)).map(({ cause }) => cause);
    expect((await store.latest.domains.get(domain.id))!.suspended).toBe(list.length > 0);
    return list;
  };

  test.each<readonly [number, readonly string[], readonly string[]]>([
    [79, [], []],
    [80, ['quota.near 80 of 100'], []],
    [99, ['quota.near 99 of 100'], []],
    [100, ['quota.reached 100 of 100'], ['quota']],
    [101, ['quota.reached 101 of 100'], ['quota']],
  ])('%i %% of a quota: notices %j, causes under refuse %j', async (percent, noticed, stopped) => {
    await send(percent);
    expect(await watchOf('serve').poll()).toEqual([]);
    expect([await notices(), await causes()]).toEqual([noticed, []]);
    await watchOf('serve').poll();
    expect(await notices()).toEqual(noticed);
    const wanted = stopped.length === 0 ? [] : [{ kind: 'suspended', domain: domain.name }];
    expect(await watchOf('refuse').poll()).toEqual(wanted);
    expect(await causes()).toEqual(stopped);
    const suspended = stopped.length === 0 ? [] : ['domain.suspended'];
    expect(await notices()).toEqual([...noticed, ...suspended]);
  });

  test('each level is notified of once while traffic grows', async () => {
    const watch = watchOf('serve');
    for (const more of [79, 1, 10, 9, 1, 50]) {
      await send(more);
      await watch.poll();
    }
    expect(await notices()).toEqual(['quota.near 80 of 100', 'quota.reached 100 of 100']);
  });

  test('an octet fewer than the quota is served under refuse', async () => {
    const at = NOW - DAY;
    await storeTraffic(store, domain.id, [{ at, octetsOut: 100 * GIGABYTE - 1 }]);
    const watch = watchOf('refuse');
    await watch.poll();
    expect([await notices(), await causes()]).toEqual([['quota.near 99.999 of 100'], []]);
    await storeTraffic(store, domain.id, [{ at, octetsOut: 1 }]);
    await watch.poll();
    expect(await causes()).toEqual(['quota']);
  });

  test('the end of the period resumes, and the next period is notified of anew', async () => {
    const watch = watchOf('refuse');
    await send(100);
    await watch.poll();
    const end = BEGIN + 30 * DAY;
    expect(await watch.poll(end - 1)).toEqual([]);
    expect(await causes()).toEqual(['quota']);
    expect(await watch.poll(end)).toEqual([{ kind: 'resumed', domain: domain.name }]);
    expect(await causes()).toEqual([]);
    await send(85, end + DAY);
    await watch.poll(end + 2 * DAY);
    expect(await notices()).toEqual([
      'quota.reached 100 of 100',
      'domain.suspended',
      'domain.resumed',
      'quota.near 85 of 100',
    ]);
  });

  test('a larger quota resumes at the next poll and is notified of anew; a smaller one suspends', async () => {
    const watch = watchOf('refuse');
    await send(170);
    await watch.poll();
    await setQuota(200);
    expect(await watch.poll()).toEqual([{ kind: 'resumed', domain: domain.name }]);
    expect([await causes(), await watch.poll()]).toEqual([[], []]);
    await setQuota(150);
    expect(await watch.poll()).toEqual([{ kind: 'suspended', domain: domain.name }]);
    await setQuota(null);
    expect(await watch.poll()).toEqual([{ kind: 'resumed', domain: domain.name }]);
    expect(await notices()).toEqual([
      'quota.reached 170 of 100',
      'domain.suspended',
      'quota.near 170 of 200',
      'domain.resumed',
      'quota.reached 170 of 150',
      'domain.suspended',
      'domain.resumed',
    ]);
  });

  test('--over-quota serve resumes what refuse has suspended, and neither lifts another cause', async () => {
    await send(100);
    await watchOf('refuse').poll();
    await store.write(async (tx) => {
      const fresh = (await tx.domains.get(domain.id))!;
      await suspendDomain(tx, fresh, { cause: 'operator', author: SERVICE, now: NOW });
    });
    expect(await watchOf('serve').poll()).toEqual([]);
    expect(await causes()).toEqual(['operator']);
    expect(await watchOf('refuse').poll()).toEqual([]);
    expect(await causes()).toEqual(['operator', 'quota']);
  });

  test('a quota of nothing suspends under refuse without a notice of the quota', async () => {
    await setQuota(0);
    await watchOf('refuse').poll();
    expect([await notices(), await causes()]).toEqual([['domain.suspended'], ['quota']]);
  });

  test('a quota that grows between the sum and the write suspends nothing', async () => {
    await send(100);
    let grown = false;
    const around: Store = {
      ...store,
      async read(work) {
        const found = await store.read(work);
        if (!grown) {
          grown = true;
          await setQuota(1_000);
        }
        return found;
      },
    };
    // The first domain that is measured is this one: earlier ones are removed.
    for (const row of await store.latest.domains.page(0, 1_000))
      if (row.id !== domain.id) await store.write((tx) => tx.domains.remove(row.id));
    await watchOf('refuse', around).poll();
    expect(grown).toBe(true);
    expect([await notices(), await causes()]).toEqual([[], []]);
  });

  test('two watches on one database notify and suspend once', async () => {
    await send(100);
    const other = kind.name === 'postgres' ? await place.open() : store;
    const watches = [
      watchOf('refuse'),
      watchOf('refuse', other),
      watchOf('refuse'),
      watchOf('refuse', other),
    ];
    const notes = (await Promise.all(watches.map((watch) => watch.poll()))).flat();
    expect(notes).toEqual([{ kind: 'suspended', domain: domain.name }]);
    expect(await notices()).toEqual(['quota.reached 100 of 100', 'domain.suspended']);
    if (other !== store) await other.close();
  });
});
