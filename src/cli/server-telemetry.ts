/** The OpenTelemetry export of `edgeplan serve`: where it starts, and the span of a publication. */
import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import type { SpanSource, Telemetry } from '../base/telemetry/spans.ts';
import { startTelemetry } from '../base/telemetry/start-telemetry.ts';
import type { HostNames } from '../control/dns/host-names.ts';
import type { RevisionRow } from '../control/store/rows.ts';
import type { ServerOptions } from './server-options.ts';
import { version } from './version.ts';

/** Starts the export to an OpenTelemetry collector; `null`: none is configured, and nothing of it is loaded. */
export async function startServerTelemetry(
  { collector, log }: Pick<ServerOptions, 'collector' | 'log'>,
  { registry, hostNames }: { readonly registry: Registry; readonly hostNames: HostNames },
): Promise<Telemetry | null> {
  if (collector === undefined) return null;
  return startTelemetry({
    collector,
    identity: { service: 'edgeplan-server', version: version(), instance: randomUUID(), worker: null },
    registry: () => registry,
    lookup: hostNames.lookupFor('operator'),
    onChange: (sentence) => log.warn(sentence),
  });
}

/** A span from the oldest write that a revision covers to its commit: publications follow requests, and outlast them. */
export function recordPublication(spans: SpanSource, revision: RevisionRow, sinceWriteMs: number): void {
  const startedAt = Date.now() - sinceWriteMs;
  const span = spans.start({ name: 'publish', kind: 'internal', startedAt }, null);
  span.set({
    'edgeplan.domain': revision.domain,
    'edgeplan.revision': revision.revision,
    'edgeplan.publication': revision.digest === null ? 'tombstone' : 'plan',
  });
  span.end(null);
}
