/**
 * The edge in front of a `fetch` handler: Workers, Deno, Bun, Hono. In: a `Request` and facts about the visitor. Out: a
 * `Response` of the edge's own, or the application's to the request that the decision forwards.
 */
import { type HostFacts, parseHost } from '../../../base/addresses/host.ts';
import { checkOptions, type OptionKinds } from '../../../base/diagnostics/options.ts';
import { steadyNow } from '../../../base/text/time.ts';
import {
  type Counters,
  createCounters,
  createDomains,
  type Domains,
  type EdgeRequest,
  type Evaluator,
  loadPlan,
  type WafProgram,
} from '../../../engine/evaluator/index.ts';
import { openSignatures } from '../../../engine/plan/open-signatures.ts';
import { loadSignatures } from '../../../engine/waf/load/load.ts';
import { answerTo, ownAnswer, statusPage, unservedPage } from '../../answers/answer-to.ts';
import { type Challenges, createChallenges } from '../../answers/challenge/challenge.ts';
import { type Decided, forwardedTarget } from '../../answers/decided.ts';
import {
  isLocalClient,
  localHelp,
  MAX_LISTED,
  strangerHelp,
  type UnservedHelp,
} from '../../answers/unserved.ts';
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
  createDecisionReporter,
  type DecisionReporter,
  type EdgeListeners,
  type EdgeVerdict,
  verdictOf,
} from '../verdict.ts';
import {
  finishedResponse,
  forwardedRequest,
  type PeekedBody,
  peekBody,
  readBody,
  responseOf,
  startOfTarget,
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
  const edge: EdgeParts = {
    reporter: createDecisionReporter(options),
    challenges: createChallenges({ secrets: createSecrets(options.secret) }),
    domains: createDomains<Evaluator>(),
    counters,
    waf,
  };
  for (const plan of options.plans ?? []) installPlan(edge, plan);
  const { domains } = edge;
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
  readonly challenges: Challenges;
  readonly domains: Domains<Evaluator>;
  readonly counters: Counters;
  readonly waf: WafProgram | null;
}

function installPlan({ reporter, domains, counters, waf }: EdgeParts, bytes: Uint8Array): InstalledPlan {
  checkOctets(bytes);
  // A copy: the caller may change its buffer, and a plan must not change while it serves.
  const octets = bytes.slice();
  const plan = checkPlan(octets);
  const onFault = (error: unknown): void => reporter.fault(error, `a decision of ${plan.domain}`);
  domains.set(plan.domain, loadPlan(octets, { counters, waf, onFault, trusted: true }));
  return plan;
}

/** Answers a request; never rejects. */
async function serve(edge: EdgeParts, request: Request, serving: Serving): Promise<Response> {
  const id = crypto.randomUUID();
  try {
    return await respond(edge, request, { ...serving, id });
  } catch (error) {
    // Fails closed: a request that could not be decided is not forwarded.
    edge.reporter.fault(error, 'a request');
    return new Response(null, { status: 500 });
  }
}

/** Decides a request; the response is the edge's own, or the application's. */
async function respond(
  edge: EdgeParts,
  request: Request,
  { facts, next, rewritable, id }: Serving & { readonly id: string },
): Promise<Response> {
  const { reporter, challenges } = edge;
  const outcome = await decideRequest(edge, request, { facts, id });
  if (!outcome.ok) return outcome.response;
  const { decided, body } = outcome;
  const verdict = verdictOf(decided, rewritable);
  reporter.decided(verdict);
  const own = await answerTo(decided, { challenges, readBody: (most) => readBody(request.body, most) });
  const settings = decided.domain.evaluator.settings();
  if (own !== null) return responseOf(ownAnswer(own, settings), request.method);
  const target = (rewritable ? forwardedTarget(decided.decision) : null) ?? decided.request.target;
  const trusted = facts.trusted === true;
  const forwarded = forwardedRequest(request, { target, body, challenges, trusted });
  try {
    return finishedResponse(await next(forwarded, verdict), decided, settings);
  } catch (error) {
    reporter.fault(error, 'the application');
    return finishedResponse(responseOf(statusPage(decided, 500), request.method), decided, settings);
  }
}

/** Finds the domain, checks the clearance, reads the inspected part of the body, and evaluates the plan. */
async function decideRequest(
  { reporter, challenges, domains }: EdgeParts,
  request: Request,
  { facts, id }: { readonly facts: FetchFacts; readonly id: string },
): Promise<DecisionOutcome> {
  const received = requestOf(request, facts);
  const refused = (status: number): DecisionOutcome => {
    reporter.refused({ id, status });
    const page = statusPage({ id, request: received }, status);
    return { ok: false, response: responseOf(page, received.method) };
  };
  const host: HostFacts = { host: '', port: -1, literal: false };
  if (!parseHost(String(received.host), host)) return refused(400);
  const evaluator = domains.find(String(received.host));
  if (evaluator === null) {
    reporter.refused({ id, status: 421 });
    const page = unservedPage({ id, request: received }, helpFor(domains, received, host));
    return { ok: false, response: responseOf(page, received.method) };
  }
  const cookies = request.headers.get('cookie') ?? '';
  const userAgent = request.headers.get('user-agent') ?? '';
  const visit = { domain: evaluator.domain, ip: facts.ip, userAgent, cookies, now: Date.now() };
  const cleared = cookies === '' ? [] : await challenges.cleared(visit);
  let known: EdgeRequest = { ...received, now: visit.now, cleared };
  let body: PeekedBody['outgoing'] | null = null;
  const wanted = request.body === null ? 0 : evaluator.bodyWanted(known);
  if (request.body !== null && wanted > 0) {
    const coding = request.headers.get('content-encoding') ?? '';
    const peeked = await peekBody(request.body, wanted, coding).catch(() => null);
    if (peeked === null) return refused(400);
    known = { ...known, body: peeked.inspected, bodyError: peeked.error };
    body = peeked.outgoing;
  }
  const domain = { name: evaluator.domain, evaluator };
  return { ok: true, decided: { id, request: known, domain, decision: evaluator.evaluate(known) }, body };
}

/** The help in a 421, as `edge/answers/unserved.ts` describes it. */
function helpFor(
  domains: Domains<Evaluator>,
  { scheme, ip, headers }: EdgeRequest,
  host: HostFacts,
): UnservedHelp {
  const request = { scheme: scheme === 'http' ? 'http' : 'https', host: host.host, port: host.port } as const;
  const address = ip ?? null;
  if (address === null || !isLocalClient(address, headers ?? {})) return strangerHelp(request);
  const hosts: string[] = [];
  for (const evaluator of domains.values()) {
    if (hosts.length > MAX_LISTED) break;
    hosts.push(...evaluator.hosts(MAX_LISTED + 1 - hosts.length));
  }
  return localHelp(request, address, hosts);
}

/** How a request is served. */
interface Serving {
  readonly facts: FetchFacts;
  readonly next: Next;
  /** The application has not routed the request yet, so that a rewrite takes effect. */
  readonly rewritable: boolean;
}

/** A decision, or the response to a request without a domain or with a broken body. */
type DecisionOutcome =
  | { readonly ok: true; readonly decided: Decided; readonly body: PeekedBody['outgoing'] | null }
  | { readonly ok: false; readonly response: Response };

/** The evaluator's request, from the request line, the header and the caller's facts. */
function requestOf({ url, method, headers }: Request, facts: FetchFacts): EdgeRequest {
  const start = startOfTarget(url);
  const authority = url.indexOf('://');
  const { ip, country, bot, ja4, ja4h, protocol, port } = facts;
  return {
    scheme: url.slice(0, authority),
    method,
    host: url.slice(authority + 3, start),
    target: start === url.length ? '/' : url.slice(start),
    headers: Object.fromEntries(headers),
    ip,
    country,
    bot,
    ja4,
    ja4h,
    protocol,
    port,
  };
}

// Options of an edge in front of a `fetch` handler, and the facts about a visitor.

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

/** Facts about the visitor that a `Request` does not contain. */
export interface FetchFacts extends Pick<EdgeRequest, 'country' | 'bot' | 'ja4' | 'ja4h'> {
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
