/**
 * The primary of a node of several processes. It listens and sends each connection to the worker of its client address, so
 * that one address always meets the same worker; it restarts workers, adds up their metrics, and drains them. It reads
 * nothing of what clients send.
 */
import { randomInt } from 'node:crypto';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { AggregatorRegistry, Counter, Gauge, type Registry } from 'prom-client';
import { parseIp } from '../../base/addresses/ip.ts';
import { xxhash32 } from '../../base/octets/xxhash32.ts';
import { declared } from '../../base/telemetry/metrics/declared.ts';
import type { CacheReport } from '../../engine/plan/cache-report.ts';
import type { CountedSeconds } from '../following/traffic/counter.ts';
import { type ListenPlace, listenOn } from '../handover/sockets.ts';
import { plainAddress } from '../proxy/visitor.ts';
import { describeMessage, type MetricMessage, type WorkerEvent } from './messages.ts';
import type { SharedState } from './shared-state.ts';
import type { WorkerProgram } from './start-program.ts';
import { createWorkerProcess, type WorkerProcess } from './worker-process.ts';

/** Maximum number of workers. More workers than cores gain nothing, and common machines have no more than 256 cores. */
export const MAX_WORKERS = 256;
/**
 * Maximum number of checks until a started worker has to be ready, with or without heartbeats: it opens signatures and
 * certificates first.
 */
const MAX_STARTING_CHECKS = 60;

/** What `startPrimary` needs. */
export interface PrimaryOptions {
  /** The program of a worker; it calls `joinPrimary`. */
  readonly program: WorkerProgram;
  readonly workers: number;
  /**
   * Addresses or sockets to listen on, by listener name; a worker chooses the protocol by that name. A socket whose port is known
   * is listened on once the workers are ready: another process serves its connections until then.
   */
  readonly listeners: Readonly<Record<string, ListenPlace>>;
  /** The key by which addresses are assigned to workers, of the primary before; absent or `null`: a random one. */
  readonly routeSeed?: number | null;
  /** What the workers of the primary before remembered, by number, JSON-safe; absent: nothing. */
  readonly before?: readonly unknown[];
  /** Proxies that many visitors come through: their connections go to the workers in turn. */
  readonly isProxy: (address: string) => boolean;
  /** The workers' shared state; its changes are sent to them from the start on. */
  readonly sharedState: SharedState;
  /** Settings for every worker, JSON-safe; called once with the ports of the listeners. */
  readonly settings: (ports: Readonly<Record<string, number>>) => unknown;
  /** Called with the stdout of each worker process; `null`: they share this process's stdout. */
  readonly onOutput: ((output: Readable) => void) | null;
  /** Called with what a worker has counted, once for each count. */
  readonly onCounted: (counted: CountedSeconds) => void;
  /** Called with what the cache of a worker has stored, once for each report. */
  readonly onCached: (report: CacheReport) => void;
  /** The primary's own metrics, added to the workers'. */
  readonly registry: Registry;
  readonly onEvent: (event: WorkerEvent) => void;
  /** Checks until a started worker has to be ready. Default: `MAX_STARTING_CHECKS`. */
  readonly startChecks?: number;
}

/** Receives what a worker has counted of visitors. */
export type VisitsReceiver = (index: number, visits: unknown) => void;

/** A primary whose workers have started. */
export interface RunningPrimary {
  /** Bound addresses, by listener name. */
  readonly addresses: Readonly<Record<string, AddressInfo>>;
  /** Listening servers, by listener name. */
  readonly servers: ReadonlyMap<string, Server>;
  /** The key by which addresses are assigned to workers. */
  readonly routeSeed: number;
  /**
   * Makes workers stop to use the node's folder. @returns what each remembers; `null`: nothing
   * @param onVisits called with what a worker has counted of visitors since, by its number; JSON-safe
   */
  release(onVisits: VisitsReceiver): Promise<readonly unknown[]>;
  /** Adds to each worker what another process has counted of visitors, JSON-safe, by its number. */
  absorb(visitsOf: (index: number) => unknown): void;
  /** Makes workers use the folder again. */
  reclaim(): void;
  /** Accepts no more connections; those accepted are served on. */
  unlisten(): void;
  /** Process ids by worker; `null`: it is not running. */
  pids(): readonly (number | null)[];
  /** The sum of the metrics of all workers and of the primary. */
  registry(): Promise<Registry>;
  /** Which workers are not ready, as a sentence; `null`: all are, or the node is stopping. */
  unwell(): string | null;
  /** Why the processes are not ready for traffic; `null`: they are ready. */
  unready(): string | null;
  /** Whether a worker's first probes of origin pools are due. */
  isProbing(): boolean;
  /** Reports itself not ready, and makes workers ask clients to close their connections; all are still served. */
  retire(): void;
  /**
   * Stops listening, lets existing connections be served for `graceMs`, also those that wait for a worker, and ends all
   * workers.
   */
  stop(graceMs: number): Promise<void>;
}

/** The running parts of a primary. */
interface PrimaryState {
  readonly options: PrimaryOptions;
  readonly servers: Map<string, Server>;
  readonly workers: WorkerProcess[];
  readonly route: WorkerRoute;
  readonly totals: Totals;
  /** Connections that came before the workers were created. */
  readonly early: { readonly socket: Socket; readonly listener: string }[];
  isStopping: boolean;
  /** Set while another process has the node's folder. */
  onVisits: VisitsReceiver | null;
}

/**
 * Opens the listeners and starts the workers; resolves when all workers are ready.
 * @throws RangeError for an impossible number of workers; Error as `listen` does; WorkerFault when a worker ends before it
 * is ready
 */
export async function startPrimary(options: PrimaryOptions): Promise<RunningPrimary> {
  const { workers: count } = options;
  if (!Number.isInteger(count) || count < 1 || count > MAX_WORKERS) {
    throw new RangeError(`a node has 1 to ${MAX_WORKERS} workers, found ${count}`);
  }
  const workers: WorkerProcess[] = [];
  const seed = options.routeSeed ?? randomInt(2 ** 32);
  const state: PrimaryState = {
    options,
    servers: new Map(),
    workers,
    route: createWorkerRoute({ workers: count, seed, isProxy: options.isProxy }),
    totals: createTotals(workers, options.registry),
    early: [],
    isStopping: false,
    onVisits: null,
  };
  try {
    await listen(state, (place) => !isServed(place));
    startAll(state);
    await Promise.all(workers.map((worker) => worker.started));
    await listen(state, isServed);
  } catch (error) {
    await stop(state, 0);
    throw error;
  }
  return {
    addresses: addressesOf(state.servers),
    servers: state.servers,
    routeSeed: seed,
    release(onVisits) {
      state.onVisits = onVisits;
      return Promise.all(workers.map((worker) => worker.release()));
    },
    absorb(visitsOf) {
      for (const [index, worker] of workers.entries()) worker.absorb(visitsOf(index));
    },
    reclaim() {
      state.onVisits = null;
      for (const worker of workers) worker.reclaim();
    },
    unlisten: () => unlisten(state),
    pids: () => workers.map((worker) => worker.pid()),
    registry: state.totals.registry,
    // Workers end on purpose while the node stops.
    unwell: () => (state.isStopping ? null : notReady(workers)),
    unready: () => (state.isStopping ? 'draining' : notReady(workers)),
    isProbing: () => workers.some((worker) => worker.isProbing()),
    retire() {
      state.isStopping = true;
      for (const worker of workers) worker.retire();
    },
    stop: (graceMs) => stop(state, graceMs),
  };
}

/** Whether another process serves the connections of the socket for now. */
function isServed({ socket }: ListenPlace): boolean {
  return socket != null && socket.port !== null;
}

async function listen(state: PrimaryState, isDue: (place: ListenPlace) => boolean): Promise<void> {
  for (const [name, place] of Object.entries(state.options.listeners)) {
    if (!isDue(place)) continue;
    const onConnection = (socket: Socket): void => give(state, socket, name);
    const server = createServer({ pauseOnConnect: true, noDelay: true }, onConnection);
    state.servers.set(name, server);
    await listenOn(server, place);
  }
}

function unlisten({ servers }: PrimaryState): void {
  for (const server of servers.values()) if (server.listening) server.close();
}

/** Most connections that wait for the workers to be created, which takes milliseconds: Linux's default `somaxconn`. */
const MAX_EARLY = 4_096;

function give({ workers, route, early }: PrimaryState, socket: Socket, listener: string): void {
  // A connection that breaks while it waits is found by `destroyed`.
  socket.on('error', () => undefined);
  const worker = workers[route.of(socket.remoteAddress)];
  if (worker !== undefined) worker.give(socket, listener);
  // A connection between the start of the listeners and of the workers.
  else if (early.length < MAX_EARLY) early.push({ socket, listener });
  else socket.destroy();
}

function startAll(state: PrimaryState): void {
  const { options, workers, totals } = state;
  const { sharedState, workers: count } = options;
  const settings = options.settings(portsOf(state));
  const before = [...(options.before ?? [])];
  /** What a worker remembers is for its first process alone. */
  const takeBefore = (index: number): unknown => {
    const memory = before[index] ?? null;
    before[index] = null;
    return memory;
  };
  sharedState.connect({
    change: (step) => Promise.all(workers.map((worker) => worker.change(step))),
    reload: () => Promise.all(workers.map((worker) => worker.reload())),
  });
  for (let index = 0; index < count; index++) {
    const worker = createWorkerProcess({
      index,
      program: options.program,
      startMessage: () => ({
        index,
        count,
        settings,
        changes: sharedState.changes(),
        before: takeBefore(index),
        isReleased: state.onVisits !== null,
      }),
      onOutput: options.onOutput,
      onCounted: options.onCounted,
      onCached: options.onCached,
      onVisits: (visits) => state.onVisits?.(index, visits),
      onDamaged: sharedState.verify,
      onEvent: options.onEvent,
      onLost: totals.retire,
      startChecks: options.startChecks ?? MAX_STARTING_CHECKS,
    });
    workers.push(worker);
  }
  for (const { socket, listener } of state.early.splice(0)) give(state, socket, listener);
}

/** Which workers are not ready, as a sentence; `null`: all are. */
function notReady(workers: readonly WorkerProcess[]): string | null {
  const away = workers.flatMap((worker, index) => (worker.ready() ? [] : [index]));
  return away.length === 0 ? null : `not ready: worker ${away.join(', ')}`;
}

async function stop(state: PrimaryState, graceMs: number): Promise<void> {
  state.isStopping = true;
  // Not awaited: Node would wait for connections that were sent to workers, and those end with the workers.
  unlisten(state);
  await Promise.all(state.workers.map((worker) => worker.stop(graceMs)));
}

/** The ports of all listeners, those that are not listened on yet included. */
function portsOf({ servers, options }: PrimaryState): Readonly<Record<string, number>> {
  const bound = Object.entries(addressesOf(servers)).map(([name, { port }]) => [name, port]);
  const known = Object.entries(options.listeners).flatMap(([name, { socket }]) =>
    socket?.port == null ? [] : [[name, socket.port]],
  );
  return Object.fromEntries([...bound, ...known]);
}

function addressesOf(servers: ReadonlyMap<string, Server>): Readonly<Record<string, AddressInfo>> {
  return Object.fromEntries([...servers].map(([name, server]) => [name, server.address() as AddressInfo]));
}

// Chooses the worker for a client address by a keyed hash, always the same one, so that rate limits count an address in
// one process. IPv6 addresses are taken by their first 64 bits, as in rate limits (semantics §5): a visitor chooses the rest.

/** The choice of a worker. */
interface WorkerRoute {
  /** Index of the worker for a connection's peer, from 0. */
  of(address: string | undefined): number;
}

export interface WorkerRouteOptions {
  readonly workers: number;
  /** Key of the hash, 32 bits; secret, so that an attacker cannot choose addresses of one worker. */
  readonly seed: number;
  /** Proxies that many visitors come through; their connections go to the workers in turn. */
  readonly isProxy: (address: string) => boolean;
}

export function createWorkerRoute({ workers, seed, isProxy }: WorkerRouteOptions): WorkerRoute {
  const words = new Uint32Array(4);
  const bytes = new Uint8Array(words.buffer, 0, 8);
  let turn = 0;
  return {
    of(peer) {
      const address = plainAddress(peer);
      if (address === null || isProxy(address)) {
        turn = (turn + 1) % workers;
        return turn;
      }
      words.fill(0);
      parseIp(address, words);
      return xxhash32(bytes, seed) % workers;
    },
  };
}

// Adds up the metrics of all workers and of the primary, and counts workers that are ready or were restarted.

/** The metrics of the node. */
interface Totals {
  /** Retains counters and histograms of an ended worker: a Prometheus counter must not fall. */
  retire(metrics: readonly MetricMessage[]): void;
  /** A registry with the sums at this moment. */
  registry(): Promise<Registry>;
}

/** @param workers the worker processes; filled during the start @param own the primary's own series */
function createTotals(workers: readonly WorkerProcess[], own: Registry): Totals {
  new Gauge({
    ...declared('edgeplan_node_workers_ready'),
    registers: [own],
    collect() {
      this.set(workers.filter((worker) => worker.ready()).length);
    },
  });
  new Gauge({
    ...declared('edgeplan_node_worker_up'),
    registers: [own],
    collect() {
      for (const [index, worker] of workers.entries())
        this.set({ worker: String(index) }, worker.ready() ? 1 : 0);
    },
  });
  new Counter({
    ...declared('edgeplan_node_worker_restarts_total'),
    registers: [own],
    collect() {
      this.reset();
      this.inc(workers.reduce((sum, worker) => sum + worker.restarts(), 0));
    },
  });
  /** Metrics of ended workers: one part, or several until `fold` has added them up. */
  let retired: readonly (readonly MetricMessage[])[] = [];
  let folding = false;

  async function fold(): Promise<void> {
    if (folding) return;
    folding = true;
    while (retired.length > 1) {
      const parts = retired;
      const one = await describeMessage(sum(parts));
      retired = [one, ...retired.slice(parts.length)];
    }
    folding = false;
  }

  return {
    retire(metrics) {
      const lasting = metrics.filter(({ type }) => type === 'counter' || type === 'histogram');
      if (lasting.length === 0) return;
      retired = [...retired, lasting];
      void fold();
    },
    async registry() {
      const [primary] = await Promise.all([
        describeMessage(own),
        ...workers.map((worker) => worker.refreshMetrics()),
      ]);
      // INVARIANT: read synchronously. A worker that ends between its reply and another's would count twice, or never.
      return sum([primary, ...workers.map((worker) => worker.metrics()), ...retired]);
    },
  };
}

function sum(parts: readonly (readonly object[])[]): Registry {
  return AggregatorRegistry.aggregate(parts as object[]);
}
