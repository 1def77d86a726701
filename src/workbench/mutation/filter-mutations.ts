/** Mistakes in the filters of a rule: an entry is missing, a pattern is wider or narrower, a list is read the other way round. */
import type { FieldPath } from '../../base/diagnostics/diagnostic.ts';
import type { Rule } from '../../rules/model/types.ts';
import { MAX_DROPPED_ENTRIES } from './limits.ts';
import { type Mutation, shown } from './mutant.ts';

/** The lists of filters, of any type of rule. */
const LISTS = [
  'record_ids',
  'host_includes',
  'host_excludes',
  'path_includes',
  'path_excludes',
  'countries',
  'ips',
  'bot_kinds',
  'match_ja4',
  'match_ja4h',
  'codes',
] as const;
type ListName = (typeof LISTS)[number];

/** Lists of patterns. */
const PATTERN_LISTS: readonly ListName[] = [
  'host_includes',
  'host_excludes',
  'path_includes',
  'path_excludes',
];

/** The filter mutations of a rule. */
export function filterMutations(rule: Rule): readonly Mutation[] {
  return [...LISTS.flatMap((list) => listMutations(rule, list)), ...flips(rule)];
}

function valuesOf(rule: Rule, list: ListName): readonly (string | number)[] {
  const fields = rule as object as Readonly<Partial<Record<ListName, readonly (string | number)[]>>>;
  return fields[list] ?? [];
}

/** The rule with another list; a host list that leaves no host has no match type either. */
function withList(rule: Rule, list: ListName, values: readonly (string | number)[]): Rule {
  const changed = { ...rule, [list]: values } as Rule;
  const listsHosts =
    changed.host_pattern !== '' || changed.host_includes.length > 0 || changed.host_excludes.length > 0;
  return listsHosts ? changed : { ...changed, host_match_type: '' };
}

function listMutations(rule: Rule, list: ListName): readonly Mutation[] {
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

/** At most `MAX_DROPPED_ENTRIES` places of a list, evenly spread from the first to the last. */
function spread(count: number): readonly number[] {
  if (count <= MAX_DROPPED_ENTRIES) return Array.from({ length: count }, (_, place) => place);
  return Array.from({ length: MAX_DROPPED_ENTRIES }, (_, step) =>
    Math.round((step * (count - 1)) / (MAX_DROPPED_ENTRIES - 1)),
  );
}

/** A pattern that an author might have written by mistake. */
interface Variant {
  readonly operator: 'widen_pattern' | 'narrow_pattern';
  readonly text: string;
}

/** Wider and narrower forms of a pattern. */
function patternsLike(rule: Rule, list: ListName, text: string): readonly Variant[] {
  const isPath = list.startsWith('path');
  const type = isPath && 'path_match_type' in rule ? rule.path_match_type : rule.host_match_type;
  if (type === 'regex') return regexesLike(text);
  if (type === 'exact') return [];
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
  const found: Mutation[] = [];
  const add = (operator: Mutation['operator'], name: string, value: unknown, was: unknown): void => {
    const change = `${shown(was)} → ${shown(value)}`;
    found.push({ operator, field: [name], change, rule: { ...rule, [name]: value } as Rule });
  };
  if (rule.type === 'drop') {
    const other = (type: string): string => (type === 'include' ? 'exclude' : 'include');
    if (rule.countries.length > 0)
      add('flip_list', 'country_match_type', other(rule.country_match_type), rule.country_match_type);
    if (rule.ips.length > 0) add('flip_list', 'ip_match_type', other(rule.ip_match_type), rule.ip_match_type);
  }
  if (rule.type === 'bot_route')
    add('flip_list', 'require_verified', !rule.require_verified, rule.require_verified);
  // A cache rule is always enforced (semantics §4).
  if (rule.type !== 'cache') {
    const other = rule.action_mode === 'enforce' ? 'dry_run' : 'enforce';
    add('flip_mode', 'action_mode', other, rule.action_mode);
  }
  return found;
}
