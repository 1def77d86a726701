/**
 * Decides requests from one domain's plan. In: a request as the embedder saw it. Out: a decision, always; `evaluate`
 * never throws. The gate and the facts come first (`facts.ts`), then the indexes give candidates (`candidates.ts`),
 * then the phases of semantics §4 run in their order (`walk`); where a dry_run rule matched, they run once more with
 * every dry_run rule enforced, and that decision is the shadow.
 */

import { META } from '../plan/layout.ts';
import { openPlan } from '../plan/open.ts';
import { createCandidates, gather, restart } from './candidates.ts';
import { clearanceSec } from './clearance.ts';
import { type Counters, createCounters } from './counters.ts';
import type { Decision, ErrorPageAnswer, RuleRef } from './decision.ts';
import { type EdgeSettings, readEdgeSettings } from './edge-settings.ts';
import { explainDecision, explainUnread } from './explain.ts';
import { createFacts, type FactsInput, readFacts, releaseRequest } from './facts.ts';
import { createLoaded, textOf } from './loaded.ts';
import { botRoute } from './phases/bot-route.ts';
import { BYPASS, cache, inDeveloperMode } from './phases/cache.ts';
import { captcha } from './phases/captcha.ts';
import { drop } from './phases/drop.ts';
import { type ErrorResponse, errorPage } from './phases/error-page.ts';
import { fingerprint } from './phases/fingerprint.ts';
import { origin } from './phases/origin.ts';
import { rateLimit } from './phases/rate-limit.ts';
import { redirect } from './phases/redirect.ts';
import { rewrite, rewrittenQuery } from './phases/rewrite.ts';
import { waf, wantedBody } from './phases/waf.ts';
import type { EdgeRequest } from './request.ts';
import { type Context, createRun, end, type Memo, type OriginStates, type Run, resetRun } from './run.ts';
import { isAcmeChallenge, isEdgeOwn } from './special-paths.ts';
import type { Trace } from './trace.ts';
import type { WafProgram } from './waf.ts';

export interface EvaluatorOptions {
  /** Rate counters, shared where several evaluators serve one process. Default: counters of its own. */
  readonly counters?: Counters;
  /** Milliseconds since the epoch, for requests that carry no `now`. Default: `Date.now`. */
  readonly clock?: () => number;
  /** Seeds the counters' hash when they are the evaluator's own. Default: the platform's secure source. */
  readonly random?: () => number;
  /** The signature program of `waf` rules; without one they match and do nothing, and decisions say so. */
  readonly waf?: WafProgram | null;
  /** Health and load of pool origins. Default: all healthy, none busy. */
  readonly origins?: OriginStates;
  /** This node's id, for geo pools. */
  readonly nodeId?: number | null;
  /**
   * Told of what was thrown while a request was judged: a bug, or a fault of what the embedder handed in. The request
   * is refused with 500 all the same.
   */
  readonly onFault?: (error: unknown) => void;
  /** The bytes were checked by this process before; see `openPlan`. */
  readonly trusted?: boolean;
}

export interface Evaluator {
  /** The domain's name. */
  readonly domain: string;
  readonly revision: number;
  /** The domain's settings that shape answers rather than decisions; read once. */
  settings(): EdgeSettings;
  /** Seconds for which having solved the challenge of this rule or record counts (semantics §5). */
  clearanceSec(asker: RuleRef): number;
  /** The request's outcome. Synchronous; never throws, whatever the request holds. */
  evaluate(request: EdgeRequest): Decision;
  /** Decides as `evaluate` does and accounts for every rule and check. Never throws. */
  explain(request: EdgeRequest): Trace;
  /** Octets of the body that a rule would inspect; 0: do not buffer it. Never throws. */
  bodyWanted(request: EdgeRequest): number;
  /** The page for an error status, once the response is known. Never throws. */
  errorPage(request: EdgeRequest, status: number, madeBy: 'edge' | 'origin'): ErrorPageAnswer;
}

/**
 * What one request at a time needs, shared by all evaluators of the process: a node holds thousands, and what the last
 * request used is still near in memory. So an evaluator must not be called from a function that was handed to one
 * (signatures, origin states, counters, clock).
 */
const SCRATCH = {
  facts: createFacts(),
  real: createRun(false),
  shadow: createRun(true),
  memo: { rates: new Map(), wafs: new Map(), picks: new Map() } satisfies Memo,
} as const;

const ALWAYS_UP: OriginStates = { healthy: () => true, inFlight: () => 0 };

/**
 * Opens a sealed plan and makes an evaluator of it.
 * @throws PlanFault when the bytes are not a plan this build reads
 */
export function loadPlan(bytes: Uint8Array, options: EvaluatorOptions = {}): Evaluator {
  const { plan, revision } = openPlan(bytes, { trusted: options.trusted === true });
  const loaded = createLoaded(plan, revision);
  const context: Context = {
    loaded,
    facts: SCRATCH.facts,
    candidates: createCandidates(plan),
    counters:
      options.counters ?? createCounters(options.random === undefined ? {} : { random: options.random }),
    windows: new Map(),
    waf: options.waf ?? null,
    reportFault: tell,
    origins: options.origins ?? ALWAYS_UP,
    nodeId: options.nodeId ?? null,
    pools: new Map(),
    keyedNames: new Map(),
    turns: new Map(),
    memo: SCRATCH.memo,
  };
  const input: FactsInput = { loaded, known: new Map(), clock: options.clock ?? Date.now };
  const { real, shadow } = SCRATCH;

  function enter(request: EdgeRequest): number {
    const refused = readFacts(context.facts, request, input);
    if (refused === 0) gather(context.candidates, context.facts);
    return refused;
  }

  function decideRequest(request: EdgeRequest): Decision {
    const refused = enter(isObject(request) ? request : NO_REQUEST);
    if (refused !== 0) return refusal(refused, revision);
    forget(context);
    walk(context, real);
    if (!real.dryMatched) return decide(real, null, revision);
    restart(context.candidates);
    walk(context, shadow);
    return decide(real, decide(shadow, null, revision), revision);
  }

  /** A listener that throws must not turn a decision into an exception. */
  function tell(error: unknown): void {
    try {
      options.onFault?.(error);
    } catch {
      // There is nobody left to tell.
    }
  }

  /** Fails closed: a bug here, or in what the embedder handed in, must not let a request past its rules. */
  function evaluate(request: EdgeRequest): Decision {
    try {
      return decideRequest(request);
    } catch (error) {
      tell(error);
      return refusal(500, revision);
    } finally {
      releaseRequest(context.facts);
    }
  }

  let settings: EdgeSettings | null = null;
  return {
    domain: textOf(loaded, plan.meta[META.domain]!),
    revision,
    settings: () => {
      settings ??= readEdgeSettings(loaded);
      return settings;
    },
    clearanceSec: (asker) => clearanceSec(loaded, asker),
    evaluate,
    explain: (request) => {
      const decision = evaluate(request);
      try {
        const rates = new Map(context.memo.rates);
        const refused = enter(isObject(request) ? request : NO_REQUEST);
        return explainDecision(context, { decision, refused, rates });
      } catch (error) {
        tell(error);
        return explainUnread(decision);
      } finally {
        releaseRequest(context.facts);
      }
    },
    bodyWanted: (request) => {
      try {
        if (context.waf === null || enter(isObject(request) ? request : NO_REQUEST) !== 0) return 0;
        return wantedBody(context);
      } catch (error) {
        tell(error);
        return 0;
      } finally {
        releaseRequest(context.facts);
      }
    },
    errorPage: (request, status, madeBy) => {
      try {
        const outside = !(status >= 400 && status <= 599);
        if (outside || enter(isObject(request) ? request : NO_REQUEST) !== 0) return NO_PAGE;
        return answerError(context, { real, shadow }, { status, madeBy });
      } catch (error) {
        tell(error);
        return NO_PAGE;
      } finally {
        releaseRequest(context.facts);
      }
    },
  };
}

const NO_REQUEST: EdgeRequest = { scheme: '', method: '', host: '', target: '' };
const NO_PAGE: ErrorPageAnswer = Object.freeze({ page: null, matches: Object.freeze([]), shadow: null });

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** Drops what the last request's runs left for each other. */
function forget(context: Context): void {
  const { rates, wafs, picks } = context.memo;
  if (rates.size > 0) rates.clear();
  if (wafs.size > 0) wafs.clear();
  if (picks.size > 0) picks.clear();
}

/** The phases in their order; each returns true when it ended the request. */
function walk(context: Context, run: Run): void {
  const { facts } = context;
  resetRun(run);
  if (context.candidates.fewCount === 0) {
    walkBare(context, run);
    return;
  }
  if (drop(context, run) || fingerprint(context, run)) return;
  const exempt = isAcmeChallenge(facts);
  if (!exempt && botRoute(context, run)) return;
  if (rateLimit(context, run)) return;
  if (isEdgeOwn(facts)) {
    end(run, 'respond', { status: 200, rule: null });
    return;
  }
  if (waf(context, run)) return;
  const pinned = run.pinned >= 0;
  if (!exempt && !pinned && redirect(context, run)) return;
  if (!exempt && captcha(context, run)) return;
  run.path = null;
  let query = facts.encodedQuery;
  if (pinned || (exempt && inDeveloperMode(context))) run.cache = BYPASS;
  else if (!exempt) {
    const rewritten = rewrite(context, run);
    if (rewritten.ended) return;
    query = rewrittenQuery(context, rewritten.slot, cache(context, run));
  }
  origin(context, run);
  run.path ??= facts.forwarded;
  run.query = query;
}

/**
 * What is left of the phases for a request that no rule can match.
 * PERF: many requests meet no candidate, and need not ask every phase in turn.
 */
function walkBare(context: Context, run: Run): void {
  const { facts } = context;
  if (isEdgeOwn(facts)) {
    end(run, 'respond', { status: 200, rule: null });
    return;
  }
  if (!isAcmeChallenge(facts) && captcha(context, run)) return;
  if (inDeveloperMode(context)) run.cache = BYPASS;
  origin(context, run);
  run.path = facts.forwarded;
  run.query = facts.encodedQuery;
}

const EMPTY: readonly never[] = Object.freeze([]);

function decide(run: Run, shadow: Decision | null, revision: number): Decision {
  return {
    action: run.action,
    status: run.status,
    rule: run.rule,
    location: run.location,
    body: run.body,
    origin: run.origin,
    path: run.path,
    query: run.query,
    cache: run.cache,
    tags: run.tags ?? EMPTY,
    retryAfter: run.retryAfter,
    waf: run.waf,
    matches: run.matches ?? EMPTY,
    shadow,
    revision,
  };
}

function refusal(status: number, revision: number): Decision {
  const run = createRun(false);
  end(run, 'refuse', { status, rule: null });
  return decide(run, null, revision);
}

function answerError(
  context: Context,
  runs: { readonly real: Run; readonly shadow: Run },
  response: ErrorResponse,
): ErrorPageAnswer {
  resetRun(runs.real);
  const page = errorPage(context, runs.real, response);
  const matches = runs.real.matches ?? EMPTY;
  if (!runs.real.dryMatched) return { page, matches, shadow: null };
  restart(context.candidates);
  resetRun(runs.shadow);
  const shadowPage = errorPage(context, runs.shadow, response);
  return { page, matches, shadow: { page: shadowPage, matches: runs.shadow.matches ?? EMPTY, shadow: null } };
}
