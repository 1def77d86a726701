/** The metrics of client connections, and of bodies stored for slow clients. */
import { Counter, type Registry } from 'prom-client';
import { declared } from '../../base/telemetry/metrics/declared.ts';
import { addCount, addGauge } from '../proxy/log/metrics.ts';
import type { ConnectionCounts } from './connection-limits.ts';
import type { RefusedHandshakes } from './tls/refused-handshakes.ts';

/** The sources of the metrics, read at each scrape. */
export interface ConnectionSeries {
  readonly connections: () => ConnectionCounts;
  readonly websockets: () => { readonly open: number; readonly refused: number };
  readonly buffers: () => { readonly memory: number; readonly disk: number };
  readonly handshakes: RefusedHandshakes['counts'];
}

/** Adds the metrics to a registry. */
export function addConnections(
  registry: Registry,
  { connections, websockets, buffers, handshakes }: ConnectionSeries,
): void {
  addGauge(registry, {
    name: 'edgeplan_node_connections',
    read: () => connections().open,
    aggregator: 'sum',
  });
  new Counter({
    ...declared('edgeplan_node_connections_refused_total'),
    registers: [registry],
    collect() {
      this.reset();
      for (const [bound, count] of Object.entries(connections().refused)) this.inc({ bound }, count);
    },
  });
  new Counter({
    ...declared('edgeplan_node_handshakes_refused_total'),
    registers: [registry],
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(handshakes())) this.inc({ reason }, count);
    },
  });
  addGauge(registry, {
    name: 'edgeplan_node_websockets',
    read: () => websockets().open,
    aggregator: 'sum',
  });
  addCount(registry, {
    name: 'edgeplan_node_websockets_refused_total',
    read: () => websockets().refused,
  });
  addGauge(registry, {
    name: 'edgeplan_node_buffer_memory_bytes',
    read: () => buffers().memory,
    aggregator: 'sum',
  });
  addGauge(registry, {
    name: 'edgeplan_node_buffer_disk_bytes',
    read: () => buffers().disk,
    aggregator: 'sum',
  });
}
