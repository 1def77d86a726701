/**
 * One worker of the primary: a child process that is started again whenever it ends, and killed when its heartbeats stop.
 * In: connections, changes of the shared state, requests for metrics. Out: messages to the process, events for the log.
 * The state (`WorkerState`) outlives the processes; the functions are its transitions.
 */
import { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { backoffMs } from '../../base/platform/tasks.ts';
import type { CacheReport } from '../../engine/plan/cache-report.ts';
import type { CountedSeconds } from '../following/traffic/counter.ts';
import {
  type ChangeStep,
  faultOf,
  type MetricMessage,
  type StartFault,
  type ToPrimary,
  type ToWorker,
  type WorkerEvent,
  WorkerFault,
  type WorkerStart,
} from './messages.ts';
import {
  accepted,
  createPendingConnections,
  createPendingRequests,
  dropExpired,
  enqueue,
  type PendingConnections,
  type PendingRequests,
  putBack,
  refuse,
  send,
  sendWaiting,
} from './pending.ts';
import { startProgram, type WorkerProgram } from './start-program.ts';

/**
 * Maximum time, in milliseconds, that a connection waits for a worker that is not ready before it is closed: clients
 * retry by then.
 */
const MAX_WAIT_MS = 10_000;
/** Milliseconds between checks for connections that wait too long and for workers without a heartbeat. */
export const CHECK_MS = 1_000;
/**
 * Maximum number of checks in a row without a heartbeat before a worker is replaced: ten heartbeats, so that an
 * overloaded machine passes.
 */
const MAX_SILENT_CHECKS = 5;
/** Milliseconds after which the end of a worker is not counted as one of a series. */
const STEADY_MS = 10_000;
/** Milliseconds until the second restart of a series, doubled with each; the first is immediate. */
const FIRST_BACKOFF_MS = 100;
/** Maximum time, in milliseconds, until a restart. */
const LAST_BACKOFF_MS = 30_000;
/** Maximum time, in milliseconds, for workers to send their metrics: below the scrape time-out of Prometheus, 10 s. */
const METRICS_MS = 2_000;
/** Maximum time, in milliseconds, for workers to release the folder: they write what they have queued for it. */
const RELEASE_MS = 5_000;
/** Maximum time, in milliseconds, for a worker to exit after the grace of its requests. */
const END_MS = 2_000;

/** A worker, over all its processes. */
export interface WorkerProcess {
  /** Id of the process; `null` while it is not running. */
  pid(): number | null;
  ready(): boolean;
  /** Whether the process has first probes of origin pools under way, as of its last message. */
  isProbing(): boolean;
  /** Resolves when the worker is ready for the first time; rejects with WorkerFault when it ends before. */
  readonly started: Promise<void>;
  /** Sends a connection to the worker, or lets it wait until the worker is ready. */
  give(socket: Socket, listener: string): void;
  /**
   * Makes the worker do a step of a change; resolves with why it failed, or `null`. A worker that is not running, or ends
   * meanwhile, counts as successful: its next process starts with the changed state.
   */
  change(step: ChangeStep): Promise<string | null>;
  /** Makes it read changed files; resolves as `change`. */
  reload(): Promise<string | null>;
  /** Requests its metrics; resolves when they are there, or the worker is not running or does not reply. */
  refreshMetrics(): Promise<void>;
  /** The metrics of its last reply; empty while it is not running. */
  metrics(): readonly MetricMessage[];
  restarts(): number;
  /**
   * Makes it stop to use the node's folder; resolves with what it remembers of visitors, or `null` if it is not running or does
   * not reply. `isReleased` of the next start messages is the caller's.
   */
  release(): Promise<unknown>;
  /** Adds what another process has counted of visitors, JSON-safe. */
  absorb(visits: unknown): void;
  /** Makes it use the folder again. */
  reclaim(): void;
  /** Makes it ask clients to close their connections, now and after each restart. */
  retire(): void;
  /** Lets it serve its connections and those that wait for `graceMs`, then ends it. */
  stop(graceMs: number): Promise<void>;
}

export interface WorkerProcessOptions {
  readonly index: number;
  readonly program: WorkerProgram;
  /** What a process that starts now starts with. */
  readonly startMessage: () => WorkerStart;
  /** Called with each process's stdout; `null`: it shares this process's stdout. */
  readonly onOutput: ((output: Readable) => void) | null;
  readonly onCounted: (counted: CountedSeconds) => void;
  /** Called with what the worker's cache has stored. */
  readonly onCached: (report: CacheReport) => void;
  /** Called with what the worker has counted of visitors since its `release`. */
  readonly onVisits: (visits: unknown) => void;
  /** Called with a name whose plan the worker cannot read. */
  readonly onDamaged: (name: string) => void;
  readonly onEvent: (event: WorkerEvent) => void;
  /** Called with the last metrics of a process that ended. */
  readonly onLost: (metrics: readonly MetricMessage[]) => void;
  /** Checks until a started process has to be ready. */
  readonly startChecks: number;
}

interface WorkerState {
  readonly options: WorkerProcessOptions;
  readonly connections: PendingConnections;
  readonly metricRequests: PendingRequests<void>;
  readonly changeRequests: PendingRequests<string | null>;
  readonly releaseRequests: PendingRequests<unknown>;
  /** Settles `WorkerProcess.started`. */
  readonly onStarted: () => void;
  readonly onNotStarted: (fault: WorkerFault) => void;
  child: ChildProcess | null;
  isReady: boolean;
  isProbing: boolean;
  /**
   * Checks since the last heartbeat; before `ready`, since the start, as a process that hangs may still send heartbeats.
   * Checks and not time: while this process itself is stopped, there are none.
   */
  silentChecks: number;
  startFault: StartFault | null;
  /** When it has to be at its end, in milliseconds of `performance.now()`; `null`: it is not stopping. */
  drainsBy: number | null;
  isRetiring: boolean;
  /** Ends in a row of processes that ran for less than `STEADY_MS`. */
  endsInRow: number;
  restarts: number;
  startedAt: number;
  restartTimer: NodeJS.Timeout | null;
  metrics: readonly MetricMessage[];
}

/** Starts the worker. */
export function createWorkerProcess(options: WorkerProcessOptions): WorkerProcess {
  let onStarted: () => void = () => undefined;
  let onNotStarted: (fault: WorkerFault) => void = () => undefined;
  const started = new Promise<void>((resolve, reject) => {
    onStarted = resolve;
    onNotStarted = reject;
  });
  // A rejection without a handler would end this process.
  started.catch(() => undefined);
  const state: WorkerState = {
    options,
    connections: createPendingConnections(),
    metricRequests: createPendingRequests<void>({ late: { ms: METRICS_MS, value: () => undefined } }),
    changeRequests: createPendingRequests<string | null>({ late: null }),
    releaseRequests: createPendingRequests<unknown>({ late: { ms: RELEASE_MS, value: () => null } }),
    onStarted,
    onNotStarted,
    child: null,
    isReady: false,
    isProbing: false,
    silentChecks: 0,
    startFault: null,
    drainsBy: null,
    isRetiring: false,
    endsInRow: 0,
    restarts: 0,
    startedAt: 0,
    restartTimer: null,
    metrics: [],
  };
  const checks = setInterval(() => check(state), CHECK_MS);
  checks.unref();
  start(state);
  return {
    started,
    pid: () => state.child?.pid ?? null,
    ready: () => state.isReady,
    isProbing: () => state.isProbing,
    restarts: () => state.restarts,
    retire() {
      state.isRetiring = true;
      post(state, { kind: 'retire' });
    },
    give: (socket, listener) => give(state, socket, listener),
    change: (step) => request(state, (number) => ({ kind: 'change', number, ...step })),
    reload: () => request(state, (number) => ({ kind: 'reload', number })),
    refreshMetrics() {
      if (!state.isReady || state.child?.connected !== true) return Promise.resolve();
      return state.metricRequests.send((number) => post(state, { kind: 'metrics', number }));
    },
    metrics: () => state.metrics,
    release() {
      if (!state.isReady || state.child?.connected !== true) return Promise.resolve(null);
      return state.releaseRequests.send((number) => post(state, { kind: 'release', number }));
    },
    absorb: (visits) => post(state, { kind: 'absorb', visits }),
    reclaim: () => post(state, { kind: 'reclaim' }),
    async stop(graceMs) {
      clearInterval(checks);
      await stop(state, graceMs);
    },
  };
}

function start(state: WorkerState): void {
  const { program, onOutput, startMessage } = state.options;
  state.restartTimer = null;
  state.startedAt = performance.now();
  state.silentChecks = 0;
  state.startFault = null;
  const child = startProgram(program, { piped: onOutput !== null });
  if (!(child instanceof ChildProcess)) {
    state.startFault = child;
    ended(state, 'it could not be started');
    return;
  }
  state.child = child;
  post(state, { kind: 'start', start: startMessage() });
  // Without free descriptors `stdout` is undefined, against its type.
  if (child.stdout) onOutput?.(child.stdout);
  child.on('message', (message) => {
    // Messages of an earlier process are about connections that were put back since.
    if (state.child === child) handleMessage(state, message as ToPrimary);
  });
  child.on('error', (error) => {
    // A process that runs also ends after a broken channel, which `close` reports.
    if (child.pid === undefined) state.startFault = faultOf(error);
  });
  // `close` and not `exit`: by then all its messages are handled, above all those of accepted connections.
  child.once('close', (code, signal) => ended(state, signal ?? `exit code ${code}`));
}

/** Sends a message. A process that is ending does not get it; the next one starts with the state. */
function post({ child }: WorkerState, message: Exclude<ToWorker, { kind: 'connection' }>): void {
  if (child?.connected === true) child.send(message, () => undefined);
}

/** Sends a message that has a reply. */
function request(
  state: WorkerState,
  message: (number: number) => Exclude<ToWorker, { kind: 'connection' }>,
): Promise<string | null> {
  if (state.child?.connected !== true) return Promise.resolve(null);
  return state.changeRequests.send((number) => post(state, message(number)));
}

function handleMessage(state: WorkerState, message: ToPrimary): void {
  const { options } = state;
  if (state.isReady) state.silentChecks = 0;
  switch (message.kind) {
    case 'beat':
      state.isProbing = message.isProbing;
      return;
    case 'ready':
      becomeReady(state);
      return;
    case 'failed':
      state.startFault = message.fault;
      return;
    case 'accepted':
      accepted(state.connections, message.number);
      return;
    case 'metrics':
      state.metrics = message.metrics;
      state.metricRequests.answer(message.number, undefined);
      return;
    case 'memory':
      state.releaseRequests.answer(message.number, message.memory);
      return;
    case 'done':
      state.changeRequests.answer(message.number, message.fault);
      return;
    case 'counted':
      options.onCounted({
        seconds: message.seconds.map(({ minute, sealed }) => ({
          minute,
          sealed: Buffer.from(sealed, 'base64'),
        })),
        droppedTops: message.droppedTops,
      });
      return;
    case 'cached':
      options.onCached(message.report);
      return;
    case 'visits':
      options.onVisits(message.visits);
      return;
    case 'damaged':
      options.onDamaged(message.name);
      return;
    default:
      message satisfies never;
  }
}

function becomeReady(state: WorkerState): void {
  const { child, options, drainsBy } = state;
  state.isReady = true;
  state.silentChecks = 0;
  options.onEvent({ kind: 'ready', index: options.index, pid: child?.pid ?? 0 });
  state.onStarted();
  if (state.isRetiring) post(state, { kind: 'retire' });
  sendWaiting(state.connections, child);
  if (drainsBy !== null) drain(state, drainsBy);
}

/** Gives a connection to the process, lets it wait for one, or closes it when the worker is stopping. */
function give(state: WorkerState, socket: Socket, listener: string): void {
  const { connections } = state;
  const connection = { socket, listener, since: performance.now() };
  if (state.drainsBy !== null) refuse(connections, connection);
  else if (state.isReady) send(connections, connection, state.child);
  else enqueue(connections, connection);
}

/** The process has ended: settles what waits for it, and starts the next one, later after each short-lived one. */
function ended(state: WorkerState, how: string): void {
  const { options, connections } = state;
  const { index, onEvent } = options;
  state.child = null;
  state.isReady = false;
  state.isProbing = false;
  state.metricRequests.end(undefined);
  state.changeRequests.end(null);
  state.releaseRequests.end(null);
  options.onLost(state.metrics);
  state.metrics = [];
  const reason = state.startFault?.message ?? how;
  const sentence = `worker ${index} ended before it was ready: ${reason}`;
  state.onNotStarted(new WorkerFault(sentence, state.startFault?.code ?? null));
  putBack(connections);
  if (state.drainsBy !== null) {
    dropExpired(connections, Number.POSITIVE_INFINITY);
    return;
  }
  if (performance.now() - state.startedAt >= STEADY_MS) state.endsInRow = 0;
  // Immediately after a process that ran for long.
  const bounds = { first: FIRST_BACKOFF_MS, last: LAST_BACKOFF_MS };
  const againInMs = state.endsInRow === 0 ? 0 : backoffMs(state.endsInRow - 1, bounds);
  state.endsInRow++;
  state.restarts++;
  onEvent({ kind: 'ended', index, how: reason, againInMs });
  state.restartTimer = setTimeout(() => start(state), againInMs);
}

/** Every `CHECK_MS`: kills a process without heartbeats, closes connections that wait too long, reports those. */
function check(state: WorkerState): void {
  killSilent(state);
  if (!state.isReady) dropExpired(state.connections, performance.now() - MAX_WAIT_MS);
  reportRefused(state);
}

function killSilent(state: WorkerState): void {
  const { child, isReady, options } = state;
  const most = isReady ? MAX_SILENT_CHECKS : options.startChecks;
  if (child === null || ++state.silentChecks !== most) return;
  if (!isReady) state.startFault = { message: 'it did not become ready', code: null };
  const kind = isReady ? 'silent' : 'late';
  options.onEvent({ kind, index: options.index, pid: child.pid ?? 0, checks: state.silentChecks });
  child.kill('SIGKILL');
}

function reportRefused({ connections, options }: WorkerState): void {
  const { refused } = connections;
  if (refused > 0) options.onEvent({ kind: 'refused', index: options.index, connections: refused });
  connections.refused = 0;
}

function drain(state: WorkerState, by: number): void {
  post(state, { kind: 'drain', graceMs: Math.max(0, by - performance.now()) });
}

async function stop(state: WorkerState, graceMs: number): Promise<void> {
  const { connections } = state;
  state.drainsBy = performance.now() + graceMs;
  if (state.restartTimer !== null) {
    clearTimeout(state.restartTimer);
    // One more process, without a delay: only this worker may serve the connections that wait.
    if (connections.waiting.length > 0) start(state);
  }
  const last = state.child;
  if (last === null) return reportRefused(state);
  const closed = new Promise<void>((resolve) => last.once('close', () => resolve()));
  if (state.isReady) drain(state, state.drainsBy);
  else if (connections.waiting.length === 0) last.kill('SIGKILL');
  const unready = setTimeout(() => state.isReady || last.kill('SIGKILL'), graceMs);
  const late = setTimeout(() => {
    last.kill('SIGKILL');
    // `close` waits for output that is not read.
    last.stdout?.destroy();
  }, graceMs + END_MS);
  await closed;
  clearTimeout(unready);
  clearTimeout(late);
  reportRefused(state);
}
