/**
 * Files each rule under its rarest key, so that a request meets only the rules whose key it carries.
 *
 * A rule can be filed by any one of its filters: by its path entries (exact, prefix, suffix or inner literal), its
 * hosts, countries, addresses, bot kinds, fingerprints, values of its conditions, or the records it is scoped to. Under a filter it is filed
 * once per entry. The filter chosen is the one with the least expected company: the sum over its keys of how often a
 * request carries such a key (the shares of `filing-keys.ts`) times how many rules could be filed there. Shares are rough on
 * purpose: what decides in practice is the second factor, measured on the rule set itself.
 */
import type { Rule } from '../../rules/model/types.ts';
import { conditionOptions } from './conditions.ts';
import type { PlanDraft } from './draft.ts';
import {
  byLength,
  EXACT_SHARE,
  type FilingKey,
  type FilingOption,
  HOST_SHARE,
  INNER_SHARES,
  KEY,
  key,
  listKey,
  PREFIX_SHARES,
  SUFFIX_SHARES,
} from './filing-keys.ts';
import { hostForm, hostIncludes, pathFilterOf, pathForm, scopeGroups } from './filters.ts';
import { groupKey } from './names.ts';
import { entryForm, type PatternForm, type PatternKeys, placePattern } from './patterns.ts';
import { compilerOf } from './rule-types.ts';

/**
 * Files every enabled rule under the option of the least cost, or in `always` if it has none. A rule whose scope has no
 * group can match no request and is not filed. `draft.rules` is in slot order, so every list is ascending.
 */
export function fileRules(draft: PlanDraft): void {
  const options = draft.rules.map((rule) => (rule.enabled ? optionsOf(draft, rule) : []));
  // How many rules could be filed under each key, whichever option they are filed under in the end.
  const company = new Map<string, number>();
  for (const list of options) {
    const keys = new Set(list.flat(2).map((entry) => entry.key));
    for (const name of keys) company.set(name, (company.get(name) ?? 0) + 1);
  }
  for (const [slot, rule] of draft.rules.entries()) {
    if (!rule.enabled || scopeGroups(draft, rule)?.length === 0) continue;
    const chosen = cheapest(options[slot]!, company);
    if (chosen === null) draft.filing.always.push(slot);
    else for (const entry of chosen) fileUnder(draft, entry, slot);
  }
}

/** Adds a slot to the list of a key, once, or to the intervals if the key is an address range. */
function fileUnder(draft: PlanDraft, entry: FilingKey, slot: number): void {
  if (entry.range !== null) {
    draft.filing.intervals.push({ ...entry.range, slot });
    return;
  }
  const list = draft.filing.byKey.get(entry.key);
  if (list === undefined) draft.filing.byKey.set(entry.key, [slot]);
  else if (list.at(-1) !== slot) list.push(slot);
}

/**
 * The keys of the option with the least expected company: for each entry its cheapest alternative, summed. `null`:
 * there is no option.
 */
function cheapest(
  options: readonly FilingOption[],
  company: ReadonlyMap<string, number>,
): readonly FilingKey[] | null {
  let best: readonly FilingKey[] | null = null;
  let bestCost = Number.POSITIVE_INFINITY;
  for (const option of options) {
    let cost = 0;
    const chosen: FilingKey[] = [];
    for (const alternatives of option) {
      let least: FilingKey | null = null;
      let leastCost = Number.POSITIVE_INFINITY;
      for (const candidate of alternatives) {
        const candidateCost = candidate.share * (company.get(candidate.key) ?? 1);
        if (candidateCost < leastCost) [least, leastCost] = [candidate, candidateCost];
      }
      if (least !== null) chosen.push(least);
      cost += leastCost;
    }
    if (cost < bestCost) [best, bestCost] = [chosen, cost];
  }
  return best;
}

/** Every filter of the rule that narrows requests. A filter with an entry that has no key is no option. */
function optionsOf(draft: PlanDraft, rule: Rule): readonly FilingOption[] {
  const options: FilingOption[] = [];
  const path = pathFilterOf(rule);
  if (path !== null && path.path_includes.length > 0) {
    const lists = { form: pathForm(path), entries: path.path_includes };
    options.push(...patternOption(draft, lists, pathKeys));
  }
  const hosts = hostIncludes(rule);
  if (hosts.length > 0)
    options.push(...patternOption(draft, { form: hostForm(rule), entries: hosts }, hostKeys));
  const groups = scopeGroups(draft, rule);
  if (groups !== null) {
    options.push(groups.map((group) => [key(groupKey(group), 1 / Math.max(1, draft.groups.length))]));
  }
  return [...options, ...compilerOf(rule).options(rule), ...conditionOptions(draft, rule)];
}

/** The option of a list of patterns; none if an entry has no key. */
function patternOption(
  draft: PlanDraft,
  list: { readonly form: PatternForm; readonly entries: readonly string[] },
  keysOf: (keys: PatternKeys) => readonly (readonly FilingKey[])[],
): readonly FilingOption[] {
  const option: (readonly FilingKey[])[] = [];
  for (const entry of list.entries) {
    const form = entryForm(list.form, entry);
    if (form === 'list') {
      option.push([listKey(entry)!]);
      continue;
    }
    const pattern = draft.patterns.list[placePattern(draft.patterns, form, entry)]!;
    const alternatives = keysOf(pattern.keys);
    if (alternatives.length === 0) return [];
    option.push(...alternatives);
  }
  return [option];
}

/** One list of alternatives; or, for "one of these literals", one list per literal. */
function pathKeys(keys: PatternKeys): readonly (readonly FilingKey[])[] {
  if (keys.exact !== null) return [[key(KEY.pathExact + keys.exact, EXACT_SHARE)]];
  const found: FilingKey[] = [];
  if (keys.prefix !== null)
    found.push(key(KEY.pathPrefix + keys.prefix, byLength(PREFIX_SHARES, keys.prefix)));
  if (keys.suffix !== null)
    found.push(key(KEY.pathSuffix + keys.suffix, byLength(SUFFIX_SHARES, keys.suffix)));
  for (const literal of keys.inner) found.push(key(KEY.pathInner + literal, byLength(INNER_SHARES, literal)));
  if (found.length > 0) return [found];
  return (keys.anyOf ?? []).map((literal) => [key(KEY.pathInner + literal, byLength(INNER_SHARES, literal))]);
}

/** The key of a host pattern: the whole name, or its end. A pattern of another form has none. */
function hostKeys(keys: PatternKeys): readonly (readonly FilingKey[])[] {
  if (keys.exact !== null) return [[key(KEY.hostExact + keys.exact, HOST_SHARE)]];
  if (keys.suffix !== null) return [[key(KEY.hostSuffix + keys.suffix, HOST_SHARE)]];
  return [];
}
