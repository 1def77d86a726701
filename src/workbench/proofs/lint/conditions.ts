/**
 * Finds what is needless in the conditions of rules: a condition that holds for every request that the rest of the rule leaves,
 * and entries of a list that another entry covers. In: a rule of a plan with its space. Out: lists for the search for needless
 * entries, and findings.
 */
import { VALUE_MEMBERS } from '../../../base/vocabulary/vocabulary.ts';
import type { LoadedPlan } from '../../../engine/evaluator/loaded.ts';
import type { Rule } from '../../../rules/model/types.ts';
import type { SubjectSpace } from '../situations.ts';
import { intersect, isWithin } from '../space/boxes.ts';
import { createRoom, type StepBudget } from '../space/budget.ts';
import { readPattern } from '../space/language.ts';
import { listOfPattern, listsAt } from '../space/lists.ts';
import { findText } from '../space/search.ts';
import { entriesOf, type PlanTerm, termsAt, textsOfTerm } from '../space/terms.ts';
import { buildPatterns } from '../space/value-language.ts';
import type { SubjectRule } from '../subject.ts';
import type { Finding } from './finding.ts';

/** Steps of the automata of one list. */
const MAX_LIST_WORK = 1_000_000;

/** A list whose entries are patterns of one condition. */
export interface ConditionList {
  readonly entries: readonly { readonly field: Finding['field']; readonly text: string }[];
  readonly isExclude: false;
  isNeedless(place: number, others: readonly number[], budget: StepBudget): boolean;
}

/** The conditions of a rule that hold for every request that the rest of the rule leaves. */
export function lintConditions(
  { space, plan, subject }: SubjectSpace,
  { slot }: SubjectRule,
  rule: Rule,
): readonly Finding[] {
  const parts = space.partsOf(plan, slot);
  if (parts === null || parts.terms.length === 0) return [];
  const { filters, terms } = parts;
  const written = termsAt(subject.loaded, slot);
  const left = new Set(terms.keys());
  const findings: Finding[] = [];
  // Of conditions that imply each other the later ones are needless.
  for (const place of [...terms.keys()].reverse()) {
    const { member, axis, set } = terms[place]!;
    // A rule in dry run tags nothing, and will once it is enforced.
    if (member === 'tags') continue;
    // What a list has changes without the rule.
    if (namesLists(subject.loaded, written[place]!)) continue;
    const all = filters.sets[axis] ?? space.whole[axis]!;
    const rest = [...left].reduce(
      (common, other) =>
        other !== place && terms[other]!.axis === axis ? intersect(common, terms[other]!.set) : common,
      all,
    );
    // A rule that no request meets has a finding of its own.
    if (rest.length === 0 || intersect(rest, set).length === 0 || !isWithin(rest, set)) continue;
    left.delete(place);
    findings.push({
      rule,
      field: fieldOf(written[place]!),
      code: 'needless_entry',
      severity: 'info',
      message: 'holds for every request that the rest of the rule leaves',
      remedy: 'remove it',
    });
  }
  return findings.reverse();
}

/** The lists of patterns in the conditions of a rule. */
export function conditionLists({ subject }: SubjectSpace, { slot }: SubjectRule): readonly ConditionList[] {
  const { loaded } = subject;
  return termsAt(loaded, slot).flatMap((term): readonly ConditionList[] => {
    if (term.comparison === 'any' || term.comparison === 'tagged' || term.comparison === 'addresses')
      return [];
    const numbers = entriesOf(loaded, term);
    if (numbers.length < 2) return [];
    const patterns = numbers.map((number) => readPattern(loaded, number));
    const { ignoreCase } = term;
    const built = buildPatterns([{ name: '', patterns, ignoreCase }], createRoom(MAX_LIST_WORK));
    // A list that is too large has no automaton.
    if (built === null || built.left.size > 0) return [];
    const automata = built.placed.map(({ automaton }) => automaton);
    const entries = textsOfTerm(loaded, term).map((text, place) => ({ field: listField(term, place), text }));
    const lies = (inner: number, outer: number, budget: StepBudget): boolean =>
      findText({ within: [automata[inner]!], outside: [automata[outer]!] }, built.letters, budget).kind ===
      'empty';
    return [
      {
        entries,
        isExclude: false,
        isNeedless: (place, others, budget) => others.some((other) => lies(place, other, budget)),
      },
    ];
  });
}

/** Whether an entry of a term names a list. */
function namesLists(loaded: LoadedPlan, term: PlanTerm): boolean {
  if (term.comparison === 'any' || term.comparison === 'tagged') return false;
  if (term.comparison === 'addresses') return listsAt(loaded, term.data).length > 0;
  return entriesOf(loaded, term).some((number) => listOfPattern(loaded, number) !== null);
}

/** The path of a condition within its rule. */
function fieldOf(term: PlanTerm): Finding['field'] {
  const { member, at } = term;
  if (VALUE_MEMBERS.some((known) => known === member)) return ['conditions', member, at];
  if (['methods', 'except_methods', 'schemes', 'verified_bot'].includes(member))
    return ['conditions', member];
  return ['conditions', member, at === 0 ? 'includes' : 'excludes'];
}

/** The path of an entry of a condition. */
function listField(term: PlanTerm, place: number): Finding['field'] {
  const isValue = VALUE_MEMBERS.some((known) => known === term.member);
  return [...fieldOf(term), ...(isValue ? ['values'] : []), place];
}
