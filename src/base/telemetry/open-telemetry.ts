/**
 * The export with OpenTelemetry's SDK. In: options. Out: `Telemetry`. Settings that this program has no option for are those of
 * the specification's environment variables, which the exporters read themselves: `OTEL_EXPORTER_OTLP_HEADERS` (credentials),
 * `OTEL_EXPORTER_OTLP_CERTIFICATE`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_SERVICE_NAME`.
 */
import type { LookupFunction } from 'node:net';
import { hostname } from 'node:os';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { createSpanSource } from './create-span-source.ts';
import { createExportState, type ExportState, reportExports } from './export-state.ts';
import {
  EXPORT_MS,
  FLUSH_MS,
  MAX_ATTRIBUTE_CHARACTERS,
  MAX_BATCH_SPANS,
  MAX_EXPORTS,
  MAX_WAITING_SPANS,
  METRICS_MS,
  SPANS_MS,
} from './limits.ts';
import type { CollectorOptions, Telemetry, TelemetryIdentity, TelemetryOptions } from './options.ts';
import { collectRegistry } from './registry-metrics.ts';

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
