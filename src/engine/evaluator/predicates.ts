/** Whether a candidate matches: evaluates every filter of its slot, the cheapest first. */
import {
  COUNTRIES,
  FILTER,
  FLAG,
  LISTED,
  LISTED_FILTER,
  NONE,
  PATTERN,
  SLOT,
  typeNumber,
} from '../plan/layout.ts';
import { isAddressListed } from './addresses.ts';
import { conditionsHold } from './conditions.ts';
import { botOf, type Facts, ipOf, OTHER_BOT } from './facts.ts';
import { hasCountry } from './lists.ts';
import { type LoadedPlan, patternMatches, textOf } from './loaded.ts';

/** Whether every filter of `slot` holds. */
export function slotMatches(loaded: LoadedPlan, slot: number, facts: Facts): boolean {
  const { slots } = loaded.plan;
  const row = slot * SLOT.size;
  const flags = slots[row + SLOT.flags]!;
  if ((flags & FLAG.enabled) === 0 || (slots[row + SLOT.need]! & ~facts.characters) !== 0) return false;
  const scope = slots[row + SLOT.scope]!;
  if (scope !== NONE && !inScope(loaded, scope, facts)) return false;
  const countries = slots[row + SLOT.countries]!;
  if (countries !== NONE && !countryHolds(loaded, countries, flags, facts)) return false;
  const addresses = slots[row + SLOT.addresses]!;
  if (addresses !== NONE && !addressHolds(loaded, addresses, flags, facts)) return false;
  const kinds = slots[row + SLOT.kinds]!;
  if (kinds !== NONE && !kindHolds(loaded, kinds, flags, facts)) return false;
  const host = slots[row + SLOT.host]!;
  if (host !== NONE && !hostHolds(loaded, host, facts)) return false;
  const path = slots[row + SLOT.path]!;
  if (path !== NONE && !pathHolds(loaded, path, flags, facts)) return false;
  return loaded.conditions === null || conditionsHold(loaded, loaded.conditions, slot, facts);
}

/** Whether the filters of `slot` on records and hosts hold. */
export function hostMatches(loaded: LoadedPlan, slot: number, facts: Facts): boolean {
  const { slots } = loaded.plan;
  const row = slot * SLOT.size;
  const [scope, host] = [slots[row + SLOT.scope]!, slots[row + SLOT.host]!];
  if ((slots[row + SLOT.flags]! & FLAG.enabled) === 0) return false;
  if (scope !== NONE && !inScope(loaded, scope, facts)) return false;
  return host === NONE || hostHolds(loaded, host, facts);
}

/** Whether a record of the host is in the rule's scope; NONE: zone-wide. */
export function inScope(loaded: LoadedPlan, offset: number, facts: Facts): boolean {
  const { words } = loaded.plan;
  let low = offset + 1;
  let high = low + words[offset]!;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const group = words[middle]!;
    if (group === facts.groupNumber) return true;
    if (group < facts.groupNumber) low = middle + 1;
    else high = middle;
  }
  return false;
}

/** Unknown countries fail the filter in either mode (semantics §3). */
function countryHolds(loaded: LoadedPlan, offset: number, flags: number, facts: Facts): boolean {
  const excludes = (flags & FLAG.excludeCountries) !== 0;
  if (facts.country < 0) return excludes;
  return isCountryListed(loaded, offset, facts.country) !== excludes;
}

/** Whether a country is among the entries at `offset`, or in a list that one of them names. */
export function isCountryListed(loaded: LoadedPlan, offset: number, country: number): boolean {
  const { words } = loaded.plan;
  if (words[offset] !== LISTED) return hasBit(words, offset, country);
  const plain = words[offset + LISTED_FILTER.plain]!;
  if (plain !== NONE && hasBit(words, plain, country)) return true;
  const end = offset + LISTED_FILTER.entries + words[offset + LISTED_FILTER.count]!;
  for (let at = offset + LISTED_FILTER.entries; at < end; at++) {
    const number = words[at]!;
    if (number !== 0 && hasCountry(loaded.lists[number - 1]!, country)) return true;
  }
  return false;
}

/** Whether the bit of a country number is set in the list at `offset`. */
function hasBit(words: Uint32Array, offset: number, country: number): boolean {
  const bits = offset + 1 + words[offset]!;
  return (
    country >= 0 && country < COUNTRIES && ((words[bits + (country >> 5)]! >>> (country & 31)) & 1) === 1
  );
}

/** Unknown addresses fail the filter in either mode (semantics §3). */
function addressHolds(loaded: LoadedPlan, offset: number, flags: number, facts: Facts): boolean {
  const excludes = (flags & FLAG.excludeAddresses) !== 0;
  const family = ipOf(facts);
  if (family === 0) return excludes;
  return isAddressListed(loaded, offset, facts) !== excludes;
}

/** The filter of the rule types that match on bots or fingerprints; others have none. */
function kindHolds(loaded: LoadedPlan, offset: number, flags: number, facts: Facts): boolean {
  if ((flags & FLAG.type) === BOT_ROUTE) return botHolds(loaded, offset, flags, facts);
  const { words } = loaded.plan;
  const ja4hOffset = offset + 1 + words[offset]!;
  return (
    (words[offset] === 0 || fingerprintEntry(loaded, offset, facts.ja4) >= 0) &&
    (words[ja4hOffset] === 0 || fingerprintEntry(loaded, ja4hOffset, facts.ja4h) >= 0)
  );
}

const BOT_ROUTE = typeNumber('bot_route');

/** Whether the visitor's bot kind is listed, and verified if the rule requires it. */
function botHolds(loaded: LoadedPlan, offset: number, flags: number, facts: Facts): boolean {
  const kind = botOf(facts);
  if (kind < 0) return false;
  const mask = loaded.plan.words[offset]!;
  if ((mask & ((1 << kind) | (1 << OTHER_BOT))) === 0) return false;
  return (flags & FLAG.requireVerified) === 0 || facts.botVerified;
}

/** The place in the list of the first fingerprint that equals `text`, or starts it when it ends in `*`; or -1. */
export function fingerprintEntry(loaded: LoadedPlan, offset: number, text: string | null): number {
  if (text === null) return -1;
  const { words } = loaded.plan;
  const count = words[offset]!;
  for (let entry = 0; entry < count; entry++) {
    const wanted = textOf(loaded, words[offset + 1 + entry]!);
    const holds = wanted.endsWith('*') ? text.startsWith(wanted.slice(0, -1)) : text === wanted;
    if (holds) return entry;
  }
  return -1;
}

/** The place in the include list of the first host entry that matches, -1 when none does. */
export function hostEntry(loaded: LoadedPlan, from: number, to: number, host: string): number {
  const { words } = loaded.plan;
  for (let at = from; at < to; at++) if (patternMatches(loaded, words[at]!, host)) return at - from;
  return -1;
}

function hostHolds(loaded: LoadedPlan, offset: number, facts: Facts): boolean {
  const { words } = loaded.plan;
  const includes = words[offset + FILTER.includes]!;
  const from = offset + FILTER.patterns;
  const end = from + includes;
  if (includes > 0 && hostEntry(loaded, from, end, facts.host) < 0) return false;
  return hostEntry(loaded, end, end + words[offset + FILTER.excludes]!, facts.host) < 0;
}

/**
 * The place of the first path entry that matches, or -1. A path with `;params` has two forms: under `both` an entry must
 * match both, otherwise one of them.
 */
export function pathEntry(
  loaded: LoadedPlan,
  range: { readonly from: number; readonly to: number },
  facts: Facts,
  both: boolean,
): number {
  const { words, patterns } = loaded.plan;
  for (let at = range.from; at < range.to; at++) {
    const pattern = words[at]!;
    // The path without parameters has no character that the path lacks.
    if ((patterns[pattern * PATTERN.size + PATTERN.need]! & ~facts.characters) !== 0) continue;
    const first = patternMatches(loaded, pattern, facts.path);
    if (facts.pathWithoutParameters === null || first !== both) {
      if (first) return at - range.from;
    } else if (patternMatches(loaded, pattern, facts.pathWithoutParameters)) return at - range.from;
  }
  return -1;
}

function pathHolds(loaded: LoadedPlan, offset: number, flags: number, facts: Facts): boolean {
  const { words } = loaded.plan;
  const includes = words[offset + FILTER.includes]!;
  const excludes = words[offset + FILTER.excludes]!;
  const from = offset + FILTER.patterns;
  const end = from + includes;
  const both = (flags & FLAG.bothForms) !== 0;
  if (includes > 0 && pathEntry(loaded, { from, to: end }, facts, both) < 0) return false;
  return excludes === 0 || pathEntry(loaded, { from: end, to: end + excludes }, facts, !both) < 0;
}
