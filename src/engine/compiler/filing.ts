/**
 * Files each rule under its rarest key, so that a request meets only the rules whose key it carries.
 *
 * A rule can be filed by any one of its filters: by its path entries (exact, prefix, suffix or inner literal), its
 * hosts, countries, addresses, bot kinds, fingerprints, or the records it is scoped to. Under a filter it is filed
 * once per entry. The filter chosen is the one with the least expected company: the sum over its keys of how often a
 * request carries such a key (the shares below) times how many rules could be filed there. Shares are rough on
 * purpose: what decides in practice is the second factor, measured on the rule set itself.
 */
import { BOT_KINDS } from '../../base/vocabulary/vocabulary.ts';
import type { Rule } from '../../rules/model/types.ts';
import type { PlanDraft } from './draft.ts';
import {
  type AddressRange,
  addressRange,
  hostForm,
  hostIncludes,
  pathFilterOf,
  pathForm,
  scopeGroups,
} from './filters.ts';
import { groupKey } from './names.ts';
import { type PatternForm, type PatternKeys, placePattern } from './patterns.ts';

/** Prefixes of keys, one per index. The text that follows is the literal. */
export const KEY = {
  pathExact: 'p=',
  pathPrefix: 'p^',
  pathSuffix: 'p$',
  pathInner: 'p~',
  hostExact: 'h=',
  hostSuffix: 'h$',
  country: 'c:',
  bot: 'b:',
  ja4Exact: 'j=',
  ja4Prefix: 'j^',
  ja4hExact: 'J=',
  ja4hPrefix: 'J^',
} as const;

/** A key with the share of requests that are taken to carry it. */
interface Key {
  readonly key: string;
  readonly share: number;
  /** The interval of an address key, which is filed by interval; `null`: filed under `key`. */
  readonly range: AddressRange | null;
}

/** For each entry of a filter the keys it could be filed under; every entry needs one. */
type Option = readonly (readonly Key[])[];

/** Shares of requests, rough estimates between 0 and 1: here of one whole path or fingerprint. */
const EXACT_SHARE = 0.001;
/** By the length of the literal: 1, 2, 3, 4 and more characters. */
const INNER_SHARES = [0.5, 0.1, 0.03, 0.005] as const;
const PREFIX_SHARES = [0.3, 0.2, 0.1, 0.02] as const;
const SUFFIX_SHARES = [0.3, 0.1, 0.03, 0.01] as const;
/** Of one host, one country, one bot kind, and the least of an address range (one address). */
const HOST_SHARE = 0.2;
const COUNTRY_SHARE = 0.02;
const BOT_SHARE = 0.01;
const ADDRESS_SHARE = 0.0001;

/** The share of a literal, which falls with its length; the last entry is of all longer ones. */
function byLength(shares: readonly number[], literal: string): number {
  return shares[Math.min(literal.length, shares.length) - 1]!;
}

/** A key of an index over literals. */
function key(text: string, share: number): Key {
  return { key: text, share, range: null };
}

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
function fileUnder(draft: PlanDraft, entry: Key, slot: number): void {
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
function cheapest(options: readonly Option[], company: ReadonlyMap<string, number>): readonly Key[] | null {
  let best: readonly Key[] | null = null;
  let bestCost = Number.POSITIVE_INFINITY;
  for (const option of options) {
    let cost = 0;
    const chosen: Key[] = [];
    for (const alternatives of option) {
      let least: Key | null = null;
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
function optionsOf(draft: PlanDraft, rule: Rule): readonly Option[] {
  const options: Option[] = [];
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
  switch (rule.type) {
    case 'drop':
      if (rule.countries.length > 0 && rule.country_match_type === 'include') {
        options.push(rule.countries.map((code) => [key(KEY.country + code, COUNTRY_SHARE)]));
      }
      if (rule.ips.length > 0 && rule.ip_match_type === 'include') {
        options.push(rule.ips.map((entry) => [addressKey(entry)]));
      }
      return options;
    case 'bot_route': {
      const kinds = rule.bot_kinds.includes('*') ? [...BOT_KINDS, ''] : rule.bot_kinds;
      return [...options, kinds.map((kind) => [key(KEY.bot + kind, BOT_SHARE)])];
    }
    case 'fingerprint':
      return [...options, ...fingerprintOptions(rule.match_ja4, rule.match_ja4h)];
    default:
      return options;
  }
}

/** The option of a list of patterns; none if an entry has no key. */
function patternOption(
  draft: PlanDraft,
  list: { readonly form: PatternForm; readonly entries: readonly string[] },
  keysOf: (keys: PatternKeys) => readonly (readonly Key[])[],
): readonly Option[] {
  const option: (readonly Key[])[] = [];
  for (const entry of list.entries) {
    const pattern = draft.patterns.list[placePattern(draft.patterns, list.form, entry)]!;
    const alternatives = keysOf(pattern.keys);
    if (alternatives.length === 0) return [];
    option.push(...alternatives);
  }
  return [option];
}

/** One list of alternatives; or, for "one of these literals", one list per literal. */
function pathKeys(keys: PatternKeys): readonly (readonly Key[])[] {
  if (keys.exact !== null) return [[key(KEY.pathExact + keys.exact, EXACT_SHARE)]];
  const found: Key[] = [];
  if (keys.prefix !== null)
    found.push(key(KEY.pathPrefix + keys.prefix, byLength(PREFIX_SHARES, keys.prefix)));
  if (keys.suffix !== null)
    found.push(key(KEY.pathSuffix + keys.suffix, byLength(SUFFIX_SHARES, keys.suffix)));
  for (const literal of keys.inner) found.push(key(KEY.pathInner + literal, byLength(INNER_SHARES, literal)));
  if (found.length > 0) return [found];
  return (keys.anyOf ?? []).map((literal) => [key(KEY.pathInner + literal, byLength(INNER_SHARES, literal))]);
}

/** The key of a host pattern: the whole name, or its end. A pattern of another form has none. */
function hostKeys(keys: PatternKeys): readonly (readonly Key[])[] {
  if (keys.exact !== null) return [[key(KEY.hostExact + keys.exact, HOST_SHARE)]];
  if (keys.suffix !== null) return [[key(KEY.hostSuffix + keys.suffix, HOST_SHARE)]];
  return [];
}

/** Share of the address space, from the count of leading bits that first and last have in common. */
function addressKey(entry: string): Key {
  const range = addressRange(entry);
  let common = 0;
  for (const [word, first] of range.first.entries()) {
    const same = Math.clz32(first ^ range.last[word]!);
    common += same;
    if (same < 32) break;
  }
  // A rough estimate for IPv6, whose visitors are in far larger blocks: three bits count as one of IPv4.
  const significant = range.family === 4 ? common : common / 3;
  return { key: `a:${entry}`, share: Math.max(ADDRESS_SHARE, 2 ** -significant), range };
}

/** An option for each fingerprint list. A list with `*` matches every fingerprint and narrows nothing. */
function fingerprintOptions(ja4: readonly string[], ja4h: readonly string[]): readonly Option[] {
  const option = (entries: readonly string[], exact: string, prefix: string): readonly Option[] => {
    if (entries.length === 0 || entries.includes('*')) return [];
    const keys = entries.map((entry) =>
      entry.endsWith('*')
        ? [key(prefix + entry.slice(0, -1), byLength(PREFIX_SHARES, entry))]
        : [key(exact + entry, EXACT_SHARE)],
    );
    return [keys];
  };
  return [...option(ja4, KEY.ja4Exact, KEY.ja4Prefix), ...option(ja4h, KEY.ja4hExact, KEY.ja4hPrefix)];
}
