/** Starts the export of one process of a node to an OpenTelemetry collector. In: its options. Out: spans, and the way to stop. */
import type { Logger } from 'pino';
import type { Telemetry, TelemetryIdentity, TelemetryOptions } from '../../base/telemetry/spans.ts';
import { startTelemetry } from '../../base/telemetry/start-telemetry.ts';
import { createOwnLookup } from '../proxy/origin/names.ts';

/** The export of a process, as its primary sends it to a worker: as JSON. */
export interface NodeTelemetryOptions
  extends Pick<TelemetryOptions, 'collector'>,
    Pick<TelemetryIdentity, 'version' | 'instance'> {}

export interface NodeTelemetryParts
  extends Pick<TelemetryOptions, 'registry'>,
    Pick<TelemetryIdentity, 'worker'> {
  /** Receives a warning when exports begin to fail, and when they work again. */
  readonly log: Logger;
}

/** `null`: no collector is configured, and nothing of OpenTelemetry is loaded. */
export async function startNodeTelemetry(
  options: NodeTelemetryOptions | null,
  { registry, worker, log }: NodeTelemetryParts,
): Promise<Telemetry | null> {
  if (options === null) return null;
  const { collector, version, instance } = options;
  return startTelemetry({
    collector,
    identity: { service: 'edgeplan-node', version, instance, worker },
    registry,
    lookup: createOwnLookup(),
    onChange: (sentence) => log.warn(sentence),
  });
}
