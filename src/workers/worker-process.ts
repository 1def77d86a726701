/**
 * One worker's place: a process that is started again whenever it ends, and ended when it gives no sign of life, and the
 * connections on their way to it. They wait while it is away, within bounds, and are never given to another worker.
 */
import { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { backoffMs } from '../platform/backoff.ts';
import type { ReportedCounts } from '../sync/traffic-counts.ts';
import { type WorkerEvent, WorkerFault } from './events.ts';
import {
  END_MS,
  FIRST_BACKOFF_MS,
  HOLD_MS,
  LAST_BACKOFF_MS,
  LOOK_MS,
  MAX_SILENT_LOOKS,
  MAX_WAITING,
  METRICS_MS,
  STEADY_MS,
} from './limits.ts';
import {
  type BeginFault,
  type Beginning,
  type ChangeStep,
  faultOf,
  type MetricMessage,
  type ToPrimary,
  type ToWorker,
} from './messages.ts';
import { createPendingRequests } from './pending-requests.ts';
import { startProgram, type WorkerProgram } from './start-program.ts';

export interface WorkerProcess {
  /** The process, `null` while there is none. */
  pid(): number | null;
  ready(): boolean;
  /** Resolves at the first `ready`; rejects when the worker ends before. */
  readonly begun: Promise<void>;
  give(socket: Socket, listener: string): void;
  /**
   * Has the worker do a step of a change; resolves with why it could not, or `null`. One that is away begins from what is
   * held when it is back, and one that ends meanwhile too.
   */
  change(step: ChangeStep): Promise<string | null>;
  /** Has it read anew what files say, as `change`. */
  reload(): Promise<string | null>;
  /** Asks the worker what it counts; resolves when it has told, is away, or does not answer. */
  recount(): Promise<void>;
  /** What it told last; nothing where it is away. */
  counted(): readonly MetricMessage[];
  restarts(): number;
  /** Has it ask its clients to leave, now and whenever it is started again. */
  retire(): void;
  /** Has it serve what it was given and what waits for it, for so long, and ends it. */
  stop(graceMs: number): Promise<void>;
}

export interface WorkerProcessOptions {
  readonly index: number;
  readonly program: WorkerProgram;
  /** What a worker that starts now begins from. */
  readonly beginning: () => Beginning;
  /** Takes what a worker writes to its stdout, at each start; `null`: it has this process's own. */
  readonly onOutput: ((output: Readable) => void) | null;
  readonly onCounted: (tallies: readonly ReportedCounts[]) => void;
  /** The worker cannot read a plan. */
  readonly onDamaged: (name: string) => void;
  readonly onEvent: (event: WorkerEvent) => void;
  /** Told what a worker that is gone had counted when it was last asked. */
  readonly onLost: (counted: readonly MetricMessage[]) => void;
  /** Looks until a worker that was started has to be ready. */
  readonly startLooks: number;
}

/** A connection on its way. */
interface PendingConnection {
  readonly socket: Socket;
  readonly listener: string;
  readonly since: number;
}

export function createWorkerProcess(options: WorkerProcessOptions): WorkerProcess {
  const { index, program, onEvent, onOutput } = options;
  let child: ChildProcess | null = null;
  let isReady = false;
  /**
   * Looks since its last sign of life; since it was started, until it is ready: one that hangs then may go on giving signs.
   * Looks and not time: while this process itself is held up, none is taken.
   */
  let silentLooks = 0;
  let beginFault: BeginFault | null = null;
  /** When it has to be at its end, by a clock that nobody sets; `null`: it is to go on. */
  let drainsBy: number | null = null;
  let retiring = false;
  let endsInRow = 0;
  let restarts = 0;
  let startedAt = 0;
  let again: NodeJS.Timeout | null = null;
  let waiting: PendingConnection[] = [];
  /** Sent, and not yet told to have come: the primary's copy is kept open until then. */
  const sent = new Map<number, PendingConnection>();
  let lastWay = 0;
  let refused = 0;
  let counted: readonly MetricMessage[] = [];
  const asks = createPendingRequests<void>({ late: { ms: METRICS_MS, value: () => undefined } });
  const orders = createPendingRequests<string | null>({ late: null });
  let begin: () => void = () => undefined;
  let failToBegin: (error: Error) => void = () => undefined;
  const begun = new Promise<void>((resolve, reject) => {
    begin = resolve;
    failToBegin = reject;
  });
  // Whoever does not wait for the beginning is not to be ended by it.
  begun.catch(() => undefined);

  function start(): void {
    again = null;
    startedAt = performance.now();
    silentLooks = 0;
    beginFault = null;
    const started = startProgram(program, { piped: onOutput !== null });
    if (!(started instanceof ChildProcess)) {
      beginFault = started;
      ended('it could not be started');
      return;
    }
    child = started;
    tell({ kind: 'begin', beginning: options.beginning() });
    // Without descriptors left there is none, whatever its type says.
    if (started.stdout) onOutput?.(started.stdout);
    started.on('message', (message) => {
      // What an earlier process left in its channel is about connections that were put back since.
      if (child === started) hear(message as ToPrimary);
    });
    started.on('error', (error) => {
      // Of one that runs, its end tells what a broken channel would.
      if (started.pid === undefined) beginFault = faultOf(error);
    });
    // `close` and not `exit`: what it said before it died, above all what it had taken, has been heard by then.
    started.once('close', (code, signal) => ended(signal ?? `exit code ${code}`));
  }

  function tell(message: Exclude<ToWorker, { kind: 'connection' }>): void {
    // Told to one that is ending, it is lost: whoever comes after begins from it.
    if (child?.connected === true) child.send(message, () => undefined);
  }

  function order(of: (number: number) => Parameters<typeof tell>[0]): Promise<string | null> {
    if (child?.connected !== true) return Promise.resolve(null);
    return orders.send((number) => tell(of(number)));
  }

  function hear(message: ToPrimary): void {
    if (isReady) silentLooks = 0;
    switch (message.kind) {
      case 'beat':
        return;
      case 'ready':
        welcome();
        return;
      case 'failed':
        beginFault = message.fault;
        return;
      case 'took':
        // Closes the copy of this process only; the connection is the worker's.
        sent.get(message.way)?.socket.destroy();
        sent.delete(message.way);
        return;
      case 'metrics':
        counted = message.metrics;
        asks.answer(message.ask, undefined);
        return;
      case 'done':
        orders.answer(message.number, message.fault);
        return;
      case 'counted':
        options.onCounted(message.tallies);
        return;
      case 'damaged':
        options.onDamaged(message.name);
        return;
      default:
        message satisfies never;
    }
  }

  function welcome(): void {
    isReady = true;
    silentLooks = 0;
    onEvent({ kind: 'ready', index, pid: child?.pid ?? 0 });
    begin();
    if (retiring) tell({ kind: 'retire' });
    const held = waiting;
    waiting = [];
    for (const way of held) send(way);
    if (drainsBy !== null) drain(drainsBy);
  }

  function drain(by: number): void {
    tell({ kind: 'drain', graceMs: Math.max(0, by - performance.now()) });
  }

  function ended(how: string): void {
    child = null;
    isReady = false;
    asks.end(undefined);
    orders.end(null);
    options.onLost(counted);
    counted = [];
    const why = beginFault?.message ?? how;
    failToBegin(
      new WorkerFault(`worker ${index} ended before it was ready: ${why}`, beginFault?.code ?? null),
    );
    waiting.push(...sent.values());
    sent.clear();
    if (drainsBy !== null) {
      dropWaiting(Number.POSITIVE_INFINITY);
      return;
    }
    if (performance.now() - startedAt >= STEADY_MS) endsInRow = 0;
    const bounds = { first: FIRST_BACKOFF_MS, last: LAST_BACKOFF_MS };
    const againInMs = endsInRow === 0 ? 0 : backoffMs(endsInRow - 1, bounds);
    endsInRow++;
    restarts++;
    onEvent({ kind: 'ended', index, how: why, againInMs });
    again = setTimeout(start, againInMs);
  }

  function send(way: PendingConnection): void {
    const { socket, listener } = way;
    if (child === null || socket.destroyed || sent.size >= MAX_WAITING) {
      refuse(way);
      return;
    }
    const number = ++lastWay;
    sent.set(number, way);
    const message: ToWorker = { kind: 'connection', listener, way: number };
    // INVARIANT: kept open. Node (seen in 20.20) leaks the socket in its hands when a process ends before it has taken it.
    // An error is followed by the end of the process, which puts back what it never took.
    child.send(message, socket, { keepOpen: true }, () => undefined);
  }

  function refuse({ socket }: PendingConnection): void {
    refused++;
    socket.destroy();
  }

  function dropWaiting(until: number): void {
    waiting = waiting.filter((way) => {
      if (way.socket.destroyed) return false;
      if (way.since > until) return true;
      refuse(way);
      return false;
    });
  }

  const looks = setInterval(() => {
    endSilent();
    if (!isReady) dropWaiting(performance.now() - HOLD_MS);
    tellRefused();
  }, LOOK_MS);
  looks.unref();
  start();

  function endSilent(): void {
    const most = isReady ? MAX_SILENT_LOOKS : options.startLooks;
    if (child === null || ++silentLooks !== most) return;
    if (!isReady) beginFault = { message: 'it did not become ready', code: null };
    onEvent({ kind: isReady ? 'silent' : 'late', index, pid: child.pid ?? 0, looks: silentLooks });
    child.kill('SIGKILL');
  }

  function tellRefused(): void {
    if (refused > 0) onEvent({ kind: 'refused', index, connections: refused });
    refused = 0;
  }

  return {
    begun,
    pid: () => child?.pid ?? null,
    ready: () => isReady,
    restarts: () => restarts,
    retire() {
      retiring = true;
      tell({ kind: 'retire' });
    },
    give(socket, listener) {
      const way = { socket, listener, since: performance.now() };
      if (drainsBy !== null) refuse(way);
      else if (isReady) send(way);
      else if (waiting.length < MAX_WAITING) waiting.push(way);
      else refuse(way);
    },
    change: (step) => order((number) => ({ kind: 'change', number, ...step })),
    reload: () => order((number) => ({ kind: 'reload', number })),
    recount() {
      if (!isReady || child?.connected !== true) return Promise.resolve();
      return asks.send((ask) => tell({ kind: 'metrics', ask }));
    },
    counted: () => counted,
    async stop(graceMs) {
      drainsBy = performance.now() + graceMs;
      clearInterval(looks);
      if (again !== null) {
        clearTimeout(again);
        // Once more, whatever became of those before: nobody else may serve what waits.
        if (waiting.length > 0) start();
      }
      const last = child;
      if (last === null) return tellRefused();
      const gone = new Promise<void>((resolve) => last.once('close', () => resolve()));
      if (isReady) drain(drainsBy);
      else if (waiting.length === 0) last.kill('SIGKILL');
      const unready = setTimeout(() => isReady || last.kill('SIGKILL'), graceMs);
      const late = setTimeout(() => {
        last.kill('SIGKILL');
        // What it wrote and nobody reads would hold up the end.
        last.stdout?.destroy();
      }, graceMs + END_MS);
      await gone;
      clearTimeout(unready);
      clearTimeout(late);
      tellRefused();
    },
  };
}
