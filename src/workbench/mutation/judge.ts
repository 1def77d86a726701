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
import type { Space } from '../proofs/space/space.ts';
import { readSubject, type Subject } from '../proofs/subject.ts';
import { mayDifferWhereEnded } from './ended-phase.ts';
import { MAX_MUTANT_STEPS } from './limits.ts';
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
