/**
 * Address filters of a plan (layout: `ADDRESSES`, or LISTED): whether one has the visitor's address, and by which of its
 * entries.
 */
import { formatIp } from '../../base/addresses/ip.ts';
import { ADDRESSES, LIST, LISTED, LISTED_FILTER, NONE } from '../plan/layout.ts';
import type { Facts } from './facts.ts';
import { compareAt } from './indexes.ts';
import type { OpenedList } from './lists.ts';
import { type LoadedPlan, textOf } from './loaded.ts';

/** Whether an entry of a filter has the visitor's address, which is known. */
export function isAddressListed(loaded: LoadedPlan, offset: number, facts: Facts): boolean {
  const { words } = loaded.plan;
  if (words[offset] !== LISTED) return inIntervals(words, offset, facts);
  const plain = words[offset + LISTED_FILTER.plain]!;
  if (plain !== NONE && inIntervals(words, plain, facts)) return true;
  const end = offset + LISTED_FILTER.entries + words[offset + LISTED_FILTER.count]!;
  for (let at = offset + LISTED_FILTER.entries; at < end; at++) {
    const number = words[at]!;
    if (number !== 0 && hasAddress(loaded.lists[number - 1]!, facts)) return true;
  }
  return false;
}

/** The place of the first entry that has the visitor's address, or -1. */
export function addressEntry(loaded: LoadedPlan, offset: number, facts: Facts): number {
  const { words } = loaded.plan;
  if (words[offset] !== LISTED) return intervalEntry(words, offset, facts);
  const plain = words[offset + LISTED_FILTER.plain]!;
  const found = plain === NONE ? -1 : intervalEntry(words, plain, facts);
  let others = 0;
  for (let entry = 0; entry < words[offset + LISTED_FILTER.count]!; entry++) {
    const number = words[offset + LISTED_FILTER.entries + entry]!;
    const holds = number === 0 ? found === others++ : hasAddress(loaded.lists[number - 1]!, facts);
    if (holds) return entry;
  }
  return -1;
}

/** The entries of a filter as the customer would write them. */
export function addressTexts(loaded: LoadedPlan, offset: number): readonly string[] {
  return listedTexts(loaded, offset, (at) => intervalTexts(loaded.plan.words, at));
}

/** The entries of a filter that may be LISTED; `plainTexts`: those that name no list. */
export function listedTexts(
  loaded: LoadedPlan,
  offset: number,
  plainTexts: (offset: number) => readonly string[],
): readonly string[] {
  const { words, lists } = loaded.plan;
  if (words[offset] !== LISTED) return plainTexts(offset);
  const plain = words[offset + LISTED_FILTER.plain]!;
  const others = plain === NONE ? [] : [...plainTexts(plain)];
  const from = offset + LISTED_FILTER.entries;
  return [...words.subarray(from, from + words[offset + LISTED_FILTER.count]!)].map((number) =>
    number === 0 ? others.shift()! : `@${textOf(loaded, lists[(number - 1) * LIST.size + LIST.name]!)}`,
  );
}

/** Whether the visitor's address, which is known, lies in one of the merged intervals. */
/** Whether a list of kind `ip` has the visitor's address, which is known. */
export function hasAddress({ words }: OpenedList, facts: Facts): boolean {
  return inIntervals(words, 0, facts);
}

function inIntervals(words: Uint32Array, offset: number, facts: Facts): boolean {
  const n4 = words[offset + ADDRESSES.n4]!;
  const n6 = words[offset + ADDRESSES.n6]!;
  const m4 = words[offset + ADDRESSES.m4]!;
  const merged4 = offset + ADDRESSES.entries + n4 * 3 + n6 * 9;
  if (facts.ipFamily === 4) {
    const address = facts.ipWords[0]!;
    let low = 0;
    let high = m4;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (words[merged4 + middle * 2 + 1]! < address) low = middle + 1;
      else high = middle;
    }
    return low < m4 && words[merged4 + low * 2]! <= address;
  }
  const merged6 = merged4 + m4 * 2;
  const m6 = words[offset + ADDRESSES.m6]!;
  let low = 0;
  let high = m6;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareAt(words, merged6 + middle * 8 + 4, facts.ipWords) < 0) low = middle + 1;
    else high = middle;
  }
  return low < m6 && compareAt(words, merged6 + low * 8, facts.ipWords) <= 0;
}

/** The place in the rule's list of the first entry that holds the visitor's address, or -1. */
function intervalEntry(words: Uint32Array, offset: number, facts: Facts): number {
  const n4 = words[offset + ADDRESSES.n4]!;
  const n6 = words[offset + ADDRESSES.n6]!;
  const four = offset + ADDRESSES.entries;
  const six = four + n4 * 3;
  let place = Number.POSITIVE_INFINITY;
  if (facts.ipFamily === 4) {
    const address = facts.ipWords[0]!;
    for (let entry = 0; entry < n4; entry++) {
      const holds = words[four + entry * 2]! <= address && address <= words[four + entry * 2 + 1]!;
      if (holds) place = Math.min(place, words[four + n4 * 2 + entry]!);
    }
  } else if (facts.ipFamily === 6) {
    for (let entry = 0; entry < n6; entry++) {
      const at = six + entry * 8;
      const holds = compareAt(words, at, facts.ipWords) <= 0 && compareAt(words, at + 4, facts.ipWords) >= 0;
      if (holds) place = Math.min(place, words[six + n6 * 8 + entry]!);
    }
  }
  return Number.isFinite(place) ? place : -1;
}

function intervalTexts(words: Uint32Array, offset: number): readonly string[] {
  const n4 = words[offset + ADDRESSES.n4]!;
  const n6 = words[offset + ADDRESSES.n6]!;
  const four = offset + ADDRESSES.entries;
  const six = four + n4 * 3;
  const texts: string[] = [];
  for (let entry = 0; entry < n4; entry++) {
    const range = [words.subarray(four + entry * 2), words.subarray(four + entry * 2 + 1)] as const;
    texts[words[four + n4 * 2 + entry]!] = rangeText(4, range[0], range[1]);
  }
  for (let entry = 0; entry < n6; entry++) {
    const at = six + entry * 8;
    texts[words[six + n6 * 8 + entry]!] = rangeText(
      6,
      words.subarray(at, at + 4),
      words.subarray(at + 4, at + 8),
    );
  }
  return texts;
}

/** An address, a prefix if the interval is one, or `<first>-<last>`. */
function rangeText(family: 4 | 6, first: Uint32Array, last: Uint32Array): string {
  const width = family === 4 ? 1 : 4;
  let common = 0;
  let exact = true;
  for (let word = 0; word < width; word++) {
    const difference = (first[word]! ^ last[word]!) >>> 0;
    const same = Math.clz32(difference);
    if (common === word * 32) {
      common += same;
      const tail = same === 32 ? 0 : 0xffffffff >>> same;
      exact &&= (first[word]! & tail) >>> 0 === 0 && (last[word]! & tail) >>> 0 === tail;
    } else exact &&= first[word] === 0 && last[word] === 0xffffffff;
  }
  const start = formatIp(family, first);
  if (common === width * 32) return start;
  return exact ? `${start}/${common}` : `${start}-${formatIp(family, last)}`;
}
