/** The readiness of a node: the first probes of its origins, and its health and metrics listener on loopback. */
import type { Server } from 'node:net';
import type { Registry } from 'prom-client';
import { foreignHost } from '../../base/addresses/host.ts';
import { createOperationsServer } from '../../base/telemetry/metrics/operations-server.ts';
import { hasProbes } from '../../engine/evaluator/index.ts';
import type { Installed, PlanTable } from '../following/plan-table.ts';
import { type ListenPlace, listenOn } from '../handover/sockets.ts';
import { FIRST_PROBES_MS } from './limits.ts';
import type { Origins } from './origin/request.ts';

/** What the readiness of a node depends on. */
export interface ReadinessParts {
  /** Whether first probes of origin pools are due. */
  readonly isProbing: () => boolean;
  /** Any other reason for which no traffic should be sent here, as a sentence; `null`: none. */
  readonly reason: () => string | null;
}

/**
 * The state of `/readyz`: the first sentence that holds; `null`: ready. First probes delay the first readiness only: probes
 * of a pool that is published later run beside the traffic, and must not take the node out of its balancer.
 */
export function createReadiness({ isProbing, reason }: ReadinessParts): () => string | null {
  let wasReady = false;
  return () => {
    const because =
      reason() ?? (!wasReady && isProbing() ? 'the first probes of origin pools are due' : null);
    wasReady ||= because === null;
    return because;
  };
}

export interface FirstProbes {
  /** The same table, to find the installed plans that have probes. */
  readonly plans: PlanTable;
  /** Whether first probes are due; `false` at the latest `FIRST_PROBES_MS` after the first plan. */
  underWay(): boolean;
}

export function createFirstProbes(table: PlanTable, origins: Pick<Origins, 'unprobed'>): FirstProbes {
  const due = new Map<string, Installed>();
  let until: number | null = null;

  /** PERF: one plan a turn of the event loop. */
  function next(): void {
    const [first] = due;
    if (first === undefined) return;
    const [name, entry] = first;
    due.delete(name);
    if (isProbed(entry)) table.find(name);
    if (due.size > 0) setImmediate(next);
  }

  function add(name: string, entry: Installed | 'refused'): void {
    if (entry === 'refused') return void due.delete(name);
    until ??= performance.now() + FIRST_PROBES_MS;
    if (due.size === 0) setImmediate(next);
    due.set(name, entry);
  }

  const plans: PlanTable = Object.create(table, {
    set: {
      value(name: string, entry: Installed | 'refused') {
        table.set(name, entry);
        add(name, entry);
      },
    },
    prepare: {
      value(name: string, entry: Installed) {
        const install = table.prepare(name, entry);
        return () => {
          install();
          add(name, entry);
        };
      },
    },
  });
  return {
    plans,
    underWay: () => until !== null && performance.now() < until && (due.size > 0 || origins.unprobed() > 0),
  };
}

function isProbed(entry: Installed): boolean {
  try {
    return hasProbes(entry.read());
  } catch {
    // Opening the plan reports that it is damaged.
    return true;
  }
}

// The node's health and metrics listener (`base/telemetry/metrics/operations-server.ts`): healthy while all processes run, ready
// while plans are served and the node is not draining.

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
  readonly server: Server;
  /** Stops accepting connections; a response under way is finished. */
  unlisten(): void;
  close(): void;
}

/** The state to show, and where. Default address: 127.0.0.1. */
export type NodeHealthListenerOptions = NodeHealthOptions &
  Omit<ListenPlace, 'host'> & { readonly host?: string };

/** Listens. @throws Error as `listen` does, when the port is taken */
export async function startHealthListener({
  host: wanted = '127.0.0.1',
  port: wantedPort,
  socket = null,
  ...options
}: NodeHealthListenerOptions): Promise<RunningHealthListener> {
  let checksHost = true;
  const server = createOperationsServer({
    registry: options.registry,
    unready: options.unready,
    unwell: options.unwell ?? (() => null),
    metricsFault: (error) =>
      `the metrics cannot be gathered: ${error instanceof Error ? error.message : String(error)}`,
    checksHost: () => checksHost,
  });
  const { address, port } = await listenOn(server, { host: wanted, port: wantedPort, socket });
  const host = address.includes(':') ? `[${address}]` : address;
  // On loopback a foreign Host is a page in a browser of this machine; elsewhere probes use any name of the node.
  checksHost = foreignHost(host) === null;
  const unlisten = (): void => {
    if (server.listening) server.close();
  };
  return {
    url: `http://${host}:${port}`,
    server,
    unlisten,
    close() {
      unlisten();
      server.closeAllConnections();
    },
  };
}
