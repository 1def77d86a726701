/** Traffic against quotas, on both databases: notices, and suspensions where the operator refuses traffic over a quota. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { OverQuota } from '../../../src/control/billing/quota.ts';
import { GIGABYTE } from '../../../src/control/billing/quota-use.ts';
import type { BillingNote } from '../../../src/control/billing/settle.ts';
import { suspendDomain } from '../../../src/control/domains/suspensions.ts';
import type { Store } from '../../../src/control/store/store.ts';
import { SERVICE } from '../../../src/control/store/tables/accounts.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import { addQuotaDomain, type QuotaDomain } from '../../support/quota-domain.ts';
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
  let about: QuotaDomain;
  let domain: DomainRow;

  openForAll(kind, (opened) => {
    ({ place, store } = opened);
  });
  beforeEach(async () => {
    count += 1;
    const quota = { tier: 'pro', quota: 'max_traffic_gb', limit: 100, at: BEGIN } as const;
    about = await addQuotaDomain(store, { name: `q${count}`, ...quota });
    ({ domain } = about);
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

  /** What one poll notes of the domain, and every fault. */
  const poll = async (overQuota: OverQuota, now = NOW, of = store): Promise<readonly BillingNote[]> =>
    (await about.poll({ overQuota, now, store: of })).filter(
      (note) => note.kind === 'failed' || !('domain' in note) || note.domain === domain.name,
    );

  const notices = async (): Promise<readonly string[]> =>
    (await about.notices()).map(({ kind: name, data: { used, limit } }) =>
      limit === undefined ? name : `${name} ${used} of ${limit}`,
    );
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
  ])('%i percent of a quota: notices %j, causes under refuse %j', async (percent, noticed, stopped) => {
    await send(percent);
    expect(await poll('serve')).toEqual([]);
    expect([await notices(), await causes()]).toEqual([noticed, []]);
    await poll('serve');
    expect(await notices()).toEqual(noticed);
    const wanted = stopped.length === 0 ? [] : [{ kind: 'suspended', domain: domain.name }];
    expect(await poll('refuse')).toEqual(wanted);
    expect(await causes()).toEqual(stopped);
    const suspended = stopped.length === 0 ? [] : ['domain.suspended'];
    expect(await notices()).toEqual([...noticed, ...suspended]);
  });

  test('each level is notified of once while traffic grows', async () => {
    for (const more of [79, 1, 10, 9, 1, 50]) {
      await send(more);
      await poll('serve');
    }
    expect(await notices()).toEqual(['quota.near 80 of 100', 'quota.reached 100 of 100']);
  });

  test('an octet fewer than the quota is served under refuse', async () => {
    const at = NOW - DAY;
    await storeTraffic(store, domain.id, [{ at, octetsOut: 100 * GIGABYTE - 1 }]);
    await poll('refuse');
    expect([await notices(), await causes()]).toEqual([['quota.near 99.999 of 100'], []]);
    await storeTraffic(store, domain.id, [{ at, octetsOut: 1 }]);
    await poll('refuse');
    expect(await causes()).toEqual(['quota']);
  });

  test('the end of the period resumes, and the next period is notified of again', async () => {
    await send(100);
    await poll('refuse');
    const end = BEGIN + 30 * DAY;
    expect(await poll('refuse', end - 1)).toEqual([]);
    expect(await causes()).toEqual(['quota']);
    expect(await poll('refuse', end)).toEqual([{ kind: 'resumed', domain: domain.name }]);
    expect(await causes()).toEqual([]);
    await send(85, end + DAY);
    await poll('refuse', end + 2 * DAY);
    expect(await notices()).toEqual([
      'quota.reached 100 of 100',
      'domain.suspended',
      'domain.resumed',
      'quota.near 85 of 100',
    ]);
  });

  test('a larger quota resumes at the next poll and is notified of again; a smaller one suspends', async () => {
    await send(170);
    await poll('refuse');
    await about.setQuota(200);
    expect(await poll('refuse')).toEqual([{ kind: 'resumed', domain: domain.name }]);
    expect([await causes(), await poll('refuse')]).toEqual([[], []]);
    await about.setQuota(150);
    expect(await poll('refuse')).toEqual([{ kind: 'suspended', domain: domain.name }]);
    await about.setQuota(null);
    expect(await poll('refuse')).toEqual([{ kind: 'resumed', domain: domain.name }]);
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
    await poll('refuse');
    await store.write(async (tx) => {
      const fresh = (await tx.domains.get(domain.id))!;
      await suspendDomain(tx, fresh, { cause: 'operator', author: SERVICE, now: NOW });
    });
    expect(await poll('serve')).toEqual([]);
    expect(await causes()).toEqual(['operator']);
    expect(await poll('refuse')).toEqual([]);
    expect(await causes()).toEqual(['operator', 'quota']);
  });

  test('a quota of nothing suspends under refuse without a notice of the quota', async () => {
    await about.setQuota(0);
    await poll('refuse');
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
          await about.setQuota(1_000);
        }
        return found;
      },
    };
    // The first domain that is measured is this one: earlier ones are removed.
    for (const row of await store.latest.domains.page(0, 1_000))
      if (row.id !== domain.id) await store.write((tx) => tx.domains.remove(row.id));
    await poll('refuse', NOW, around);
    expect(grown).toBe(true);
    expect([await notices(), await causes()]).toEqual([[], []]);
  });

  test('two watches on one database notify and suspend once', async () => {
    await send(100);
    const other = kind.name === 'postgres' ? await place.open() : store;
    const stores = [store, other, store, other];
    const notes = (await Promise.all(stores.map((of) => poll('refuse', NOW, of)))).flat();
    expect(notes).toEqual([{ kind: 'suspended', domain: domain.name }]);
    expect(await notices()).toEqual(['quota.reached 100 of 100', 'domain.suspended']);
    if (other !== store) await other.close();
  });
});
