/** Sets of octets in patterns: classes of PCRE, and sets with both cases of their letters. */
import { parsePattern } from '../../../base/regex/regex.ts';
import { translateClass } from './pcre-translate.ts';

/** A set of octets: `[low, high, low, high, …]`, ascending, both ends included. Equal sets are one array. */
export type OctetSet = readonly number[];

const LAST_OCTET = 0xff;

/** Bounded by the sets that patterns of rules have. */
const interned = new Map<string, OctetSet>();

/** The set of these ranges, which may overlap; what lies beyond octets is left out. */
export function octetSet(ranges: readonly number[]): OctetSet {
  const members = new Uint8Array(LAST_OCTET + 2);
  for (let i = 0; i < ranges.length; i += 2) {
    if (ranges[i]! <= LAST_OCTET) members.fill(1, ranges[i]!, Math.min(ranges[i + 1]!, LAST_OCTET) + 1);
  }
  const set: number[] = [];
  for (let octet = 0; octet <= LAST_OCTET; octet++) {
    if (members[octet] === 0) continue;
    if (octet === 0 || members[octet - 1] === 0) set.push(octet);
    if (members[octet + 1] === 0) set.push(octet);
  }
  const key = set.join();
  const known = interned.get(key);
  if (known !== undefined) return known;
  interned.set(key, set);
  return set;
}

/** Adds to ranges the other case of their ASCII letters. */
export function withBothCases(ranges: readonly number[]): readonly number[] {
  const both = [...ranges];
  for (let i = 0; i < ranges.length; i += 2) {
    addShifted(both, [Math.max(ranges[i]!, 0x41), Math.min(ranges[i + 1]!, 0x5a)], 0x20);
    addShifted(both, [Math.max(ranges[i]!, 0x61), Math.min(ranges[i + 1]!, 0x7a)], -0x20);
  }
  return both;
}

function addShifted(ranges: number[], [low, high]: readonly [number, number], by: number): void {
  if (low <= high) ranges.push(low + by, high + by);
}

function complementOf(ranges: readonly number[]): readonly number[] {
  const complement: number[] = [];
  const set = octetSet(ranges);
  let next = 0;
  for (let i = 0; i < set.length; i += 2) {
    if (next < set[i]!) complement.push(next, set[i]! - 1);
    next = set[i + 1]! + 1;
  }
  if (next <= LAST_OCTET) complement.push(next, LAST_OCTET);
  return complement;
}

/** A class of a pattern and the place after it, or the reason why it is refused. */
export type OctetClassResult =
  | { readonly ok: true; readonly set: OctetSet; readonly end: number }
  | { readonly ok: false; readonly reason: string };

/** Reads the class at a place of a pattern. The members are read as RE2 reads them, the rest is PCRE's. */
export function classOctets(pattern: string, from: number, ignoreCase: boolean): OctetClassResult {
  const { text, end } = translateClass(pattern, from);
  if (!text.endsWith(']') || end > pattern.length || pattern[end - 1] !== ']') {
    return { ok: false, reason: `missing \`]\`: \`${pattern.slice(from, from + 20)}\`` };
  }
  const negated = text.startsWith('[^');
  const read = parsePattern(negated ? `[${text.slice(2)}` : text, {
    ignoreCase: false,
    characters: Number.POSITIVE_INFINITY,
  });
  if (!read.ok) return read;
  const members = read.pattern.program.instructions.find(({ kind }) => kind === 'character');
  const ranges = members?.kind === 'character' ? members.ranges : [];
  const folded = ignoreCase ? withBothCases(ranges) : ranges;
  return { ok: true, set: octetSet(negated ? complementOf(folded) : folded), end };
}
