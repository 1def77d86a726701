/**
 * Traffic of a domain as the API shows it. In: counts by step. Out: totals, one point for each step, and on request the
 * requests of each step divided by one dimension. Quantiles and visitors of the totals are of the merged sketches, not
 * sums of those of points.
 */
import {
  addTrafficCounts,
  createTrafficCounts,
  type Dimension,
  type TrafficCounts,
} from '../../engine/counts/counts.ts';
import { estimate } from '../../engine/counts/hyperloglog.ts';
import { type LogHistogram, quantile } from '../../engine/counts/log-histogram.ts';
import { type SpaceSaving, top } from '../../engine/counts/space-saving.ts';
import { MAX_DIVISION_VALUES } from './limits.ts';
import { startsOf, type TrafficPeriod } from './retention.ts';

/** Quantiles of times, milliseconds; each `null` where no request was measured. */
export type Quantiles = Readonly<Record<(typeof QUANTILES)[number]['name'], number | null>>;
const QUANTILES = [
  { name: 'p50', of: 0.5 },
  { name: 'p90', of: 0.9 },
  { name: 'p95', of: 0.95 },
  { name: 'p99', of: 0.99 },
] as const;

/** What totals and points have in common. */
export interface ShownCounts {
  readonly requests: number;
  readonly octets_in: number;
  readonly octets_out: number;
  readonly origin_requests: number;
  readonly origin_errors: number;
  /** From 0 to 1; `null`: no request was a hit or a miss. */
  readonly cache_hit_ratio: number | null;
  readonly visitors: number;
  readonly edge_ms: Quantiles;
  readonly origin_ms: Quantiles;
}

/** Requests by value. */
type ByValue = Readonly<Record<string, number>>;

/** Sums over the whole period. */
export interface ShownTotals extends ShownCounts {
  readonly gateway_requests: number;
  readonly actions: ByValue;
  readonly statuses: ByValue;
  readonly cache: ByValue;
}

/** One step. */
export interface ShownPoint extends ShownCounts {
  readonly at: string;
}

/** The requests with one value. */
export interface ShownValue {
  /** `null`: all values that are not listed. */
  readonly value: string | null;
  readonly requests: number;
  /** Requests by step, in the order of the points. */
  readonly points: readonly number[];
}

/** Totals, points and the division of a period. */
export interface ShownTraffic {
  readonly totals: ShownTotals;
  readonly points: readonly ShownPoint[];
  readonly values?: readonly ShownValue[];
}

/** Standard error of the number of visitors, relative: HyperLogLog with 2^12 registers (Flajolet et al. 2007). */
export const VISITORS_ERROR = 0.016_25;
/** Largest error of a quantile, relative (semantics §10). */
export const QUANTILE_ERROR = 0.05;

/** The counts of a period; `steps` has counts by the start of each step that has traffic. */
export function showTraffic(
  steps: ReadonlyMap<number, TrafficCounts>,
  period: TrafficPeriod,
  { by }: { readonly by: Dimension | null },
): ShownTraffic {
  const starts = startsOf(period);
  const totals = createTrafficCounts();
  for (const counts of steps.values()) addTrafficCounts(totals, counts);
  const none = createTrafficCounts();
  return {
    totals: showTotals(totals),
    points: starts.map((start) => ({
      at: new Date(start).toISOString(),
      ...showCounts(steps.get(start) ?? none),
    })),
    ...(by === null
      ? {}
      : {
          values: divide(
            totals,
            by,
            starts.map((start) => steps.get(start) ?? none),
          ),
        }),
  };
}

/** The sums of a period. */
function showTotals(counts: TrafficCounts): ShownTotals {
  const { by, sums } = counts;
  return {
    ...showCounts(counts),
    gateway_requests: sums.gateway_requests,
    actions: descending(by.action),
    statuses: descending(by.status),
    cache: descending(by.cache),
  };
}

/** The part that totals and points share. */
function showCounts({ sums, by, edgeTimes, originTimes, visitors }: TrafficCounts): ShownCounts {
  return {
    requests: sums.requests,
    octets_in: sums.octets_in,
    octets_out: sums.octets_out,
    origin_requests: sums.origin_requests,
    origin_errors: sums.origin_errors,
    cache_hit_ratio: hitRatio(by.cache),
    visitors: Math.round(estimate(visitors)),
    edge_ms: quantilesOf(edgeTimes),
    origin_ms: quantilesOf(originTimes),
  };
}

/** Results of the cache that count as a hit: the response came from the cache, or from another request's fetch. */
const HITS = ['hit', 'stale', 'revalidated', 'shared'] as const;

/** Hits ÷ (hits + misses), to four decimals; requests that bypassed or passed the cache are neither. */
function hitRatio(results: ReadonlyMap<string, number>): number | null {
  const hits = HITS.reduce((sum, result) => sum + (results.get(result) ?? 0), 0);
  const all = hits + (results.get('miss') ?? 0);
  return all === 0 ? null : Math.round((hits / all) * 10_000) / 10_000;
}

/** The quantiles, to a hundredth of a millisecond. */
function quantilesOf(times: LogHistogram): Quantiles {
  const shown = QUANTILES.map(({ name, of }) => {
    const value = quantile(times, of);
    return [name, value === null ? null : Math.round(value * 100) / 100];
  });
  return Object.fromEntries(shown) as Quantiles;
}

/** Requests by value, the most first. */
function descending(values: ReadonlyMap<string, number>): ByValue {
  return Object.fromEntries(sorted(values));
}

function sorted(values: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  return [...values].sort(
    ([leftValue, left], [rightValue, right]) => right - left || (leftValue < rightValue ? -1 : 1),
  );
}

/** The values with the most requests, at most `MAX_DIVISION_VALUES`, and the rest as one, where there is any. */
function divide(
  totals: TrafficCounts,
  by: Dimension,
  steps: readonly TrafficCounts[],
): readonly ShownValue[] {
  const all = sorted(totals.by[by]);
  const listed = all.slice(0, MAX_DIVISION_VALUES).map(([value, requests]) => ({
    value,
    requests,
    points: steps.map((counts) => counts.by[by].get(value) ?? 0),
  }));
  const names = new Set(listed.map(({ value }) => value));
  const rest = (values: ReadonlyMap<string, number>): number => {
    let sum = 0;
    for (const [value, requests] of values) if (!names.has(value)) sum += requests;
    return sum;
  };
  if (all.length <= MAX_DIVISION_VALUES) return listed;
  const others = { value: null, requests: rest(totals.by[by]), points: steps.map((one) => rest(one.by[by])) };
  return [...listed, others];
}

// A top list as the API shows it: the most frequent values with the bounds of their counts. A Space-Saving summary counts
// a value too often, never too seldom (Metwally, Agrawal, El Abbadi 2005).

/** One value. */
export interface TopValue {
  readonly value: string;
  /** The count of the summary: at most this many requests had the value. */
  readonly requests: number;
  /** At least this many had it. */
  readonly at_least: number;
}

/** A top list. */
export interface TopAnswer {
  /** Requests that the list counted. */
  readonly total: number;
  /** A value that is not in the summary has at most this many requests. */
  readonly unlisted_at_most: number;
  readonly values: readonly TopValue[];
}

/** The values with the highest counts, at most `limit`. */
export function showTop(summary: SpaceSaving, limit: number): TopAnswer {
  return {
    total: summary.total,
    unlisted_at_most: summary.unlisted,
    values: top(summary, limit).map(({ value, count, error }) => ({
      value,
      requests: count,
      at_least: count - error,
    })),
  };
}
