/**
 * The phases of semantics §4 in their fixed order, in one table, and the decision that they make: its rows are run once,
 * and once more with every dry_run rule enforced if one matched; that second decision is the shadow. `explain` reports
 * the rows (`explain.ts`), and the simulator prints them in this order.
 */
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import { META, type Plan, typeIndex } from '../plan/layout.ts';
import { noneBelow, restart } from './candidates.ts';
import type { Decision, ErrorPageAnswer } from './decision.ts';
import { EXEMPT, exemptionsOf } from './facts.ts';
import { botRoute } from './phases/bot-route.ts';
import { cache, cacheWithoutRules, passCache } from './phases/cache.ts';
import { captcha, captchaOfRecord } from './phases/captcha.ts';
import { drop } from './phases/drop.ts';
import { type ErrorResponse, errorPage } from './phases/error-page.ts';
import { fingerprint } from './phases/fingerprint.ts';
import { origin, originWithoutRules } from './phases/origin.ts';
import { answerOwnPath, rateLimit } from './phases/rate-limit.ts';
import { redirect } from './phases/redirect.ts';
import { rewrite } from './phases/rewrite.ts';
import { waf } from './phases/waf.ts';
import { type Context, createRun, end, type Run, resetRun, type Step } from './run.ts';

interface PhaseRow {
  readonly name: string;
  /** The rule types of the phase, in the order of their slots in a plan. */
  readonly types: readonly RuleType[];
  /** Bits of EXEMPT: a request that has one of them passes the phase. */
  readonly passedBy: number;
  /** Runs the phase and returns whether it ended the request. `null`: not a step of `evaluate`. */
  readonly run: ((context: Context, run: Run) => boolean) | null;
  /** Replaces `run` if no rule of the phase can match. `null`: the phase has no effect then. */
  readonly runWithoutRules: ((context: Context, run: Run) => boolean) | null;
  /** Replaces `run` for a request that passes the phase. `null`: no effect. */
  readonly pass: ((context: Context, run: Run) => void) | null;
}

/** For a phase without rules that only its rules give an effect. */
const RULES_ONLY = { runWithoutRules: null, pass: null } as const;
const { acme, pinned, crawler } = EXEMPT;

/**
 * The gate runs before the indexes are read (`readFacts`); error_page runs on the response (`phases/error-page.ts`). The
 * edge answers its own paths after the rate limits, as part of that phase.
 */
export const PHASE_TABLE = [
  { name: 'gate', types: [], passedBy: 0, run: null, ...RULES_ONLY },
  { name: 'drop', types: ['drop'], passedBy: 0, run: drop, ...RULES_ONLY },
  { name: 'fingerprint', types: ['fingerprint'], passedBy: 0, run: fingerprint, ...RULES_ONLY },
  { name: 'bot_route', types: ['bot_route'], passedBy: acme, run: botRoute, ...RULES_ONLY },
  {
    name: 'rate_limit',
    types: ['rate_limit'],
    passedBy: 0,
    run: rateLimit,
    runWithoutRules: answerOwnPath,
    pass: null,
  },
  { name: 'waf', types: ['waf'], passedBy: 0, run: waf, ...RULES_ONLY },
  { name: 'redirect', types: ['redirect'], passedBy: acme | pinned, run: redirect, ...RULES_ONLY },
  {
    name: 'captcha',
    types: ['captcha'],
    passedBy: acme | crawler,
    run: captcha,
    runWithoutRules: captchaOfRecord,
    pass: null,
  },
  { name: 'rewrite', types: ['rewrite'], passedBy: acme | pinned, run: rewrite, ...RULES_ONLY },
  {
    name: 'cache',
    types: ['cache'],
    passedBy: acme | pinned,
    run: cache,
    runWithoutRules: cacheWithoutRules,
    pass: passCache,
  },
  {
    name: 'origin',
    types: ['origin_route', 'origin_pool'],
    passedBy: 0,
    run: origin,
    runWithoutRules: originWithoutRules,
    pass: null,
  },
  { name: 'error_page', types: ['error_page'], passedBy: 0, run: null, ...RULES_ONLY },
] as const satisfies readonly PhaseRow[];

/** The name of a phase, as traces give it. */
export type Phase = (typeof PHASE_TABLE)[number]['name'];

/** The steps of a request without candidates. */
const STEPS_WITHOUT_RULES: readonly Step[] = stepsWhere(() => 0);

/**
 * The steps of a plan's requests.
 * PERF: a phase whose types have no rule in the plan is left out, or reduced to its part without rules, at load.
 */
export function stepsOf({ meta }: Plan): readonly Step[] {
  return stepsWhere(({ types }) => {
    const start = meta[META.phases + typeIndex(types[0]!)]!;
    const end = meta[META.phases + typeIndex(types.at(-1)!) + 1]!;
    return start === end ? 0 : end;
  });
}

/** The rows that have an effect; `endOf` returns the slot after a phase's last rule, 0 for a phase without rules. */
function stepsWhere(endOf: (row: PhaseRow) => number): readonly Step[] {
  const rows: readonly PhaseRow[] = PHASE_TABLE;
  return rows.flatMap((row) => {
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
  if (!real.dryMatched) return decisionOf(real, null, revision);
  restart(context.candidates);
  runSteps(context, shadow);
  return decisionOf(real, decisionOf(shadow, null, revision), revision);
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
  resetRun(real);
  const page = errorPage(context, real, response);
  const matches = real.matches ?? EMPTY;
  if (!real.dryMatched) return { page, matches, shadow: null };
  restart(context.candidates);
  resetRun(shadow);
  const shadowPage = errorPage(context, shadow, response);
  return { page, matches, shadow: { page: shadowPage, matches: shadow.matches ?? EMPTY, shadow: null } };
}

/** Removes what the runs of the last request computed for each other. */
function clearMemo(context: Context): void {
  const { rates, wafs, picks } = context.memo;
  if (rates.size > 0) rates.clear();
  if (wafs.size > 0) wafs.clear();
  if (picks.size > 0) picks.clear();
}

/**
 * Runs the phases in their order until one of them ends the request.
 * PERF: most phases have no candidate; of those only the few that have an effect without a rule run.
 */
function runSteps(context: Context, run: Run): void {
  const { candidates } = context;
  const steps = candidates.fewCount === 0 ? STEPS_WITHOUT_RULES : context.steps;
  resetRun(run);
  run.exempt = exemptionsOf(context.facts);
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

function decisionOf(run: Run, shadow: Decision | null, revision: number): Decision {
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
