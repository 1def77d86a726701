/** Finds entries that others of the same list cover: one entry alone, or address entries together. */
import { type IpInterval, parseIpEntry } from '../../../base/addresses/ip.ts';
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { insertsGroups } from '../../../rules/model/groups.ts';
import type { Rule } from '../../../rules/model/types.ts';
import {
  entryCovers,
  type FilterEntry,
  hasPaths,
  hostExcludes,
  hostIncludes,
  pathExcludes,
  pathIncludes,
} from './filters.ts';
import type { Finding, LintContext } from './finding.ts';

/** Finds covered entries in the host and path lists of enabled rules. */
export function lintNeedless({ enabled }: LintContext): readonly Finding[] {
  return enabled.flatMap((rule) => lists(rule).flatMap((list) => needless(rule, list)));
}

/** The lists of a rule in which an entry can be redundant. */
function lists(rule: Rule): readonly (readonly FilterEntry[])[] {
  const hosts = [hostIncludes(rule), hostExcludes(rule)];
  // Groups come from the first entry that matches, so a covered regex can still have an effect.
  if (!hasPaths(rule) || insertsGroups(rule)) return hosts;
  return [...hosts, pathIncludes(rule), pathExcludes(rule)];
}

/** A finding for each entry that another entry covers; of equal entries the first stays. */
function needless(rule: Rule, list: readonly FilterEntry[]): readonly Finding[] {
  return list.flatMap((entry, index) => {
    const cover = list.find(
      (other, at) => at !== index && entryCovers(other, entry) && (at < index || !entryCovers(entry, other)),
    );
    if (cover === undefined) return [];
    const message =
      cover.text === entry.text ? 'is listed twice' : `is covered by \`${cover.text}\` of the same list`;
    const at = { rule, field: entry.field, found: quoteValue(entry.text) };
    return [{ ...at, code: 'needless_entry', severity: 'info', message, remedy: 'remove it' }];
  });
}

// Finds address entries that other entries of the list cover together, by a walk over the ends of their intervals.

/** An entry as an interval of numbers. */
interface AddressInterval {
  readonly place: number;
  readonly family: IpInterval['family'];
  readonly first: bigint;
  readonly last: bigint;
}

/** Finds needless entries of `ips`; of equal ones the later. */
export function lintCoveredAddresses(rule: Rule): readonly Finding[] {
  if (rule.type !== 'drop' || rule.ips.length < 2) return [];
  let left = rule.ips.flatMap((text, place): readonly AddressInterval[] => {
    const parsed = parseIpEntry(text);
    if (!parsed.ok) return [];
    const { family, first, last } = parsed;
    return [{ place, family, first: numberOf(first), last: numberOf(last) }];
  });
  const findings: Finding[] = [];
  // Small intervals first: a large one that they cover together stays, as it is the shorter text.
  const bySize = [...left].sort((a, b) => compare(a.last - a.first, b.last - b.first) || b.place - a.place);
  for (const entry of bySize) {
    const others = left.filter((other) => other !== entry);
    const by = coverOf(entry, others);
    if (by === null) continue;
    left = others;
    const names = by.map(({ place }) => `\`${rule.ips[place]}\``);
    const together = by.length === 1 ? '' : ' together';
    findings.push({
      rule,
      field: ['ips', entry.place],
      found: quoteValue(rule.ips[entry.place]!),
      code: 'needless_entry',
      severity: 'info',
      message: `is covered by ${named(names)} of the same list${together}`,
      remedy: 'remove it',
    });
  }
  return findings.sort((a, b) => Number(a.field[1]) - Number(b.field[1]));
}

/** Entries that a message names; the others are counted. */
const MAX_NAMED = 4;

function named(names: readonly string[]): string {
  if (names.length <= MAX_NAMED) return names.join(', ');
  return `${names.slice(0, MAX_NAMED).join(', ')} and ${names.length - MAX_NAMED} more`;
}

/** The fewest intervals that cover one, each the one that reaches furthest; `null`: they do not. */
function coverOf(
  { family, first, last }: AddressInterval,
  others: readonly AddressInterval[],
): readonly AddressInterval[] | null {
  const cover: AddressInterval[] = [];
  for (let next = first; next <= last; ) {
    let best: AddressInterval | null = null;
    for (const other of others) {
      if (other.family !== family || other.first > next || other.last < next) continue;
      if (best === null || other.last > best.last) best = other;
    }
    if (best === null) return null;
    cover.push(best);
    next = best.last + 1n;
  }
  return cover;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The number of an address in words of 32 bits. */
function numberOf(words: Uint32Array): bigint {
  return words.reduce((number, word) => (number << 32n) | BigInt(word), 0n);
}
