/**
 * The phases of semantics §4 in their fixed order, in one table, and the decision that they make: its rows are run once,
 * and once more with every dry_run rule enforced if one matched; that second decision is the shadow. `explain` reports
 * the rows (`explain.ts`), and the simulator prints them in this order.
 */
import { RULE_TYPES, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import { type Plan, phaseStart, typeIndex } from '../plan/layout.ts';
import { noneBelow, restart } from './candidates.ts';
import type { RuleExplanation } from './checks.ts';
import type { Decision, ErrorPageAnswer } from './decision.ts';
import { EXEMPT, exemptionsOf } from './facts.ts';
import type { CredentialsWanted } from './gateways.ts';
import { botRoute, botRouteExplanation } from './phases/bot-route.ts';
import { cache, cacheExplanation, cacheWithoutRules, developerModeNote, passCache } from './phases/cache.ts';
import { captcha, captchaNote, captchaOfRecord } from './phases/captcha.ts';
import { drop, dropExplanation } from './phases/drop.ts';
import { type ErrorResponse, errorPage, errorPageExplanation } from './phases/error-page.ts';
import { fingerprint, fingerprintExplanation } from './phases/fingerprint.ts';
import {
  finishAdmitted,
  gateway,
  gatewayExplanation,
  mayMatchGateway,
  octetsOfGateway,
  wantedCredentials,
} from './phases/gateway.ts';
import { headers, headersExplanation } from './phases/headers.ts';
import {
  origin,
  originWithoutRules,
  poolExplanation,
  recordNote,
  routeExplanation,
} from './phases/origin.ts';
import {
  answerOwnPath,
  ownPathNote,
  rateLimit,
  rateLimitExplanation,
  wouldBreach,
} from './phases/rate-limit.ts';
import { redirect, redirectExplanation } from './phases/redirect.ts';
import { rewrite, rewriteExplanation } from './phases/rewrite.ts';
import { waf, wafExplanation, wantedBody } from './phases/waf.ts';
import { storeOutcome } from './rate-outcomes.ts';
import { type Context, createRun, end, type Run, resetRun, type Step } from './run.ts';
import { PHASES, type Phase, phaseOf } from './trace.ts';

/** A phase; what is absent has no effect. */
interface PhaseParts {
  /** Bits of EXEMPT: a request that has one of them passes the phase. */
  readonly passedBy?: number;
  /** Runs the phase and returns whether it ended the request. Absent: not a step of `evaluate`. */
  readonly run?: (context: Context, run: Run) => boolean;
  /** In place of `run`: runs after all others, also if one of them ended the request. */
  readonly runLast?: (context: Context, run: Run) => boolean;
  /** Replaces `run` if no rule of the phase can match. */
  readonly runWithoutRules?: (context: Context, run: Run) => boolean;
  /** Replaces `run` for a request that passes the phase. */
  readonly pass?: (context: Context, run: Run) => void;
  /** Traces of plans without rules of the phase leave it out. */
  readonly isOptional?: true;
  /** What a trace says that the phase did apart from its rules. */
  readonly note?: (context: Context, decision: Decision) => string | null;
}

/** A phase with its name and its defaults. */
interface PhaseRow {
  readonly name: Phase;
  /** The rule types of the phase, in the order of their slots in a plan. */
  readonly types: readonly RuleType[];
  readonly passedBy: number;
  readonly run: NonNullable<PhaseParts['run']> | null;
  readonly runLast: NonNullable<PhaseParts['runLast']> | null;
  readonly runWithoutRules: NonNullable<PhaseParts['run']> | null;
  readonly pass: NonNullable<PhaseParts['pass']> | null;
  readonly isOptional: boolean;
  readonly note: NonNullable<PhaseParts['note']> | null;
}

const { acme, pinned, crawler, admitted } = EXEMPT;

/**
 * The gate runs before the indexes are read (`readFacts`); error_page runs on the response (`phases/error-page.ts`). The
 * edge answers its own paths after the rate limits, as part of that phase.
 */
const PARTS: { readonly [P in Phase]: PhaseParts } = {
  gate: {},
  drop: { run: drop },
  fingerprint: { run: fingerprint },
  bot_route: { run: botRoute, passedBy: acme },
  rate_limit: { run: rateLimit, runWithoutRules: answerOwnPath, note: ownPathNote },
  gateway: { run: gateway, passedBy: acme, isOptional: true },
  waf: { run: waf },
  redirect: { run: redirect, passedBy: acme | pinned },
  captcha: {
    run: captcha,
    runWithoutRules: captchaOfRecord,
    passedBy: acme | crawler | admitted,
    note: captchaNote,
  },
  rewrite: { run: rewrite, passedBy: acme | pinned },
  cache: {
    run: cache,
    runWithoutRules: cacheWithoutRules,
    passedBy: acme | pinned,
    pass: passCache,
    note: developerModeNote,
  },
  origin: { run: origin, runWithoutRules: originWithoutRules, note: recordNote },
  error_page: {},
  headers: { runLast: headers, isOptional: true },
};

/** What a trace says of the rules of each type. */
export const EXPLANATIONS: { readonly [T in RuleType]: RuleExplanation } = {
  drop: dropExplanation,
  fingerprint: fingerprintExplanation,
  bot_route: botRouteExplanation,
  rate_limit: rateLimitExplanation,
  gateway: gatewayExplanation,
  waf: wafExplanation,
  redirect: redirectExplanation,
  captcha: {},
  rewrite: rewriteExplanation,
  cache: cacheExplanation,
  origin_route: routeExplanation,
  origin_pool: poolExplanation,
  error_page: errorPageExplanation,
  headers: headersExplanation,
};

/** The phases in their order, which is that of their rule types. */
export const PHASE_TABLE: readonly PhaseRow[] = PHASES.map((name) => ({
  ...{ name, types: RULE_TYPES.filter((type) => phaseOf(type) === name), passedBy: 0 },
  ...{ run: null, runLast: null, runWithoutRules: null, pass: null, note: null, isOptional: false },
  ...PARTS[name],
}));

/** The steps of a request without candidates. */
const STEPS_WITHOUT_RULES: readonly Step[] = stepsWhere(() => 0);

/**
 * The steps of a plan's requests.
 * PERF: a phase whose types have no rule in the plan is left out, or reduced to its part without rules, at load.
 */
export function stepsOf(plan: Plan): readonly Step[] {
  return stepsWhere(({ types }) => {
    const start = phaseStart(plan, typeIndex(types[0]!));
    const end = phaseStart(plan, typeIndex(types.at(-1)!) + 1);
    return start === end ? 0 : end;
  });
}

/** Whether a plan has rules of a phase. */
export function hasRules(plan: Plan, { types }: Pick<PhaseRow, 'types'>): boolean {
  return types.some((type) => phaseStart(plan, typeIndex(type)) < phaseStart(plan, typeIndex(type) + 1));
}

/** What runs after the steps of a plan's requests; `null`: the plan has no rule of such a phase. */
export function lastStepOf(plan: Plan): Step['run'] | null {
  return PHASE_TABLE.find((row) => row.runLast !== null && hasRules(plan, row))?.runLast ?? null;
}

/** The rows that have an effect; `endOf` returns the slot after a phase's last rule, 0 for a phase without rules. */
function stepsWhere(endOf: (row: PhaseRow) => number): readonly Step[] {
  return PHASE_TABLE.flatMap((row) => {
    const { run, runWithoutRules, passedBy, pass } = row;
    if (run === null) return [];
    const end = endOf(row);
    return end === 0 && runWithoutRules === null ? [] : [{ run, runWithoutRules, end, passedBy, pass }];
  });
}

/** The two runs of a request: the real one, and the shadow's. */
export interface Runs {
  readonly real: Run;
  readonly shadow: Run;
}

const EMPTY: readonly never[] = Object.freeze([]);

/** Decides the request of `context.facts`. */
export function decide(context: Context, { real, shadow }: Runs): Decision {
  const { revision } = context.loaded;
  clearMemo(context);
  runSteps(context, real);
  let would: Decision | null = null;
  if (real.dryMatched) {
    restart(context.candidates);
    runSteps(context, shadow);
    would = decisionOf(shadow, null, revision);
  }
  const decision = decisionOf(real, would, revision);
  // Answers of other rules state no rate limit, but the usage plan that has judged the request.
  const limits = real.isOverLimit || real.action === 'forward' ? real.rateStates : null;
  const states = real.planState === null ? limits : [...(limits ?? []), real.planState];
  const { pending } = context.memo;
  // PERF: the object would be allocated for every decision.
  const needed = real.action === 'forward' ? real.needed : null;
  if (states !== null || pending !== null || needed !== null)
    storeOutcome(decision, { states, pending, needed });
  return decision;
}

/** Octets of body that gateways and waf rules of the request need, in the real run or in the shadow's. */
export function bodyWantedOf(context: Context, { real, shadow }: Runs): number {
  tagAgain(context, real);
  const wanted = octetsNeeded(context);
  if (context.loaded.conditions?.readsTags !== true) return wanted;
  tagAgain(context, shadow);
  return Math.max(wanted, octetsNeeded(context));
}

function octetsNeeded(context: Context): number {
  const ofGateway = octetsOfGateway(context);
  return context.waf === null ? ofGateway : Math.max(ofGateway, wantedBody(context));
}

/** The decision that refuses a request with `status` before any rule is evaluated. */
export function refusal(status: number, revision: number): Decision {
  const run = createRun(false);
  end(run, 'refuse', { status, rule: null });
  return decisionOf(run, null, revision);
}

/** The error page of the request of `context.facts`, and that of its shadow if a dry_run rule matched. */
export function decideErrorPage(
  context: Context,
  { real, shadow }: Runs,
  response: ErrorResponse,
): ErrorPageAnswer {
  tagAgain(context, real);
  resetRun(real);
  const page = errorPage(context, real, response);
  const matches = real.matches ?? EMPTY;
  if (!real.dryMatched) return { page, matches, shadow: null };
  restart(context.candidates);
  tagAgain(context, shadow);
  resetRun(shadow);
  const shadowPage = errorPage(context, shadow, response);
  return { page, matches, shadow: { page: shadowPage, matches: shadow.matches ?? EMPTY, shadow: null } };
}

/** The phases in which rules tag requests, and those before them. None has an effect beyond the run. */
const TAGGING = ['drop', 'fingerprint', 'bot_route'] as const satisfies readonly Phase[];

/**
 * Tags the request of `context.facts` again as a run does, for conditions that are asked outside of `decide`. Nothing if no
 * condition reads tags. The run is left to be reset.
 */
export function tagAgain(context: Context, run: Run): void {
  if (context.loaded.conditions?.readsTags === true) runTagging(context, run);
}

/** Runs the phases before those that count, and returns whether one of them ended the request. */
function runTagging(context: Context, run: Run): boolean {
  const { candidates, facts } = context;
  restart(candidates);
  resetRun(run);
  facts.tagged.length = 0;
  const exempt = exemptionsOf(facts);
  const hasEnded = TAGGING.some((name) => {
    const { passedBy = 0, run: step }: PhaseParts = PARTS[name];
    return (passedBy & exempt) === 0 && step?.(context, run) === true;
  });
  restart(candidates);
  return hasEnded;
}

/**
 * What the gateway of the request reads credentials by; `null`: it reads none, or a rule of an earlier phase ends the request.
 * Nothing counts.
 */
export function credentialsOf(context: Context, { real }: Runs): CredentialsWanted | null {
  // PERF: the phases before it are run only for requests that a gateway may match.
  if (!mayMatchGateway(context)) return null;
  // A visitor above a limit is refused whatever the token says, and must not cost a verification.
  return runTagging(context, real) || wouldBreach(context) ? null : wantedCredentials(context);
}

/** Removes what the runs of the last request computed for each other. */
function clearMemo(context: Context): void {
  const { bodies, rates, wafs, picks } = context.memo;
  if (bodies.size > 0) bodies.clear();
  if (rates.size > 0) rates.clear();
  if (wafs.size > 0) wafs.clear();
  if (picks.size > 0) picks.clear();
  context.memo.pending = null;
}

/**
 * Runs the phases in their order until one of them ends the request, and then what runs in any case.
 * PERF: most phases have no candidate; of those only the few that have an effect without a rule run.
 */
function runSteps(context: Context, run: Run): void {
  resetRun(run);
  if (context.facts.tagged.length > 0) context.facts.tagged.length = 0;
  run.exempt = exemptionsOf(context.facts);
  runToEnd(context, run);
  finishAdmitted(context, run);
  if (context.lastStep !== null && context.candidates.fewCount !== 0) context.lastStep(context, run);
}

function runToEnd(context: Context, run: Run): void {
  const { candidates } = context;
  const steps = candidates.fewCount === 0 ? STEPS_WITHOUT_RULES : context.steps;
  for (let index = 0; index < steps.length; index++) {
    const step = steps[index]!;
    if ((step.passedBy & run.exempt) !== 0) {
      step.pass?.(context, run);
      continue;
    }
    const act = noneBelow(candidates, step.end) ? step.runWithoutRules : step.run;
    if (act?.(context, run) === true) return;
  }
}

/** A decision while its fields are written. */
type NewDecision = { -readonly [Field in keyof Decision]: Decision[Field] };

function decisionOf(run: Run, shadow: Decision | null, revision: number): Decision {
  // PERF: almost all decisions have none of these, and one shape; spreading into an object of another took a fifth of evaluation.
  const decision = plainDecision(run, shadow, revision);
  if (run.requestHeaders !== null) decision.requestHeaders = run.requestHeaders;
  if (run.responseHeaders !== null) decision.responseHeaders = run.responseHeaders;
  if (run.gateway !== null) decision.gateway = run.gateway;
  return decision;
}

function plainDecision(run: Run, shadow: Decision | null, revision: number): NewDecision {
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
