/**
 * Judges mutants that no test kills: is there a request that one decides differently? In: the rules as written and the mutants.
 * Out: for each a request with its test, the proof that there is no such request, or neither.
 *
 * The decision and its shadow are proved apart: the shadow is the decision of the plan in which every dry_run rule is enforced
 * (semantics §4).
 */
import { compile } from '../../engine/compiler/compile.ts';
import type { KnownPatterns } from '../../engine/compiler/patterns.ts';
import { seal } from '../../engine/plan/seal.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import { proveChanges, spaceOf } from '../proofs/changes.ts';
import type { ChangeSide } from '../proofs/differences.ts';
import { effectOf } from '../proofs/effects.ts';
import { type Box, commonSets } from '../proofs/space/box.ts';
import { createBudget } from '../proofs/space/budget.ts';
import { findUncovered } from '../proofs/space/cover.ts';
import type { Space } from '../proofs/space/space.ts';
import { readSubject, type Subject, type SubjectRule } from '../proofs/subject.ts';
import { MAX_MUTANT_STEPS, MAX_ORDER_STEPS } from './limits.ts';
import type { Mutant } from './mutant.ts';
import { mutate } from './mutants.ts';
import { type ShownDifference, type TrialPlans, testOf } from './witness-test.ts';

/** What is known of a mutant that no test kills. */
export type MutantVerdict =
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
export interface Original {
  readonly ruleSet: RuleSet;
  readonly patterns: KnownPatterns;
  readonly subject: Subject;
  /** With every dry_run rule enforced. */
  readonly shadow: Subject;
}

/** Prepares the rules as written. */
export function readOriginal(ruleSet: RuleSet, patterns: KnownPatterns): Original {
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
export interface Unkilled {
  readonly mutant: Mutant;
  readonly plans: TrialPlans;
}

/** Judges several mutants, which are proved in one space. */
export function judge(original: Original, mutants: readonly Unkilled[]): readonly MutantVerdict[] {
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
    { before: sideOf(before), after: sideOf(changed), pairs },
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
