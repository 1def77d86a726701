/**
 * The side of a process that serves and hands over to the next one: starts it, releases what only one process may have, passes
 * sockets and state, and waits until the next one is ready. In: a command line, and what serves. Out: a successor that serves,
 * or the reason why it does not; then everything is as before.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  OWN_VARIABLES,
  type ProgramCommand,
  SUCCESSOR,
  type ToPredecessor,
  type ToSuccessor,
} from './messages.ts';
import { handleOf, type OpenSocket, portOf } from './sockets.ts';

/** What a process can hand over. */
export interface HandOverParts {
  /** The listening sockets. */
  readonly sockets: () => readonly OpenSocket[];
  /** Why it is not ready for traffic; `null`: it is. */
  readonly unready: () => string | null;
  /**
   * Stops what only one process may do, and serves on. @returns the state for the successor, of structured clones
   * @param report as `RunningSuccessor`; for what is counted after that state
   */
  readonly release: (report: RunningSuccessor['report']) => Promise<unknown>;
  /** Starts again what `release` has stopped. */
  readonly reclaim: () => Promise<void>;
}

/** Called with what happens, as a sentence. */
export type HandOverProgress = (sentence: string) => void;

/** A process that serves in place of this one. */
export interface RunningSuccessor {
  readonly pid: number;
  /**
   * Sends what this process still counts or hands over. Rejects when the successor has ended.
   * @param handle Node's own object of a connection, which the caller closes afterwards
   */
  report(report: unknown, handle?: unknown): Promise<void>;
  /** Closes the channel, so that this process can end. */
  leave(): void;
}

/** Where a hand-over ends. */
export type HandOverOutcome =
  | { readonly kind: 'served'; readonly successor: RunningSuccessor }
  /** @property lost why this process could not take back what it had released; `null`: it serves as before */
  | { readonly kind: 'failed'; readonly reason: string; readonly lost: string | null };

/** Options of a hand-over. */
export interface HandOverOptions {
  /** Milliseconds for the successor to load, and again to become ready. */
  readonly waitMs: number;
  readonly onProgress: HandOverProgress;
  /** Ends the successor, unless it serves already. */
  readonly signal: AbortSignal;
}

/** Milliseconds for the requests of a successor that is sent away; those of a node end within 10 s. */
const ABORT_MS = 12_000;

/** Starts the command and hands over to it. Never rejects. */
export async function handOver(
  command: ProgramCommand,
  parts: HandOverParts,
  { waitMs, onProgress, signal }: HandOverOptions,
): Promise<HandOverOutcome> {
  const successor = startSuccessor(command);
  const abort = (): void => successor.fail('the hand-over was stopped');
  signal.addEventListener('abort', abort);
  let released = false;
  try {
    onProgress(`process ${successor.child.pid ?? 'of the command'} starts`);
    await successor.reached('loaded', waitMs);
    const unready = parts.unready();
    released = true;
    const state = await parts.release(successor.running().report);
    await pass(successor, { state, unready, sockets: parts.sockets() });
    onProgress(`process ${successor.child.pid} takes over`);
    await successor.reached('serving', waitMs);
    onProgress(`process ${successor.child.pid} serves`);
    return { kind: 'served', successor: successor.running() };
  } catch (error) {
    await successor.end(released);
    const lost = released && !signal.aborted ? await reclaim(parts) : null;
    return { kind: 'failed', reason: messageOf(error), lost };
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function reclaim({ reclaim: takeBack }: HandOverParts): Promise<string | null> {
  return takeBack().then(() => null, messageOf);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface Passed {
  readonly state: unknown;
  readonly unready: string | null;
  readonly sockets: readonly OpenSocket[];
}

async function pass(successor: Successor, { state, unready, sockets }: Passed): Promise<void> {
  const open = sockets.filter(({ server }) => server.listening);
  await successor.send({
    kind: 'state',
    state,
    unready,
    sockets: open.map(({ name, place, server, path = null }) => {
      return { name, place, path, port: portOf(server) };
    }),
  });
  // A message carries one handle.
  for (const { name, server } of open) await successor.send({ kind: 'socket', name }, handleOf(server));
}

/** The started process. */
interface Successor {
  readonly child: ChildProcess;
  /** Resolves when it has reported that; rejects when it fails, ends, or is late. */
  reached(kind: 'loaded' | 'serving', ms: number): Promise<void>;
  send(message: ToSuccessor, handle?: unknown): Promise<void>;
  /** Makes the waits of now and later reject. */
  fail(reason: string): void;
  /** Ends the process. @param gently lets its requests end first */
  end(gently: boolean): Promise<void>;
  running(): RunningSuccessor;
}

function startSuccessor({ program, args, folder, env }: ProgramCommand): Successor {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith(OWN_VARIABLES));
  const child = spawn(program, [...args], {
    cwd: folder,
    env: { ...Object.fromEntries(others), ...env, [SUCCESSOR]: '1' },
    // A session of its own: the signals of this process's terminal and the end of its session are not for it.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  const reports = new Set<string>();
  let fault: Error | null = null;
  let notice: () => void = () => undefined;
  let exited: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => {
    exited = resolve;
  });

  function fail(reason: string): void {
    fault ??= new Error(reason);
    notice();
  }
  function send(message: ToSuccessor, handle?: unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (error: Error | null): void => (error === null ? resolve() : reject(error));
      if (!child.connected) done(fault ?? new Error('the new process has ended'));
      else if (handle === undefined) child.send(message, done);
      // The type lists sockets and servers; a bare handle is passed as it is.
      else child.send(message, handle as never, done);
    });
  }

  child.on('message', (message: ToPredecessor) => {
    if (message.kind === 'failed') fail(message.reason);
    else reports.add(message.kind);
    notice();
  });
  child.on('error', (error) => {
    fail(`it cannot be started: ${error.message}`);
    if (child.pid === undefined) exited();
  });
  child.once('exit', (code, ended) => {
    exited();
    const how = `it ended with ${ended ?? `exit code ${code}`}; its messages are on stderr of this process`;
    // Messages may still be on their way, above all the reason.
    if (child.connected) child.once('disconnect', () => fail(how));
    else fail(how);
  });
  return {
    child,
    fail,
    send,
    reached(kind, ms) {
      return new Promise((resolve, reject) => {
        const late = setTimeout(() => fail(`it is not ${kind} after ${ms / 1_000} s`), ms);
        notice = () => {
          if (fault === null && !reports.has(kind)) return;
          clearTimeout(late);
          notice = () => undefined;
          if (fault === null) resolve();
          else reject(fault);
        };
        notice();
      });
    },
    async end(gently) {
      if (gently) await send({ kind: 'abort' }).catch(() => undefined);
      const kill = setTimeout(() => child.kill('SIGKILL'), gently ? ABORT_MS : 0);
      await gone;
      clearTimeout(kill);
    },
    running: () => ({
      pid: child.pid!,
      report: (report, handle) => send({ kind: 'report', report }, handle),
      leave() {
        if (child.connected) child.disconnect();
        child.unref();
      },
    }),
  };
}
