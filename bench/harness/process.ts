/** Servers in processes of their own, so that each has a processor to itself beside the client's. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ALLOW_ORIGINS } from '../../test/support/origin-bounds.ts';

const CLI = fileURLToPath(new URL('../cli/main.js', import.meta.url));

export interface Served {
  readonly port: number;
  readonly operationsPort: number;
  readonly process: ChildProcess;
  /** From the start of the process to the line that says where it listens, milliseconds. */
  readonly startMs: number;
  stop(): Promise<void>;
}

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Ends a process with this one, however this one ends. */
export function endWithUs(child: ChildProcess): void {
  children.add(child);
  child.once('exit', () => children.delete(child));
}

/** What each key of a bench may ask for in a minute: more than any bench does. */
const REQUESTS_PER_MINUTE = 1_000_000;

/**
 * Starts `edgeplan serve` as it ships on a data folder, or on the PostgreSQL database of an address; its log goes where a
 * service's log goes, to a stream.
 */
export async function startServe(place: string, flags: readonly string[] = []): Promise<Served> {
  const store = place.startsWith('postgres://') ? '--database' : '--data';
  const own = [store, place, '--port', '0', '--ops-port', '0', '--tier', 'enterprise', '--trust-names'];
  const budget = ['--requests-per-minute', String(REQUESTS_PER_MINUTE), ...ALLOW_ORIGINS];
  const begun = performance.now();
  const child = spawn(process.execPath, [...execArgv(), CLI, 'serve', ...own, ...budget, ...flags], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  endWithUs(child);
  const ports: number[] = [];
  let startMs = 0;
  for await (const line of createInterface(child.stdout!)) {
    const port = /^(?:listening on|operators:) http:\/\/[^/]*:(\d+)/.exec(line)?.[1];
    if (port === undefined) continue;
    if (startMs === 0) startMs = performance.now() - begun;
    ports.push(Number(port));
    if (ports.length === 2) break;
  }
  if (ports.length < 2) throw new Error('`edgeplan serve` did not start');
  child.stdout!.resume();
  const [port, operationsPort] = ports as [number, number];
  return { port, operationsPort, process: child, startMs, stop: () => stop(child) };
}

/** `EDGEPLAN_BENCH_PROFILE=1` has `serve` write a CPU profile where the bench was started. */
function execArgv(): readonly string[] {
  return process.env['EDGEPLAN_BENCH_PROFILE'] === '1' ? ['--cpu-prof'] : [];
}

/** Ends a process, if it has not ended by itself. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** A process that runs one function of its own text, told things by messages. */
export interface Helper {
  /** Sends a message and resolves with the next one that comes back. */
  ask<T>(message: unknown): Promise<T>;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

/** Starts a process on the text of `work`, which must use nothing from outside itself. */
export function startHelper(work: () => void): Helper {
  const child = spawn(process.execPath, ['-e', `(${work.toString()})()`], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  endWithUs(child);
  return {
    process: child,
    ask: <T>(message: unknown) =>
      new Promise<T>((resolve, reject) => {
        const gone = (): void => reject(new Error('a helper of the bench has died'));
        child.once('exit', gone);
        child.once('message', (answer) => {
          child.off('exit', gone);
          resolve(answer as T);
        });
        child.send(message as object);
      }),
    stop: () => stop(child),
  };
}

/** Seconds of processor time a process has had, and its resident memory in octets; `null` where `/proc` is not there. */
export function usageOf(child: ChildProcess): { readonly seconds: number; readonly resident: number } | null {
  try {
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1');
    // What follows the command's name: utime and stime are the 14th and 15th field of all, rss the 24th (proc(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    return { seconds: ticks / 100, resident: Number(fields[21]) * 4_096 };
  } catch {
    return null;
  }
}
