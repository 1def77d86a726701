/**
 * Time limits for asynchronous work.
 */

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
