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
import { answerFault, networkFault } from './ca-fault.ts';
import { CA_REQUEST_MS, MAX_CA_OCTETS } from './limits.ts';

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

/** Makes acme-client send through this. */
export function useCaTransport(): void {
  // The library's type of an adapter is that of axios, which it does not export.
  const client = acme.axios as unknown as { defaults: { adapter: unknown } };
  client.defaults.adapter = send;
}

async function send(config: ClientRequest): Promise<object> {
  const scope = scopes.getStore();
  assert(scope !== undefined, 'requests to a CA are made in `withCa`');
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
