/**
 * The axis of visitors' addresses: the intervals between all the borders of address filters, IPv4 before IPv6, and atom 0 for
 * an unknown address.
 */
import { formatIp } from '../../../base/addresses/ip.ts';
import type { LoadedPlan } from '../../../engine/evaluator/loaded.ts';
import { ADDRESSES, FLAG, NONE, SLOT } from '../../../engine/plan/layout.ts';
import { type AtomSet, hasAtom, NO_ATOMS, subtract, unite } from './int-set.ts';

/** The axis. */
export interface AddressAxis {
  /** Every address that a request can have, and the unknown one. */
  readonly all: AtomSet;
  /** The addresses that a slot's filter accepts; `null`: it has none. */
  setOf(loaded: LoadedPlan, slot: number): AtomSet | null;
  /** The addresses of ranges, for an invariant. */
  setOfRanges(ranges: readonly AddressRangeOf[]): AtomSet;
  /** An address of an atom; `null`: the unknown one. */
  sample(atom: number): string | null;
  /** The atom of a set that reads best: one with an address for documentation, else the first known one. */
  pick(set: AtomSet): number;
}

/** An inclusive range: one word for IPv4, four for IPv6. */
export interface AddressRangeOf {
  readonly family: 4 | 6;
  readonly first: readonly number[];
  readonly last: readonly number[];
}

/** First addresses of atoms by family, ascending. */
interface Borders {
  readonly four: readonly bigint[];
  readonly six: readonly bigint[];
}

const END = { 4: 1n << 32n, 6: 1n << 128n } as const;
/** IPv4-mapped addresses are read as IPv4 (semantics §1), so no request has them. */
const MAPPED = [0xffffn << 32n, (0xffffn << 32n) + (1n << 32n)] as const;

/** The axis of plans, and of further ranges. */
export function createAddressAxis(
  plans: readonly LoadedPlan[],
  further: readonly AddressRangeOf[],
): AddressAxis {
  const four = new Set<bigint>([0n]);
  const six = new Set<bigint>([0n, ...MAPPED]);
  const add = ({ family, first, last }: AddressRangeOf): void => {
    const borders = family === 4 ? four : six;
    borders.add(addressNumber(first));
    const after = addressNumber(last) + 1n;
    if (after < END[family]) borders.add(after);
  };
  for (const loaded of plans) for (const range of rangesOfPlan(loaded)) add(range);
  for (const range of further) add(range);
  const borders: Borders = { four: sorted(four), six: sorted(six) };
  const count = 1 + borders.four.length + borders.six.length;
  const setOfRanges = (ranges: readonly AddressRangeOf[]): AtomSet => atomsOf(ranges, borders);
  const mapped = setOfRanges([{ family: 6, first: [0, 0, 0xffff, 0], last: [0, 0, 0xffff, NONE] }]);
  const all = subtract(Int32Array.of(0, count), mapped);
  const impossible = unite(mapped, Int32Array.of(0, 1));
  return {
    all,
    setOfRanges,
    setOf(loaded, slot) {
      const { slots } = loaded.plan;
      const at = slots[slot * SLOT.size + SLOT.addresses]!;
      if (at === NONE) return null;
      const listed = setOfRanges([...mergedRanges(loaded, at)]);
      const excludes = (slots[slot * SLOT.size + SLOT.flags]! & FLAG.excludeAddresses) !== 0;
      // An unknown address fails the filter in either mode (semantics §3): an exclude list matches it.
      return excludes ? subtract(all, listed) : subtract(listed, impossible);
    },
    sample: (atom) => sampleOf(atom, borders),
    pick: (set) => {
      const documented = DOCUMENTED.map((range) => setOfRanges([range])[0]!).find((atom) =>
        hasAtom(set, atom),
      );
      if (documented !== undefined) return documented;
      const first = subtract(set, Int32Array.of(0, 1))[0];
      return first ?? set[0]!;
    },
  };
}

/** Addresses for documentation (RFC 5737, RFC 3849), as visitors of witnesses. */
const DOCUMENTED: readonly AddressRangeOf[] = [
  { family: 4, first: [0xcb007107], last: [0xcb007107] },
  { family: 4, first: [0xc6336407], last: [0xc6336407] },
  { family: 6, first: [0x20010db8, 0, 0, 7], last: [0x20010db8, 0, 0, 7] },
];

function sorted(values: Iterable<bigint>): readonly bigint[] {
  return [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

function addressNumber(words: Iterable<number>): bigint {
  let value = 0n;
  for (const word of words) value = (value << 32n) | BigInt(word >>> 0);
  return value;
}

function* rangesOfPlan(loaded: LoadedPlan): Iterable<AddressRangeOf> {
  const { slots } = loaded.plan;
  for (let row = 0; row < slots.length; row += SLOT.size) {
    const at = slots[row + SLOT.addresses]!;
    if (at !== NONE) yield* mergedRanges(loaded, at);
  }
}

/** The merged ranges of the filter at an offset in `words`. */
function* mergedRanges({ plan: { words } }: LoadedPlan, at: number): Iterable<AddressRangeOf> {
  const [n4, n6, m4, m6] = [ADDRESSES.n4, ADDRESSES.n6, ADDRESSES.m4, ADDRESSES.m6].map(
    (field) => words[at + field]!,
  );
  let from = at + ADDRESSES.entries + n4! * 3 + n6! * 9;
  for (let entry = 0; entry < m4!; entry++, from += 2) {
    yield { family: 4, first: [words[from]!], last: [words[from + 1]!] };
  }
  for (let entry = 0; entry < m6!; entry++, from += 8) {
    yield {
      family: 6,
      first: [...words.subarray(from, from + 4)],
      last: [...words.subarray(from + 4, from + 8)],
    };
  }
}

function atomsOf(ranges: readonly AddressRangeOf[], { four, six }: Borders): AtomSet {
  if (ranges.length === 0) return NO_ATOMS;
  const pairs = ranges.map(({ family, first, last }) => {
    const borders = family === 4 ? four : six;
    const base = family === 4 ? 1 : 1 + four.length;
    return [
      base + placeOf(borders, addressNumber(first)),
      base + placeOf(borders, addressNumber(last)) + 1,
    ] as const;
  });
  pairs.sort((a, b) => a[0] - b[0]);
  const out: number[] = [];
  for (const [from, to] of pairs) {
    if (out.length > 0 && from <= out.at(-1)!) out[out.length - 1] = Math.max(out.at(-1)!, to);
    else out.push(from, to);
  }
  return Int32Array.from(out);
}

/** The place of the last border at or before a value. */
function placeOf(borders: readonly bigint[], value: bigint): number {
  let low = 0;
  let high = borders.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (borders[middle]! <= value) low = middle;
    else high = middle;
  }
  return low;
}

function sampleOf(atom: number, { four, six }: Borders): string | null {
  if (atom === 0) return null;
  const family = atom <= four.length ? 4 : 6;
  const borders = family === 4 ? four : six;
  const place = family === 4 ? atom - 1 : atom - 1 - four.length;
  const first = borders[place]!;
  const size = (borders[place + 1] ?? END[family]) - first;
  // The first address of a network is seldom a visitor's.
  const documented = DOCUMENTED.filter((range) => range.family === family)
    .map((range) => addressNumber(range.first))
    .find((address) => address >= first && address < first + size);
  const value = documented ?? (size > 2n ? first + 1n : first);
  const words = family === 4 ? [value] : [value >> 96n, value >> 64n, value >> 32n, value];
  return formatIp(
    family,
    Uint32Array.from(words, (word) => Number(word & 0xffffffffn)),
  );
}
