/**
 * Makes the decision of a request whose facts and candidates are gathered: runs the plan's steps in their order
 * (`phases.ts`) and, if a dry_run rule matched, runs them once more with every dry_run rule enforced; that second
 * decision is the shadow.
 */
import { noneBelow, restart } from './candidates.ts';
import type { Decision, ErrorPageAnswer } from './decision.ts';
import { exemptionsOf } from './exemptions.ts';
import { type ErrorResponse, errorPage } from './phases/error-page.ts';
import { STEPS_WITHOUT_RULES } from './phases.ts';
import { type Context, createRun, end, type Run, resetRun } from './run.ts';

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
