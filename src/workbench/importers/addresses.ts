/**
 * Sets of addresses as sorted, disjoint intervals, so that lists where the order decides (allow before deny) become the
 * one list of a drop rule.
 */
import { formatIp, parseIpEntry } from '../../base/addresses/ip.ts';

/** An inclusive interval. */
interface AddressRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** Addresses of both families. */
export interface AddressSet {
  readonly v4: readonly AddressRange[];
  readonly v6: readonly AddressRange[];
}

const LAST_V4 = (1n << 32n) - 1n;
const LAST_V6 = (1n << 128n) - 1n;

export const NO_ADDRESSES: AddressSet = { v4: [], v6: [] };
export const ALL_ADDRESSES: AddressSet = {
  v4: [{ first: 0n, last: LAST_V4 }],
  v6: [{ first: 0n, last: LAST_V6 }],
};

/** The set of one address, prefix or range; `null` for any other text. */
export function readAddresses(text: string): AddressSet | null {
  const entry = parseIpEntry(text);
  if (!entry.ok) return null;
  const ranges = [{ first: numberOf(entry.first), last: numberOf(entry.last) }];
  return entry.family === 4 ? { v4: ranges, v6: [] } : { v4: [], v6: ranges };
}

/** The union of sets. */
export function uniteAddresses(sets: readonly AddressSet[]): AddressSet {
  return { v4: merge(sets.flatMap(({ v4 }) => v4)), v6: merge(sets.flatMap(({ v6 }) => v6)) };
}

/** The addresses of the first set that the second does not have. */
export function subtractAddresses(from: AddressSet, taken: AddressSet): AddressSet {
  return { v4: subtract(from.v4, taken.v4), v6: subtract(from.v6, taken.v6) };
}

/** The addresses of both sets. */
export function intersectAddresses(one: AddressSet, other: AddressSet): AddressSet {
  return subtractAddresses(one, subtractAddresses(one, other));
}

/** Whether a set has no address. */
export function isEmptySet({ v4, v6 }: AddressSet): boolean {
  return v4.length === 0 && v6.length === 0;
}

/** The entries of `ips` for a set: prefixes where an interval is one, else ranges. */
export function addressEntries({ v4, v6 }: AddressSet): string[] {
  return [...v4.map((range) => entryOf(range, 4)), ...v6.map((range) => entryOf(range, 6))];
}

function entryOf({ first, last }: AddressRange, family: 4 | 6): string {
  const low = formatIp(family, wordsOf(first, family));
  if (first === last) return low;
  const size = last - first + 1n;
  if ((size & (size - 1n)) === 0n && first % size === 0n) {
    return `${low}/${(family === 4 ? 33 : 129) - size.toString(2).length}`;
  }
  return `${low}-${formatIp(family, wordsOf(last, family))}`;
}

function numberOf(words: Uint32Array): bigint {
  let value = 0n;
  for (const word of words) value = (value << 32n) | BigInt(word);
  return value;
}

function wordsOf(value: bigint, family: 4 | 6): Uint32Array {
  const words = new Uint32Array(family === 4 ? 1 : 4);
  for (let index = words.length - 1, rest = value; index >= 0; index--, rest >>= 32n) {
    words[index] = Number(rest & 0xffffffffn);
  }
  return words;
}

/** Sorts intervals and joins those that touch. */
function merge(ranges: readonly AddressRange[]): AddressRange[] {
  const sorted = [...ranges].sort((one, other) =>
    one.first < other.first ? -1 : one.first > other.first ? 1 : 0,
  );
  const merged: AddressRange[] = [];
  for (const range of sorted) {
    const before = merged.at(-1);
    if (before === undefined || range.first > before.last + 1n) merged.push(range);
    else if (range.last > before.last) merged[merged.length - 1] = { first: before.first, last: range.last };
  }
  return merged;
}

/** Both lists are sorted and disjoint. */
function subtract(from: readonly AddressRange[], taken: readonly AddressRange[]): AddressRange[] {
  const left: AddressRange[] = [];
  let next = 0;
  for (const { first, last } of from) {
    let start = first;
    while (next < taken.length && taken[next]!.last < start) next++;
    for (let index = next; index < taken.length && taken[index]!.first <= last; index++) {
      const { first: hole, last: end } = taken[index]!;
      if (hole > start) left.push({ first: start, last: hole - 1n });
      if (end >= start) start = end + 1n;
    }
    if (start <= last) left.push({ first: start, last });
  }
  return left;
}
