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
import { MOST_WAIT_MS, RETRIES, TIMEOUT_MS } from './limits.ts';
import type { components, paths } from './schema.ts';
import { type Send, sendWithRetries } from './send.ts';

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
