/**
 * Stage `origin`. In: a request with its route. Out: a function that sends the request to the origin, for the cache or for
 * the client directly.
 */
import { type ClientBody, createClientBody } from '../../../base/buffers/client-body.ts';
import { lowerName } from '../../../base/http/header-fields.ts';
import type { HeaderList, ResponseSink, ResponseSource } from '../../../base/http/response.ts';
import { aliasedName, changedList, requestChanges } from '../../answers/header-changes.ts';
import { exchangeOf } from '../../decide/request-context.ts';
import type { MarkdownRequest } from '../../markdown/request.ts';
import { networkOf } from '../network.ts';
import type { OriginUse, OutgoingRequest } from '../origin/request.ts';
import { outgoingHeaders } from '../origin-headers.ts';
import { isExpectationPassed, type NodeContext, routeOf } from '../request-context.ts';
import { fetchInSpan } from '../request-span.ts';
import { PAGE_METHOD } from './markdown.ts';

/** Header values by lower-case name; `null` removes the header. */
export type HeaderChanges = Readonly<Record<string, string | null>>;

/** Sends the request with these header changes (`null`: none) and pushes the response into the sink. */
export type OriginFetch = (changes: HeaderChanges | null, sink: ResponseSink) => ResponseSource;

/** PERF: the outgoing request is made at the first fetch; most responses from the cache need none. */
export function originFetch(context: NodeContext, markdown: MarkdownRequest | null): OriginFetch {
  const { origins } = context.services;
  const { span } = context;
  let outgoing: OutgoingRequest | null = null;
  return (changes, sink) => {
    if (outgoing === null) {
      const body = outgoingBody(context);
      if (body !== null && !(body instanceof Uint8Array)) context.clientBody = body;
      outgoing = outgoingRequest(context, body);
      if (markdown !== null) outgoing = pageRequest(outgoing, markdown);
    }
    const request =
      changes === null ? outgoing : { ...outgoing, headers: changedHeaders(outgoing.headers, changes) };
    return span === null
      ? origins.send(request, sink)
      : fetchInSpan({ origins, request, parent: span }, sink);
  };
}

/** The body for the origin: octets if inspection has read all of it, else a body that is read as the origin takes it. */
function outgoingBody(context: NodeContext): Uint8Array | ClientBody | null {
  const { body, services, incoming } = context;
  if (body === null) return null;
  if ('ended' in body && body.ended) return body.read;
  const { buffers } = services;
  return createClientBody({
    message: incoming.message,
    read: 'ended' in body ? body.read : null,
    most: buffers.bodyOctets,
    space: buffers.space,
    network: networkOf(incoming.visitor.ip),
    rate: buffers.rate,
    expectation: isExpectationPassed(context) ? { proceed: incoming.proceed, unwanted: incoming.last } : null,
  });
}

/**
 * The request as the origin gets it: without hop-by-hop headers and the edge's cookies, with the forwarding headers, as headers
 * rules change it.
 */
export function outgoingRequest(context: NodeContext, body: OutgoingRequest['body']): OutgoingRequest {
  const { message, visitor } = context.incoming;
  const { decision, domain, request } = exchangeOf(context);
  const { origin, path } = routeOf(context);
  const { challenges, keepUnderscores } = context.services;
  const use: OriginUse = { begun: false, result: 'abandoned', ms: null, reused: false };
  context.originUse = use;
  const headers = outgoingHeaders(message.rawHeaders, {
    id: context.id,
    method: request.method,
    visitor,
    host: String(request.host),
    hostHeader: origin.hostHeader,
    cookies: challenges.withoutOwn(String(message.headers.cookie ?? '')),
    version: message.httpVersion,
    keepUnderscores,
  });
  return {
    domain,
    origin,
    rule: decision.rule,
    method: request.method,
    path,
    headers: changedList(headers, requestChanges(decision, challenges), aliasedName),
    body,
    use,
    network: networkOf(visitor.ip),
  };
}

/** Requests the whole page: its Markdown, and the length of that, can be computed from nothing less. */
function pageRequest(outgoing: OutgoingRequest, { changes }: MarkdownRequest): OutgoingRequest {
  return { ...outgoing, method: PAGE_METHOD, headers: changedHeaders(outgoing.headers, changes) };
}

/** The headers with changes. */
export function changedHeaders(headers: HeaderList, changes: HeaderChanges): HeaderList {
  const changed: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    if (!(lowerName(headers[at]!) in changes)) changed.push(headers[at]!, headers[at + 1]!);
  }
  for (const [name, value] of Object.entries(changes)) if (value !== null) changed.push(name, value);
  return changed;
}
