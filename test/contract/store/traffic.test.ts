/** Parts and blocks of traffic, leases of the roll-up and partitions, on both databases. */
import { beforeEach, describe, expect, test } from 'vitest';
import { isStoreFault } from '../../../src/base/storage/fault.ts';
import type { Store } from '../../../src/control/store/store.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import type {
  MinutesBlock,
  TrafficBlock,
  TrafficPart,
  TrafficSums,
} from '../../../src/control/store/tables/traffic.ts';
import { asAdmin } from '../../support/postgres.ts';
import { seed, T } from '../../support/sample-rows.ts';
import { kinds, openForAll, type Place } from './databases.ts';

const NONE: TrafficSums = {
  requests: 0,
  octets_in: 0,
  octets_out: 0,
  monitored: 0,
  monitored_errors: 0,
  gateway_requests: 0,
};
const DAY = 1_440;
const octets = (...values: readonly number[]): Uint8Array => Uint8Array.from(values);
/** Octets as the drivers return them: one returns a buffer. */
const plain = (bytes: Uint8Array | null): readonly number[] | null => bytes && [...bytes];

describe.each(kinds)('traffic on $name', (kind) => {
  let place: Place;
  let store: Store;
  let domain: DomainRow;
  let count = 0;

  openForAll(kind, (opened) => {
    ({ place, store } = opened);
  });
  beforeEach(async () => {
    count += 1;
    domain = (await store.write((tx) => seed(tx, `t${count}.example`))).domain;
  });

  const part = (changes: Partial<TrafficPart> = {}): TrafficPart => ({
    ...{ domain_id: domain.id, minute: 100, node_id: 1, batch: 1 },
    ...NONE,
    requests: 2,
    taken_at: T,
    counts: octets(0, 255, 7),
    tops: null,
    ...changes,
  });
  const block = (changes: Partial<TrafficBlock> = {}): TrafficBlock => ({
    ...{ domain_id: domain.id, start: 120 },
    ...NONE,
    counts: octets(1),
    tops: octets(2, 0),
    ...changes,
  });
  const minutesBlock = (changes: Partial<MinutesBlock> = {}): MinutesBlock => {
    const { tops: _, ...rest } = block();
    return { ...rest, monitored_minutes: '', ...changes };
  };

  test('parts are stored with their octets, summed by span, and left out without a domain', async () => {
    const big = 2 ** 45;
    await store.write((tx) =>
      tx.traffic.add([
        part({ minute: 102, octets_out: big, tops: octets(9), batch: -5 }),
        part({ domain_id: 9e6 }),
        part({ octets_out: big, gateway_requests: 1, monitored: 2, monitored_errors: 1 }),
      ]),
    );
    const { traffic } = store.latest;
    expect(await traffic.partSums(domain.id, { from: 100, to: 103 })).toEqual({
      ...NONE,
      requests: 4,
      octets_out: 2 * big,
      gateway_requests: 1,
      monitored: 2,
      monitored_errors: 1,
    });
    expect(await traffic.partSums(domain.id, { from: 0, to: 100 })).toEqual(NONE);
    const parts = await traffic.parts(domain.id, { from: 0, to: 200 });
    expect(parts.map(({ minute, counts }) => [minute, plain(counts)])).toEqual([
      [100, [0, 255, 7]],
      [102, [0, 255, 7]],
    ]);
    const tops = await traffic.partTops(domain.id, { from: 0, to: 200 });
    expect(tops.map(plain)).toEqual([[9]]);
    expect(await traffic.monitoredParts([domain.id, 9e6], { from: 0, to: 200 })).toEqual([
      { domain_id: domain.id, minute: 100, monitored: 2, monitored_errors: 1 },
    ]);
    expect(await traffic.parts(9e6, { from: 0, to: 200 })).toEqual([]);
    const again = store.write((tx) => tx.traffic.add([part({ tops: octets(1) })]));
    await expect(again).rejects.toSatisfy((error) => isStoreFault(error, 'conflict'));
  });

  test('due parts come by domain, minute, node and batch, page by page and slice by slice', async () => {
    const other = (await store.write((tx) => seed(tx, `u${count}.example`))).domain;
    const keys = [
      [100, 1, 3],
      [100, 2, -1],
      [100, 2, 1],
      [101, 1, 2],
    ] as const;
    const parts = keys.map(([minute, node_id, batch]) => part({ minute, node_id, batch }));
    await store.write((tx) =>
      tx.traffic.add([...parts, part({ minute: 102, batch: 9 }), part({ domain_id: other.id, minute: 99 })]),
    );
    const pageOf = async (slice: number, limit: number): Promise<readonly (readonly number[])[]> => {
      const found: TrafficPart[] = [];
      for (;;) {
        const page = await store.latest.traffic.due({
          ...{ slice, slices: 2, before: 102, limit },
          after: found.at(-1) ?? null,
        });
        found.push(...page);
        if (page.length < limit) break;
      }
      const own = found.filter(({ domain_id }) => domain_id === domain.id || domain_id === other.id);
      return own.map(({ domain_id, minute, node_id, batch }) => [domain_id, minute, node_id, batch]);
    };
    const expected = [[other.id, 99, 1, 1], ...keys.map((key) => [domain.id, ...key])].sort(
      (a, b) => a[0]! - b[0]!,
    );
    for (const slice of [0, 1]) {
      for (const limit of [1, 3, 100]) {
        expect(await pageOf(slice, limit)).toEqual(expected.filter(([id]) => id! % 2 === slice));
      }
    }
    await store.write(async (tx) => {
      expect(await tx.traffic.removeParts([...parts, part({ batch: 77 })])).toBe(4);
    });
    const left = await store.latest.traffic.parts(domain.id, { from: 0, to: 200 });
    expect(left.map(({ minute }) => minute)).toEqual([102]);
  });

  test('a block replaces that of its domain and start', async () => {
    await store.write((tx) =>
      tx.traffic.replace({
        minutes: [minutesBlock({ start: 130, monitored_minutes: '[1,2,0]' }), minutesBlock()],
        hours: [block({ requests: 1 }), block({ domain_id: 9e6 })],
        days: [block({ start: DAY, tops: null })],
      }),
    );
    const changed = block({ requests: 5, counts: octets(), tops: null });
    await store.write((tx) => tx.traffic.replace({ minutes: [], hours: [changed], days: [] }));
    const { traffic } = store.latest;
    const span = { from: 0, to: 10_000 };
    const [hour, ...more] = await traffic.wholeBlocks('hours', [domain.id, 9e6], span);
    expect(more).toEqual([]);
    expect({ ...hour!, counts: plain(hour!.counts) }).toEqual({ ...changed, counts: [] });
    expect(await traffic.blockSums('hours', domain.id, { from: 121, to: 10_000 })).toEqual([]);
    const [sums] = await traffic.blockSums('hours', domain.id, { from: 120, to: 121 });
    expect(sums).toEqual({ ...NONE, domain_id: domain.id, start: 120, requests: 5 });
    const minutes = await traffic.minutes([domain.id], span);
    expect(minutes.map(({ start, monitored_minutes }) => [start, monitored_minutes])).toEqual([
      [120, ''],
      [130, '[1,2,0]'],
    ]);
    expect(await traffic.monitoredBlocks([domain.id], span)).toEqual([
      { domain_id: domain.id, start: 130, monitored_minutes: '[1,2,0]' },
    ]);
    expect(await traffic.tops('days', domain.id, span)).toEqual([
      { domain_id: domain.id, start: DAY, tops: null },
    ]);
    const of = { slices: 1, slice: 0, limit: 10, after: domain.id - 1 };
    expect(await traffic.domainsWithHours({ from: 0, to: DAY }, of)).toEqual([domain.id]);
    expect(await traffic.domainsWithHours({ from: DAY, to: 2 * DAY }, of)).toEqual([]);
    const [day] = await traffic.blocks('days', [domain.id], span);
    expect(plain(day!.counts)).toEqual([1]);
  });

  test('the rows of a domain go with it', async () => {
    await store.write(async (tx) => {
      await tx.traffic.add([part()]);
      await tx.traffic.replace({ minutes: [minutesBlock()], hours: [block()], days: [block()] });
    });
    await store.write((tx) => tx.domains.remove(domain.id));
    const { traffic } = store.latest;
    const span = { from: 0, to: 10_000 };
    expect(await traffic.parts(domain.id, span)).toEqual([]);
    expect(await traffic.minutes([domain.id], span)).toEqual([]);
    for (const unit of ['hours', 'days'] as const)
      expect(await traffic.blocks(unit, [domain.id], span)).toEqual([]);
  });

  test('a name stands for the domain that nodes serve, with the groups of its published revision', async () => {
    const found = await store.latest.traffic.domainsOf([domain.name, 'nobody.example']);
    expect(found).toEqual([
      {
        name: domain.name,
        domain_id: domain.id,
        created_at: domain.created_at,
        node_groups: 'default',
        left_groups: '',
      },
    ]);
    await store.write((tx) => tx.groups.setDomain(domain.id, 'eu'));
    expect(await store.latest.traffic.domainsOf([domain.name])).toMatchObject([{ node_groups: 'eu' }]);
  });

  test('a batch is accepted once in whatever order batches come, until its number is pruned', async () => {
    const node = await store.write((tx) =>
      tx.nodes.insert({ name: `node-${count}`, token_hash: `${count}`, created_at: T }),
    );
    const take = (batch: number, at = T) => store.write((tx) => tx.nodes.takeBatch(node.id, { batch, at }));
    expect([await take(5), await take(3, T - 9), await take(5), await take(3)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(await store.write((tx) => tx.nodes.pruneBatches(T, 10))).toBe(1);
    expect([await take(5), await take(3)]).toEqual([false, true]);
  });

  test('a slice has one owner, until its lease ends, is void or is given back', async () => {
    const slice = 100 + count;
    const lease = (owner: string, now: number, until: number) =>
      store.write((tx) => tx.traffic.lease({ slice, owner, now, until, daysThrough: DAY }));
    const renew = (owner: string) =>
      store.write((tx) => tx.traffic.renewLease({ slice, owner, until: T + 60 }));
    expect(await lease('a', T, T + 50)).toBe(DAY);
    expect(await lease('b', T + 49, T + 99)).toBeNull();
    expect(await lease('a', T + 1, T + 50)).toBe(DAY);
    expect([await renew('a'), await renew('b')]).toEqual([true, false]);
    await store.write((tx) => tx.traffic.setDaysThrough(slice, 3 * DAY));
    await store.write((tx) => tx.traffic.setDaysThrough(slice, 2 * DAY));
    expect(await lease('b', T + 61, T + 100)).toBe(3 * DAY);
    expect(await renew('a')).toBe(false);
    // A clock that was ahead by an hour.
    expect(await lease('b', T + 3_600_000, T + 3_600_050)).toBe(3 * DAY);
    expect(await lease('c', T + 200, T + 250)).toBe(3 * DAY);
    await store.write((tx) => tx.traffic.endLease({ slice, owner: 'b' }));
    expect(await lease('d', T + 201, T + 251)).toBeNull();
    await store.write((tx) => tx.traffic.endLease({ slice, owner: 'c' }));
    expect(await lease('d', T + 201, T + 251)).toBe(3 * DAY);
  });

  test('what is too old expires, in partitions and beside them', async () => {
    const days = [1_000, 1_001, 1_002].map((day) => day * DAY);
    await store.write((tx) => tx.traffic.createPartitions(days));
    await store.write((tx) => tx.traffic.createPartitions(days));
    const starts = [500 * DAY, 1_000 * DAY, 1_000 * DAY + 60, 1_001 * DAY, 1_002 * DAY];
    await store.write((tx) =>
      tx.traffic.replace({
        minutes: starts.map((start) => minutesBlock({ start })),
        hours: starts.map((start) => block({ start })),
        days: starts.map((start) => block({ start })),
      }),
    );
    await store.write((tx) => tx.traffic.add([part({ minute: 1_000 * DAY }), part({ minute: 1_002 * DAY })]));
    const before = 1_001 * DAY;
    await store.write((tx) =>
      tx.traffic.dropPartitions({ parts: before + DAY, minutes: before, hours: before }),
    );
    const span = { from: 0, to: 2_000 * DAY };
    for (const unit of ['minutes', 'hours', 'days'] as const) {
      const expire = () => store.write((tx) => tx.traffic.expire(unit, before, 2));
      while ((await expire()) > 0);
      const left = await store.latest.traffic.blockSums(unit, domain.id, span);
      expect(left.map(({ start }) => start)).toEqual(starts.slice(3));
    }
    // Parts that no roll-up has merged stay.
    expect(await store.latest.traffic.parts(domain.id, span)).toHaveLength(2);
    if (kind.name === 'sqlite') return;
    const { rows } = await asAdmin(
      "SELECT tablename FROM pg_tables WHERE tablename LIKE 'traffic\\_%\\_1%' ORDER BY tablename",
      place.database,
    );
    expect(rows.map(({ tablename }) => tablename)).toEqual([
      ...['traffic_hours_1441440', 'traffic_hours_1442880', 'traffic_minutes_1441440'],
      ...['traffic_minutes_1442880', 'traffic_parts_1440000', 'traffic_parts_1442880'],
    ]);
  });

  test('a day whose rows are in the default partition gets no partition, and its rows stay', async () => {
    const start = 3_000 * DAY;
    await store.write((tx) => tx.traffic.replace({ minutes: [], hours: [block({ start })], days: [] }));
    await store.write((tx) => tx.traffic.createPartitions([start]));
    expect(
      await store.latest.traffic.blockSums('hours', domain.id, { from: start, to: start + 1 }),
    ).toHaveLength(1);
  });
});
