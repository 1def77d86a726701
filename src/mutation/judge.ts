/**
 * Judges a mutant that no test kills: is there a request that it decides differently? In: the rules as written and the mutant.
 * Out: a request with its test, the proof that there is no such request, or neither.
 *
 * The decision and its shadow are proved apart: the shadow is the decision of the plan in which every dry_run rule is enforced
 * (semantics §4).
 */
import { type ProvedChanges, proveChanges } from '../analysis/changes.ts';
import type { ChangeSide } from '../analysis/differences.ts';
import type { Witness } from '../analysis/space/witness.ts';
import { readSubject, type Subject } from '../analysis/subject.ts';
import { compile } from '../compiler/compile.ts';
import type { KnownPatterns } from '../compiler/patterns.ts';
import type { Rule, RuleSet } from '../model/types.ts';
import { seal } from '../plan/seal.ts';
import { MAX_MUTANT_STEPS } from './limits.ts';
import type { Mutant } from './mutant.ts';
import { mutate } from './mutants.ts';
import { type ShownDifference, type TrialPlans, testOf } from './witness-test.ts';

/** What is known of a mutant that no test kills. */
export type Judgement =
  | { readonly outcome: 'survived'; readonly shown: ShownDifference }
  /** No request is decided differently, nor is its shadow. */
  | { readonly outcome: 'equivalent' }
  | {
      readonly outcome: 'unknown';
      /** `symbols`: it differs in what counters, scores or turns of a balancer are compared with. `budget`: the steps ended. */
      readonly reason: 'symbols' | 'budget';
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
  return readSubject(seal(compile(ruleSet, { patterns }).plan, { revision: 1 }));
}

/** The rule set in which every rule is enforced. */
function enforced(ruleSet: RuleSet): RuleSet {
  return { ...ruleSet, rules: ruleSet.rules.map((rule) => ({ ...rule, action_mode: 'enforce' })) };
}

function hasDryRun({ rules }: RuleSet): boolean {
  return rules.some(({ enabled, action_mode }) => enabled && action_mode === 'dry_run');
}

/** Judges a mutant. `likely`: requests that are tried before anything is proved. */
export function judge(
  original: Original,
  mutant: Mutant,
  { plans, likely }: { readonly plans: TrialPlans; readonly likely: readonly Witness[] },
): Judgement {
  for (const witness of likely) {
    const shown = testOf(witness, mutant, plans);
    if (shown !== null) return { outcome: 'survived', shown };
  }
  const changed = mutate(original.ruleSet, mutant);
  const sides: (readonly [Subject, RuleSet])[] = [[original.subject, changed]];
  if (hasDryRun(original.ruleSet) || hasDryRun(changed)) sides.push([original.shadow, enforced(changed)]);
  let reason: 'symbols' | 'budget' | null = null;
  for (const [before, after] of sides) {
    let shown: ShownDifference | null = null;
    const proved = prove(before, { after: subjectOf(after, original.patterns), mutant }, (witness) => {
      shown = testOf(witness, mutant, plans);
      return shown !== null;
    });
    if (shown !== null) return { outcome: 'survived', shown };
    if (proved.changes.length > 0) reason ??= 'symbols';
    else if (proved.open.length > 0 || proved.isIncomplete) reason = 'budget';
  }
  return reason === null ? { outcome: 'equivalent' } : { outcome: 'unknown', reason };
}

/** Proves what a mutant changes, up to the first request that is enough. */
function prove(
  before: Subject,
  { after, mutant }: { readonly after: Subject; readonly mutant: Mutant },
  isEnough: (witness: Witness) => boolean,
): ProvedChanges {
  const nameOf = ({ type, id }: Rule): string => `${type}/${id}`;
  const names = mutant.differing.map(nameOf);
  const sideOf = (subject: Subject): ChangeSide => ({
    subject,
    differing: new Set(
      names.filter((name) => {
        const [type, id] = name.split('/');
        return subject.ruleOf(type!, Number(id)) !== null;
      }),
    ),
  });
  const pairs = new Map(
    after.rules.flatMap(({ type, ref }) => {
      const name = `${type}/${ref.id}`;
      return before.ruleOf(type, ref.id) === null ? [] : [[name, name] as const];
    }),
  );
  return proveChanges(
    { before: sideOf(before), after: sideOf(after), pairs },
    { steps: MAX_MUTANT_STEPS, isEnough: ({ witness }) => isEnough(witness) },
  );
}
