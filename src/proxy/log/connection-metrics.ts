/** The series of connections that clients have, and of what is stored for slow ones. */
import { Counter, type Registry } from 'prom-client';
import type { ConnectionCounts } from '../listen/connection-limits.ts';
import { addCount, addGauge } from './metrics.ts';

export interface ConnectionSeries {
  readonly connections: () => ConnectionCounts;
  readonly websockets: () => { readonly open: number; readonly refused: number };
  readonly buffers: () => { readonly memory: number; readonly disk: number };
}

export function addConnections(
  registry: Registry,
  { connections, websockets, buffers }: ConnectionSeries,
): void {
  addGauge(registry, {
    name: 'edgeplan_node_connections',
    help: 'Connections of clients that are open',
    read: () => connections().open,
    together: 'sum',
  });
  new Counter({
    name: 'edgeplan_node_connections_refused_total',
    help: 'Connections closed because there are as many as may be, of all clients or of one address',
    labelNames: ['bound'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [bound, count] of Object.entries(connections().refused)) this.inc({ bound }, count);
    },
  });
  addGauge(registry, {
    name: 'edgeplan_node_websockets',
    help: 'WebSockets that are open or being opened',
    read: () => websockets().open,
    together: 'sum',
  });
  addCount(registry, {
    name: 'edgeplan_node_websockets_refused_total',
    help: 'WebSockets answered 503 because there are as many as may be',
    read: () => websockets().refused,
  });
  addGauge(registry, {
    name: 'edgeplan_node_buffer_memory_bytes',
    help: 'Octets of bodies in memory that wait for slow clients',
    read: () => buffers().memory,
    together: 'sum',
  });
  addGauge(registry, {
    name: 'edgeplan_node_buffer_disk_bytes',
    help: 'The same in files',
    read: () => buffers().disk,
    together: 'sum',
  });
}
