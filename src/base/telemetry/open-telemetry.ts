/**
 * The export with OpenTelemetry's SDK. In: options. Out: `Telemetry`. Settings that this program has no option for are those of
 * the specification's environment variables, which the exporters read themselves: `OTEL_EXPORTER_OTLP_HEADERS` (credentials),
 * `OTEL_EXPORTER_OTLP_CERTIFICATE`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_SERVICE_NAME`.
 */
import type { LookupFunction } from 'node:net';
import { hostname } from 'node:os';
import { type HrTime, ValueType } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  DataPointType,
  type Histogram,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import { createSpanSource } from './create-span-source.ts';
import { createExportState, type ExportState, reportExports } from './export-state.ts';
import type { CollectorOptions, Telemetry, TelemetryIdentity, TelemetryOptions } from './spans.ts';

/** Starts the export; as `startTelemetry`. */
export function openTelemetry({
  collector,
  identity,
  registry,
  lookup,
  onChange,
}: TelemetryOptions): Telemetry {
  const resource = resourceOf(identity);
  const state = createExportState(onChange);
  const tracing = createTracing(collector, { resource, state, lookup });
  const metering =
    registry === null ? null : createMetering(collector, { resource, state, lookup, registry });
  return {
    spans: createSpanSource({
      tracer: tracing.getTracer('edgeplan', identity.version),
      ratio: collector.ratio,
    }),
    async stop() {
      const flushed = [tracing.shutdown(), metering?.shutdown()];
      let late: NodeJS.Timeout | undefined;
      const bound = new Promise<void>((resolve) => {
        late = setTimeout(resolve, FLUSH_MS);
      });
      // A failed export has been reported by `state`.
      await Promise.race([Promise.allSettled(flushed), bound]);
      clearTimeout(late);
    },
  };
}

/** Attributes of the process; those of the environment come first (specification, "Resource SDK"). */
function resourceOf({ service, version, instance, worker }: TelemetryIdentity): Resource {
  const own = resourceFromAttributes({
    'service.name': service,
    'service.version': version,
    'service.instance.id': instance,
    'host.name': hostname(),
    'process.pid': process.pid,
    ...(worker === null ? {} : { 'edgeplan.worker': worker }),
  });
  return own.merge(detectResources({ detectors: [envDetector] }));
}

interface Exporting {
  readonly resource: Resource;
  readonly state: ExportState;
  readonly lookup: LookupFunction;
}

/** The URL of one signal. */
function urlOf({ url }: CollectorOptions, signal: 'traces' | 'metrics'): string {
  return `${url.replace(/\/$/, '')}/v1/${signal}`;
}

function createTracing(collector: CollectorOptions, { resource, state, lookup }: Exporting): TracerProvider {
  const exporter = new OTLPTraceExporter({
    url: urlOf(collector, 'traces'),
    timeoutMillis: EXPORT_MS,
    concurrencyLimit: MAX_EXPORTS,
    httpAgentOptions: { keepAlive: true, lookup },
  });
  return new TracerProvider({
    resource,
    // The sampling decision is that of `create-span-source.ts`.
    sampler: new AlwaysOnSampler(),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_CHARACTERS },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reportExports(exporter, state),
        scheduledDelayMillis: SPANS_MS,
        maxQueueSize: MAX_WAITING_SPANS,
        maxExportBatchSize: MAX_BATCH_SPANS,
        exportTimeoutMillis: EXPORT_MS,
      }),
    ],
  });
}

interface Metering extends Exporting {
  readonly registry: NonNullable<TelemetryOptions['registry']>;
}

function createMetering(
  collector: CollectorOptions,
  { resource, state, lookup, registry }: Metering,
): MeterProvider {
  const exporter = new OTLPMetricExporter({
    url: urlOf(collector, 'metrics'),
    timeoutMillis: EXPORT_MS,
    concurrencyLimit: MAX_EXPORTS,
    httpAgentOptions: { keepAlive: true, lookup },
  });
  const reader = new PeriodicExportingMetricReader({
    exporter: reportExports(exporter, state),
    exportIntervalMillis: METRICS_MS,
    exportTimeoutMillis: EXPORT_MS,
    metricProducers: [{ collect: () => collectRegistry(registry, resource) }],
  });
  return new MeterProvider({ resource, readers: [reader] });
}

// The metrics of a Prometheus registry in OpenTelemetry's form, so that both exports have one source and one set of names.
// In: a registry. Out: counters as monotonic cumulative sums, histograms with explicit buckets, gauges; the mapping is that of
// OpenTelemetry's specification, "Prometheus and OpenMetrics Compatibility". A bucket of Prometheus includes those below it;
// one of OpenTelemetry does not.

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
async function collectRegistry(
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

// Bounds of the export to an OpenTelemetry collector.

/** Milliseconds between two exports of metrics: as often as Prometheus scrapes a job by its usual configuration. */
const METRICS_MS = 15_000;
/** Milliseconds that spans wait for others: one request to the collector has many. */
const SPANS_MS = 2_000;
/**
 * Spans that wait for an export; more are dropped, since a collector that does not answer must not grow the memory. A span
 * has about 2 KB: 4 MB in the end.
 */
const MAX_WAITING_SPANS = 2_048;
/** Spans of one request to the collector, about 300 KB, as the SDK has it by default. */
const MAX_BATCH_SPANS = 512;
/**
 * Milliseconds for one request to the collector, retries included. The SDK's timers hold the process for so long at its end, if
 * the collector does not answer: with the drain of a node this has to be below the 10 s after which some supervisors kill.
 */
const EXPORT_MS = 4_000;
/** Requests to the collector at once, of spans and of metrics each: one under way and one that ends the process. */
const MAX_EXPORTS = 2;
/** Characters of an attribute; longer ones are cut. A visitor chooses the path of a request. */
const MAX_ATTRIBUTE_CHARACTERS = 512;
/** Milliseconds that a server or node waits for the collector before it closes its store or disk. */
const FLUSH_MS = 2_000;
