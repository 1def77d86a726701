/**
 * The typed client of the API, built on `fetch` alone, so that it runs in Node, browsers and Workers. Paths,
 * parameters, bodies and responses are typed by `schema.ts`. Every call resolves to `{ data, error, response }`;
 * `error` always has the API's one shape.
 *
 * ```ts
 * const api = createClient({ baseUrl: 'http://127.0.0.1:8787', key });
 * const { data, error } = await api.GET('/domains/{domain}', { params: { path: { domain: 'example.com' } } });
 * ```
 */
import createFetchClient, { type Client as FetchClient } from 'openapi-fetch';
import type { components, paths } from './schema.ts';

/**
 * Maximum time, in milliseconds, for one attempt, reading the response included; the server delays `?wait=published` by
 * up to 20 s.
 */
const TIMEOUT_MS = 30_000;
/** Maximum number of times a request that was answered 429 is sent again. */
const RETRIES = 3;
/**
 * Maximum `Retry-After` to wait for, in milliseconds. A key's budget is counted per minute, so it never needs a longer
 * wait. The one-hour wait between nameserver checks is not retried automatically; the 429 is returned to the caller.
 */
const MOST_WAIT_MS = 60_000;

/** A method for each HTTP method, typed by path: `api.GET('/domains/', …)`. */
export type Client = FetchClient<paths>;

/** The body of every refusal. */
export type ApiError = components['schemas']['Error'];

/** Options of a client. */
export interface ClientOptions {
  /** The address of the API, with or without a trailing slash: `http://127.0.0.1:8787`. */
  readonly baseUrl: string;
  /** An API key, `svc_…`. */
  readonly key: string;
  /** Sends requests in place of the platform's `fetch`. */
  readonly fetch?: Send;
  /** Time limit of one attempt in milliseconds, 30,000 by default. Then the call rejects with a `TimeoutError`. */
  readonly timeoutMs?: number;
  /** How often a request that was answered 429 is sent again; 3 by default, 0 for never. */
  readonly retries?: number;
  /** The longest `Retry-After` to wait for, in milliseconds; 60,000 by default. A longer one returns the 429. */
  readonly mostWaitMs?: number;
}

/**
 * Creates a client. Calls reject only when there is no response: no connection, a timeout, or the caller's signal.
 * @throws TypeError naming `baseUrl` or `key` when it is missing
 * @example
 * ```ts
 * import { createClient } from 'edgeplan/client';
 *
 * const api = createClient({ baseUrl: 'http://127.0.0.1:8787', key: 'svc_...' });
 * const { data, error } = await api.POST('/domains/{domain}/rules/rate-limit/', {
 *   params: { path: { domain: 'example.com' } },
 *   body: { path_includes: ['/api/*'], limit: 100 },
 * });
 * if (error !== undefined) throw new Error(error.error);
 * console.log(data.id);
 * ```
 */
export function createClient(options: ClientOptions): Client {
  checkOptions(options);
  const { baseUrl, key, timeoutMs = TIMEOUT_MS, retries = RETRIES, mostWaitMs = MOST_WAIT_MS } = options;
  // Read at each call, so that a `fetch` that is replaced later is used.
  const send = options.fetch ?? ((request: Request) => globalThis.fetch(request));
  const client = createFetchClient<paths>({
    baseUrl,
    headers: { authorization: `Bearer ${key}` },
    bodySerializer: serialize,
    fetch: (request) => sendWithRetries(send, request, { timeoutMs, retries, mostWaitMs }),
  });
  client.use({ onResponse: ({ response }) => shaped(response) });
  return client;
}

/** @throws TypeError when plain JavaScript, or an unset variable of the environment, gives no `baseUrl` or `key` */
function checkOptions(options: unknown): void {
  const given = (options ?? {}) as Readonly<Record<string, unknown>>;
  const { baseUrl, key } = given;
  if (typeof baseUrl !== 'string') {
    throw new TypeError('`baseUrl` must be the address of the API, like `http://127.0.0.1:8787`');
  }
  if (typeof key !== 'string' || key === '') {
    throw new TypeError('`key` must be an API key, `svc_…`; `edgeplan key create` makes one');
  }
}

/** Gives responses that are not the API's own (a proxy's page) the error shape of the API, and a 304 no error. */
async function shaped(response: Response): Promise<Response | undefined> {
  const { ok, status, statusText } = response;
  if (ok) return undefined;
  const headers = new Headers(response.headers);
  // openapi-fetch reports no error for a response of length 0.
  if (status === 304) headers.set('content-length', '0');
  if (status === 304) return new Response(null, { status, statusText, headers });
  const sentence = readError(await response.text());
  const error =
    sentence ?? `the answer is ${status}${statusText === '' ? '' : ` ${statusText}`}, not one of this API`;
  headers.delete('content-length');
  headers.delete('content-encoding');
  return new Response(JSON.stringify({ error } satisfies ApiError), { status, statusText, headers });
}

/** The sentence of a refusal; `null` if the text is not a refusal of the API. */
function readError(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    const error = typeof value === 'object' && value !== null && 'error' in value ? value.error : null;
    return typeof error === 'string' ? error : null;
  } catch {
    return null;
  }
}

/** JSON, and texts (zone files) as they are: no JSON body of this API is a string. */
function serialize(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

// Sends one request with a time limit per attempt. An attempt that was answered 429 is repeated after its
// `Retry-After`. Nothing else is sent twice, because only a 429 guarantees that the server did nothing.

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
type Send = (request: Request) => Promise<Response>;

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
