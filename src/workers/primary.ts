/**
 * A node of several processes. The primary listens and hands every connection to the worker its peer's address belongs
 * to, so that one address always meets one worker; it starts workers that end again, adds up their metrics, and has them
 * drain. It reads nothing of what clients send.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Registry } from 'prom-client';
import type { ReportedCounts } from '../sync/traffic-counts.ts';
import type { WorkerEvent } from './events.ts';
import { MAX_STARTING_LOOKS, MAX_WORKERS } from './limits.ts';
import { createTotals } from './merge-metrics.ts';
import type { SharedState } from './shared-state.ts';
import type { WorkerProgram } from './start-program.ts';
import { createWorkerRoute } from './worker-of-address.ts';
import { createWorkerProcess, type WorkerProcess } from './worker-process.ts';

export interface PrimaryOptions {
  readonly program: WorkerProgram;
  readonly workers: number;
  /** Where to listen, by a name that workers know the protocol by. */
  readonly listeners: Readonly<Record<string, { readonly host: string; readonly port: number }>>;
  /** Peers that speak for many visitors: their connections are dealt out in turn. */
  readonly isProxy: (address: string) => boolean;
  /** What workers hold alike; from here on its changes are told to them. */
  readonly sharedState: SharedState;
  /** What every worker is told once, as JSON, when it is known where the node listens. */
  readonly settings: (addresses: Readonly<Record<string, AddressInfo>>) => unknown;
  /** Takes what a worker writes to its stdout, at each start; `null`: it has this process's own. */
  readonly onOutput: ((output: Readable) => void) | null;
  /** Told what workers were asked, once. */
  readonly onCounted: (tally: ReportedCounts) => void;
  /** This process's own series, counted beside the workers'. */
  readonly registry: Registry;
  readonly onEvent: (event: WorkerEvent) => void;
  /** Looks until a worker that was started has to be ready. Default: `MAX_STARTING_LOOKS`. */
  readonly startLooks?: number;
}

export interface RunningPrimary {
  readonly addresses: Readonly<Record<string, AddressInfo>>;
  /** Processes of the workers, in their order; `null` for one that is away. */
  pids(): readonly (number | null)[];
  /** The metrics of all workers together. */
  registry(): Promise<Registry>;
  /** Why not all is as it should be, apart from stopping; `null`: it is. */
  unwell(): string | null;
  /** Why no traffic should be sent here; `null`: it should. */
  unready(): string | null;
  /** Reports itself not ready and has the workers ask their clients to leave; all connections are still served. */
  retire(): void;
  /**
   * Stops listening, lets connections that were made be served for `graceMs`, those that wait for a worker which starts
   * included, and ends all workers.
   */
  stop(graceMs: number): Promise<void>;
}

/**
 * Resolves when all workers are ready.
 * @throws RangeError for a number of workers that cannot be
 * @throws Error as `listen` does; or when a worker ends before it was ever ready
 */
export async function startPrimary(options: PrimaryOptions): Promise<RunningPrimary> {
  const { workers, onEvent } = options;
  if (!Number.isInteger(workers) || workers < 1 || workers > MAX_WORKERS) {
    throw new RangeError(`a node has 1 to ${MAX_WORKERS} workers, found ${workers}`);
  }
  const servers = new Map<string, Server>();
  const slots: WorkerProcess[] = [];
  const state = { stopping: false };
  const route = createWorkerRoute({ workers, seed: randomInt(2 ** 32), isProxy: options.isProxy });
  const totals = createTotals(slots, options.registry);

  function give(socket: Socket, listener: string): void {
    // A connection that breaks while it waits is told by `destroyed`.
    socket.on('error', () => undefined);
    const slot = slots[route.of(socket.remoteAddress)];
    // One that comes between the listeners' beginning and the workers'.
    if (slot === undefined) socket.destroy();
    else slot.give(socket, listener);
  }

  function startAll(settings: unknown): void {
    options.sharedState.tellBy({
      change: (step) => Promise.all(slots.map((slot) => slot.change(step))),
      reload: () => Promise.all(slots.map((slot) => slot.reload())),
    });
    for (let index = 0; index < workers; index++) {
      const slot = createWorkerProcess({
        index,
        program: options.program,
        beginning: () => ({ index, count: workers, settings, changes: options.sharedState.changes() }),
        onOutput: options.onOutput,
        onCounted: (tallies) => tallies.forEach(options.onCounted),
        onDamaged: options.sharedState.lookAt,
        onEvent,
        onLost: totals.retire,
        startLooks: options.startLooks ?? MAX_STARTING_LOOKS,
      });
      slots.push(slot);
    }
  }

  function unwell(): string | null {
    const away = slots.flatMap((slot, index) => (slot.ready() ? [] : [index]));
    return away.length === 0 ? null : `not ready: worker ${away.join(', ')}`;
  }

  function retire(): void {
    state.stopping = true;
    for (const slot of slots) slot.retire();
  }

  async function stop(graceMs: number): Promise<void> {
    state.stopping = true;
    // Node would wait for connections that workers hold; those are the workers' to end.
    for (const server of servers.values()) server.close();
    await Promise.all(slots.map((slot) => slot.stop(graceMs)));
  }

  try {
    for (const [name, { host, port }] of Object.entries(options.listeners)) {
      const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => give(socket, name));
      servers.set(name, server);
      server.listen(port, host);
      await once(server, 'listening');
    }
    startAll(options.settings(addressesOf(servers)));
    await Promise.all(slots.map((slot) => slot.begun));
  } catch (error) {
    await stop(0);
    throw error;
  }
  return {
    addresses: addressesOf(servers),
    pids: () => slots.map((slot) => slot.pid()),
    registry: totals.registry,
    // Workers that end now are meant to.
    unwell: () => (state.stopping ? null : unwell()),
    unready: () => (state.stopping ? 'draining' : unwell()),
    retire,
    stop,
  };
}

function addressesOf(servers: ReadonlyMap<string, Server>): Readonly<Record<string, AddressInfo>> {
  return Object.fromEntries([...servers].map(([name, server]) => [name, server.address() as AddressInfo]));
}
