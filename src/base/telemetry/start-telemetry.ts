/**
 * Starts the export to an OpenTelemetry collector over OTLP/HTTP: spans of a sample of requests, and the metrics of the
 * Prometheus registry under the same names. In: the collector's address, and functions that read the registry and receive
 * warnings. Out: where spans start, and the way to stop. OpenTelemetry's packages are loaded here and in no process without
 * a collector. A collector that does not answer costs spans and one warning, never a request.
 */
import type { Telemetry, TelemetryOptions } from './spans.ts';

/** Loads OpenTelemetry and starts the export; the first request to the collector is sent later. */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { openTelemetry } = await import('./open-telemetry.ts');
  return openTelemetry(options);
}
