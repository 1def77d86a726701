/**
 * The filters of each rule as words: scope, host, path, countries, addresses, bots, fingerprints. Each `place…` function
 * returns the offset of its filter in `words`, or NONE if the rule has no such filter.
 */
import { parseIpEntry } from '../../base/addresses/ip.ts';
import { assert } from '../../base/diagnostics/assert.ts';
import { BOT_KINDS } from '../../base/vocabulary/vocabulary.ts';
import type { BotRouteRule, FingerprintRule, PathFilter, Rule } from '../../rules/model/types.ts';
import { COUNTRY_WORDS, characterBit, LISTED, NONE } from '../plan/layout.ts';
import { type PlanDraft, placeString, placeWords } from './draft.ts';
import { entryForm, type PatternForm, type PatternKeys, placePattern } from './patterns.ts';

/** Numbers of the groups with a record of the rule's scope, ascending. `null`: the rule is zone-wide. */
export function scopeGroups(draft: PlanDraft, rule: Rule): readonly number[] | null {
  if (rule.record_ids.length === 0) return null;
  const groups = new Set<number>();
  for (const id of rule.record_ids) {
    const group = draft.groupOf.get(id);
    if (group !== undefined) groups.add(group);
  }
  return [...groups].sort((a, b) => a - b);
}

/**
 * The scope as a counted list of group numbers. An empty list matches no host: its records are gone or not proxied.
 */
export function placeScope(draft: PlanDraft, rule: Rule): number {
  const groups = scopeGroups(draft, rule);
  return groups === null ? NONE : placeWords(draft.words, [groups.length, ...groups]);
}

/** The entries of the host filter's include list: `host_pattern` comes last. */
export function hostIncludes(rule: Rule): readonly string[] {
  return rule.host_pattern === '' ? rule.host_includes : [...rule.host_includes, rule.host_pattern];
}

/** The form of the rule's host patterns. */
export function hostForm(rule: Rule): PatternForm {
  if (rule.host_match_type === 'exact') return 'host_exact';
  return rule.host_match_type === 'regex' ? 'host_regex' : 'host_wildcard';
}

/** The form of the rule's path patterns. */
export function pathForm(rule: PathFilter): PatternForm {
  return rule.path_match_type === 'regex' ? 'path_regex' : 'path_wildcard';
}

/** The rule's path filter; of a redirect with a list of targets the paths of the list, of a gateway those of its base path. `null`: none. */
export function pathFilterOf(rule: Rule): PathFilter | null {
  if (rule.type === 'redirect' && rule.targets !== undefined) {
    return { path_match_type: 'wildcard', path_includes: [rule.targets], path_excludes: rule.path_excludes };
  }
  if (rule.type === 'gateway') return pathsBelow(rule.base_path);
  return 'path_includes' in rule ? rule : null;
}

/** The path filter that the base path of a gateway makes. */
function pathsBelow(base: string): PathFilter {
  const path_includes = base === '/' ? ['/*'] : [base, `${base}/*`];
  return { path_match_type: 'wildcard', path_includes, path_excludes: [] };
}

/** The number of a list in the plan, added at its first use. `entry`: its name after `@`. */
export function placeList(draft: PlanDraft, entry: string): number {
  const name = entry.slice(1);
  const known = draft.lists.get(name);
  if (known !== undefined) return known;
  draft.recent = true;
  draft.lists.set(name, draft.lists.size);
  return draft.lists.size - 1;
}

/**
 * A filter some of whose entries may name lists: that of the others if there is no such entry, else a filter LISTED.
 * @param placePlain places the entries that name no list; NONE for no entry
 */
function placeListed(
  draft: PlanDraft,
  entries: readonly string[],
  placePlain: (plain: readonly string[]) => number,
): number {
  const plain = entries.filter((entry) => !entry.startsWith('@'));
  if (plain.length === entries.length) return placePlain(entries);
  const rows = entries.map((entry) => (entry.startsWith('@') ? placeList(draft, entry) + 1 : 0));
  const rest = plain.length === 0 ? NONE : placePlain(plain);
  return placeWords(draft.words, [LISTED, rest, rows.length, ...rows]);
}

/** Include and exclude lists of pattern numbers, with the count of each before them. */
function placePatternFilter(
  draft: PlanDraft,
  form: PatternForm,
  lists: { includes: readonly string[]; excludes: readonly string[] },
): number {
  const { includes, excludes } = lists;
  if (includes.length === 0 && excludes.length === 0) return NONE;
  const patterns = [...includes, ...excludes].map((entry) =>
    placePattern(draft.patterns, entryForm(form, entry), entry),
  );
  return placeWords(draft.words, [includes.length, excludes.length, ...patterns]);
}

/** The host filter. */
export function placeHost(draft: PlanDraft, rule: Rule): number {
  return placePatternFilter(draft, hostForm(rule), {
    includes: hostIncludes(rule),
    excludes: rule.host_excludes,
  });
}

/** The path filter. The wildcard `/*` alone matches every path, so it counts as no filter. */
export function placePath(draft: PlanDraft, rule: Rule): number {
  const filter = pathFilterOf(rule);
  if (filter === null) return NONE;
  const everything = filter.path_includes.length === 1 && filter.path_includes[0] === '/*';
  if (everything && filter.path_match_type === 'wildcard' && filter.path_excludes.length === 0) return NONE;
  return placePatternFilter(draft, pathForm(filter), {
    includes: filter.path_includes,
    excludes: filter.path_excludes,
  });
}

/**
 * Bits (`characterBit`) of the characters in every path that the rule matches: the characters that all its include
 * entries need. A request whose path lacks one of them fails the filter without a pattern being run.
 */
export function neededCharacters(draft: PlanDraft, rule: Rule): number {
  const filter = pathFilterOf(rule);
  if (filter === null || filter.path_includes.length === 0) return 0;
  let needed = -1;
  for (const entry of filter.path_includes) {
    const form = entryForm(pathForm(filter), entry);
    const pattern = draft.patterns.list[placePattern(draft.patterns, form, entry)]!;
    needed &= keyCharacters(pattern.keys);
  }
  return needed >>> 0;
}

/** Bits (`characterBit`) of the characters in every text that a pattern with these keys matches. */
export function keyCharacters(keys: PatternKeys): number {
  let bits = 0;
  for (const literal of [keys.exact, keys.prefix, keys.suffix, ...keys.inner]) {
    if (literal === null) continue;
    for (let at = 0; at < literal.length; at++) bits |= characterBit(literal.charCodeAt(at));
  }
  return bits >>> 0;
}

/** The number of a two-letter country code: 26 × first letter + second letter, so `AA` is 0. */
export function countryNumber(code: string): number {
  return (code.charCodeAt(0) - 65) * 26 + code.charCodeAt(1) - 65;
}

/** The countries as a counted list in the customer's order (for traces), then as a bit set (for requests). */
export function placeCountries(draft: PlanDraft, countries: readonly string[]): number {
  if (countries.length === 0) return NONE;
  return placeListed(draft, countries, (plain) => placeWords(draft.words, countryWords(plain)));
}

function countryWords(countries: readonly string[]): readonly number[] {
  const numbers = countries.map(countryNumber);
  const bits = new Uint32Array(COUNTRY_WORDS);
  for (const number of numbers) bits[number >> 5]! |= 1 << (number & 31);
  return [numbers.length, ...numbers, ...bits];
}

/** An inclusive range of addresses as 32-bit words, one for IPv4 and four for IPv6. */
export interface AddressRange {
  readonly family: 4 | 6;
  readonly first: readonly number[];
  readonly last: readonly number[];
}

/** The range of an address, a prefix or `<first>-<last>`, as the model has accepted it. */
export function addressRange(entry: string): AddressRange {
  const parsed = parseIpEntry(entry);
  assert(parsed.ok, 'the model refuses entries that are no address');
  const { family } = parsed;
  const count = family === 4 ? 1 : 4;
  return { family, first: [...parsed.first].slice(0, count), last: [...parsed.last].slice(0, count) };
}

/** The address filter of entries, which may name lists. */
export function placeAddresses(draft: PlanDraft, entries: readonly string[]): number {
  if (entries.length === 0) return NONE;
  return placeListed(draft, entries, (plain) => placeWords(draft.words, addressWords(plain)));
}

/**
 * The addresses twice (layout: `ADDRESSES`): as listed, with their places in the customer's order, for traces; merged
 * to disjoint ascending ranges, for the binary search of requests.
 */
export function addressWords(entries: readonly string[]): readonly number[] {
  const ranges = entries.map((entry, place) => ({ ...addressRange(entry), place }));
  const four = ranges.filter((range) => range.family === 4);
  const six = ranges.filter((range) => range.family === 6);
  const merged4 = mergeRanges(four);
  const merged6 = mergeRanges(six);
  const flat = (list: readonly AddressRange[]): readonly number[] =>
    list.flatMap((range) => [...range.first, ...range.last]);
  const places = (list: readonly { readonly place: number }[]): readonly number[] =>
    list.map(({ place }) => place);
  return [
    [four.length, six.length, merged4.length, merged6.length],
    [flat(four), places(four), flat(six), places(six)].flat(),
    [flat(merged4), flat(merged6)].flat(),
  ].flat();
}

/** Compares two addresses of one family: -1, 0 or 1. */
export function compareWords(a: readonly number[], b: readonly number[]): number {
  for (let word = 0; word < a.length; word++) {
    if (a[word] !== b[word]) return a[word]! < b[word]! ? -1 : 1;
  }
  return 0;
}

/** The union of the ranges as disjoint ranges, ascending. */
function mergeRanges(ranges: readonly AddressRange[]): readonly AddressRange[] {
  const sorted = [...ranges].sort((a, b) => compareWords(a.first, b.first));
  const merged: AddressRange[] = [];
  for (const range of sorted) {
    const previous = merged.at(-1);
    if (previous === undefined || compareWords(range.first, previous.last) > 0) merged.push(range);
    else if (compareWords(range.last, previous.last) > 0) {
      merged[merged.length - 1] = { ...previous, last: range.last };
    }
  }
  return merged;
}

/** Bit of "any classified bot" in a bot mask, above the bits of the named kinds. */
export const ANY_BOT_BIT = BOT_KINDS.length;

/** The bot kinds as a mask of bits (for requests), then as a counted list (for traces). */
export function placeBotKinds(draft: PlanDraft, rule: BotRouteRule): number {
  const kinds = rule.bot_kinds.map((kind) => (kind === '*' ? ANY_BOT_BIT : BOT_KINDS.indexOf(kind)));
  const mask = kinds.reduce((bits, kind) => bits | (1 << kind), 0);
  return placeWords(draft.words, [mask >>> 0, kinds.length, ...kinds]);
}

/** The JA4 list and the JA4H list, each as a counted list of string numbers. */
export function placeFingerprints(draft: PlanDraft, rule: FingerprintRule): number {
  const list = (entries: readonly string[]): readonly number[] => [
    entries.length,
    ...entries.map((entry) => placeString(draft.strings, entry)),
  ];
  return placeWords(draft.words, [...list(rule.match_ja4), ...list(rule.match_ja4h)]);
}
