/**
 * The mutants of a rule set. In: the rules, and how many mutants at most. Out: systematic small mistakes, one at a time, each
 * accepted by the model; where there are more than the bound, a selection that the seed fixes and that leaves no rule out.
 */
import { xxhash32 } from '../../base/octets/xxhash32.ts';
import { parseRule } from '../../rules/model/parse.ts';
import type { Rule, RuleSet } from '../../rules/model/types.ts';
import { actionMutations } from './action-mutations.ts';
import { filterMutations } from './filter-mutations.ts';
import type { Mutant, Mutation } from './mutant.ts';

/** Which mutants are made. */
export interface Selection {
  readonly most: number;
  readonly seed: number;
}

/** The mutants of a rule set. */
export interface Mutants {
  readonly mutants: readonly Mutant[];
  /** All that there are, of which `mutants` may be a selection. */
  readonly total: number;
}

/** Makes the mutants of every enabled rule; a disabled rule matches no request. */
export function mutantsOf(ruleSet: RuleSet, { most, seed }: Selection): Mutants {
  const enabled = ruleSet.rules.filter((rule) => rule.enabled);
  const recordIds = new Set(ruleSet.records.map(({ id }) => id));
  const groups = enabled.map((rule) => [
    removed(rule),
    ...swapped(rule, enabled),
    ...distinct([...filterMutations(rule), ...actionMutations(rule)]).flatMap(
      (mutation) => accepted(rule, mutation, recordIds) ?? [],
    ),
  ]);
  const total = groups.reduce((sum, { length }) => sum + length, 0);
  return { mutants: total <= most ? groups.flat() : selected(groups, { most, seed }), total };
}

/** The rule is missing; a disabled rule is the same mistake. */
function removed(rule: Rule): Mutant {
  return {
    operator: 'remove_rule',
    field: [],
    change: 'removed',
    rule,
    becomes: new Map([[rule.id, null]]),
    differing: [rule],
  };
}

/** The rule changes places with the next one of its type; all rules of the type get priorities by their places. */
function swapped(rule: Rule, enabled: readonly Rule[]): readonly Mutant[] {
  const ofType = enabled
    .filter(({ type }) => type === rule.type)
    .sort((a, b) => a.priority - b.priority || a.id - b.id);
  const place = ofType.indexOf(rule);
  const next = ofType[place + 1];
  if (next === undefined) return [];
  const order = ofType.with(place, next).with(place + 1, rule);
  return [
    {
      operator: 'swap_rules',
      field: ['priority'],
      change: 'after the next rule of its type',
      rule,
      becomes: new Map(order.map((one, index) => [one.id, { ...one, priority: index }])),
      differing: [rule, next],
    },
  ];
}

/** Mutations that lead to different rules. */
function distinct(mutations: readonly Mutation[]): readonly Mutation[] {
  return [...new Map(mutations.map((mutation) => [JSON.stringify(mutation.rule), mutation])).values()];
}

/** The mutant of a mutation; `null`: the model refuses the rule, so that nobody can have written it. */
function accepted(rule: Rule, mutation: Mutation, recordIds: ReadonlySet<number>): Mutant | null {
  const { id: _, type, ...fields } = mutation.rule;
  const parsed = parseRule(type, fields, { recordIds });
  if (!parsed.ok) return null;
  const changed = { ...parsed.fields, id: rule.id, type } as Rule;
  if (JSON.stringify(sorted(changed)) === JSON.stringify(sorted(rule))) return null;
  return { ...mutation, rule, becomes: new Map([[rule.id, changed]]), differing: [rule] };
}

/** The fields of a rule by name. */
function sorted(rule: Rule): object {
  return Object.fromEntries(Object.entries(rule).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** So many mutants, taken from the rules in turn; which of a rule come first follows from the seed. */
function selected(groups: readonly (readonly Mutant[])[], { most, seed }: Selection): readonly Mutant[] {
  const encoder = new TextEncoder();
  const rank = ({ rule, operator, field, change }: Mutant): number =>
    xxhash32(encoder.encode([rule.id, operator, ...field, change].join(' ')), seed);
  const ordered = groups.map((group) => [...group].sort((a, b) => rank(a) - rank(b)));
  const chosen = new Set<Mutant>();
  for (let round = 0; chosen.size < most; round++) {
    for (const group of ordered) {
      const mutant = group[round];
      if (mutant !== undefined && chosen.size < most) chosen.add(mutant);
    }
  }
  return groups.flat().filter((mutant) => chosen.has(mutant));
}

/** The rule set with a mutant's mistake. */
export function mutate(ruleSet: RuleSet, { becomes }: Mutant): RuleSet {
  const rules = ruleSet.rules.flatMap((rule) => {
    const changed = becomes.get(rule.id);
    if (changed === null) return [];
    return [changed ?? rule];
  });
  return { ...ruleSet, rules };
}
