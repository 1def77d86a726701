/**
 * Writes a test that a mutant fails: of a request that proves a difference, with what the rules as written do. In: a request and
 * both plans. Out: an entry of `edge.test.yaml`, which was read, passed on the rules as written and failed on the mutant.
 */
import { stringify } from 'yaml';
import type { Witness } from '../analysis/space/witness.ts';
import { hasErrors } from '../base/diagnostic.ts';
import type { OriginPoolRule, RateLimitRule, Rule, RuleSet } from '../model/types.ts';
import { layOutText } from '../files/layout.ts';
import { readTestBytes } from '../files/test-file.ts';
import type { RuleNames } from '../simulator/rule-tests/names.ts';
import { prepareTests } from '../simulator/rule-tests/prepare.ts';
import { findFailing } from '../simulator/rule-tests/run.ts';
import { MAX_REPEATED } from './limits.ts';
import type { Mutant } from './mutant.ts';
import {
  differenceOf,
  type Fields,
  outcomesOf,
  type Trial,
  type TrialDifference,
  type TrialPlan,
  type TrialStep,
} from './trial.ts';

/** A difference with its request and test. */
export interface ShownDifference extends Pick<TrialDifference, 'was' | 'now'> {
  /** `GET https://example.com/admin`. */
  readonly request: string;
  readonly witness: Witness;
  /** The test, as an entry of the list `tests`. */
  readonly test: string;
}

/** The plan as written, and a mutant of it. */
export interface TrialPlans {
  readonly ruleSet: RuleSet;
  readonly before: TrialPlan;
  readonly after: TrialPlan;
}

/** A test of a request that the mutant fails; `null`: the request shows no difference that a test can express. */
export function testOf(witness: Witness, mutant: Mutant, plans: TrialPlans): ShownDifference | null {
  for (const steps of sequences(mutant)) {
    const trial: Trial = { witness, steps };
    const difference = differenceOf(
      outcomesOf(plans.before, trial),
      outcomesOf(plans.after, trial),
      plans.before.names,
    );
    if (difference === null) continue;
    const test = written(trial, { difference, mutant }, plans);
    if (!distinguishes(test, plans)) continue;
    const { was, now } = difference;
    return { was, now, request: `${witness.method} ${witness.url}`, witness, test };
  }
  return null;
}

/** How often the request is sent: once, or as often as the counters and turns of the mutated rules need. */
function sequences({ differing, becomes }: Mutant): readonly (readonly TrialStep[])[] {
  const once: readonly TrialStep[] = [{ times: 1, after: 0 }];
  const sides = differing.flatMap((rule) => [rule, becomes.get(rule.id) ?? rule]);
  return [once, ...rateSequences(sides), ...poolSequences(sides)];
}

function rateSequences(rules: readonly Rule[]): readonly (readonly TrialStep[])[] {
  const rates = rules.filter((rule): rule is RateLimitRule => rule.type === 'rate_limit');
  const counts = [...new Set(rates.map(({ limit, burst }) => limit + burst))].sort((a, b) => a - b);
  const breaching = counts
    .filter((count) => count < MAX_REPEATED)
    .map((count) => [{ times: count + 1, after: 0 }]);
  const [short, long] = [...new Set(rates.map(({ window_sec }) => window_sec))].sort((a, b) => a - b);
  const [count] = counts;
  if (short === undefined || long === undefined || count === undefined || count >= MAX_REPEATED)
    return breaching;
  // A slice of the shorter window may count a sixteenth longer (semantics §5).
  const between = Math.ceil((short * 17) / 16) + 1;
  return between < long ? [...breaching, [{ times: count, after: 0 }, { times: 1, after: between }]] : breaching;
}

/** Turns of a pool, which show what has other weights. */
function poolSequences(rules: readonly Rule[]): readonly (readonly TrialStep[])[] {
  const pools = rules.filter((rule): rule is OriginPoolRule => rule.type === 'origin_pool');
  const most = Math.max(0, ...pools.map(({ origins }) => origins.length * 2));
  return Array.from({ length: Math.min(most, 16) }, (_, turn) => [{ times: turn + 2, after: 0 }]);
}

/** The test as text, an entry of the list `tests` with its indentation. */
function written(
  { witness, steps }: Trial,
  { difference, mutant }: { readonly difference: TrialDifference; readonly mutant: Mutant },
  { ruleSet, before: { names } }: TrialPlans,
): string {
  const facts = factsOf(witness, ruleSet, names);
  const response = witness.status === null ? {} : { response: { status: witness.status, by: 'origin' } };
  const parts = steps.map(({ times, after }, step) => ({
    ...(after === 0 ? {} : { after: `${after}s` }),
    ...(times === 1 ? {} : { repeat: times }),
    ...difference.expected[step],
  }));
  const field = mutant.field.length === 0 ? '' : ` ${fieldText(mutant)}`;
  const test = {
    name: `${names.nameOf(mutant.rule)}${field}: ${difference.was}`,
    request: `${witness.method} ${witness.url}`,
    ...(Object.keys(facts).length === 0 ? {} : { with: facts }),
    ...response,
    ...(parts.length === 1 ? parts[0] : { steps: parts }),
  };
  return layOutText(stringify({ tests: [test] }, { lineWidth: 0 })).slice(HEAD.length);
}

/** The line above the list of tests. */
const HEAD = 'tests:\n';

/** The field of a mutant: `path_includes[0]`. */
export function fieldText({ field }: Pick<Mutant, 'field'>): string {
  return field.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`)).join('');
}

/** The facts of a request as fields of `with`. */
function factsOf(witness: Witness, { rules, records }: RuleSet, names: RuleNames): Fields {
  const { ip, country, bot, ja4, ja4h, cleared } = witness;
  const askers = [...rules, ...records.map(({ id }) => ({ type: 'record', id }) as const)];
  const nameOf = new Map(askers.map((ref) => [names.textOf(ref), names.nameOf(ref)]));
  const solved = cleared.map((text) => nameOf.get(text) ?? text);
  return {
    ...(ip === null ? {} : { ip }),
    ...(country === null ? {} : { country }),
    ...(bot === null ? {} : { bot: bot.verified ? bot : bot.kind }),
    ...(ja4 === null ? {} : { ja4 }),
    ...(ja4h === null ? {} : { ja4h }),
    ...(solved.length === 0 ? {} : { cleared: solved }),
  };
}

/** Whether the test, as it is printed, passes on the rules as written and fails on the mutant. */
function distinguishes(test: string, { ruleSet, before, after }: TrialPlans): boolean {
  const read = readTestBytes(new TextEncoder().encode(`${HEAD}${test}`), 'witness');
  if (hasErrors(read.diagnostics)) return false;
  const { tests, diagnostics } = prepareTests(read.tests, { ruleSet, names: before.names });
  if (hasErrors(diagnostics)) return false;
  return findFailing(tests, before) === null && findFailing(tests, after) !== null;
}
