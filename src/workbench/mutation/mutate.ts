/**
 * Mutation testing: would the tests notice a mistake in the rules? In: a rule set and its tests, which pass. Out: for each mutant
 * whether a test kills it, whether it is proved to decide every request alike, or a request that it decides otherwise, as a
 * test ready to be added.
 */
import { compile } from '../../engine/compiler/compile.ts';
import type { KnownPatterns } from '../../engine/compiler/patterns.ts';
import type { Trace } from '../../engine/evaluator/trace.ts';
import { seal } from '../../engine/plan/seal.ts';
import type { WafProgram } from '../../engine/waf/request/inspection.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import { proveChanges, spaceOf } from '../proofs/changes.ts';
import { type ChangeSide, withTagReaders } from '../proofs/differences.ts';
import { proveReach } from '../proofs/reach.ts';
import { type Box, commonSets } from '../proofs/space/boxes.ts';
import { createBudget } from '../proofs/space/budget.ts';
import { findUncovered } from '../proofs/space/cover.ts';
import type { Space } from '../proofs/space/space.ts';
import { effectOf, readSubject, type Subject, type SubjectRule } from '../proofs/subject.ts';
import { requestOf, type Witness } from '../proofs/witness.ts';
import type { RuleNames } from '../rule-tests/names.ts';
import type { ReadyTest } from '../rule-tests/prepare.ts';
import { findFailing, runTests, withBots } from '../rule-tests/run.ts';
import type { Mutant } from './action-mutations.ts';
import { mutantsOf, mutate, type Selection } from './mutants.ts';
import { type ShownDifference, type TrialPlans, testOf } from './witness-test.ts';

/** Steps of the proof about one mutant (`workbench/proofs/space/budget.ts` says what a step is): about a second. */
export const MAX_MUTANT_STEPS = 400_000;
/** Mutants that are proved in one space: more would share more of it, and divide it finer. */
const MAX_BATCH = 32;
/** Steps of the question whether two filters overlap, or are the same. */
const MAX_ORDER_STEPS = 20_000;

/** What is mutated. */
export interface MutationSubject {
  readonly ruleSet: RuleSet;
  readonly names: RuleNames;
  /** Tests that pass. */
  readonly tests: readonly ReadyTest[];
  readonly waf: WafProgram | null;
}

/** What became of a mutant. */
export interface MutantResult {
  readonly mutant: Mutant;
  readonly judged: MutantVerdict | { readonly outcome: 'killed'; readonly by: string };
}

/** A mutation run, to be advanced mutant by mutant. */
export interface MutationRun {
  /** Mutants of this run, and all that there are. */
  readonly count: number;
  readonly total: number;
  /** The results, each made when it is asked for. */
  readonly results: Iterable<MutantResult>;
}

/** Starts a run. */
export function startMutation(subject: MutationSubject, selection: Selection): MutationRun {
  const { mutants, total } = mutantsOf(subject.ruleSet, selection);
  return { count: mutants.length, total, results: resultsOf(prepare(subject), mutants) };
}

/** What the mutants of a run share. */
interface Prepared extends MutationSubject {
  readonly patterns: KnownPatterns;
  readonly bytes: Uint8Array;
  readonly original: Original;
  /** Places of tests by `<type>/<id>` of the rules that match in them. */
  readonly testsOf: ReadonlyMap<string, readonly number[]>;
  /** Requests that reach the rules, with their decisions. */
  readonly reaching: readonly { readonly witness: Witness; readonly decision: string }[];
}

function prepare(subject: MutationSubject): Prepared {
  const { ruleSet } = subject;
  const patterns: KnownPatterns = new Map();
  const bytes = seal(compile(ruleSet, { patterns }).plan, { revision: 0 });
  const tests = withBots(subject.tests, bytes);
  const original = readOriginal(ruleSet, patterns);
  const witnesses = proveReach(original.subject).flatMap(({ result }) =>
    result.kind === 'reached' ? [result.witness] : [],
  );
  const decisions = decisionsOn(bytes, witnesses);
  const reaching = witnesses.map((witness, place) => ({ witness, decision: decisions[place]! }));
  const testsOf = matchedIn(tests, { ...subject, bytes });
  return { ...subject, tests, patterns, bytes, original, testsOf, reaching };
}

/** The tests in which each rule matches. */
function matchedIn(
  tests: readonly ReadyTest[],
  { bytes, names, waf }: MutationSubject & { readonly bytes: Uint8Array },
): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  tests.forEach((test, place) => {
    const seen = new Set<string>();
    const note = ({ phases }: Trace): void => {
      for (const { rules } of phases)
        for (const { type, id, outcome } of rules) if (outcome === 'matched') seen.add(`${type}/${id}`);
    };
    const coverage = { note, noteAnswer: (_: unknown, trace: Trace) => note(trace) };
    runTests([test], { bytes, names, waf, coverage });
    for (const name of seen) places.set(name, [...(places.get(name) ?? []), place]);
  });
  return places;
}

function* resultsOf(prepared: Prepared, mutants: readonly Mutant[]): Iterable<MutantResult> {
  let waiting: Unkilled[] = [];
  const proved = (): readonly MutantResult[] => {
    const judged = judge(prepared.original, waiting);
    const results = waiting.map(({ mutant }, place) => ({ mutant, judged: judged[place]! }));
    waiting = [];
    return results;
  };
  for (const mutant of mutants) {
    const quick = quicklyJudged(prepared, mutant);
    if ('judged' in quick) yield quick;
    else waiting.push(quick);
    if (waiting.length === MAX_BATCH) yield* proved();
  }
  if (waiting.length > 0) yield* proved();
}

/** Runs the tests, and tries the requests that reach rules: they show most differences, and cost no proof. */
function quicklyJudged(prepared: Prepared, mutant: Mutant): MutantResult | Unkilled {
  const { ruleSet, patterns, names, waf, bytes, reaching } = prepared;
  const changed = seal(compile(mutate(ruleSet, mutant), { patterns }).plan, { revision: 0 });
  const tests = inOrder(prepared, mutant);
  const failing = findFailing(tests, { bytes: changed, names, waf });
  if (failing !== null) return { mutant, judged: { outcome: 'killed', by: tests[failing]!.name } };
  const plans = { ruleSet, before: { bytes, waf, names }, after: { bytes: changed, waf, names } };
  const decided = decisionsOn(
    changed,
    reaching.map(({ witness }) => witness),
  );
  for (const [place, { witness, decision }] of reaching.entries()) {
    const shown = decided[place] === decision ? null : testOf(witness, mutant, plans);
    if (shown !== null) return { mutant, judged: { outcome: 'survived', shown } };
  }
  return { mutant, plans };
}

/** The decisions of requests as text. */
function decisionsOn(bytes: Uint8Array, witnesses: readonly Witness[]): readonly string[] {
  const { evaluator, moment } = readSubject(bytes, { trusted: true });
  return witnesses.map((witness) => JSON.stringify(evaluator.evaluate(requestOf(witness, moment()))));
}

/** Tests in which the mutated rules match come first: they are the likely ones to fail. */
function inOrder({ tests, testsOf }: Prepared, { differing }: Mutant): readonly ReadyTest[] {
  const first = new Set(differing.flatMap(({ type, id }) => testsOf.get(`${type}/${id}`) ?? []));
  const rest = tests.filter((_, place) => !first.has(place));
  return [...[...first].map((place) => tests[place]!), ...rest];
}

// Judges mutants that no test kills: is there a request that one decides differently? In: the rules as written and the mutants.
// Out: for each a request with its test, the proof that there is no such request, or neither.
//
// The decision and its shadow are proved apart: the shadow is the decision of the plan in which every dry_run rule is enforced
// (semantics §4).

/** What is known of a mutant that no test kills. */
type MutantVerdict =
  | { readonly outcome: 'survived'; readonly shown: ShownDifference }
  /** No request is decided differently, nor is its shadow. */
  | { readonly outcome: 'equivalent' }
  | {
      readonly outcome: 'unknown';
      /**
       * `symbols`: it differs in what counters, scores or turns of a balancer are compared with. `phase_end`: tags or challenges
       * may act otherwise on requests that end in their phase. `budget`: the steps ended.
       */
      readonly reason: 'symbols' | 'phase_end' | 'budget';
    };

/** The rules as written, as proofs read them. */
interface Original {
  readonly ruleSet: RuleSet;
  readonly patterns: KnownPatterns;
  readonly subject: Subject;
  /** With every dry_run rule enforced. */
  readonly shadow: Subject;
}

/** Prepares the rules as written. */
function readOriginal(ruleSet: RuleSet, patterns: KnownPatterns): Original {
  return {
    ruleSet,
    patterns,
    subject: subjectOf(ruleSet, patterns),
    shadow: subjectOf(enforced(ruleSet), patterns),
  };
}

function subjectOf(ruleSet: RuleSet, patterns: KnownPatterns): Subject {
  return readSubject(seal(compile(ruleSet, { patterns }).plan, { revision: 1 }), { trusted: true });
}

/** The rule set in which every rule is enforced. */
function enforced(ruleSet: RuleSet): RuleSet {
  return { ...ruleSet, rules: ruleSet.rules.map((rule) => ({ ...rule, action_mode: 'enforce' })) };
}

function hasDryRun({ rules }: RuleSet): boolean {
  return rules.some(({ enabled, action_mode }) => enabled && action_mode === 'dry_run');
}

/** A mutant that no test kills, with its plan. */
interface Unkilled {
  readonly mutant: Mutant;
  readonly plans: TrialPlans;
}

/** Judges several mutants, which are proved in one space. */
function judge(original: Original, mutants: readonly Unkilled[]): readonly MutantVerdict[] {
  const changed = mutants.map(({ mutant }) => mutate(original.ruleSet, mutant));
  const plain = comparison(original.subject, changed, original.patterns);
  const judged = mutants.map((one, place) => judgeSide(one, plain, place));
  // What the decision does not show, the shadow may.
  const left = mutants.flatMap((_, place) => {
    const isShadowed = hasDryRun(original.ruleSet) || hasDryRun(changed[place]!);
    return judged[place]!.outcome !== 'survived' && isShadowed ? [place] : [];
  });
  if (left.length === 0) return judged;
  const shadows = left.map((place) => enforced(changed[place]!));
  const shadow = comparison(original.shadow, shadows, original.patterns);
  left.forEach((place, index) => {
    judged[place] = joined(judged[place]!, judgeSide(mutants[place]!, shadow, index));
  });
  return judged;
}

/** What is known of a decision and its shadow together. */
function joined(decision: MutantVerdict, shadow: MutantVerdict): MutantVerdict {
  return shadow.outcome === 'survived' || decision.outcome === 'equivalent' ? shadow : decision;
}

/** A plan as written with mutants of it, in one space. */
interface Compared {
  readonly before: Subject;
  readonly after: readonly Subject[];
  /** `null`: host filters are too complex for proofs. */
  readonly space: Space | null;
}

function comparison(before: Subject, changed: readonly RuleSet[], patterns: KnownPatterns): Compared {
  const after = changed.map((ruleSet) => subjectOf(ruleSet, patterns));
  return { before, after, space: spaceOf([before, ...after]) };
}

/** Looks for a request that a mutant decides otherwise, up to the first that a test can show. */
function judgeSide(
  { mutant, plans }: Unkilled,
  { before, after, space }: Compared,
  place: number,
): MutantVerdict {
  if (space === null) return { outcome: 'unknown', reason: 'budget' };
  const changed = after[place]!;
  const names = mutant.differing.map(({ type, id }) => ({ type, id, name: `${type}/${id}` }));
  const sideOf = (subject: Subject): ChangeSide => ({
    subject,
    differing: new Set(
      names.filter(({ type, id }) => subject.ruleOf(type, id) !== null).map(({ name }) => name),
    ),
  });
  const pairs = new Map(
    changed.rules
      .filter(({ type, ref }) => before.ruleOf(type, ref.id) !== null)
      .map(({ type, ref }) => [`${type}/${ref.id}`, `${type}/${ref.id}`]),
  );
  let shown: ShownDifference | null = null;
  const { changes, open, isIncomplete } = proveChanges(
    withTagReaders({ before: sideOf(before), after: sideOf(changed), pairs }),
    {
      shared: { space, before: 0, after: place + 1 },
      steps: MAX_MUTANT_STEPS,
      isEnough({ witness }) {
        shown = testOf(witness, mutant, plans);
        return shown !== null;
      },
    },
  );
  if (shown !== null) return { outcome: 'survived', shown };
  if (changes.length > 0) return { outcome: 'unknown', reason: 'symbols' };
  if (open.length > 0 || isIncomplete) return { outcome: 'unknown', reason: 'budget' };
  const placed = { before: { subject: before, plan: 0 }, after: { subject: changed, plan: place + 1 } };
  return mayDifferWhereEnded(mutant, placed, space)
    ? { outcome: 'unknown', reason: 'phase_end' }
    : { outcome: 'equivalent' };
}

// What proofs of changes leave out: within the phases of fingerprints and bots several rules act on one request, and the proof
// does not compare those that act before a rule of the same phase ends it. Says whether a mutant can differ in nothing but that.

/** A plan in a space. */
export interface PlacedPlan {
  readonly subject: Subject;
  readonly plan: number;
}

/** Whether tags or challenges may act otherwise on requests that end in their phase. */
function mayDifferWhereEnded(
  { operator, differing }: Mutant,
  { before, after }: { readonly before: PlacedPlan; readonly after: PlacedPlan },
  space: Space,
): boolean {
  const find = ({ subject }: PlacedPlan): readonly (SubjectRule | null)[] =>
    differing.map(({ type, id }) => subject.ruleOf(type, id));
  const [was, now] = [find(before), find(after)];
  if (![...was, ...now].some((rule) => rule !== null && isOrdered(rule))) return false;
  const boxOf = ({ plan }: PlacedPlan, rule: SubjectRule | null | undefined): Box | null =>
    rule === null || rule === undefined ? null : space.boxOf(plan, rule.slot);
  if (operator === 'swap_rules') {
    const [a, b] = [boxOf(before, was[0]), boxOf(before, was[1])];
    return a === null || b === null || !areDisjoint(a, b, space);
  }
  const [rule, changed] = [was[0] ?? null, now[0] ?? null];
  if (rule === null || changed === null || rule.isDryRun !== changed.isDryRun) return true;
  if (effectOf(before.subject, rule) !== effectOf(after.subject, changed)) return true;
  const [a, b] = [boxOf(before, rule), boxOf(after, changed)];
  return a === null || b === null || !covers(a, b, space) || !covers(b, a, space);
}

/** Rules after which another of their phase may end the request: tags, challenges of fingerprints. */
function isOrdered({ type, isTag, ending }: SubjectRule): boolean {
  return isTag || (type === 'fingerprint' && ending === 'never');
}

function areDisjoint(a: Box, b: Box, space: Space): boolean {
  const target = { sets: commonSets(a.sets, b.sets), paths: a.paths };
  return isEmpty({ target, further: b.paths, blockers: [] }, space);
}

function covers(wide: Box, narrow: Box, space: Space): boolean {
  return isEmpty({ target: narrow, further: null, blockers: [wide] }, space);
}

function isEmpty(
  {
    target,
    further,
    blockers,
  }: { readonly target: Box; readonly further: Box['paths']; readonly blockers: readonly Box[] },
  space: Space,
): boolean {
  const query = { target, further, blockers, count: blockers.length, within: [], outside: [] };
  return findUncovered(query, space, createBudget(MAX_ORDER_STEPS)).kind === 'covered';
}
