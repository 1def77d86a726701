/**
 * The filter of one rule, as far as all rule types share it, and the conversion of a condition (and, or, not over tests)
 * to the filters of rules: each alternative of the condition is the filter of one rule.
 */
import { MAX_IPS } from '../../base/vocabulary/limits.ts';
import {
  type AddressSet,
  ALL_ADDRESSES,
  addressEntries,
  intersectAddresses,
  isEmptySet,
  subtractAddresses,
  uniteAddresses,
} from './addresses.ts';
import { bothFacts, conditionsOf, eitherFacts, type ImportedFact, oppositeOf } from './facts.ts';
import { combineTests, coversAll, hostEntries, pathEntries, type TextTest } from './text-test.ts';

/** Levels of parentheses and `not` in an expression, so that the parser's recursion is bounded. */
export const MAX_EXPRESSION_DEPTH = 64;
/** Characters of an expression; Cloudflare's own limit is 4,096, and lists of addresses are longer elsewhere. */
export const MAX_EXPRESSION_CHARACTERS = 65_536;
/** Rules that one source rule becomes at most: each alternative of its condition is one. */
export const MAX_ALTERNATIVES = 64;
/** Keys of a `map` over the path that are compared without case: each is a regex, and a domain has room for 64. */
export const MAX_CASELESS_KEYS = 32;

/** A condition of a source rule. */
export type ImportedCondition =
  | { readonly kind: 'all' | 'any'; readonly of: readonly ImportedCondition[] }
  | { readonly kind: 'not'; readonly of: ImportedCondition }
  /** One of the tests passes. */
  | { readonly kind: 'host' | 'path'; readonly tests: readonly TextTest[] }
  | { readonly kind: 'ip'; readonly addresses: AddressSet }
  | { readonly kind: 'country'; readonly codes: readonly string[] }
  /** The request is of a classified bot. */
  | {
      readonly kind: 'bot';
      readonly kinds: readonly string[];
      readonly verified: boolean;
      readonly text: string;
    }
  | { readonly kind: 'fact'; readonly fact: ImportedFact }
  | { readonly kind: 'constant'; readonly value: boolean }
  /** No filter of edgeplan has this; `reason` completes a sentence about `text`. */
  | { readonly kind: 'unknown'; readonly text: string; readonly reason: string };

/** The filters of a rule; all of them hold. `null` includes: everything. */
export interface ImportedFilter {
  readonly hostIncludes: readonly TextTest[] | null;
  readonly hostExcludes: readonly TextTest[];
  readonly pathIncludes: readonly TextTest[] | null;
  readonly pathExcludes: readonly TextTest[];
  readonly ipIncludes: AddressSet | null;
  readonly ipExcludes: AddressSet | null;
  readonly countryIncludes: readonly string[] | null;
  readonly countryExcludes: readonly string[];
  readonly botKinds: readonly string[] | null;
  readonly verifiedBots: boolean;
  /** What else must hold; all of them. */
  readonly facts: readonly ImportedFact[];
}

/** The filter that every request passes. */
export const EVERY_REQUEST: ImportedFilter = {
  hostIncludes: null,
  hostExcludes: [],
  pathIncludes: null,
  pathExcludes: [],
  ipIncludes: null,
  ipExcludes: null,
  countryIncludes: null,
  countryExcludes: [],
  botKinds: null,
  verifiedBots: false,
  facts: [],
};

/** The alternatives of a condition, or why they cannot be written. */
export type Alternatives =
  | { readonly ok: true; readonly filters: readonly ImportedFilter[] }
  | { readonly ok: false; readonly reason: string };

/** Converts a condition to filters; a request meets the condition when it passes one of them. */
export function filtersOf(condition: ImportedCondition): Alternatives {
  const result = alternativesOf(condition, false);
  if (!Array.isArray(result)) return { ok: false, reason: result as string };
  return { ok: true, filters: result as readonly ImportedFilter[] };
}

/** `negated`: the alternatives of the opposite. A text is the reason of a refusal. */
function alternativesOf(condition: ImportedCondition, negated: boolean): readonly ImportedFilter[] | string {
  switch (condition.kind) {
    case 'not':
      return alternativesOf(condition.of, !negated);
    case 'constant':
      return condition.value === negated ? [] : [EVERY_REQUEST];
    case 'unknown':
      return `\`${condition.text}\` ${condition.reason}`;
    case 'all':
    case 'any':
      return (condition.kind === 'all') === negated
        ? unite(condition.of, negated)
        : intersect(condition.of, negated);
    case 'bot':
      if (negated) return otherThanBots(condition);
      return [{ ...EVERY_REQUEST, botKinds: condition.kinds, verifiedBots: condition.verified }];
    case 'fact':
      return [{ ...EVERY_REQUEST, facts: [negated ? oppositeOf(condition.fact) : condition.fact] }];
    default:
      return [testFilter(condition, negated)];
  }
}

/** The filters of requests that are not of a bot of these kinds, or not of a verified one. */
function otherThanBots({
  kinds,
  verified,
}: Extract<ImportedCondition, { kind: 'bot' }>): readonly ImportedFilter[] {
  const isEvery = kinds.includes('*');
  const others: ImportedFact = { member: 'bot_kinds', values: kinds, negated: true };
  const unverified: ImportedFact = { member: 'verified_bot', negated: true };
  // A verified bot is of some kind.
  const parts = !verified ? [others] : isEvery ? [unverified] : [others, unverified];
  return parts.map((fact) => ({ ...EVERY_REQUEST, facts: [fact] }));
}

/** The filter of a single test. */
function testFilter(
  condition: Extract<ImportedCondition, { kind: 'host' | 'path' | 'ip' | 'country' }>,
  negated: boolean,
): ImportedFilter {
  switch (condition.kind) {
    case 'host':
      return { ...EVERY_REQUEST, [negated ? 'hostExcludes' : 'hostIncludes']: condition.tests };
    case 'path':
      return { ...EVERY_REQUEST, [negated ? 'pathExcludes' : 'pathIncludes']: condition.tests };
    case 'ip':
      return { ...EVERY_REQUEST, [negated ? 'ipExcludes' : 'ipIncludes']: condition.addresses };
    case 'country':
      return { ...EVERY_REQUEST, [negated ? 'countryExcludes' : 'countryIncludes']: condition.codes };
  }
}

function unite(of: readonly ImportedCondition[], negated: boolean): readonly ImportedFilter[] | string {
  const united: ImportedFilter[] = [];
  for (const one of of) {
    const filters = alternativesOf(one, negated);
    if (typeof filters === 'string') return filters;
    for (const filter of filters) joinAlternative(united, filter);
    if (united.length > MAX_ALTERNATIVES) return tooMany();
  }
  return united;
}

/** Adds an alternative; two that differ in one list of includes, or in the values of one fact, become one. */
function joinAlternative(united: ImportedFilter[], filter: ImportedFilter): void {
  for (const [index, other] of united.entries()) {
    const facts = eitherFacts(other.facts, filter.facts);
    if (facts !== null && textOf({ ...filter, facts: [] }) === textOf({ ...other, facts: [] })) {
      united[index] = { ...other, facts };
      return;
    }
    for (const field of ['pathIncludes', 'hostIncludes', 'countryIncludes', 'ipIncludes'] as const) {
      const [mine, theirs] = [filter[field], other[field]];
      if (mine === null || theirs === null) continue;
      if (textOf({ ...filter, [field]: null }) !== textOf({ ...other, [field]: null })) continue;
      const joined =
        field === 'ipIncludes'
          ? uniteAddresses([theirs as AddressSet, mine as AddressSet])
          : [...new Set([...(theirs as readonly unknown[]), ...(mine as readonly unknown[])])];
      united[index] = { ...other, [field]: joined } as ImportedFilter;
      return;
    }
  }
  united.push(filter);
}

/** A filter as text, for comparisons. */
function textOf(filter: ImportedFilter): string {
  return JSON.stringify(filter, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
}

function intersect(of: readonly ImportedCondition[], negated: boolean): readonly ImportedFilter[] | string {
  let combined: readonly ImportedFilter[] = [EVERY_REQUEST];
  for (const one of of) {
    const filters = alternativesOf(one, negated);
    if (typeof filters === 'string') return filters;
    if (combined.length * filters.length > MAX_ALTERNATIVES) return tooMany();
    const next: ImportedFilter[] = [];
    for (const left of combined) {
      for (const right of filters) {
        const both = bothFilters(left, right);
        if (typeof both === 'string') return both;
        if (both !== null) next.push(both);
      }
    }
    combined = next;
  }
  return combined;
}

function tooMany(): string {
  return `the condition has more than ${MAX_ALTERNATIVES} alternatives`;
}

/** The filter of requests that pass both; `null`: no request does. A text: why no filter is exact. */
export function bothFilters(one: ImportedFilter, other: ImportedFilter): ImportedFilter | null | string {
  const hosts = bothTests(one.hostIncludes, other.hostIncludes);
  if (hosts === 'inexact') return 'two tests of the host apply at once, which one rule cannot express';
  const paths = bothTests(one.pathIncludes, other.pathIncludes);
  if (paths === 'inexact') return 'two tests of the path apply at once, which one rule cannot express';
  if (one.botKinds !== null && other.botKinds !== null) return 'two tests of the bot apply at once';
  const ips = bothAddresses(one.ipIncludes, other.ipIncludes);
  const countries = bothCountries(one.countryIncludes, other.countryIncludes);
  const facts = bothFacts(one.facts, other.facts);
  if (facts === null) return null;
  const asked = conditionsOf(facts);
  if (typeof asked === 'string') return asked;
  const ipExcludes = [one.ipExcludes, other.ipExcludes].filter((set) => set !== null);
  const filter: ImportedFilter = {
    hostIncludes: hosts,
    hostExcludes: [...one.hostExcludes, ...other.hostExcludes],
    pathIncludes: paths,
    pathExcludes: [...one.pathExcludes, ...other.pathExcludes],
    ipIncludes: ips,
    ipExcludes: ipExcludes.length === 0 ? null : uniteAddresses(ipExcludes),
    countryIncludes: countries,
    countryExcludes: [...one.countryExcludes, ...other.countryExcludes],
    botKinds: one.botKinds ?? other.botKinds,
    verifiedBots: one.verifiedBots || other.verifiedBots,
    facts,
  };
  return isNever(filter) ? null : settleAddresses(filter);
}

/** With included addresses the excluded ones are taken out of them, and so with countries. */
function settleAddresses(filter: ImportedFilter): ImportedFilter | null {
  let settled = filter;
  if (filter.ipIncludes !== null && filter.ipExcludes !== null) {
    const left = subtractAddresses(filter.ipIncludes, filter.ipExcludes);
    settled = { ...settled, ipIncludes: left, ipExcludes: null };
  }
  if (filter.countryIncludes !== null && filter.countryExcludes.length > 0) {
    const left = filter.countryIncludes.filter((code) => !filter.countryExcludes.includes(code));
    settled = { ...settled, countryIncludes: left, countryExcludes: [] };
  }
  return isNever(settled) ? null : settled;
}

function isNever(filter: ImportedFilter): boolean {
  const { hostIncludes, pathIncludes, ipIncludes, countryIncludes, hostExcludes, pathExcludes } = filter;
  if ([...hostExcludes, ...pathExcludes].some(coversAll)) return true;
  if (covers(hostExcludes, hostIncludes) || covers(pathExcludes, pathIncludes)) return true;
  if (ipIncludes !== null && isEmptySet(ipIncludes)) return true;
  return [hostIncludes, pathIncludes, countryIncludes].some((list) => list !== null && list.length === 0);
}

function bothTests(
  one: readonly TextTest[] | null,
  other: readonly TextTest[] | null,
): readonly TextTest[] | null | 'inexact' {
  if (one === null || other === null) return one ?? other;
  return combineTests(one, other) ?? 'inexact';
}

function bothAddresses(one: AddressSet | null, other: AddressSet | null): AddressSet | null {
  return one === null || other === null ? (one ?? other) : intersectAddresses(one, other);
}

function bothCountries(
  one: readonly string[] | null,
  other: readonly string[] | null,
): readonly string[] | null {
  return one === null || other === null ? (one ?? other) : one.filter((code) => other.includes(code));
}

/** The shorter of both ways to write a set: its addresses, or all but the others. */
export function addressFilter(set: AddressSet): Pick<ImportedFilter, 'ipIncludes' | 'ipExcludes'> {
  const others = subtractAddresses(ALL_ADDRESSES, set);
  if (isEmptySet(others)) return { ipIncludes: null, ipExcludes: null };
  const isOpen = addressEntries(set).length <= addressEntries(others).length;
  return isOpen ? { ipIncludes: set, ipExcludes: null } : { ipIncludes: null, ipExcludes: others };
}

/** The filter in parts, each with as many included addresses as a rule takes. */
export function addressParts(filter: ImportedFilter): readonly ImportedFilter[] {
  const { ipIncludes } = filter;
  if (ipIncludes === null) return [filter];
  const parts: ImportedFilter[] = [];
  const all = [
    ...ipIncludes.v4.map((range) => ({ v4: [range], v6: [] })),
    ...ipIncludes.v6.map((range) => ({ v4: [], v6: [range] })),
  ];
  for (let at = 0; at < all.length; at += MAX_IPS)
    parts.push({ ...filter, ipIncludes: uniteAddresses(all.slice(at, at + MAX_IPS)) });
  return parts;
}

/** Whether no request passes both, as far as their tests show. */
export function areDisjoint(one: ImportedFilter, other: ImportedFilter): boolean {
  const hosts = bothTests(one.hostIncludes, other.hostIncludes);
  if (hosts !== 'inexact' && hosts?.length === 0) return true;
  const paths = bothTests(one.pathIncludes, other.pathIncludes);
  if (paths !== 'inexact' && paths?.length === 0) return true;
  const ips = bothAddresses(one.ipIncludes, other.ipIncludes);
  if (ips !== null && isEmptySet(ips)) return true;
  if (bothFacts(one.facts, other.facts) === null) return true;
  if (covers(one.hostExcludes, other.hostIncludes) || covers(other.hostExcludes, one.hostIncludes))
    return true;
  return covers(one.pathExcludes, other.pathIncludes) || covers(other.pathExcludes, one.pathIncludes);
}

/** Whether each include is inside an exclude, as far as their texts show. */
function covers(excludes: readonly TextTest[], includes: readonly TextTest[] | null): boolean {
  if (includes === null) return false;
  return includes.every((include) =>
    excludes.some((exclude) => {
      const both = combineTests([include], [exclude]);
      return both !== null && both.length === 1 && JSON.stringify(both[0]) === JSON.stringify(include);
    }),
  );
}

/** The host and path fields of a filter. */
function placeFields(filter: ImportedFilter): object {
  return {
    ...hostEntries(filter.hostIncludes, filter.hostExcludes),
    ...pathEntries(filter.pathIncludes, filter.pathExcludes),
  };
}

/** The includes or excludes of an address filter or of countries; `null`: it has none. */
function visitorsOf({ ipIncludes, ipExcludes, countryIncludes, countryExcludes }: ImportedFilter) {
  const ips = ipIncludes ?? ipExcludes;
  const countries = countryIncludes ?? (countryExcludes.length > 0 ? countryExcludes : null);
  return {
    ips: ips === null ? null : addressEntries(ips),
    ipType: ipIncludes === null ? 'excludes' : 'includes',
    countries,
    countryType: countryIncludes === null ? 'excludes' : 'includes',
  };
}

/** The fields of a filter that rules of every type have: hosts, paths, and all else as conditions. */
export function ruleFields(filter: ImportedFilter): object {
  const { ips, ipType, countries, countryType } = visitorsOf(filter);
  const visitors = {
    ...(ips === null ? {} : { ips: { [ipType]: ips } }),
    ...(countries === null ? {} : { countries: { [countryType]: countries } }),
  };
  return { ...placeFields(filter), ...conditionFields(filter, visitors) };
}

/** The field of conditions; absent where the filter asks for nothing that is one. */
function conditionFields({ facts, botKinds, verifiedBots }: ImportedFilter, visitors: object): object {
  const bots: readonly ImportedFact[] = [
    ...(botKinds === null ? [] : [{ member: 'bot_kinds', values: botKinds, negated: false } as const]),
    ...(verifiedBots ? [{ member: 'verified_bot', negated: false } as const] : []),
  ];
  // `bothFilters` admits no tests that one rule cannot have.
  const conditions = { ...visitors, ...(conditionsOf([...bots, ...facts]) as object) };
  return Object.keys(conditions).length === 0 ? {} : { conditions };
}

/** Every address, for a drop rule that is meant to have no other filter. */
const EVERY_ADDRESS = ['0.0.0.0/0', '::/0'];

/** The fields of a drop rule with this filter, which has fields of its own for addresses and countries. */
export function dropFields(filter: ImportedFilter): object {
  const { ips, ipType, countries, countryType } = visitorsOf(filter);
  const fields = { ...placeFields(filter), ...conditionFields(filter, {}) };
  const isOpen =
    ips === null && countries === null && Object.keys(fields).every((name) => name === 'path_match_type');
  return {
    ...fields,
    ...(isOpen ? { ips: EVERY_ADDRESS } : {}),
    ...(ips === null ? {} : { ip_match_type: ipType.slice(0, -1), ips }),
    ...(countries === null ? {} : { country_match_type: countryType.slice(0, -1), countries }),
  };
}
