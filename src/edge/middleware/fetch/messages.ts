/** Converts between the edge's requests and answers and the `Request` and `Response` of `fetch` handlers. */
import { type EdgeAnswer, endToEnd } from '../../../base/http/header-fields.ts';
import type { EdgeRequest, HeaderChange } from '../../../engine/evaluator/index.ts';
import {
  addedHeaders,
  countStatus,
  inPlaceOf,
  isDropped,
  isJoined,
  pageInstead,
} from '../../answers/answer-to.ts';
import type { Challenges } from '../../answers/challenge/challenge.ts';
import { isForwarding } from '../../answers/decided.ts';
import {
  type ChangedFields,
  changedAnswer,
  changeFields,
  responseChanges,
} from '../../answers/header-changes.ts';
import { codedOctets, codingOf, inspectedPart } from '../../decide/content-coding.ts';
import type { DecidingDomain, Exchange } from '../../decide/exchange.ts';
import type { MessageReader } from '../../decide/request-context.ts';
import { inflate, joined, type Octets } from '../web-streams.ts';

/** The `Response` of an answer of the edge's own. */
export function responseOf({ status, headers, body }: EdgeAnswer, method: string): Response {
  const list = new Headers();
  for (let at = 0; at < headers.length; at += 2) list.append(headers[at]!, headers[at + 1]!);
  const octets =
    typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body ?? NO_OCTETS);
  const bodiless = method === 'HEAD' || status === 204 || status === 205 || status === 304;
  // The length that GET would have (RFC 9110 §9.3.2): platforms set it for bodies only.
  if (method === 'HEAD') list.set('Content-Length', String(octets.length));
  return new Response(bodiless ? null : octets, { status, headers: list });
}

const NO_OCTETS = new Uint8Array(0);

/** What changes in a forwarded request. */
export interface Forwarding {
  /** Path and query for the application. */
  readonly target: string;
  /** The body with the octets that were read from it; `null`: nothing was read. */
  readonly body: PeekedBody['outgoing'] | null;
  /** The forwarding headers are from a trusted proxy. */
  readonly trusted: boolean;
  readonly challenges: Pick<Challenges, 'withoutOwn'>;
  /** Changes by headers rules. */
  readonly changes: readonly HeaderChange[];
}

/**
 * The request for the application: the same object if nothing changes. Headers with `_` in their names stay, as the
 * application would get them without the edge.
 */
export function forwardedRequest(request: Request, forwarding: Forwarding): Request {
  const { target, body } = forwarding;
  const headers = changedHeaders(request.headers, forwarding);
  const url = `${request.url.slice(0, startOfTarget(request.url))}${target}`;
  if (headers === null && body === null && url === request.url) return request;
  const init = {
    method: request.method,
    headers: headers ?? request.headers,
    body: body ?? request.body,
    // Required for a body that is a stream, if undici implements `fetch`.
    duplex: 'half' as const,
    redirect: 'manual' as const,
    signal: request.signal,
    // Cloudflare's facts about the visitor.
    ...('cf' in request ? { cf: request.cf } : {}),
  };
  return new Request(url, init);
}

/** The index of path and query in an absolute URL. */
function startOfTarget(url: string): number {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  return start < 0 ? url.length : start;
}

/** The headers for the application as rules change them; `null`: all of them go on as they came. */
function changedHeaders(sent: Headers, forwarding: Forwarding): Headers | null {
  const headers = forwardedHeaders(sent, forwarding);
  if (forwarding.changes.length === 0) return headers;
  const changed = headers ?? new Headers(sent);
  changeFields(fieldsOf(changed), forwarding.changes);
  return changed;
}

function fieldsOf(headers: Headers): ChangedFields {
  return {
    set: (name, value) => headers.set(name, value),
    add: (name, value) => headers.append(name, value),
    remove: (name) => headers.delete(name),
  };
}

/** `null`: all of them go on as they came. */
function forwardedHeaders(sent: Headers, { trusted, challenges }: Forwarding): Headers | null {
  let headers: Headers | null = null;
  const cookies = sent.get('cookie') ?? '';
  const kept = challenges.withoutOwn(cookies);
  if (kept !== cookies) {
    headers = new Headers(sent);
    if (kept === '') headers.delete('cookie');
    else headers.set('cookie', kept);
  }
  if (trusted) return headers;
  for (const name of sent.keys()) {
    if (!isForwarding(name)) continue;
    headers ??= new Headers(sent);
    headers.delete(name);
  }
  return headers;
}

/** The application's answer as the client gets it: with a rule's page for an error, and the domain's headers. */
export function finishedResponse(response: Response, decided: Exchange<DecidingDomain>): Response {
  const { status } = response;
  // Switching protocols, or no answer at all: nothing can be added to it.
  if (status < 200) return response;
  countStatus(decided, status);
  const instead = pageInstead(decided, { status, madeBy: 'origin' });
  if (instead !== null) {
    // The replaced body is not read, so an error of its end does not matter.
    void response.body?.cancel().catch(() => undefined);
    const headers = new Headers(response.headers);
    finishHeaders(headers, decided);
    const page = inPlaceOf(endToEnd([...headers].flat()), instead);
    return responseOf(changedAnswer(page, decided.decision), decided.request.method);
  }
  const finished = new Response(response.body, response);
  finishHeaders(finished.headers, decided);
  changeFields(fieldsOf(finished.headers), responseChanges(decided.decision));
  return finished;
}

/**
 * The response with a function that is called once its body has been read, cancelled or has failed; at once if it has no body, and where
 * it switches protocols, whose end a `fetch` handler does not see.
 */
export function withEnd(response: Response, end: () => void): Response {
  const { body, status } = response;
  if (body === null || status < 200) {
    end();
    return response;
  }
  const reader: Reader = body.getReader();
  const read = new ReadableStream<Octets>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          end();
          controller.close();
        } catch (error) {
          end();
          controller.error(error);
        }
      },
      cancel(reason) {
        end();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(read, response);
}

function finishHeaders(headers: Headers, decided: Exchange<DecidingDomain>): void {
  const { settings } = decided.domain;
  for (const name of [...headers.keys()]) {
    if (isDropped(name, settings)) headers.delete(name);
  }
  const added = addedHeaders(decided);
  for (let at = 0; at < added.length; at += 2) {
    const name = added[at]!;
    if (isJoined(name)) headers.append(name, added[at + 1]!);
    else headers.set(name, added[at + 1]!);
  }
}

/** Facts about the visitor that a `Request` does not contain. */
export interface FetchFacts extends Pick<EdgeRequest, 'country' | 'asn' | 'bot' | 'ja4' | 'ja4h'> {
  /** The visitor's address; `null` unknown. */
  readonly ip: string | null;
  /** `HTTP/1.1`, `HTTP/2`; `waf` signatures inspect it. Default: `HTTP/1.1`. */
  readonly protocol?: string | undefined;
  /** The port in the visitor's URL. Default: the scheme's. */
  readonly port?: number | undefined;
  /**
   * The request's `Forwarded` and `X-Forwarded-*` headers are from a trusted proxy, so the application gets them.
   * Default: false.
   */
  readonly trusted?: boolean | undefined;
}

/** A request with the facts about its visitor. */
export interface FetchMessage {
  readonly request: Request;
  readonly facts: FetchFacts;
}

/** The scheme of an absolute URL; one that is not http counts as https. */
export function schemeOf(url: string): 'http' | 'https' {
  return url.startsWith('http:') ? 'http' : 'https';
}

/** How a `Request` is read for a decision. */
export const FETCH_READER: MessageReader<FetchMessage, PeekedBody['outgoing'] | null> = {
  head({ request: { url, method, headers, body }, facts: { protocol = 'HTTP/1.1' } }) {
    const start = startOfTarget(url);
    return {
      ok: true,
      method,
      host: url.slice(url.indexOf('://') + 3, start),
      target: start === url.length ? '/' : url.slice(start),
      protocol,
      headers: Object.fromEntries(headers),
      hasBody: body !== null,
    };
  },
  header: ({ request }, name) => request.headers.get(name) ?? '',
  whole: ({ request }) => request.body,
  async inspect({ request: { body, headers } }, wanted) {
    if (body === null) return null;
    return peekBody(body, wanted, headers.get('content-encoding') ?? '');
  },
  read: ({ request }, most) => readBody(request.body, most),
};

// A request's body as a stream of the web platform: the part that rules inspect, and the whole for the application.

type Stream = ReadableStream<Octets>;
type Reader = ReadableStreamDefaultReader<Octets>;

export interface PeekedBody {
  /**
   * Why what is inspected is not what the client means, `content-encoding: …`; `null`: it is what the client means, as
   * far as it goes.
   */
  readonly error: string | null;
  /** The octets that rules inspect: the first `wanted`, inflated according to Content-Encoding. */
  readonly inspected: Uint8Array;
  /** The whole: octets if all of them were read, else what was read and then the rest. */
  readonly outgoing: Octets | Stream;
}

/**
 * Reads a body until `wanted` octets can be inspected, or all of it when it is shorter.
 * @param coding the request's Content-Encoding
 * @throws Error when the client breaks off
 */
async function peekBody(body: Stream, wanted: number, coding: string): Promise<PeekedBody> {
  const reader = body.getReader();
  const name = codingOf(coding);
  const { octets, ended } = await readUpTo(reader, codedOctets(name, wanted));
  const outgoing = ended ? octets : continued(octets, reader);
  return { ...(await inspectedPart(octets, name, { wanted, ended, inflate })), outgoing };
}

/** A whole body of at most `most` octets; `null`: it is longer, or the client broke off. */
async function readBody(body: Stream | null, most: number): Promise<Uint8Array | null> {
  if (body === null) return new Uint8Array(0);
  const reader = body.getReader();
  const part = await readUpTo(reader, most + 1).catch(() => null);
  if (part?.ended === false) await reader.cancel();
  return part === null || part.octets.length > most ? null : part.octets;
}

interface Part {
  readonly octets: Octets;
  readonly ended: boolean;
}

async function readUpTo(reader: Reader, wanted: number): Promise<Part> {
  const chunks: Octets[] = [];
  let length = 0;
  let ended = false;
  while (length < wanted && !ended) {
    const { done, value } = await reader.read();
    ended = done;
    if (value === undefined) continue;
    chunks.push(value);
    length += value.length;
  }
  return { octets: joined(chunks, length), ended };
}

function continued(read: Octets, reader: Reader): Stream {
  return new ReadableStream<Octets>({
    start: (controller) => controller.enqueue(read),
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
