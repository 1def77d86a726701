/** Converts between the edge's requests and answers and the `Request` and `Response` of `fetch` handlers. */
import { type EdgeAnswer, endToEnd } from '../../../base/http/header-fields.ts';
import type { EdgeSettings } from '../../../engine/evaluator/index.ts';
import { pageInstead } from '../../answers/answer-to.ts';
import type { Challenges } from '../../answers/challenge/challenge.ts';
import type { Decided } from '../../answers/decided.ts';
import { addedHeaders, inPlaceOf, isDropped } from '../../answers/domain-headers.ts';
import { isForwarding } from '../../answers/forwarding.ts';
import type { PeekedBody } from './body.ts';

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
}

/**
 * The request for the application: the same object if nothing changes. Headers with `_` in their names stay, as the
 * application would get them without the edge.
 */
export function forwardedRequest(request: Request, forwarding: Forwarding): Request {
  const { target, body } = forwarding;
  const headers = forwardedHeaders(request.headers, forwarding);
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
export function startOfTarget(url: string): number {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  return start < 0 ? url.length : start;
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
export function finishedResponse(response: Response, decided: Decided, settings: EdgeSettings): Response {
  const { status } = response;
  // Switching protocols, or no answer at all: nothing can be added to it.
  if (status < 200) return response;
  const instead = pageInstead(decided, { status, madeBy: 'origin' });
  if (instead !== null) {
    // The replaced body is not read, so an error of its end does not matter.
    void response.body?.cancel().catch(() => undefined);
    const headers = new Headers(response.headers);
    finishHeaders(headers, decided, settings);
    return responseOf(inPlaceOf(endToEnd([...headers].flat()), instead), decided.request.method);
  }
  const finished = new Response(response.body, response);
  finishHeaders(finished.headers, decided, settings);
  return finished;
}

function finishHeaders(headers: Headers, { id }: Decided, settings: EdgeSettings): void {
  for (const name of [...headers.keys()]) {
    if (isDropped(name, settings)) headers.delete(name);
  }
  const added = addedHeaders(settings, id);
  for (let at = 0; at < added.length; at += 2) headers.set(added[at]!, added[at + 1]!);
}
