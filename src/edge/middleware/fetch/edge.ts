/**
 * The edge in front of a `fetch` handler: Workers, Deno, Bun, Hono. In: a `Request` and facts about the visitor. Out: a
 * `Response` of the edge's own, or the application's to the request that the decision forwards.
 */
import { checkOptions, type OptionKinds } from '../../../base/diagnostics/options.ts';
import { steadyNow } from '../../../base/text/time.ts';
import {
  type Counters,
  createCounters,
  createDomains,
  type Domains,
  loadPlan,
  type WafProgram,
} from '../../../engine/evaluator/index.ts';
import { openSignatures } from '../../../engine/plan/open-signatures.ts';
import { loadSignatures } from '../../../engine/waf/load/load.ts';
import { statusPage } from '../../answers/answer-to.ts';
import { createChallenges } from '../../answers/challenge/challenge.ts';
import { forwardedTarget } from '../../answers/decided.ts';
import { decideRequest } from '../../decide/decide.ts';
import { DEFAULT_PORTS, type DecidingDomain } from '../../decide/exchange.ts';
import { createRequestContext, type DecisionServices, type Incoming } from '../../decide/request-context.ts';
import {
  createDecisionReporter,
  type DecisionReporter,
  type EdgeListeners,
  type EdgeVerdict,
  type Enforced,
} from '../../decide/verdict.ts';
import {
  COUNT,
  checkOctets,
  checkPlan,
  createSecrets,
  type InstalledPlan,
  LISTENERS,
  PLANS,
  SECRET,
  SIGNATURES,
} from '../check-options.ts';
import {
  FETCH_READER,
  type FetchFacts,
  type FetchMessage,
  finishedResponse,
  forwardedRequest,
  type PeekedBody,
  responseOf,
  schemeOf,
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

const OPTIONS: OptionKinds<FetchEdgeOptions> = {
  plans: PLANS,
  secret: SECRET,
  signatures: SIGNATURES,
  counterOctets: COUNT,
  ...LISTENERS,
};

/** A small share of the 128 MB that a Worker has. */
const COUNTER_OCTETS = 16 * 1024 * 1024;

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
  const counters = createCounters({
    clock: steadyNow,
    maxBytes: options.counterOctets ?? COUNTER_OCTETS,
  });
  const waf = options.signatures == null ? null : loadSignatures(openSignatures(options.signatures));
  const domains = createDomains<DecidingDomain>();
  const challenges = createChallenges({ secrets: createSecrets(options.secret) });
  const edge: EdgeParts = {
    reporter: createDecisionReporter(options),
    services: {
      plans: domains,
      challenges,
      classifier: BY_FACTS_ONLY,
      // Each refusal goes to `onRefusal`.
      unserved: { hosts: (most) => hostsOf(domains, most), report: nothing },
    },
    domains,
    counters,
    waf,
  };
  for (const plan of options.plans ?? []) installPlan(edge, plan);
  return {
    handle: (request, facts, next) => serve(edge, request, { facts, next, rewritable: true }),
    hono: (factsOf) =>
      honoMiddleware(factsOf, (request, facts, next) =>
        serve(edge, request, { facts, next, rewritable: false }),
      ),
    install: (plan) => installPlan(edge, plan),
    remove: (domain) => void domains.delete(domain),
    get size() {
      return domains.size;
    },
  };
}

/** The services of an edge, created once. */
interface EdgeParts {
  readonly reporter: DecisionReporter;
  readonly services: DecisionServices;
  readonly domains: Domains<DecidingDomain>;
  readonly counters: Counters;
  readonly waf: WafProgram | null;
}

/** Nothing is looked up: the caller knows the country, and the evaluator reads the User-Agent. */
const BY_FACTS_ONLY: DecisionServices['classifier'] = { country: () => null, bot: () => undefined };

function hostsOf(domains: Domains<DecidingDomain>, most: number): readonly string[] {
  const hosts: string[] = [];
  for (const { evaluator } of domains.values()) {
    if (hosts.length >= most) break;
    hosts.push(...evaluator.hosts(most - hosts.length));
  }
  return hosts;
}

function installPlan({ reporter, domains, counters, waf }: EdgeParts, bytes: Uint8Array): InstalledPlan {
  checkOctets(bytes);
  // A copy: the caller may change its buffer, and a plan must not change while it serves.
  const octets = bytes.slice();
  const plan = checkPlan(octets);
  const onFault = (error: unknown): void => reporter.fault(error, `a decision of ${plan.domain}`);
  const evaluator = loadPlan(octets, { counters, waf, onFault, trusted: true });
  domains.set(plan.domain, { name: plan.domain, evaluator, settings: evaluator.settings() });
  return plan;
}

/** What the edge enforces before an application has routed the request, and after that. */
const BEFORE_ROUTING: Enforced = new Set(['rewrite', 'body', 'response']);
const AFTER_ROUTING: Enforced = new Set(['body', 'response']);

/** Answers a request; never rejects. */
async function serve(edge: EdgeParts, request: Request, serving: Serving): Promise<Response> {
  try {
    return await respond(edge, request, serving);
  } catch (error) {
    // Fails closed: a request that could not be decided is not forwarded.
    edge.reporter.fault(error, 'a request');
    return new Response(null, { status: 500 });
  }
}

/** Decides a request; the response is the edge's own, or the application's. */
async function respond(
  { reporter, services }: EdgeParts,
  request: Request,
  { facts, next, rewritable }: Serving,
): Promise<Response> {
  const context = createRequestContext({
    services,
    incoming: incomingOf({ request, facts }),
    reader: FETCH_READER,
  });
  const enforced = rewritable ? BEFORE_ROUTING : AFTER_ROUTING;
  const outcome = await decideRequest(context, { reporter, enforced, isUpgrade: false });
  if (outcome.kind === 'answer') return responseOf(outcome.answer, request.method);
  const { exchange, verdict } = outcome;
  const { challenges } = services;
  const { settings } = exchange.domain;
  const target = (rewritable ? forwardedTarget(exchange.decision) : null) ?? exchange.request.target;
  const body = context.body === request.body ? null : (context.body as PeekedBody['outgoing']);
  const trusted = facts.trusted === true;
  const forwarded = forwardedRequest(request, { target, body, challenges, trusted });
  try {
    return finishedResponse(await next(forwarded, verdict), exchange, settings);
  } catch (error) {
    reporter.fault(error, 'the application');
    return finishedResponse(responseOf(statusPage(exchange, 500), request.method), exchange, settings);
  }
}

/** The request with the visitor of whom the caller knows. */
function incomingOf(message: FetchMessage): Incoming<FetchMessage> {
  const { request, facts } = message;
  const { ip, country, bot, ja4, ja4h, trusted = false } = facts;
  const scheme = schemeOf(request.url);
  const port = facts.port ?? DEFAULT_PORTS[scheme];
  return {
    message,
    visitor: { ip, peer: ip, scheme, port, trusted, hops: [], serverName: null },
    ja4: null,
    knownFacts: { country, bot, ja4, ja4h },
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
export interface FetchEdgeOptions extends EdgeListeners {
  /** Sealed plans to start with (`edgeplan compile -o`, `seal`); `install` adds more. */
  readonly plans?: readonly Uint8Array[];
  /**
   * The secret that signs challenges, at least 16 octets: the same in every isolate, process and region. Default: a
   * random one of this isolate, which is enough for one process.
   */
  readonly secret?: Uint8Array | string;
  /** A sealed signature program for `waf` rules (`edgeplan waf compile -o`). Default: such rules match and do nothing. */
  readonly signatures?: Uint8Array | null;
  /** Octets of rate counters. Default: 16 MiB, an eighth of what a Worker has. */
  readonly counterOctets?: number;
}

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
