/**
 * Tasks: the waits between attempts (exponential backoff), time limits, a bound on how many run at once, and the
 * priority and processor time of threads that compute.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/** The bounds of an exponential backoff, in milliseconds. */
export interface Backoff {
  /** The wait after the first failure; each further failure doubles it. */
  readonly first: number;
  /** The longest wait. */
  readonly last: number;
}

/** Resolves after that many milliseconds, or at once when one of the signals is or becomes aborted. Never rejects. */
export function pause(milliseconds: number, ...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    if (milliseconds <= 0 || signals.some((signal) => signal.aborted)) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    for (const signal of signals) signal.addEventListener('abort', done);
  });
}

/** Milliseconds before the next attempt: `first` after 0 earlier failures, then doubled for each, up to `last`. */
export function backoffMs(failures: number, { first, last }: Backoff): number {
  return Math.min(last, first * 2 ** Math.min(failures, 30));
}

/** As `backoffMs`, of which a random half to the whole, so that many nodes do not reconnect at the same moment. */
export function retryMs(failures: number, bounds: Backoff): number {
  return backoffMs(failures, bounds) * (0.5 + Math.random() / 2);
}

// Time limits for asynchronous work.

/**
 * Runs `work` with a signal that aborts after `limitMs` or with `parent`; removes its listener from `parent` at the end.
 * Not `AbortSignal.any`: on Node 20 it leaks an entry per call on a parent signal of the process.
 */
export async function withDeadline<T>(
  limitMs: number,
  parent: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(parent?.reason);
  const timer = setTimeout(() => controller.abort(), limitMs);
  parent?.addEventListener('abort', abort);
  if (parent?.aborted === true) abort();
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    parent?.removeEventListener('abort', abort);
  }
}

// A counting semaphore: a bounded number of tasks run at once, the others wait, first come first served.

export interface Semaphore {
  /**
   * Runs `work` when a place is free. @throws the reason of `signal` when it aborts the wait; a task that runs is not
   * interrupted
   */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Whether no task runs or waits. */
  isIdle(): boolean;
}

/** @param places tasks that run at once, at least 1 */
export function createSemaphore(places: number): Semaphore {
  let running = 0;
  const waiting = new Set<() => void>();

  function release(): void {
    const [next] = waiting;
    if (next === undefined) {
      running--;
      return;
    }
    // The place goes to the next task without becoming free in between.
    waiting.delete(next);
    next();
  }

  return {
    async run(work, signal) {
      if (running < places) running++;
      else await turn(waiting, signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
    isIdle: () => running === 0,
  };
}

/** Resolves when `release` passes a place on. */
function turn(waiting: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const start = (): void => {
      signal?.removeEventListener('abort', abort);
      resolve();
    };
    const abort = (): void => {
      waiting.delete(start);
      reject(signal?.reason);
    };
    if (signal?.aborted === true) return abort();
    waiting.add(start);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

// The priority and processor time of threads that compute.

/**
 * Lowers the priority of this thread, so that a computation of seconds does not slow the threads that answer. Linux has a
 * priority for each thread (sched(7), "The nice value"); elsewhere it is that of the whole process and stays.
 *
 * Nice 10 leaves it a tenth of a processor beside a thread that is always busy. With nice 19, a sixtieth, two seconds of
 * analysis took more than a minute on a machine that was busy with something else.
 */
export function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
}

/**
 * The file in which Linux counts the processor time of this thread, readable by every thread of the process; `null`: the
 * system has none (proc(5), `/proc/thread-self`; Linux, Documentation/scheduler/sched-stats).
 */
export function processorClock(): string | null {
  try {
    const file = `/proc/${readlinkSync('/proc/thread-self')}/schedstat`;
    return processorMs(file) === null ? null : file;
  } catch {
    // Systems other than Linux.
    return null;
  }
}

/** Milliseconds that a thread has run on a processor, of its `processorClock`; `null`: the thread has ended. */
export function processorMs(clock: string): number | null {
  try {
    const nanoseconds = Number.parseInt(readFileSync(clock, 'utf8'), 10);
    return Number.isNaN(nanoseconds) ? null : nanoseconds / 1e6;
  } catch {
    return null;
  }
}
