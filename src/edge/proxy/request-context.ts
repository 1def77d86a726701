/**
 * The request context: the state of one request on its way through the stages. Every stage of `serve-request.ts` reads what the stages
 * before it have stored here, and stores what the stages after it need.
 */
import { randomUUID } from 'node:crypto';
import type { ClientBody } from '../../base/buffers/client-body.ts';
import { assert } from '../../base/diagnostics/assert.ts';
import type { ClientRequest } from '../../base/http/client-messages.ts';
import type { EdgeAnswer, HeaderList } from '../../base/http/response.ts';
import type { ActiveSpan } from '../../base/telemetry/spans.ts';
import type { Origin } from '../../engine/evaluator/decision.ts';
import type { EdgeRequest } from '../../engine/evaluator/index.ts';
import { ownAnswer } from '../answers/answer-to.ts';
import { pageAnswer } from '../answers/pages.ts';
import type { UnservedHelp } from '../answers/unserved.ts';
import type { ServedDomain } from '../following/plan-table.ts';
import type { MarkdownOutcome } from '../markdown/outcome.ts';
import type { Exchange, Visitor } from './exchange.ts';
import type { OriginUse } from './origin/request.ts';
import type { InspectedBody, ReadPart } from './request-body.ts';
import { startRequestSpan } from './request-span.ts';
import type { ProxyServices } from './services.ts';
import type { UnservedHost } from './unserved.ts';

/** A request that arrived, and the visitor who sent it. */
export interface Incoming {
  readonly message: ClientRequest;
  readonly visitor: Visitor;
  /** The JA4 fingerprint of the TLS client; `null`: unknown. */
  readonly ja4: string | null;
  /** Facts about the visitor from an outside source; absent: all are looked up. */
  readonly knownFacts?: KnownFacts;
  /** Sends `100 Continue` to a client that expects it (RFC 9110 §10.1.1); without effect for all others. */
  readonly proceed: () => void;
  /** Makes this the last request of its connection. Called before the head of its response, if at all. */
  readonly last: () => void;
}

/** Facts that a server in front of the edge has established, in the form of `EdgeRequest`; absent ones are looked up. */
export type KnownFacts = Pick<EdgeRequest, 'country' | 'bot' | 'ja4' | 'ja4h'>;

/** The services that the stages up to the decision use. */
export type DecisionServices = Pick<ProxyServices, 'plans' | 'challenges' | 'classifier' | 'unserved'>;

/** A body after its inspection: the octets that rules inspect, and the body for the origin or application. */
export interface InspectedRequestBody extends InspectedBody {
  readonly outgoing: ReadPart | ClientRequest;
}

/**
 * Reads the first octets of a body so that `wanted` of them can be inspected.
 * @throws BodyFault when the client breaks off or is too slow
 */
export type BodyInspector = (message: ClientRequest, wanted: number) => Promise<InspectedRequestBody>;

/** What the stage `read` found: the domain that serves the request, and the request in the evaluator's form. */
export interface IdentifiedRequest {
  readonly hasBody: boolean;
  readonly domain: ServedDomain;
  readonly request: EdgeRequest;
}

/** The context up to the decision, before an origin and before an application alike. */
export interface RequestContext {
  readonly services: DecisionServices;
  readonly incoming: Incoming;
  /** The decision id: in a response header, on pages and in the decision log. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Headers of a 405 (RFC 9110 §15.5.6); empty if another server decides which methods are allowed. */
  readonly allow: HeaderList;
  readonly inspector: BodyInspector;
  /** The service's page for a status, in the media type that the client prefers. */
  readonly page: (status: number, more?: HeaderList, help?: UnservedHelp) => EdgeAnswer;
  /** Set by `read`. */
  identified: IdentifiedRequest | null;
  /** Set by `inspect the body`: what of the body remains for the origin; `null`: the request has none. */
  body: ReadPart | ClientRequest | null;
  /** Octets that were read at the edge: of the body, inspected ones and solutions of challenges; those of a WebSocket. */
  octetsRead: number;
  /** Set by `decide`. */
  exchange: Exchange | null;
  /** Set where the answer is 421. */
  unserved: UnservedHost | null;
}

/** The origin that the decision chose, and the path and query for it. */
export interface Route {
  readonly origin: Origin;
  readonly path: string;
}

/** The context of a request to a node. `Client` is the node's end of the client: a response, or a switched connection. */
export interface NodeContext<Client = unknown> extends RequestContext {
  readonly services: ProxyServices;
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

export interface RequestContextOptions {
  readonly services: DecisionServices;
  readonly incoming: Incoming;
  readonly inspector: BodyInspector;
}

/** The context of a request before an application, which decides itself which methods are allowed. */
export function createRequestContext({
  services,
  incoming,
  inspector,
}: RequestContextOptions): RequestContext {
  const id = randomUUID();
  return {
    services,
    incoming,
    id,
    startedAt: Date.now(),
    allow: NO_HEADERS,
    inspector,
    page: (status, more, help) =>
      pageOf(incoming, help === undefined ? { status, id } : { status, id, help }, more),
    identified: null,
    body: null,
    octetsRead: 0,
    exchange: null,
    unserved: null,
  };
}

export interface NodeContextOptions<Client>
  extends Pick<NodeContext<Client>, 'services' | 'incoming' | 'inspector' | 'client' | 'allow'> {}

/** The context of a request to a node. */
export function createNodeContext<Client>(options: NodeContextOptions<Client>): NodeContext<Client> {
  const { services, incoming, inspector, client, allow } = options;
  const id = randomUUID();
  // PERF: written out; a copy of `createRequestContext`'s object costs more than all of its fields.
  return {
    services,
    incoming,
    id,
    startedAt: Date.now(),
    allow,
    inspector,
    page: (status, more, help) =>
      pageOf(incoming, help === undefined ? { status, id } : { status, id, help }, more),
    identified: null,
    body: null,
    octetsRead: 0,
    exchange: null,
    unserved: null,
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

/** The service's page for a status, in the media type that the client prefers. */
function pageOf(
  { message }: Incoming,
  page: Parameters<typeof pageAnswer>[0],
  more: HeaderList = NO_HEADERS,
): EdgeAnswer {
  return pageAnswer(page, String(message.headers.accept ?? ''), more);
}

const NO_HEADERS: HeaderList = Object.freeze([]);

/** The identified request. INVARIANT: `read` has run and refused nothing. */
export function identifiedOf({ identified }: Pick<RequestContext, 'identified'>): IdentifiedRequest {
  assert(identified !== null, 'a stage ran before the request was read');
  return identified;
}

/** An answer of the edge's own, with the headers of the request's domain as far as it is known. */
export function answerOf({ identified }: Pick<RequestContext, 'identified'>, answer: EdgeAnswer): EdgeAnswer {
  return identified === null ? answer : ownAnswer(answer, identified.domain.settings);
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

/** The decided request. INVARIANT: `decide` has run. */
export function exchangeOf({ exchange }: Pick<RequestContext, 'exchange'>): Exchange {
  assert(exchange !== null, 'a stage ran before the request was decided');
  return exchange;
}

/** The chosen origin. INVARIANT: `choose the origin` has run and refused nothing. */
export function routeOf({ route }: Pick<NodeContext, 'route'>): Route {
  assert(route !== null, 'a stage ran before an origin was chosen');
  return route;
}

// A stage of a request's way through the edge, and how a list of stages runs.

/** The answer with which a stage ends the request's way; `null`: the next stage runs. */
export type StageResult = EdgeAnswer | null | Promise<EdgeAnswer | null>;

export interface Stage<Context> {
  /** What the stage does, for readers of the list. */
  readonly name: string;
  readonly run: (context: Context) => StageResult;
}

/**
 * Runs the stages in order until one returns an answer, and returns that answer; `null`: no stage returned one.
 * PERF: returns a promise only if a stage did; most requests have reached their origin when this returns.
 */
export function runStages<Context>(
  stages: readonly Stage<Context>[],
  context: Context,
  from = 0,
): StageResult {
  for (let at = from; at < stages.length; at++) {
    const result = stages[at]!.run(context);
    if (result instanceof Promise) {
      return result.then((answer) => answer ?? runStages(stages, context, at + 1));
    }
    if (result !== null) return result;
  }
  return null;
}
