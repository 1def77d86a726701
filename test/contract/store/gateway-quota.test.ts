/** Requests of gateways in 30 days against `max_gateway_requests_30d`, on both databases: which levels are notified of, and when. */
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { readGatewayMonth } from '../../../src/control/billing/quota-use.ts';
import type { BillingNote } from '../../../src/control/billing/settle.ts';
import type { Store } from '../../../src/control/store/store.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import { addQuotaDomain, type QuotaDomain } from '../../support/quota-domain.ts';
import { storeTraffic } from '../../support/traffic-requests.ts';
import { kinds, openForAll, type Place } from './databases.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
/** When the domains begin. */
const BEGIN = Date.UTC(2026, 0, 1);
/** Forty days later. */
const NOW = BEGIN + 40 * DAY;

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
    const quota = { tier: 'business', quota: 'max_gateway_requests_30d', limit: 100, at: BEGIN } as const;
    about = await addQuotaDomain(store, { name: `g${count}`, ...quota });
    ({ domain } = about);
  });

  /** Adds admitted requests, and as many that a gateway refused. */
  const send = (requests: number, at = NOW - DAY): Promise<void> =>
    storeTraffic(
      store,
      domain.id,
      Array.from({ length: 2 * requests }, (_, index) => ({
        at,
        gateway: { gateway: 1, operation: '', consumer: '', key: null, isAdmitted: index % 2 === 0 },
      })),
    );

  /** Polls where traffic over a quota suspends. */
  const poll = (now = NOW, of = store): Promise<readonly BillingNote[]> =>
    about.poll({ overQuota: 'refuse', now, store: of });

  const notices = async (): Promise<readonly string[]> =>
    (await about.notices()).map(({ kind: name, data: { used, limit, quota, period_end } }) => {
      expect([quota, period_end]).toEqual(['gateway requests (30 days)', null]);
      return `${name} ${used} of ${limit}`;
    });

  test.each<readonly [number, readonly string[]]>([
    [79, []],
    [80, ['quota.near 80 of 100']],
    [99, ['quota.near 99 of 100']],
    [100, ['quota.reached 100 of 100']],
    [101, ['quota.reached 101 of 100']],
  ])(
    '%i percent of a gateway quota: notices %j once, and the domain is served',
    async (requests, noticed) => {
      await send(requests);
      expect(await poll()).toEqual([]);
      expect(await poll()).toEqual([]);
      expect(await notices()).toEqual(noticed);
      expect((await store.latest.domains.get(domain.id))!.suspended).toBe(false);
    },
  );

  test('each level is notified of once while requests grow', async () => {
    for (const more of [79, 1, 10, 9, 1, 50]) {
      await send(more);
      await poll();
    }
    expect(await notices()).toEqual(['quota.near 80 of 100', 'quota.reached 100 of 100']);
  });

  test('a level is notified of again once the requests were below it, a day later at the earliest', async () => {
    await send(40, NOW - 30 * DAY + 2 * MINUTE);
    await send(60);
    await poll();
    // Forty requests are 30 days old.
    const later = NOW + 3 * MINUTE;
    await poll(later);
    await send(40, later);
    await poll(later + MINUTE);
    expect(await notices()).toEqual(['quota.reached 100 of 100']);
    await send(60, NOW + 40 * DAY);
    await poll(NOW + 40 * DAY);
    await send(25, NOW + 40 * DAY);
    await poll(NOW + 40 * DAY + MINUTE);
    await send(15, NOW + 40 * DAY + MINUTE);
    await poll(NOW + 40 * DAY + 2 * MINUTE);
    expect(await notices()).toEqual([
      'quota.reached 100 of 100',
      'quota.near 85 of 100',
      'quota.reached 100 of 100',
    ]);
  });

  test('neither no quota nor one of nothing is notified of', async () => {
    await send(10);
    for (const quota of [null, 0]) {
      await about.setQuota(quota);
      await poll();
    }
    expect(await notices()).toEqual([]);
    await about.setQuota(11);
    await poll();
    expect(await notices()).toEqual(['quota.near 10 of 11']);
  });

  test('four watches on one database notify once', async () => {
    await send(100);
    const other = kind.name === 'postgres' ? await place.open() : store;
    const notes = await Promise.all([poll(), poll(NOW, other), poll(), poll(NOW, other)]);
    expect(notes.flat()).toEqual([]);
    expect(await notices()).toEqual(['quota.reached 100 of 100']);
    if (other !== store) await other.close();
  });

  test('the figure of 30 days is that of a naive count', async () => {
    const ages = fc.array(fc.integer({ min: -5, max: 45_000 }), { maxLength: 12 });
    const sent: number[] = [];
    await fc.assert(
      fc.asyncProperty(ages, fc.integer({ min: 0, max: 2_000 }), async (minutes, ahead) => {
        const found = minutes.map((age) => NOW - age * MINUTE);
        sent.push(...found);
        for (const at of found) await send(1, at);
        const now = NOW + ahead * MINUTE;
        const naive = sent.filter((at) => at <= now && at > now - 30 * DAY).length;
        expect(await store.read((tx) => readGatewayMonth(tx, domain.id, now))).toBe(naive);
      }),
      { numRuns: 12 },
    );
  });
});
