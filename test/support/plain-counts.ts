/** Traffic counts and top lists as plain values that `toEqual` compares, whatever the order and the form of their parts. */
import { DIMENSIONS, TOP_KINDS, type TopLists, type TrafficCounts } from '../../src/engine/counts/counts.ts';
import { type HyperLogLog, positionsOf } from '../../src/engine/counts/hyperloglog.ts';
import type { LogHistogram } from '../../src/engine/counts/log-histogram.ts';
import { listed } from '../../src/engine/counts/space-saving.ts';

/** All of the counts. */
export function plainCounts({
  sums,
  by,
  hits,
  changes,
  edgeTimes,
  originTimes,
  visitors,
  gateways: { uses, consumers, keys, ...rest },
}: TrafficCounts): unknown {
  return {
    sums,
    by: Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, Object.fromEntries(by[dimension])])),
    hits: Object.fromEntries(hits),
    changes: Object.fromEntries(changes),
    edgeTimes: plainHistogram(edgeTimes),
    originTimes: plainHistogram(originTimes),
    visitors: plainVisitors(visitors),
    gateways: {
      ...rest,
      uses: Object.fromEntries(uses),
      consumers: Object.fromEntries(consumers),
      keys: Object.fromEntries(keys),
    },
  };
}

function plainHistogram({ first, counts }: LogHistogram): unknown {
  const pairs = Array.from(counts, (count, at) => [first + at, count] as const);
  return Object.fromEntries(pairs.filter(([, count]) => count > 0));
}

/** What the sketch contains, in either form. */
export function plainVisitors(visitors: HyperLogLog): unknown {
  return visitors.registers === null ? positionsOf(visitors) : [...visitors.registers];
}

/** All of the lists, as compacted. */
export function plainLists(lists: TopLists): unknown {
  return Object.fromEntries(
    TOP_KINDS.map((kind) => {
      const { values, unlisted } = listed(lists[kind]);
      const bounds = Object.fromEntries(values.map(({ value, ...rest }) => [value, rest]));
      return [kind, { total: lists[kind].total, unlisted, bounds }];
    }),
  );
}
