/** Exponential backoff: the wait before each further attempt, and a timer that an `AbortSignal` can end. */

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
