/**
 * Histograms of seconds for Prometheus. PERF: an observation of prom-client's own histogram takes half a microsecond, an
 * addition into an array a hundredth of that; the samples are computed at each scrape.
 */
import type { Registry } from 'prom-client';
import { addMetric, type MetricValue } from './add-metric.ts';

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
