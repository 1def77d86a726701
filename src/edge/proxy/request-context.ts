/**
 * The request context of a node: the state of one request on its way through the stages. Every stage of `serve-request.ts` reads what the stages
 * before it have stored here, and stores what the stages after it need.
 */
import { randomUUID } from 'node:crypto';
import type { ClientBody } from '../../base/buffers/client-body.ts';
import { assert } from '../../base/diagnostics/assert.ts';
import type { ClientRequest } from '../../base/http/client-messages.ts';
import type { ActiveSpan } from '../../base/telemetry/spans.ts';
import type { Origin } from '../../engine/evaluator/decision.ts';
import { pageFor, type RequestContext } from '../decide/request-context.ts';
import type { ServedDomain } from '../following/served-domain.ts';
import type { MarkdownOutcome } from '../markdown/outcome.ts';
import type { OriginUse } from './origin/request.ts';
import type { ReadPart } from './request-body.ts';
import { startRequestSpan } from './request-span.ts';
import type { ProxyServices } from './services.ts';

/** The body for the origin: what inspection has read of it, or the message whose body nobody has read. */
export type OutgoingBody = ReadPart | ClientRequest;

/** The origin that the decision chose, and the path and query for it. */
export interface Route {
  readonly origin: Origin;
  readonly path: string;
}

/** The context of a request to a node. `Client` is the node's end of the client: a response, or a switched connection. */
export interface NodeContext<Client = unknown> extends RequestContext<ClientRequest, ServedDomain> {
  readonly services: ProxyServices;
  body: OutgoingBody | null;
  readonly client: Client;
  /** The arrival on the monotonic clock, milliseconds. */
  readonly began: number;
  /** The request in a distributed trace; `null`: no collector gets spans. */
  readonly span: ActiveSpan | null;
  /** Set by `choose the origin`. */
  route: Route | null;
  /** The body as the origin gets it, which counts what it receives; `null`: none was passed on. */
  clientBody: ClientBody | null;
  /** The request's way to the origin; `null`: it did not go there. */
  originUse: OriginUse | null;
  /** The result of the cache for the request log; `null`: the request did not reach the cache. */
  cacheResult: string | null;
  /** The outcome of a request for Markdown; `null`: HTML was requested. */
  markdown: MarkdownOutcome | null;
  /** Why the request failed, a code for the request log; `null`: it did not fail. */
  fault: string | null;
}

export interface NodeContextOptions<Client>
  extends Pick<NodeContext<Client>, 'services' | 'incoming' | 'reader' | 'client' | 'allow'> {}

/** The context of a request to a node. */
export function createNodeContext<Client>(options: NodeContextOptions<Client>): NodeContext<Client> {
  const { services, incoming, reader, client, allow } = options;
  const id = randomUUID();
  // PERF: written out; a copy of `createRequestContext`'s object costs more than all of its fields.
  return {
    services,
    incoming,
    id,
    startedAt: Date.now(),
    allow,
    reader,
    page: pageFor({ incoming, reader, id }),
    identified: null,
    body: null,
    isPartial: false,
    octetsRead: 0,
    exchange: null,
    unserved: null,
    freeSlot: null,
    hasEnded: false,
    client,
    began: performance.now(),
    span: services.spans === null ? null : startRequestSpan(services.spans, incoming),
    route: null,
    clientBody: null,
    originUse: null,
    cacheResult: null,
    markdown: null,
    fault: null,
  };
}

/**
 * Whether the origin, and not the edge, answers a client that expects a 100 (RFC 9110 §10.1.1): for a body that no rule
 * inspects and that is longer than what the edge reads before it contacts an origin, or may be.
 */
export function isExpectationPassed({ incoming: { message }, body, services }: NodeContext): boolean {
  const { expect, 'content-length': length } = message.headers;
  if (expect === undefined || body !== message || message.httpVersion === '1.0') return false;
  if (expect.toLowerCase() !== '100-continue') return false;
  return length === undefined || Number(length) > services.buffers.bodyOctets;
}

/** The chosen origin. INVARIANT: `choose the origin` has run and refused nothing. */
export function routeOf({ route }: Pick<NodeContext, 'route'>): Route {
  assert(route !== null, 'a stage ran before an origin was chosen');
  return route;
}
