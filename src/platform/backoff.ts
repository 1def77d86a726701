/** Waiting, so that it can be ended, and waiting longer each time. */

/** Resolves after that time, or at once when one of the signals ends it. */
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
 * Milliseconds before attempt `failures + 1`: doubled each time up to `last`, of which a random half to the whole, so
 * that many nodes do not come back at once.
 */
export function retryMs(
  failures: number,
  { first, last }: { readonly first: number; readonly last: number },
): number {
  return Math.min(last, first * 2 ** Math.min(failures, 30)) * (0.5 + Math.random() / 2);
}
