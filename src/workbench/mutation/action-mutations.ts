/**
 * What a mutant is: the rule set with one small mistake, as an author might have made it; and the mistakes in what a
 * rule does: another status, target, limit, threshold, time to live, origin (`proofs/rule-types.ts`).
 */
import type { FieldPath } from '../../base/diagnostics/diagnostic.ts';
import type { Rule } from '../../rules/model/types.ts';
import { knownOf, shown } from '../proofs/rule-types.ts';

/** The action mutations of a rule. */
export function actionMutations(rule: Rule): readonly Mutation[] {
  const fields = rule as object as Readonly<Record<string, unknown>>;
  return knownOf(rule.type)
    .changes(rule)
    .filter(([name, value]) => JSON.stringify(fields[name]) !== JSON.stringify(value))
    .map(([name, value, words]) => ({
      operator: 'change_action',
      field: [name],
      change: words ?? `${shown(fields[name])} → ${shown(value)}`,
      rule: { ...rule, [name]: value } as Rule,
    }));
}

/** Entries of one list that are dropped one by one, evenly spread: a list of 256 addresses is not 256 questions. */
const MAX_DROPPED_ENTRIES = 6;

/** At most `MAX_DROPPED_ENTRIES` places of a list, evenly spread from the first to the last. */
export function spread(count: number): readonly number[] {
  if (count <= MAX_DROPPED_ENTRIES) return Array.from({ length: count }, (_, place) => place);
  return Array.from({ length: MAX_DROPPED_ENTRIES }, (_, step) =>
    Math.round((step * (count - 1)) / (MAX_DROPPED_ENTRIES - 1)),
  );
}

// What a mutant is: the rule set with one small mistake, as an author might have made it.

/** The kinds of mistakes. */
export const OPERATORS = [
  /** A rule is missing. */
  'remove_rule',
  /** A rule and the next one of its type change places. */
  'swap_rules',
  /** A list lacks one entry; a list that would become empty is one that admits everything. */
  'drop_entry',
  /** A pattern matches more, or less. */
  'widen_pattern',
  'narrow_pattern',
  /** A member of `conditions`, or one condition on a value, is missing. */
  'drop_condition',
  /** A condition compares otherwise, or with another method. */
  'change_condition',
  /** `include` in place of `exclude`, or the reverse. */
  'flip_list',
  /** `dry_run` in place of `enforce`, or the reverse. */
  'flip_mode',
  /** A field of the rule's action has another value. */
  'change_action',
] as const;
export type Operator = (typeof OPERATORS)[number];

/** The kinds in words, as the names of tests say them. */
export const OPERATOR_WORDS: Readonly<Record<Operator, string>> = {
  remove_rule: 'removed',
  swap_rules: 'swapped',
  drop_entry: 'dropped',
  widen_pattern: 'widened',
  narrow_pattern: 'narrowed',
  drop_condition: 'dropped',
  change_condition: 'changed',
  flip_list: 'flipped',
  flip_mode: 'flipped',
  change_action: 'changed',
};

/** A change of one rule, before it is known to be valid. */
export interface Mutation {
  readonly operator: Operator;
  /** Within the rule; empty: the rule as a whole. */
  readonly field: FieldPath;
  /** What the mutant has otherwise, in words. */
  readonly change: string;
  readonly rule: Rule;
}

/** A mutant. */
export interface Mutant extends Omit<Mutation, 'rule'> {
  /** The rule that is changed, as it is written. */
  readonly rule: Rule;
  /** Rules that differ, in place of those of their ids; `null`: the rule is missing. */
  readonly becomes: ReadonlyMap<number, Rule | null>;
  /** Rules whose decisions can differ: those that are changed or have changed places. */
  readonly differing: readonly Rule[];
}
