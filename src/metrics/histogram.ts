/**
 * Histograms of seconds for Prometheus. An observation of prom-client's own takes half a microsecond, an addition into an
 * array a hundredth of it; here the lines are made when they are read.
 */
import type { Registry } from 'prom-client';
import { addMetric, type MetricValue } from './add-metric.ts';

/** Observations of one set of labels. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  /** Observations up to each bound and above the one before it; the last ones are above all bounds. */
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

export function createSeries(bounds: readonly number[], labels: Series['labels'] = {}): Series {
  return { labels, buckets: new Float64Array(bounds.length + 1), seconds: 0 };
}

export function observe(series: Series, bounds: readonly number[], seconds: number): void {
  let bucket = 0;
  while (bucket < bounds.length && seconds > bounds[bucket]!) bucket++;
  series.buckets[bucket]!++;
  series.seconds += seconds;
}

export function addHistogram(registry: Registry, { name, help, bounds, series }: HistogramOptions): void {
  addMetric(registry, {
    name,
    help,
    type: 'histogram',
    values: () => [...series()].flatMap((one) => linesOf(name, bounds, one)),
  });
}

/** Each bucket's line counts the buckets below it too. */
function linesOf(
  name: string,
  bounds: readonly number[],
  { labels, buckets, seconds }: Series,
): readonly MetricValue[] {
  let below = 0;
  const lines = Array.from(buckets, (observations, at): MetricValue => {
    below += observations;
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bounds[at] ?? '+Inf' }, value: below };
  });
  return [
    ...lines,
    { metricName: `${name}_sum`, labels, value: seconds },
    { metricName: `${name}_count`, labels, value: below },
  ];
}
