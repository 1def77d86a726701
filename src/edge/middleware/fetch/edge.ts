/**
 * The edge in front of a `fetch` handler: Workers, Deno, Bun, Hono. In: a `Request` and facts about the visitor. Out: a
 * `Response` of the edge's own, or the application's to the request that the decision forwards.
 */
import { checkOptions, type OptionKinds } from '../../../base/diagnostics/options.ts';
import { statusPage } from '../../answers/answer-to.ts';
import { forwardedTarget } from '../../answers/decided.ts';
import { requestChanges } from '../../answers/header-changes.ts';
import { decideRequest, IN_FLIGHT_STAGES } from '../../decide/decide.ts';
import { DEFAULT_PORTS, type DecidingDomain, type Exchange } from '../../decide/exchange.ts';
import { createRequestContext, endRequest, type Incoming } from '../../decide/request-context.ts';
import type { EdgeVerdict, Enforced } from '../../decide/verdict.ts';
import type { InstalledPlan } from '../check-options.ts';
import { createEmbedded, EMBEDDED_OPTIONS, type EmbeddedEdge, type EmbeddedOptions } from '../embedded.ts';
import {
  FETCH_READER,
  type FetchFacts,
  type FetchMessage,
  finishedResponse,
  forwardedRequest,
  type PeekedBody,
  responseOf,
  schemeOf,
  withEnd,
} from './messages.ts';

/** An edge for `fetch` handlers. Its functions need no `this`. */
export interface FetchEdge {
  /** Answers a request, with `next` if it is forwarded; never rejects. What `next` throws is answered with 500. */
  handle(request: Request, facts: FetchFacts, next: Next): Promise<Response>;
  /**
   * The same as Hono middleware: `app.use(edge.hono((context) => ({ ip: … })))`; the verdict is `context.get('edge')`. Hono
   * has routed a request before its middleware, so rewrites are reported and not done; `handle` around `app.fetch`
   * does them.
   */
  hono<C extends HonoContext>(factsOf: (context: C) => FetchFacts): HonoMiddleware<C>;
  /**
   * Installs a sealed plan in place of the one its domain has, whole: a request sees the one or the other. Rate
   * counters go on.
   * @throws PlanFault when the bytes are no plan, or none that can serve; what was installed before stays
   */
  install(plan: Uint8Array): InstalledPlan;
  /** Removes a domain; its hosts belong to the longest name above it then, else they are answered 421. */
  remove(domain: string): void;
  /** Number of installed domains. */
  readonly size: number;
}

const OPTIONS: OptionKinds<FetchEdgeOptions> = EMBEDDED_OPTIONS;

/**
 * Makes an edge. Needs no random numbers and no clock, so Workers may do so before their first request.
 * @throws PlanFault when one of `plans`, or `signatures`, cannot be opened; RangeError when `secret` is too short;
 * TypeError naming an option that is unknown or of a wrong kind
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { createEdge } from 'edgeplan/fetch';
 *
 * const edge = createEdge({ plans: [await readFile('example.com.edgeplan')] });
 *
 * export function handle(request: Request, ip: string): Promise<Response> {
 *   return edge.handle(request, { ip }, (_forwarded, { id }) => new Response(`decision ${id}\n`));
 * }
 * ```
 */
export function createEdge(options: FetchEdgeOptions = {}): FetchEdge {
  checkOptions('createEdge', options, OPTIONS);
  const edge = createEmbedded(options);
  return {
    handle: (request, facts, next) => serve(edge, request, { facts, next, rewritable: true }),
    hono: (factsOf) =>
      honoMiddleware(factsOf, (request, facts, next) =>
        serve(edge, request, { facts, next, rewritable: false }),
      ),
    install: edge.install,
    remove: edge.remove,
    get size() {
      return edge.size();
    },
  };
}

/** What the edge enforces before an application has routed the request, and after that. */
const BEFORE_ROUTING: Enforced = new Set(['rewrite', 'body', 'response', 'request', 'concurrency']);
const AFTER_ROUTING: Enforced = new Set(['body', 'response', 'request', 'concurrency']);

/** Answers a request; never rejects. */
async function serve(edge: EmbeddedEdge, request: Request, serving: Serving): Promise<Response> {
  try {
    return await respond(edge, request, serving);
  } catch (error) {
    // Fails closed: a request that could not be decided is not forwarded.
    edge.reporter.fault(error, 'a request');
    return new Response(null, { status: 500 });
  }
}

/** Decides a request; the response is the edge's own, or the application's. */
async function respond(edge: EmbeddedEdge, request: Request, serving: Serving): Promise<Response> {
  const { reporter, services } = edge;
  const incoming = incomingOf({ request, facts: serving.facts });
  const context = createRequestContext({ services, incoming, reader: FETCH_READER });
  const enforced = serving.rewritable ? BEFORE_ROUTING : AFTER_ROUTING;
  const end = (): void => endRequest(context);
  try {
    const outcome = await decideRequest(context, { reporter, enforced, stages: IN_FLIGHT_STAGES });
    if (outcome.kind === 'answer') return responseOf(outcome.answer, request.method);
    const forward = (): Promise<Response> =>
      forwardTo(edge, request, { ...serving, ...outcome, body: context.body });
    if (context.freeSlot === null) return await forward();
    whenAborted(request.signal, end);
    const response = await forward();
    // Servers need not read the body of a response to HEAD.
    if (request.method === 'HEAD') end();
    return withEnd(response, end);
  } catch (error) {
    end();
    throw error;
  }
}

/** What the application gets of a request. */
interface Forwarded extends Serving {
  readonly exchange: Exchange<DecidingDomain>;
  readonly verdict: EdgeVerdict;
  /** As the stages have left it. */
  readonly body: unknown;
}

/** The application's response, or the page for what it throws. */
async function forwardTo(
  { reporter, services }: EmbeddedEdge,
  request: Request,
  { facts, next, rewritable, exchange, verdict, body: left }: Forwarded,
): Promise<Response> {
  const { challenges } = services;
  const target = (rewritable ? forwardedTarget(exchange.decision) : null) ?? exchange.request.target;
  const body = left === request.body ? null : (left as PeekedBody['outgoing']);
  const trusted = facts.trusted === true;
  const changes = requestChanges(exchange.decision, challenges);
  const forwarded = forwardedRequest(request, { target, body, challenges, trusted, changes });
  try {
    return finishedResponse(await next(forwarded, verdict), exchange);
  } catch (error) {
    reporter.fault(error, 'the application');
    return finishedResponse(responseOf(statusPage(exchange, 500), request.method), exchange);
  }
}

/** Calls a function when a request is aborted, or at once if it was. */
function whenAborted(signal: AbortSignal, end: () => void): void {
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
}

/** The request with the visitor of whom the caller knows. */
function incomingOf(message: FetchMessage): Incoming<FetchMessage> {
  const { request, facts } = message;
  const { ip, trusted = false } = facts;
  const scheme = schemeOf(request.url);
  const port = facts.port ?? DEFAULT_PORTS[scheme];
  return {
    message,
    visitor: { ip, peer: ip, scheme, port, trusted, hops: [], serverName: null },
    ja4: null,
    certificate: null,
    knownFacts: facts,
    proceed: nothing,
    last: nothing,
  };
}

function nothing(): void {}

/** How a request is served. */
interface Serving {
  readonly facts: FetchFacts;
  readonly next: Next;
  /** The application has not routed the request yet, so that a rewrite takes effect. */
  readonly rewritable: boolean;
}

// Options of an edge in front of a `fetch` handler.

/** Options of `createEdge`. */
export interface FetchEdgeOptions extends EmbeddedOptions {}

/** The application: answers a forwarded request. */
export type Next = (request: Request, verdict: EdgeVerdict) => Response | Promise<Response>;

// The edge as Hono middleware, typed by the shape of Hono's context, without an import of Hono.

/** The part of Hono's `Context` that the middleware uses. */
export interface HonoContext {
  readonly req: { raw: Request };
  get res(): Response;
  set res(response: Response | undefined);
  set(key: 'edge', value: EdgeVerdict): void;
}

/** A middleware; `undefined`: the response is in the context. */
export type HonoMiddleware<C> = (context: C, next: () => Promise<void>) => Promise<Response | undefined>;

type Serve = (request: Request, facts: FetchFacts, next: Next) => Promise<Response>;

/** @param serve decides a request and calls the application if it is forwarded */
function honoMiddleware<C extends HonoContext>(
  factsOf: (context: C) => FetchFacts,
  serve: Serve,
): HonoMiddleware<C> {
  return async (context, next) => {
    let forwarded = false;
    const response = await serve(context.req.raw, factsOf(context), async (request, verdict) => {
      forwarded = true;
      context.req.raw = request;
      context.set('edge', verdict);
      await next();
      return context.res;
    });
    if (!forwarded) return response;
    // Hono copies the headers of the old response to a new one, also those that were dropped: the old one is removed first.
    context.res = undefined;
    context.res = response;
    return undefined;
  };
}
