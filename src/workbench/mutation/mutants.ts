/**
 * The mutants of a rule set. In: the rules, and how many mutants at most. Out: systematic small mistakes, one at a time, each
 * accepted by the model; where there are more than the bound, a selection that the seed fixes and that leaves no rule out.
 */
import type { FieldPath } from '../../base/diagnostics/diagnostic.ts';
import { xxhash32 } from '../../base/octets/xxhash32.ts';
import { ALWAYS_ENFORCED } from '../../base/vocabulary/vocabulary.ts';
import { namesList } from '../../rules/model/list-name.ts';
import { parseRule } from '../../rules/model/parse.ts';
import type { Rule, RuleSet } from '../../rules/model/types.ts';
import { knownOf, shown } from '../proofs/rule-types.ts';
import { actionMutations, type Mutant, type Mutation, spread } from './action-mutations.ts';
import { conditionMutations } from './condition-mutations.ts';

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
    ...distinct([...filterMutations(rule), ...conditionMutations(rule), ...actionMutations(rule)]).flatMap(
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

// Mistakes in the filters of a rule: an entry is missing, a pattern is wider or narrower, a list is read the other way round.

/** Lists of patterns. */
const PATTERN_LISTS: readonly string[] = ['host_includes', 'host_excludes', 'path_includes', 'path_excludes'];

/** The filter mutations of a rule. */
function filterMutations(rule: Rule): readonly Mutation[] {
  const { entries, lists } = knownOf(rule.type);
  const all = ['record_ids', ...PATTERN_LISTS, ...entries, ...lists];
  return [...all.flatMap((list) => listMutations(rule, list)), ...flips(rule)];
}

function valuesOf(rule: Rule, list: string): readonly (string | number)[] {
  const fields = rule as object as Readonly<Record<string, readonly (string | number)[] | undefined>>;
  return fields[list] ?? [];
}

/** The rule with another list; a host list that leaves no host has no match type either. */
function withList(rule: Rule, list: string, values: readonly (string | number)[]): Rule {
  const changed = { ...rule, [list]: values } as Rule;
  const listsHosts =
    changed.host_pattern !== '' || changed.host_includes.length > 0 || changed.host_excludes.length > 0;
  return listsHosts ? changed : { ...changed, host_match_type: '' };
}

function listMutations(rule: Rule, list: string): readonly Mutation[] {
  const values = valuesOf(rule, list);
  // The path list `/*` is that of a rule without a path filter.
  if (values.length === 1 && values[0] === '/*') return [];
  const dropped = spread(values.length).map((place): Mutation => {
    const field: FieldPath = [list, place];
    const change = `without ${shown(values[place])}`;
    return { operator: 'drop_entry', field, change, rule: withList(rule, list, values.toSpliced(place, 1)) };
  });
  if (!PATTERN_LISTS.includes(list)) return dropped;
  const patterns = spread(values.length).flatMap((place) =>
    patternsLike(rule, list, String(values[place])).map(({ operator, text }): Mutation => {
      const change = `${shown(values[place])} → ${shown(text)}`;
      return { operator, field: [list, place], change, rule: withList(rule, list, values.with(place, text)) };
    }),
  );
  return [...dropped, ...patterns];
}

/** A pattern that an author might have written by mistake. */
interface Variant {
  readonly operator: 'widen_pattern' | 'narrow_pattern';
  readonly text: string;
}

/** Wider and narrower forms of a pattern; the name of a list has neither. */
function patternsLike(rule: Rule, list: string, text: string): readonly Variant[] {
  const isPath = list.startsWith('path');
  const type = isPath && 'path_match_type' in rule ? rule.path_match_type : rule.host_match_type;
  if (type === 'regex') return regexesLike(text);
  if (type === 'exact' || namesList(text)) return [];
  return isPath ? pathsLike(text) : hostsLike(text);
}

/** A regex without its anchors. */
function regexesLike(text: string): readonly Variant[] {
  const open = /^(\(\?[a-z]+\))?\^(?=.)/.exec(text);
  const start = open === null ? [] : [`${open[1] ?? ''}${text.slice(open[0].length)}`];
  const end = text.endsWith('$') && !text.endsWith('\\$') && text.length > 1 ? [text.slice(0, -1)] : [];
  return [...start, ...end].map((one) => ({ operator: 'widen_pattern', text: one }));
}

/** `/a/*` as `/a` and as `/a*`; `/a` as `/a/*`. */
function pathsLike(text: string): readonly Variant[] {
  if (text.length > 2 && text.endsWith('/*')) {
    const folder = text.slice(0, -2);
    return [
      { operator: 'narrow_pattern', text: folder },
      { operator: 'widen_pattern', text: `${folder}*` },
    ];
  }
  if (text.length > 1 && text.endsWith('*')) return [{ operator: 'narrow_pattern', text: text.slice(0, -1) }];
  return text.endsWith('/') ? [] : [{ operator: 'widen_pattern', text: `${text}*` }];
}

/** `*.example.com` as `example.com`; `example.com` as `*.example.com`. */
function hostsLike(text: string): readonly Variant[] {
  if (text.startsWith('*.')) return [{ operator: 'narrow_pattern', text: text.slice(2) }];
  return text.includes('*') ? [] : [{ operator: 'widen_pattern', text: `*${text}` }];
}

/** Lists and flags that are read the other way round, and `dry_run`. */
function flips(rule: Rule): readonly Mutation[] {
  const fields = rule as object as Readonly<Record<string, unknown>>;
  const flipped = (operator: Mutation['operator'], name: string, value: unknown): Mutation => {
    const change = `${shown(fields[name])} → ${shown(value)}`;
    return { operator, field: [name], change, rule: { ...rule, [name]: value } as Rule };
  };
  const lists = knownOf(rule.type).flips(rule);
  const mode = rule.action_mode === 'enforce' ? 'dry_run' : 'enforce';
  return [
    ...lists.map(([name, value]) => flipped('flip_list', name, value)),
    ...(ALWAYS_ENFORCED.includes(rule.type) ? [] : [flipped('flip_mode', 'action_mode', mode)]),
  ];
}
