/**
 * The metrics of a Prometheus registry in OpenTelemetry's form, so that both exports have one source and one set of names.
 * In: a registry. Out: counters as monotonic cumulative sums, histograms with explicit buckets, gauges; the mapping is that of
 * OpenTelemetry's specification, "Prometheus and OpenMetrics Compatibility". A bucket of Prometheus includes those below it;
 * one of OpenTelemetry does not.
 */
import { type HrTime, ValueType } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';

/** A metric as prom-client collects it; a sample of a histogram has a name of its own. */
type Collected = MetricObjectWithValues<MetricValue<string> & { readonly metricName?: string }>;
type Labels = Readonly<Record<string, string | number>>;

/** The times of all points of one export. */
interface Period {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

/** Counters start with the process; those of ended workers are older than no primary. */
const STARTED_AT = millisToHrTime(Date.now() - performance.now());

/** Collects a registry, for OpenTelemetry's metric reader. */
export async function collectRegistry(
  registryOf: () => Registry | Promise<Registry>,
  resource: Resource,
): Promise<CollectionResult> {
  const errors: unknown[] = [];
  let metrics: readonly MetricData[] = [];
  try {
    metrics = metricsOf(
      (await (await registryOf()).getMetricsAsJSON()) as unknown as readonly Collected[],
      Date.now(),
    );
  } catch (error) {
    errors.push(error);
  }
  const scopeMetrics = [{ scope: { name: 'edgeplan' }, metrics: [...metrics] }];
  return { resourceMetrics: { resource, scopeMetrics }, errors };
}

/** Converts what a registry has at a moment, in milliseconds since the epoch. */
export function metricsOf(collected: readonly Collected[], now: number): readonly MetricData[] {
  const period: Period = { startTime: STARTED_AT, endTime: millisToHrTime(now) };
  return collected.flatMap((metric) => metricOf(metric, period) ?? []);
}

/** `null` for a metric without a sample, or a summary, which no registry here has. */
function metricOf(metric: Collected, period: Period): MetricData | null {
  const { name, help, values } = metric;
  if (values.length === 0) return null;
  const shared = {
    descriptor: { name, description: help, unit: unitOf(name), valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  // prom-client types the kind as an enumeration and collects it as this word.
  switch (String(metric.type)) {
    case 'counter':
      return {
        ...shared,
        dataPointType: DataPointType.SUM,
        isMonotonic: true,
        dataPoints: pointsOf(values, period),
      };
    case 'gauge':
      return { ...shared, dataPointType: DataPointType.GAUGE, dataPoints: pointsOf(values, period) };
    case 'histogram':
      return { ...shared, dataPointType: DataPointType.HISTOGRAM, dataPoints: histogramsOf(metric, period) };
    default:
      return null;
  }
}

/** The unit in UCUM, from the suffix that Prometheus' conventions ask for; empty: a number of things. */
function unitOf(name: string): string {
  const base = name.replace(/_total$/, '');
  if (base.endsWith('_seconds')) return 's';
  return base.endsWith('_bytes') ? 'By' : '';
}

function pointsOf(values: Collected['values'], period: Period): DataPoint<number>[] {
  return values.map(({ labels, value }) => ({
    ...period,
    attributes: attributesOf(labels as Labels),
    value,
  }));
}

/** Labels as attributes, which prom-client leaves as numbers where they were numbers. */
function attributesOf(labels: Labels): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
}

/** The samples of one set of labels. */
interface Samples {
  readonly labels: Labels;
  /** Upper bound and count of each bucket, those below it included. */
  readonly buckets: [number, number][];
  sum: number;
  count: number;
}

function histogramsOf({ name, values }: Collected, period: Period): DataPoint<Histogram>[] {
  const series = new Map<string, Samples>();
  for (const { metricName, labels: all, value } of values) {
    const { le, ...labels } = all as Labels;
    const key = JSON.stringify(Object.entries(labels).sort());
    const samples = series.get(key) ?? { labels, buckets: [], sum: 0, count: 0 };
    series.set(key, samples);
    if (metricName === `${name}_sum`) samples.sum = value;
    else if (metricName === `${name}_count`) samples.count = value;
    else if (le !== '+Inf') samples.buckets.push([Number(le), value]);
  }
  return [...series.values()].map((samples) => ({
    ...period,
    attributes: attributesOf(samples.labels),
    value: histogramOf(samples),
  }));
}

function histogramOf({ buckets, sum, count }: Samples): Histogram {
  const ascending = buckets.toSorted(([one], [other]) => one - other);
  let below = 0;
  const counts = [...ascending.map(([, upTo]) => upTo), count].map((upTo) => {
    const own = upTo - below;
    below = upTo;
    return own;
  });
  return { buckets: { boundaries: ascending.map(([bound]) => bound), counts }, sum, count };
}
