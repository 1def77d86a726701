/**
 * Filters of which nothing is left since all the lists that they name are empty (semantics §13). In: a rule and the lists. Out: the
 * filters, and findings of allowlists that let nobody through.
 */
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { listsOf } from '../../../rules/model/list-names.ts';
import type { DropRule, Rule, RuleList } from '../../../rules/model/types.ts';
import type { Finding, LintContext } from './finding.ts';

/** A filter whose every entry names an empty list. */
interface EmptyFilter {
  /** The field of the filter within the rule: `['path_includes']`. */
  readonly field: Finding['field'];
  /** The names with their `@`. */
  readonly names: readonly string[];
}

/** The filters of a rule whose every entry names an empty list. */
function emptyFilters(rule: Rule, lists: readonly RuleList[]): readonly EmptyFilter[] {
  const empty = new Set(
    lists.flatMap((list) => ('entries' in list && list.entries.length === 0 ? [list.name] : [])),
  );
  if (empty.size === 0) return [];
  const filters = new Map<string, EmptyFilter>();
  for (const { name, kind, path } of listsOf(rule)) {
    if (!empty.has(name)) continue;
    const field = kind === 'redirect' ? path : path.slice(0, -1);
    const names = [...(filters.get(field.join(' '))?.names ?? []), `@${name}`];
    filters.set(field.join(' '), { field, names });
  }
  return [...filters.values()].filter(({ field, names }) => names.length === entriesAt(rule, field));
}

/** How many entries a field of a rule has; a list of targets is one. */
function entriesAt(rule: Rule, field: Finding['field']): number {
  const found = field.reduce<unknown>((part, step) => (part as Record<string, unknown>)[step], rule);
  return Array.isArray(found) ? found.length : 1;
}

/** Drop rules that let the visitors of a list through, which has none. */
export function lintEmptyAllowlists({ enabled, ruleSet }: LintContext): readonly Finding[] {
  const { lists = [] } = ruleSet;
  const drops = enabled.filter((rule): rule is DropRule => rule.type === 'drop');
  return drops.flatMap((rule) =>
    emptyFilters(rule, lists)
      .filter(({ field }) => isAllowlist(rule, field))
      .map(({ field, names }): Finding => {
        const who = field[0] === 'ips' ? 'address' : 'country';
        const message = `lets nobody through: ${listed(names)} no entries, so every ${who} is dropped`;
        const remedy = 'add the entries that are to be let through, or remove the filter';
        const found = quoteValue(names[0]!);
        return {
          rule,
          field: [...field, 0],
          code: 'empty_list',
          severity: 'warning',
          message,
          found,
          remedy,
        };
      }),
  );
}

/** Whether a field of a drop rule has what the rule lets through. */
function isAllowlist(rule: DropRule, field: Finding['field']): boolean {
  if (field[0] === 'ips') return rule.ip_match_type === 'exclude';
  return field[0] === 'countries' && rule.country_match_type === 'exclude';
}

/** Why a rule matches nothing, to follow "matches no request: "; `null`: lists are no reason. */
export function emptyReason(rule: Rule, lists: readonly RuleList[]): string | null {
  const wanted = emptyFilters(rule, lists).find(
    ({ field }) =>
      !String(field.at(-1)).endsWith('excludes') && !(rule.type === 'drop' && isAllowlist(rule, field)),
  );
  return wanted === undefined ? null : `${listed(wanted.names)} no entries`;
}

/** `the list `@office` has`. */
function listed(names: readonly string[]): string {
  const distinct = [...new Set(names)].map((name) => `\`${name}\``);
  return distinct.length === 1 ? `the list ${distinct[0]} has` : `the lists ${distinct.join(', ')} have`;
}
