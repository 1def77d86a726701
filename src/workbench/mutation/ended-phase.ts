/**
 * What proofs of changes leave out: within the phases of fingerprints and bots several rules act on one request, and the proof
 * does not compare those that act before a rule of the same phase ends it. Says whether a mutant can differ in nothing but that.
 */
import { effectOf } from '../proofs/effects.ts';
import type { Box } from '../proofs/space/box.ts';
import { commonSets } from '../proofs/space/box.ts';
import { createBudget } from '../proofs/space/budget.ts';
import { findUncovered } from '../proofs/space/cover.ts';
import type { Space } from '../proofs/space/space.ts';
import type { Subject, SubjectRule } from '../proofs/subject.ts';
import { MAX_ORDER_STEPS } from './limits.ts';
import type { Mutant } from './mutant.ts';

/** A plan in a space. */
export interface PlacedPlan {
  readonly subject: Subject;
  readonly plan: number;
}

/** Whether tags or challenges may act otherwise on requests that end in their phase. */
export function mayDifferWhereEnded(
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
