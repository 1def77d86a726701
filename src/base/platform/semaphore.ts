/** A counting semaphore: a bounded number of tasks run at once, the others wait, first come first served. */

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
