/**
 * Runs `work` with a signal that aborts after `limitMs` or with `parent`, and leaves nothing behind on `parent`.
 * (`AbortSignal.any` on a signal that lives as long as the process keeps an entry for every call on Node 20.)
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
