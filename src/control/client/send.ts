/**
 * Sends one request with a time limit per attempt. An attempt that was answered 429 is repeated after its
 * `Retry-After`. Nothing else is sent twice, because only a 429 guarantees that the server did nothing.
 */

/** Time limits and retries of a request. */
export interface RetryOptions {
  /** Milliseconds for one attempt, until its response has been read. */
  readonly timeoutMs: number;
  /** The largest number of repetitions. */
  readonly retries: number;
  /** The longest wait before a repetition, in milliseconds; a longer `Retry-After` returns the 429. */
  readonly mostWaitMs: number;
}

/** A function that sends a request: the platform's `fetch` or one like it. */
export type Send = (request: Request) => Promise<Response>;

/**
 * Sends a request. Rejects with the signal's reason, with a `TimeoutError` when an attempt took too long, or with
 * the error of `send`.
 */
export async function sendWithRetries(
  send: Send,
  request: Request,
  retryOptions: RetryOptions,
): Promise<Response> {
  const { timeoutMs, retries, mostWaitMs } = retryOptions;
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

/**
 * The wait that `Retry-After` states, in milliseconds; a number of seconds or a date (RFC 9110 §10.2.3). `null` for
 * neither.
 */
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
