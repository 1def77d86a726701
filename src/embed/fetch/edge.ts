/**
 * The edge before a `fetch` handler: Workers, Deno, Bun, Hono. In: a `Request` and what is known of who sent it. Out: a
 * `Response` of the edge's own, or the application's, asked with the request that the decision forwards.
 */
import { answerTo, statusPage } from '../../answers/answer-to.ts';
import { createChallenges } from '../../answers/challenge/challenge.ts';
import { type Decided, forwardedTarget } from '../../answers/decided.ts';
import { type HostFacts, parseHost } from '../../base/host.ts';
import { steadyNow } from '../../base/steady-clock.ts';
import {
  createCounters,
  createDomains,
  type EdgeRequest,
  type Evaluator,
  loadPlan,
} from '../../evaluator/index.ts';
import { openSignatures } from '../../plan/open-signatures.ts';
import { loadSignatures } from '../../waf/load/load.ts';
import {
  COUNT,
  checkOctets,
  checkOptions,
  LISTENERS,
  type OptionKinds,
  PLANS,
  SECRET,
  SIGNATURES,
} from '../check-options.ts';
import { checkPlan, type InstalledPlan } from '../check-plan.ts';
import { createSecrets } from '../secret.ts';
import { createDecisionReporter, verdictOf } from '../verdict.ts';
import { type PeekedBody, peekBody, readBody } from './body.ts';
import { type HonoContext, type HonoMiddleware, honoMiddleware } from './hono.ts';
import { finishedResponse, forwardedRequest, responseOf, startOfTarget } from './messages.ts';
import type { FetchEdgeOptions, FetchFacts, Next } from './options.ts';

/** An edge for `fetch` handlers. Its functions need no `this`. */
export interface FetchEdge {
  /** Answers a request, asking `next` where it is forwarded; never rejects. What `next` throws is answered with 500. */
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
  /** Forgets a domain; its hosts fall to the longest name above it, else they are answered 421. */
  remove(domain: string): void;
  /** Domains that are installed. */
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
 * TypeError naming an option that there is not, or that is of another kind
 */
export function createEdge(options: FetchEdgeOptions = {}): FetchEdge {
  checkOptions(options, OPTIONS);
  const telling = createDecisionReporter(options);
  const challenges = createChallenges({ secrets: createSecrets(options.secret) });
  const counters = createCounters({
    clock: steadyNow,
    maxBytes: options.counterOctets ?? COUNTER_OCTETS,
  });
  const waf = options.signatures == null ? null : loadSignatures(openSignatures(options.signatures));
  const domains = createDomains<Evaluator>();

  function install(bytes: Uint8Array): InstalledPlan {
    checkOctets(bytes);
    // The caller's buffer is the caller's: a plan must not change while it serves.
    const kept = bytes.slice();
    const plan = checkPlan(kept);
    const onFault = (error: unknown): void => telling.fault(error, `a decision of ${plan.domain}`);
    domains.set(plan.domain, loadPlan(kept, { counters, waf, onFault, trusted: true }));
    return plan;
  }

  for (const plan of options.plans ?? []) install(plan);

  async function entered(id: string, request: Request, facts: FetchFacts): Promise<Entered> {
    const asked = requestOf(request, facts);
    const refused = (status: number): Entered => {
      telling.refused({ id, status });
      return { ok: false, response: responseOf(statusPage({ id, request: asked }, status), asked.method) };
    };
    const host: HostFacts = { host: '', port: -1, literal: false };
    if (!parseHost(String(asked.host), host)) return refused(400);
    const evaluator = domains.find(String(asked.host));
    if (evaluator === null) return refused(421);
    const cookies = request.headers.get('cookie') ?? '';
    const userAgent = request.headers.get('user-agent') ?? '';
    const visit = { domain: evaluator.domain, ip: facts.ip, userAgent, cookies, now: Date.now() };
    const cleared = cookies === '' ? [] : await challenges.cleared(visit);
    let known: EdgeRequest = { ...asked, now: visit.now, cleared };
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

  async function answered(
    request: Request,
    { facts, next, rewritable }: Asking,
    id: string,
  ): Promise<Response> {
    const entering = await entered(id, request, facts);
    if (!entering.ok) return entering.response;
    const { decided, body } = entering;
    const verdict = verdictOf(decided, rewritable);
    telling.decided(verdict);
    const own = await answerTo(decided, { challenges, readBody: (most) => readBody(request.body, most) });
    if (own !== null) return responseOf(own, request.method);
    const target = (rewritable ? forwardedTarget(decided.decision) : null) ?? decided.request.target;
    const forwarded = forwardedRequest(request, {
      target,
      body,
      challenges,
      trusted: facts.trusted === true,
    });
    const settings = decided.domain.evaluator.settings();
    try {
      return finishedResponse(await next(forwarded, verdict), decided, settings);
    } catch (error) {
      telling.fault(error, 'the application');
      return finishedResponse(responseOf(statusPage(decided, 500), request.method), decided, settings);
    }
  }

  async function serve(request: Request, asking: Asking): Promise<Response> {
    const id = crypto.randomUUID();
    try {
      return await answered(request, asking, id);
    } catch (error) {
      // Fails closed: what could not be judged is not let through.
      telling.fault(error, 'a request');
      return new Response(null, { status: 500 });
    }
  }

  return {
    handle: (request, facts, next) => serve(request, { facts, next, rewritable: true }),
    hono: (factsOf) =>
      honoMiddleware(factsOf, (request, facts, next) => serve(request, { facts, next, rewritable: false })),
    install,
    remove: (domain) => void domains.delete(domain),
    get size() {
      return domains.size;
    },
  };
}

interface Asking {
  readonly facts: FetchFacts;
  readonly next: Next;
  /** The application has not routed the request yet. */
  readonly rewritable: boolean;
}

type Entered =
  | { readonly ok: true; readonly decided: Decided; readonly body: PeekedBody['outgoing'] | null }
  | { readonly ok: false; readonly response: Response };

/** A request as the evaluator takes it, before anything is looked up. */
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
