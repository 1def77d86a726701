/**
 * The node's health and metrics listener on loopback (`base/telemetry/metrics/operations-server.ts`): healthy while all processes run, ready
 * while plans are served and the node is not draining.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { createOperationsServer } from '../../../base/telemetry/metrics/operations-server.ts';

export interface NodeHealthOptions {
  /** The series of this process, or of all workers together. */
  readonly registry: () => Registry | Promise<Registry>;
  /** Why no traffic should be sent here, as a sentence; `null`: the node is ready. */
  readonly unready: () => string | null;
  /** What is wrong with a process of the node, as a sentence; `null`: nothing. Absent: there is this one only. */
  readonly unwell?: () => string | null;
}

export interface RunningHealthListener {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  close(): void;
}

/** Listens on loopback. @throws Error as `listen` does, when the port is taken */
export async function startHealthListener(
  options: NodeHealthOptions & { readonly port: number },
): Promise<RunningHealthListener> {
  const server = createOperationsServer({
    registry: options.registry,
    unready: options.unready,
    unwell: options.unwell ?? (() => null),
    metricsFault: (error) =>
      `the metrics cannot be gathered: ${error instanceof Error ? error.message : String(error)}`,
  });
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
