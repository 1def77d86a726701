/**
 * Sends one request with patience: each attempt has its time, and an attempt that was answered 429 is made again after
 * the `Retry-After` it was answered with. Nothing else is sent twice: a 429 alone says for certain that nothing was done.
 */

export interface Patience {
  /** Milliseconds for one attempt, until its answer has been read. */
  readonly timeoutMs: number;
  /** Times a request is sent again, at most. */
  readonly retries: number;
  /** Milliseconds it waits before one of them, at most; a longer `Retry-After` is left to the caller. */
  readonly mostWaitMs: number;
}

/** What sends: the platform's `fetch` or one like it. */
export type Send = (request: Request) => Promise<Response>;

/** Rejects with the signal's reason, a `TimeoutError` when an attempt took too long, or whatever `send` rejects with. */
export async function sendPatiently(send: Send, request: Request, patience: Patience): Promise<Response> {
  const { timeoutMs, retries, mostWaitMs } = patience;
  for (let left = retries; ; left--) {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
    // A request's body is read once, so all attempts but the last send a copy.
    const attempt = new Request(left > 0 ? request.clone() : request, { signal });
    const response = await send(attempt);
    const waitMs = response.status === 429 && left > 0 ? retryAfterMs(response) : null;
    if (waitMs === null || waitMs > mostWaitMs) return response;
    await response.body?.cancel();
    await pause(waitMs, request.signal);
  }
}

/** Milliseconds that `Retry-After` asks for, in seconds or as a date (RFC 9110 §10.2.3); `null` when it says neither. */
export function retryAfterMs({ headers }: Pick<Response, 'headers'>, now = Date.now()): number | null {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
