/**
 * Prometheus metrics whose values are computed at each scrape: single values, histograms of seconds, counters by
 * account.
 */
import type { Metric, MetricObject, Registry } from 'prom-client';
import { declared } from './declared.ts';

/** One sample of a metric: a line of the exposition format. */
interface MetricValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** The name of the sample if it differs from the metric's: `…_bucket`, `…_sum`, `…_count`. */
  readonly metricName?: string;
}

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'histogram';
  /** Called at each scrape. */
  readonly values: () => readonly MetricValue[];
}

/** Adds a metric to a registry; the values of several processes are added up. */
export function addMetric(registry: Registry, { name, help, type, values }: MetricOptions): void {
  // A registry uses the name and `get` of a metric; its types allow prom-client's own classes only.
  const metric = {
    name,
    help,
    type,
    aggregator: 'sum',
    get: async () => ({ name, help, type, values: values(), aggregator: 'sum' }) as unknown as MetricObject,
  };
  registry.registerMetric(metric as unknown as Metric);
}

// Histograms of seconds for Prometheus. PERF: an observation of prom-client's own histogram takes half a microsecond, an
// addition into an array a hundredth of that; the samples are computed at each scrape.

/** The observations under one set of labels. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** Observations in each bucket: up to its bound and above the previous one; the last is above all bounds. */
  readonly buckets: Float64Array;
  /** The sum of all observations. */
  seconds: number;
}

export interface HistogramOptions {
  readonly name: string;
  readonly help: string;
  /** Upper bounds in seconds, ascending. */
  readonly bounds: readonly number[];
  readonly series: () => Iterable<Series>;
}

/** A series without observations. */
export function createSeries(bounds: readonly number[], labels: Series['labels'] = {}): Series {
  return { labels, buckets: new Float64Array(bounds.length + 1), seconds: 0 };
}

/** Adds one observation. */
export function observe(series: Series, bounds: readonly number[], seconds: number): void {
  let bucket = 0;
  while (bucket < bounds.length && seconds > bounds[bucket]!) bucket++;
  series.buckets[bucket]!++;
  series.seconds += seconds;
}

/** Adds a histogram to a registry. */
export function addHistogram(registry: Registry, { name, help, bounds, series }: HistogramOptions): void {
  addMetric(registry, {
    name,
    help,
    type: 'histogram',
    values: () => [...series()].flatMap((one) => samplesOf(name, bounds, one)),
  });
}

/** The samples of a series; a bucket's count includes the buckets below it, as the exposition format requires. */
function samplesOf(
  name: string,
  bounds: readonly number[],
  { labels, buckets, seconds }: Series,
): readonly MetricValue[] {
  let below = 0;
  const samples = Array.from(buckets, (observations, at): MetricValue => {
    below += observations;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[at] ?? '+Inf' }, value: below };
  });
  return [
    ...samples,
    { metricName: `${name}_sum`, labels, value: seconds },
    { metricName: `${name}_count`, labels, value: below },
  ];
}

// Prometheus counters by account: how many pieces of work it requested, and how many seconds they took.

/**
 * Maximum number of accounts with a series of their own, in the order of their first request; each takes two lines of a
 * scrape.
 */
export const MAX_ACCOUNT_SERIES = 1_000;
/** The label shared by all accounts beyond the first `MAX_ACCOUNT_SERIES`. */
const OTHERS = 'other';

export interface AccountTimesOptions {
  /** The counter of pieces of work. */
  readonly count: 'edgeplan_api_account_requests_total' | 'edgeplan_compute_account_computations_total';
  /** The counter of their seconds. */
  readonly seconds: 'edgeplan_api_account_seconds_total' | 'edgeplan_compute_account_seconds_total';
}

interface Tally {
  count: number;
  seconds: number;
}

/** Adds the two metrics to a registry. Returns the function that records one piece of work, in seconds. */
export function addAccountTimes(
  registry: Registry,
  { count, seconds: secondsName }: AccountTimesOptions,
): (account: number, seconds: number) => void {
  const accounts = new Map<number, Tally>();
  const others: Tally = { count: 0, seconds: 0 };
  const values = (of: keyof Tally): readonly MetricValue[] => {
    const own = [...accounts].map(
      ([account, tally]): MetricValue => ({ labels: { account }, value: tally[of] }),
    );
    return others.count === 0 ? own : [...own, { labels: { account: OTHERS }, value: others[of] }];
  };
  addMetric(registry, {
    ...declared(count),
    type: 'counter',
    values: () => values('count'),
  });
  addMetric(registry, {
    ...declared(secondsName),
    type: 'counter',
    values: () => values('seconds'),
  });
  return (account, seconds) => {
    const tally = tallyOf(accounts, account) ?? others;
    tally.count += 1;
    tally.seconds += seconds;
  };
}

function tallyOf(accounts: Map<number, Tally>, account: number): Tally | null {
  const known = accounts.get(account);
  if (known !== undefined) return known;
  if (accounts.size >= MAX_ACCOUNT_SERIES) return null;
  const made: Tally = { count: 0, seconds: 0 };
  accounts.set(account, made);
  return made;
}
