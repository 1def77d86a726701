/**
 * The typed client of the API, over `fetch` alone: the same in Node, a browser and a Worker. Paths, parameters, bodies
 * and answers come from `schema.ts`; every call answers `{ data, error, response }`, and the error is always the API's
 * one shape.
 *
 * ```ts
 * const api = createClient({ baseUrl: 'http://127.0.0.1:8787', key });
 * const { data, error } = await api.GET('/domains/{domain}', { params: { path: { domain: 'example.com' } } });
 * ```
 */
import createFetchClient, { type Client as FetchClient } from 'openapi-fetch';
import { MOST_WAIT_MS, RETRIES, TIMEOUT_MS } from './limits.ts';
import type { components, paths } from './schema.ts';
import { type Send, sendPatiently } from './send.ts';

/** A method for each HTTP method, typed by path: `api.GET('/domains/', …)`. */
export type Client = FetchClient<paths>;

/** What every refusal carries. */
export type ApiError = components['schemas']['Error'];

export interface ClientOptions {
  /** Where the API is, with or without a slash at its end: `http://127.0.0.1:8787`. */
  readonly baseUrl: string;
  /** An API key, `svc_…`. */
  readonly key: string;
  /** Instead of the platform's. */
  readonly fetch?: Send;
  /** Milliseconds for one attempt; 30,000 unless told. After them the call rejects with a `TimeoutError`. */
  readonly timeoutMs?: number;
  /** Times a request that was answered 429 is sent again; 3 unless told, 0 for never. */
  readonly retries?: number;
  /** Milliseconds to wait for a `Retry-After` at most; 60,000 unless told. Past it the 429 is the answer. */
  readonly mostWaitMs?: number;
}

/** Makes a client. Calls reject only when there is no answer: no connection, a timeout, the caller's own signal. */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, key, timeoutMs = TIMEOUT_MS, retries = RETRIES, mostWaitMs = MOST_WAIT_MS } = options;
  // Looked up at each call, so that a `fetch` that is replaced later is the one that is used.
  const send = options.fetch ?? ((request: Request) => globalThis.fetch(request));
  const client = createFetchClient<paths>({
    baseUrl,
    headers: { authorization: `Bearer ${key}` },
    bodySerializer: serialize,
    fetch: (request) => sendPatiently(send, request, { timeoutMs, retries, mostWaitMs }),
  });
  client.use({ onResponse: ({ response }) => shaped(response) });
  return client;
}

/** Gives refusals that are not the API's own (a proxy's page) the one error shape, and a 304 no error at all. */
async function shaped(response: Response): Promise<Response | undefined> {
  const { ok, status, statusText } = response;
  if (ok) return undefined;
  const headers = new Headers(response.headers);
  // For openapi-fetch an answer of length 0 has no error.
  if (status === 304) headers.set('content-length', '0');
  if (status === 304) return new Response(null, { status, statusText, headers });
  const said = readError(await response.text());
  const error =
    said ?? `the answer is ${status}${statusText === '' ? '' : ` ${statusText}`}, not one of this API`;
  headers.delete('content-length');
  headers.delete('content-encoding');
  return new Response(JSON.stringify({ error } satisfies ApiError), { status, statusText, headers });
}

/** The sentence of a refusal; `null` where the text is none. */
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
