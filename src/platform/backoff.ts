/** Delays that signals can end, and exponential backoff with jitter. */

/** Resolves after a time, or as soon as one of the signals aborts; never rejects. */
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

/**
 * Milliseconds before attempt `failures + 1`: `first`, doubled after each failure up to `last`, times a random factor from
 * 0.5 to 1, so that many nodes do not retry at the same moment.
 */
export function retryMs(
  failures: number,
  { first, last }: { readonly first: number; readonly last: number },
): number {
  return Math.min(last, first * 2 ** Math.min(failures, 30)) * (0.5 + Math.random() / 2);
}
