/**
 * Which rules share no request, whatever their order: by their filters as boxes, conditions left aside. In: a rule set. Out: a
 * question about two of its rules. A question that its budget ends is answered as if they shared one.
 */
import type { Rule, RuleSet } from '../../rules/model/types.ts';
import { subjectSpace } from './reach.ts';
import { compileSubject } from './serving.ts';
import type { SubjectSpace } from './situations.ts';
import { type Box, commonSets, isEmptyBox } from './space/box.ts';
import { createBudget, type StepBudget, shareOf } from './space/budget.ts';
import { findUncovered } from './space/cover.ts';
import { MAX_APART_STEPS, MAX_PAIR_STEPS, MAX_QUICK_WORK } from './space/limits.ts';

/** Whether two rules certainly share no request. */
export type ApartTest = (one: Rule, other: Rule) => boolean;

/** The test for enabled rules of a rule set, which is compiled at the first question. */
export function apartTest(ruleSet: RuleSet): ApartTest {
  const total = createBudget(MAX_APART_STEPS);
  let made: { readonly around: SubjectSpace | null } | null = null;
  return (one, other) => {
    made ??= { around: subjectSpace(compileSubject(ruleSet), MAX_QUICK_WORK) };
    const { around } = made;
    if (around === null || !total.take(1)) return false;
    const [left, right] = [boxOf(around, one), boxOf(around, other)];
    return left !== null && right !== null && isApart([left, right], around, total);
  };
}

/** The box of a rule; `null`: it is too complex, or the rule is not compiled. */
function boxOf({ space, subject, plan }: SubjectSpace, { type, id }: Rule): Box | null {
  const compiled = subject.ruleOf(type, id);
  return compiled === null ? null : space.boxOf(plan, compiled.slot);
}

function isApart([left, right]: readonly [Box, Box], { space }: SubjectSpace, total: StepBudget): boolean {
  const target = { sets: commonSets(left.sets, right.sets), paths: left.paths ?? right.paths };
  if (isEmptyBox(target)) return true;
  const further = left.paths === null ? null : right.paths;
  const question = { target, further, blockers: [], count: 0, within: [], outside: [] };
  return findUncovered(question, space, shareOf(total, MAX_PAIR_STEPS)).kind === 'covered';
}
