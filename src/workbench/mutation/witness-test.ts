/**
 * Writes a test that a mutant fails: of a request that proves a difference, with what the rules as written do. In: a request and
 * both plans. Out: an entry of `edge.test.yaml`, which was read, passed on the rules as written and failed on the mutant.
 */
import { stringify } from 'yaml';
import { type FieldPath, hasErrors } from '../../base/diagnostics/diagnostic.ts';
import { layOutText } from '../../rules/files/layout.ts';
import { readTestBytes } from '../../rules/files/test-file.ts';
import { TEST_FILE_ORDERS } from '../../rules/files/test-schema.ts';
import type { OriginPoolRule, RateLimitRule, Rule, RuleSet } from '../../rules/model/types.ts';
import type { Witness } from '../proofs/witness.ts';
import type { RuleNames } from '../rule-tests/names.ts';
import { prepareTests } from '../rule-tests/prepare.ts';
import { findFailing } from '../rule-tests/run.ts';
import { type Mutant, OPERATOR_WORDS } from './action-mutations.ts';
import {
  differenceOf,
  longerUrl,
  outcomesOf,
  type TestFields,
  type Trial,
  type TrialDifference,
  type TrialPlan,
  type TrialStep,
} from './trial.ts';

/** Requests to one rate limit that a printed test repeats; a limit that needs more is left open. */
const MAX_REPEATED = 5_000;
/** Requests by which the turns of a pool are compared. */
const MAX_TURNS = 16;

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

/**
 * A test of a request that the mutant fails; `null`: the request shows no difference that a test can express. A test about the
 * outcome is better than one about the rules that matched, which is taken only if there is no other.
 */
export function testOf(witness: Witness, mutant: Mutant, plans: TrialPlans): ShownDifference | null {
  let weak: (() => ShownDifference | null) | null = null;
  for (const trial of trialsOf(witness, mutant)) {
    const difference = differenceOf(
      outcomesOf(plans.before, trial),
      outcomesOf(plans.after, trial),
      plans.before.names,
    );
    if (difference === null) continue;
    const show = (): ShownDifference | null => shownBy(trial, { difference, mutant }, plans);
    if (difference.isWeak) weak ??= show;
    else {
      const shown = show();
      if (shown !== null) return shown;
    }
  }
  return weak === null ? null : weak();
}

/** The difference with its test; `null`: the test does not tell the plans apart. */
function shownBy(
  trial: Trial,
  { difference, mutant }: { readonly difference: TrialDifference; readonly mutant: Mutant },
  plans: TrialPlans,
): ShownDifference | null {
  const test = written(trial, { difference, mutant }, plans);
  if (!distinguishes(test, plans)) return null;
  const { was, now } = difference;
  const { witness } = trial;
  return { was, now, request: `${witness.method} ${witness.url}`, witness, test };
}

/** The request once, with a query where queries count, and as often as the counters and turns of the mutated rules need. */
function trialsOf(witness: Witness, { differing, becomes }: Mutant): readonly Trial[] {
  const sides = differing.flatMap((rule) => [rule, becomes.get(rule.id) ?? rule]);
  const once: Trial = { witness, steps: [{ times: 1, after: 0, suffix: '' }] };
  const queried = witness.url.includes('?') ? [] : queriesOf(sides);
  return [
    once,
    ...queried.map((query): Trial => ({ ...once, witness: { ...witness, url: `${witness.url}?${query}` } })),
    ...[...rateSequences(sides), ...poolSequences(sides)].map((steps) => ({ witness, steps })),
  ];
}

/** Queries that show what rules do with them. */
function queriesOf(rules: readonly Rule[]): readonly string[] {
  const names = rules.flatMap((rule) => (rule.type === 'cache' ? rule.query_params : []));
  const reads = rules.some(({ type }) => type === 'cache' || type === 'redirect' || type === 'rewrite');
  return reads ? [[...new Set(names), 'x'].map((name) => `${encodeURIComponent(name)}=1`).join('&')] : [];
}

function rateSequences(rules: readonly Rule[]): readonly (readonly TrialStep[])[] {
  const rates = rules.filter((rule): rule is RateLimitRule => rule.type === 'rate_limit');
  const counts = [...new Set(rates.map(({ limit, burst }) => limit + burst))]
    .sort((a, b) => a - b)
    .filter((count) => count < MAX_REPEATED);
  const [count] = counts;
  if (count === undefined) return [];
  const step = (times: number, after = 0, suffix = ''): TrialStep => ({ times, after, suffix });
  const breaching = counts.map((most) => [step(most + 1)]);
  // Counted by address, or by address and path.
  const elsewhere =
    new Set(rates.map(({ key_by }) => key_by)).size > 1 ? [[step(count), step(1, 0, '/y')]] : [];
  const [short, long] = [...new Set(rates.map(({ window_sec }) => window_sec))].sort((a, b) => a - b);
  // A slice of the shorter window may count a sixteenth longer (semantics §5).
  const between = Math.ceil(((short ?? 0) * 17) / 16) + 1;
  const later = long !== undefined && between < long ? [[step(count), step(1, between)]] : [];
  return [...breaching, ...elsewhere, ...later];
}

/** Turns of a pool, which show what has other weights. */
function poolSequences(rules: readonly Rule[]): readonly (readonly TrialStep[])[] {
  const pools = rules.filter((rule): rule is OriginPoolRule => rule.type === 'origin_pool');
  const most = Math.max(0, ...pools.map(({ origins }) => origins.length * 2));
  return Array.from({ length: Math.min(most, MAX_TURNS) }, (_, turn) => [
    { times: turn + 2, after: 0, suffix: '' },
  ]);
}

/** The test as text, an entry of the list `tests` with its indentation. */
function written(
  { witness, steps }: Trial,
  { difference, mutant }: { readonly difference: TrialDifference; readonly mutant: Mutant },
  { ruleSet, before: { names } }: TrialPlans,
): string {
  const facts = factsOf(witness, ruleSet, names);
  const response = witness.status === null ? {} : { response: { status: witness.status, by: 'origin' } };
  const line = (suffix: string): string => `${witness.method} ${longerUrl(witness.url, suffix)}`;
  const parts = steps.map(({ times, after, suffix }, step) => ({
    ...(suffix === '' ? {} : { request: line(suffix) }),
    ...(after === 0 ? {} : { after: `${after}s` }),
    ...(times === 1 ? {} : { repeat: times }),
    ...difference.expected[step],
  }));
  const field = mutant.field.length === 0 ? '' : ` ${fieldText(mutant.field)}`;
  const test = {
    name: `${names.nameOf(mutant.rule)}${field}, ${OPERATOR_WORDS[mutant.operator]}: ${witness.method} ${pathOf(witness)}`,
    request: line(''),
    ...(Object.keys(facts).length === 0 ? {} : { with: facts }),
    ...response,
    ...(parts.length === 1 ? parts[0] : { steps: parts }),
  };
  return layOutText(stringify({ tests: [test] }, { lineWidth: 0 }), TEST_FILE_ORDERS).slice(HEAD.length);
}

/** The path of a request, without its query. */
function pathOf({ url }: Witness): string {
  return url.slice(url.indexOf('/', url.indexOf('://') + 3)).split('?', 1)[0]!;
}

/** The line above the list of tests. */
const HEAD = 'tests:\n';

/** A field within a rule: `path_includes[0]`. */
export function fieldText(field: FieldPath): string {
  return field
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`))
    .join('');
}

/** The facts of a request as fields of `with`. */
function factsOf(witness: Witness, { rules, records }: RuleSet, names: RuleNames): TestFields {
  const { headers, ip, country, asn, bot, ja4, ja4h, cleared } = witness;
  // A User-Agent alone would be classified.
  const noBot = Object.hasOwn(headers, 'user-agent') ? { bot: 'none' } : {};
  const askers = [...rules, ...records.map(({ id }) => ({ type: 'record', id }) as const)];
  const nameOf = new Map(askers.map((ref) => [names.textOf(ref), names.nameOf(ref)]));
  const solved = cleared.map((text) => nameOf.get(text) ?? text);
  return {
    ...(ip === null ? {} : { ip }),
    ...(country === null ? {} : { country }),
    ...(asn === null ? {} : { asn }),
    ...(bot === null ? noBot : { bot: bot.verified ? bot : bot.kind }),
    ...(ja4 === null ? {} : { ja4 }),
    ...(ja4h === null ? {} : { ja4h }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
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
