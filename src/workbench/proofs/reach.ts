/**
 * Which rules can be reached: for every enabled rule a request that reaches it, confirmed by the evaluator, or the
 * smallest set of earlier rules that take all its requests, or neither if a budget ended. Also which rules share no
 * request.
 */
import type { RuleRef } from '../../engine/evaluator/decision.ts';
import type { Rule, RuleSet } from '../../rules/model/types.ts';
import { redirectExtras, type Situation, type SubjectSpace, situationsOf } from './situations.ts';
import { type Box, commonSets, isEmptyBox } from './space/boxes.ts';
import { createBudget, MAX_TOTAL_STEPS, type StepBudget, shareOf } from './space/budget.ts';
import { type CoverResult, findUncovered, type Point } from './space/cover.ts';
import { createSpace, type Space } from './space/space.ts';
import { compileSubject, knowsLists, type ListSources, type Subject, type SubjectRule } from './subject.ts';
import {
  type Confirmation,
  changedUntil,
  requestOf,
  tryDecision,
  type Witness,
  witnessOf,
} from './witness.ts';

/** The same where recommendations ask, which have no time for more than a second of it. */
export const MAX_QUICK_WORK = 20_000_000;
/** Steps of the question whether two rules share a request, outside of the search for conflicts. */
const MAX_PAIR_STEPS = 20_000;
/** Steps of all such questions about one rule set, one for each pair at least: less than a second. */
const MAX_APART_STEPS = 200_000;
/** Blockers of an answer that are reduced to a minimal set; a longer list is reported as it is. */
const MAX_MINIMISED = 48;
/** Steps of the questions about one rule, so that one rule does not use up the total. */
export const MAX_RULE_STEPS = 300_000;

/** What is known of a rule. */
export type ReachResult =
  /** The request reaches it. */
  | { readonly kind: 'reached'; readonly witness: Witness }
  /** These rules take every request that it matches, and no smaller selection of them does. */
  | { readonly kind: 'shadowed'; readonly by: readonly SubjectRule[] }
  /** It matches no request. */
  | { readonly kind: 'unmatched' }
  | { readonly kind: 'unknown' };

/** The result of one rule. */
export interface Reach {
  readonly rule: SubjectRule;
  readonly result: ReachResult;
}

const UNKNOWN: ReachResult = { kind: 'unknown' };

/** The space of one subject; `null`: its host filters are too complex for proofs. `work`: steps of its patterns. */
export function subjectSpace(subject: Subject, work?: number): SubjectSpace | null {
  const extras = redirectExtras([subject]);
  const space = createSpace([subject.loaded], work === undefined ? extras : { ...extras, work });
  return space === null ? null : { space, subject, plan: 0, lists: new Map() };
}

/** Options of `proveReach`. */
export interface ReachOptions {
  /** The space of the subject. Default: a new one. */
  readonly around?: SubjectSpace | null;
  /** The rules that are asked about. Default: every enabled rule. */
  readonly rules?: readonly SubjectRule[];
  /** Steps of all questions. */
  readonly steps?: number;
}

/** Proves or disproves for rules of a plan that they can be reached. */
export function proveReach(
  subject: Subject,
  { around = subjectSpace(subject), rules = subject.rules, steps = MAX_TOTAL_STEPS }: ReachOptions = {},
): readonly Reach[] {
  if (around === null) return rules.map((rule) => ({ rule, result: UNKNOWN }));
  const total = createBudget(steps);
  return rules.map((rule) => ({ rule, result: reachOf(around, rule, total) }));
}

function reachOf(around: SubjectSpace, rule: SubjectRule, total: StepBudget): ReachResult {
  const situations = situationsOf(around, rule);
  if (situations === null) return UNKNOWN;
  const budget = shareOf(total, MAX_RULE_STEPS);
  for (const one of situations) {
    const witness = confirmed(around, rule, one, budget);
    if (witness !== null) return { kind: 'reached', witness };
  }
  const used = new Set<SubjectRule>();
  for (const one of situations) {
    const found = ask(one, null, { space: around.space, budget });
    if (found.kind === 'unknown') return UNKNOWN;
    if (found.kind === 'point') {
      const reached = confirm(around, rule, one, found.point);
      return reached === null ? UNKNOWN : { kind: 'reached', witness: reached };
    }
    for (const place of found.by) {
      const owner = one.blockers.rules[place]!;
      if (owner !== null) used.add(owner);
    }
  }
  if (used.size === 0) return { kind: 'unmatched' };
  return {
    kind: 'shadowed',
    by: minimal(situations, [...used], { space: around.space, budget: shareOf(total, MAX_RULE_STEPS) }),
  };
}

/** The first request of a situation, whatever blocks it: most rules are reached by it. */
function confirmed(
  around: SubjectSpace,
  rule: SubjectRule,
  one: Situation,
  budget: StepBudget,
): Witness | null {
  const found = ask(one, new Set(), { space: around.space, budget });
  return found.kind === 'point' ? confirm(around, rule, one, found.point) : null;
}

/**
 * The witness of a point, if the evaluator reaches the rule with it: maybe after challenges are solved, or with the scheme and
 * query that make a redirect's location the request's own URL.
 */
function confirm(
  { space, subject }: SubjectSpace,
  rule: SubjectRule,
  one: Situation,
  point: Point,
): Witness | null {
  const witness = witnessOf(point, space, one.acme);
  if (witness === null) return null;
  const reached = changedUntil(witness, subject, (changed) => tryWitness(subject, rule, changed));
  return reached === null || rule.type === 'error_page' ? reached : { ...reached, status: null };
}

/** Whether the evaluator records that a request reaches a rule, and if not, what has ended it. */
function tryWitness(subject: Subject, { ref }: SubjectRule, witness: Witness): Confirmation {
  const isRef = ({ type, id }: RuleRef): boolean => type === ref.type && id === ref.id;
  if (ref.type === 'error_page') {
    const request = requestOf(witness, subject.moment());
    const { matches } = subject.evaluator.errorPage(request, witness.status ?? 500, 'origin');
    return { isShown: matches.some(isRef), endedBy: null };
  }
  return tryDecision(subject, witness, ({ matches }) => matches.some(isRef));
}

interface Asking {
  readonly space: Space;
  readonly budget: StepBudget;
}

/** Asks whether a situation is covered. `rules`: the blockers that count; `null`: all. */
function ask(
  { target, blockers, count, within, outside }: Situation,
  rules: ReadonlySet<SubjectRule> | null,
  { space, budget }: Asking,
): CoverResult {
  const { boxes, rules: owners, without } = blockers;
  if (rules === null)
    return findUncovered({ target, blockers: boxes, count, within, outside }, space, budget);
  const isChosen = (place: number): boolean => owners[place] === null || rules.has(owners[place]!);
  // PERF: most questions are about the first request of a situation, whatever blocks it.
  const places = rules.size === 0 ? without : [...boxes.keys()];
  const chosen = places.filter((place) => place < count && isChosen(place)).map((place) => boxes[place]!);
  return findUncovered({ target, blockers: chosen, count: chosen.length, within, outside }, space, budget);
}

/** A selection of the rules that still covers every situation, and that covers them no more without any one of its rules. */
function minimal(
  situations: readonly Situation[],
  rules: readonly SubjectRule[],
  asking: Asking,
): readonly SubjectRule[] {
  if (rules.length > MAX_MINIMISED) return sorted(rules);
  const covers = (chosen: readonly SubjectRule[]): boolean =>
    situations.every((one) => ask(one, new Set(chosen), asking).kind === 'covered');
  const single = sorted(rules).find((rule) => covers([rule]));
  if (single !== undefined) return [single];
  let left = rules;
  for (const rule of rules) {
    const rest = left.filter((other) => other !== rule);
    if (covers(rest)) left = rest;
  }
  return sorted(left);
}

function sorted(rules: readonly SubjectRule[]): readonly SubjectRule[] {
  return [...rules].sort((a, b) => a.slot - b.slot);
}

// Which rules share no request, whatever their order: by their filters as boxes, conditions left aside. In: a rule set. Out: a
// question about two of its rules. A question that its budget ends is answered as if they shared one.

/** Whether two rules certainly share no request. */
export type ApartTest = (one: Rule, other: Rule) => boolean;

/** The test for enabled rules of a rule set, which is compiled at the first question. */
export function apartTest(ruleSet: RuleSet, sources: ListSources = {}): ApartTest {
  if (!knowsLists(ruleSet, sources)) return () => false;
  const total = createBudget(MAX_APART_STEPS);
  let made: { readonly around: SubjectSpace | null } | null = null;
  return (one, other) => {
    made ??= { around: subjectSpace(compileSubject(ruleSet, sources), MAX_QUICK_WORK) };
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

/** Whether two boxes certainly share no request. */
export function isApart(
  [left, right]: readonly [Box, Box],
  { space }: SubjectSpace,
  total: StepBudget,
): boolean {
  const target = { sets: commonSets(left.sets, right.sets), paths: left.paths ?? right.paths };
  if (isEmptyBox(target)) return true;
  const further = left.paths === null ? null : right.paths;
  const question = { target, further, blockers: [], count: 0, within: [], outside: [] };
  return findUncovered(question, space, shareOf(total, MAX_PAIR_STEPS)).kind === 'covered';
}
