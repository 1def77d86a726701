/**
 * Requests to CAs: what acme-client sends with. It differs from the library's own in four ways: an answer is bounded in
 * time and octets, a stop ends it, a problem document becomes a `CaFault` with its type, and nothing is repeated here,
 * where a `Retry-After` of hours would block an order; `issuer.ts` decides when the next attempt is made.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { LookupFunction } from 'node:net';
import acme from 'acme-client';
import { Agent, fetch, type Response } from 'undici';
import { assert } from '../../../base/diagnostics/assert.ts';
import { withDeadline } from '../../../base/platform/tasks.ts';
import { isObject } from '../../../base/text/json-object.ts';
import { CA_REQUEST_MS, MAX_CA_OCTETS, MAX_REASON_CHARACTERS } from '../limits.ts';

// What a CA answers instead of what was requested: problem documents (RFC 7807 with the types of RFC 8555 §6.7).

const PREFIX = 'urn:ietf:params:acme:error:';

/** What is known of a fault besides its message. */
type Facts = Pick<CaFault, 'type' | 'status' | 'retryAfterMs' | 'names'>;

/** A refused or failed request to a CA. */
export class CaFault extends Error {
  /** The type without its prefix, such as `rateLimited`; `network`: no answer came; `answer`: one without a type. */
  readonly type: string;
  /** The status; 0: no answer came. */
  readonly status: number;
  /** Milliseconds after which the CA wants the next attempt; `null`: it names none. */
  readonly retryAfterMs: number | null;
  /** The reasons by name that a problem of several names has (RFC 8555 §6.7.1). */
  readonly names: ReadonlyMap<string, string>;

  constructor(message: string, facts: Facts, cause?: unknown) {
    super(message, { cause });
    this.name = 'CaFault';
    this.type = facts.type;
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.names = facts.names;
  }

  /** Whether the same request may succeed later without a change on our side: the CA is away, slow or broken. */
  get isTransient(): boolean {
    return this.status === 0 || this.status >= 500 || this.type === 'badNonce';
  }

  get isRateLimit(): boolean {
    return this.type === 'rateLimited' || this.status === 429;
  }
}

/** The fault of a request without an answer. */
export function networkFault(what: string, cause: unknown): CaFault {
  const facts = { type: 'network', status: 0, retryAfterMs: null, names: new Map<string, string>() };
  return new CaFault(`the CA cannot be reached: ${what}`, facts, cause);
}

/** The answer to a request, as far as a fault needs it. */
export interface CaAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  /** JSON, if it is. */
  readonly body: unknown;
}

/** The fault of an answer with a status of 400 or above. `now`: milliseconds since the epoch. */
export function answerFault({ status, retryAfter, body }: CaAnswer, now: number): CaFault {
  const problem = isObject(body) ? body : {};
  const names = new Map<string, string>();
  for (const one of Array.isArray(problem['subproblems']) ? problem['subproblems'] : []) {
    const name = nameOf(one);
    if (name !== null) names.set(name, reasonText(one) ?? `the CA answered ${status}`);
  }
  const facts = { type: typeText(problem), status, retryAfterMs: parseRetryAfter(retryAfter, now), names };
  return new CaFault(reasonText(problem) ?? `the CA answered ${status}`, facts);
}

/** The reason of a problem document, cut; `null`: it has none. */
export function reasonText(problem: unknown): string | null {
  if (!isObject(problem)) return null;
  const { detail } = problem;
  if (typeof detail !== 'string' || detail.trim() === '') return null;
  const line = detail.replaceAll(/[\p{Cc}\p{Cs}]+/gu, ' ').trim();
  return line.length <= MAX_REASON_CHARACTERS ? line : `${line.slice(0, MAX_REASON_CHARACTERS - 1)}…`;
}

function typeText(problem: Readonly<Record<string, unknown>>): string {
  const { type } = problem;
  return typeof type === 'string' && type.startsWith(PREFIX) ? type.slice(PREFIX.length) : 'answer';
}

function nameOf(problem: unknown): string | null {
  if (!isObject(problem) || !isObject(problem['identifier'])) return null;
  const { value } = problem['identifier'];
  return typeof value === 'string' ? value.toLowerCase() : null;
}

/** `Retry-After` in seconds or as a date (RFC 9110 §10.2.3), in milliseconds from now. */
export function parseRetryAfter(text: string | null, now: number): number | null {
  if (text === null || text.trim() === '') return null;
  if (/^\s*[0-9]{1,9}\s*$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** The part of a request of axios that is read here. */
interface ClientRequest {
  readonly url?: string;
  readonly method?: string;
  readonly data?: unknown;
  readonly headers: { toJSON(): Record<string, unknown> };
}

/** What is done with a CA, and until when. */
interface Scope {
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Has the connections to the CA. */
  readonly dispatcher: Agent;
}

/** The connections to a CA; `lookup` resolves its name. */
export function createCaConnections(lookup: LookupFunction): Agent {
  return new Agent({ connect: { lookup, timeout: CA_REQUEST_MS } });
}

const scopes = new AsyncLocalStorage<Scope>();

/** Runs work with a CA; its requests end when the signal aborts. */
export function withCa<T>(scope: Scope, work: () => Promise<T>): Promise<T> {
  return scopes.run(scope, work);
}

/** The part of acme-client's axios that is used here; its own type is that of axios, which it does not export. */
interface Requests {
  use(onRequest: (config: ClientRequest) => object, onError: null, options: object): void;
}

let isInstalled = false;

/** Makes acme-client send through this inside `withCa`. Other users of the client in this process are not affected. */
export function useCaTransport(): void {
  if (isInstalled) return;
  isInstalled = true;
  const { request } = acme.axios.interceptors as unknown as { readonly request: Requests };
  const runWhen = (): boolean => scopes.getStore() !== undefined;
  request.use((config) => Object.assign(config, { adapter: send }), null, { runWhen });
}

async function send(config: ClientRequest): Promise<object> {
  const scope = scopes.getStore();
  assert(scope !== undefined, 'the adapter is set in `withCa` alone');
  const { signal: stopping, clock, dispatcher } = scope;
  const { answer, text } = await withDeadline(CA_REQUEST_MS, stopping, (signal) =>
    exchange(config, { signal, dispatcher }),
  );
  const body = parseJson(text);
  const { status } = answer;
  const isNonce = status === 400 && typeOf(body) === 'urn:ietf:params:acme:error:badNonce';
  // The library repeats a request whose nonce was refused, with the new one.
  if (status >= 400 && !isNonce)
    throw answerFault({ status, retryAfter: answer.headers.get('retry-after'), body }, clock());
  return {
    ...{ status, statusText: answer.statusText, config },
    data: body ?? text,
    headers: Object.fromEntries(answer.headers),
  };
}

/** @throws CaFault where no whole answer came */
async function exchange(
  config: ClientRequest,
  { signal, dispatcher }: { readonly signal: AbortSignal; readonly dispatcher: Agent },
): Promise<{ readonly answer: Response; readonly text: string }> {
  try {
    const answer = await fetch(config.url ?? '', {
      method: (config.method ?? 'get').toUpperCase(),
      headers: headersOf(config),
      ...(typeof config.data === 'string' ? { body: config.data } : {}),
      redirect: 'error',
      dispatcher,
      signal,
    });
    return { answer, text: await boundedText(answer) };
  } catch (error) {
    throw networkFault(reasonOf(error), error);
  }
}

function headersOf({ headers }: ClientRequest): Record<string, string> {
  const entries = Object.entries(headers.toJSON());
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

/** @throws Error for an answer above the bound */
async function boundedText(answer: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let octets = 0;
  // Node's stream can be iterated, which the type that fetch has in browsers does not say.
  const body = (answer.body ?? []) as AsyncIterable<Uint8Array> | [];
  for await (const part of body) {
    octets += part.length;
    if (octets > MAX_CA_OCTETS) throw new Error(`its answer has more than ${MAX_CA_OCTETS} octets`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** The value of a JSON text; `null`: the text has another form, such as a chain in PEM. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function typeOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'type' in body ? body.type : null;
}

/** fetch names the cause, such as a refused connection, one level below. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'AbortError') return `no answer within ${CA_REQUEST_MS / 1_000} s`;
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}
