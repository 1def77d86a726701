/**
 * The axes of the space but that of hosts: addresses of visitors, countries, bots, fingerprints, statuses of responses.
 * In: the filters of plans. Out: the atoms of an axis and the set of atoms of each filter.
 * Addresses are divided at all the borders of address filters, IPv4 before IPv6; atom 0 is an unknown address.
 */
import { COUNTRIES as ASSIGNED } from '../../../base/addresses/countries.ts';
import { formatIp } from '../../../base/addresses/ip.ts';
import { BOT_KINDS, SEARCH_CRAWLERS } from '../../../base/vocabulary/vocabulary.ts';
import type { OpenedList } from '../../../engine/evaluator/lists.ts';
import { type LoadedPlan, textsAt } from '../../../engine/evaluator/loaded.ts';
import { isCountryListed } from '../../../engine/evaluator/predicates.ts';
import { COUNTRIES, FLAG, NONE, PAGE_FIELDS, SLOT, typeNumber } from '../../../engine/plan/layout.ts';
import { type AtomSet, atomSet, hasAtom, NO_ATOMS, subtract, unite } from './boxes.ts';
import { type AddressRangeOf, listsAt, rangesAt, rangesOfList } from './lists.ts';
import { type PlanTerm, termsOfPlan, textsOfTerm } from './terms.ts';

/** The axis. */
export interface AddressAxis {
  /** Every address that a request can have, and the unknown one. */
  readonly all: AtomSet;
  /** The addresses that a slot's filter accepts; `null`: it has none; `unknown`: it names a list that is too large. */
  setOf(loaded: LoadedPlan, slot: number): AtomSet | null | 'unknown';
  /** The addresses that a term of conditions accepts; `null`: it names a list that is too large. */
  setOfTerm(loaded: LoadedPlan, term: PlanTerm): AtomSet | null;
  /** An address of an atom; `null`: the unknown one. */
  sample(atom: number): string | null;
  /** The atom of a set that reads best: one with an address for documentation, else the first known one. */
  pick(set: AtomSet): number;
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
  for (const loaded of plans)
    for (const at of filtersOfPlan(loaded)) for (const range of rangesAt(loaded, at)) add(range);
  const lists = new Set(
    plans.flatMap((loaded) => [...filtersOfPlan(loaded)].flatMap((at) => listsAt(loaded, at))),
  );
  for (const list of lists) for (const range of rangesOfList(list) ?? []) add(range);
  for (const range of further) add(range);
  const borders: Borders = { four: sorted(four), six: sorted(six) };
  const count = 1 + borders.four.length + borders.six.length;
  const setOfRanges = (ranges: readonly AddressRangeOf[]): AtomSet => atomsOf(ranges, borders);
  const mapped = setOfRanges([{ family: 6, first: [0, 0, 0xffff, 0], last: [0, 0, 0xffff, NONE] }]);
  const all = subtract(Int32Array.of(0, count), mapped);
  const impossible = unite(mapped, Int32Array.of(0, 1));
  // PERF: many rules may name one list.
  const ofLists = new Map<OpenedList, AtomSet | null>();
  const setOfList = (list: OpenedList): AtomSet | null => {
    const known = ofLists.get(list);
    if (known !== undefined) return known;
    const ranges = rangesOfList(list);
    const made = ranges === null ? null : setOfRanges(ranges);
    ofLists.set(list, made);
    return made;
  };
  const setAt = (loaded: LoadedPlan, at: number): AtomSet | null =>
    listsAt(loaded, at).reduce<AtomSet | null>(
      (all, list) => {
        const set = setOfList(list);
        return all === null || set === null ? null : unite(all, set);
      },
      setOfRanges(rangesAt(loaded, at)),
    );
  return {
    all,
    setOfTerm(loaded, { data, negated }) {
      const listed = setAt(loaded, data);
      if (listed === null) return null;
      // An unknown address is in no list (semantics §12).
      return negated ? subtract(all, listed) : subtract(listed, impossible);
    },
    setOf(loaded, slot) {
      const { slots } = loaded.plan;
      const at = slots[slot * SLOT.size + SLOT.addresses]!;
      if (at === NONE) return null;
      const listed = setAt(loaded, at);
      if (listed === null) return 'unknown';
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

/** Offsets in `words` of all address filters. */
function* filtersOfPlan(loaded: LoadedPlan): Iterable<number> {
  const { slots } = loaded.plan;
  for (let row = 0; row < slots.length; row += SLOT.size) {
    const at = slots[row + SLOT.addresses]!;
    if (at !== NONE) yield at;
  }
  for (const { comparison, data } of termsOfPlan(loaded)) if (comparison === 'addresses') yield data;
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

// The axes over small sets: countries, bots, fingerprints, statuses of responses.

/** An axis whose atoms are few. */
export interface SmallAxis<Sample> {
  readonly all: AtomSet;
  /** The atoms that a slot's filter accepts; `null`: it has no filter on this axis. */
  setOf(loaded: LoadedPlan, slot: number): AtomSet | null;
  sample(atom: number): Sample;
}

const row = (slot: number): number => slot * SLOT.size;
const flagsOf = ({ plan }: LoadedPlan, slot: number): number => plan.slots[row(slot) + SLOT.flags]!;
const typeOf = (loaded: LoadedPlan, slot: number): number => flagsOf(loaded, slot) & FLAG.type;

/** `XX`, which means unknown. */
const UNKNOWN_CODE = 23 * 26 + 23;

/** Countries: one atom a code, the last for an unknown country. */
export function countryAxis(): SmallAxis<string | null> & { numberOf(code: string): number } {
  const all = subtract(Int32Array.of(0, COUNTRIES + 1), Int32Array.of(UNKNOWN_CODE, UNKNOWN_CODE + 1));
  const codeOf = (atom: number): string => String.fromCharCode(65 + Math.floor(atom / 26), 65 + (atom % 26));
  return {
    all,
    setOf(loaded, slot) {
      const at = loaded.plan.slots[row(slot) + SLOT.countries]!;
      if (at === NONE) return null;
      const listed = atomSet(
        [...Array(COUNTRIES).keys()].filter((code) => isCountryListed(loaded, at, code)),
      );
      const excludes = (flagsOf(loaded, slot) & FLAG.excludeCountries) !== 0;
      return excludes ? subtract(all, listed) : listed;
    },
    sample: (atom) => (atom === COUNTRIES ? null : codeOf(atom)),
    numberOf: (code) => (code.charCodeAt(0) - 65) * 26 + code.charCodeAt(1) - 65,
  };
}

/** Whether a country code is assigned; witnesses prefer those. */
export function isAssigned(code: string | null): boolean {
  return code !== null && ASSIGNED.has(code);
}

/** A bot as the evaluator takes it. */
export interface BotSample {
  readonly kind: string;
  readonly verified: boolean;
}

const BOT_ROUTE = typeNumber('bot_route');
const FINGERPRINT = typeNumber('fingerprint');
const ERROR_PAGE = typeNumber('error_page');

/** Bots: atom 0 for no bot, then each kind unverified and verified. Kinds beyond the named ones are one. */
export function botAxis(): SmallAxis<BotSample | null> & {
  readonly crawlers: AtomSet;
  readonly verified: AtomSet;
  kindSet(kind: string): AtomSet;
} {
  const kinds: readonly string[] = [...BOT_KINDS, 'other-bot'];
  const all = Int32Array.of(0, 1 + kinds.length * 2);
  const crawlers = atomSet(SEARCH_CRAWLERS.map((kind) => 2 + kinds.indexOf(kind) * 2));
  return {
    all,
    crawlers,
    verified: atomSet(kinds.map((_, kind) => 2 + kind * 2)),
    kindSet: (kind) => {
      const place = kinds.indexOf(kind);
      return kind === '*' ? Int32Array.of(1, all[1]!) : Int32Array.of(1 + place * 2, 3 + place * 2);
    },
    setOf(loaded, slot) {
      const at = loaded.plan.slots[row(slot) + SLOT.kinds]!;
      if (at === NONE || typeOf(loaded, slot) !== BOT_ROUTE) return null;
      const mask = loaded.plan.words[at]!;
      const verifiedOnly = (flagsOf(loaded, slot) & FLAG.requireVerified) !== 0;
      const any = (mask & (1 << BOT_KINDS.length)) !== 0;
      return atomSet(
        kinds.flatMap((_, kind) => {
          if (!any && (mask & (1 << kind)) === 0) return [];
          return verifiedOnly ? [2 + kind * 2] : [1 + kind * 2, 2 + kind * 2];
        }),
      );
    },
    sample: (atom) => (atom === 0 ? null : { kind: kinds[(atom - 1) >> 1]!, verified: (atom - 1) % 2 === 1 }),
  };
}

/** The entries of one fingerprint list of a slot. */
function fingerprintEntries(loaded: LoadedPlan, slot: number, which: 'ja4' | 'ja4h'): readonly string[] {
  const at = loaded.plan.slots[row(slot) + SLOT.kinds]!;
  if (at === NONE || typeOf(loaded, slot) !== FINGERPRINT) return [];
  const second = at + 1 + loaded.plan.words[at]!;
  return textsAt(loaded, which === 'ja4' ? at : second);
}

/** A character that ends the sample of a prefix, so that it is no longer entry. */
const FILLER = '0';

/**
 * Fingerprints: atom 0 for none, 1 for one that no entry names, then one for each exact entry and one for the texts whose
 * longest listed prefix is a given one.
 */
export function fingerprintAxis(
  plans: readonly LoadedPlan[],
  which: 'ja4' | 'ja4h',
): SmallAxis<string | null> & { setOfEntries(entries: readonly string[]): AtomSet } {
  const entries = new Set<string>();
  for (const loaded of plans) {
    for (const term of which === 'ja4' ? termsOfPlan(loaded) : [])
      if (term.kind === 'ja4') for (const entry of textsOfTerm(loaded, term)) entries.add(entry);
    for (let slot = 0; slot < loaded.plan.slots.length / SLOT.size; slot++) {
      for (const entry of fingerprintEntries(loaded, slot, which)) entries.add(entry);
    }
  }
  const exact = [...entries].filter((entry) => !entry.endsWith('*'));
  const prefixes = [...entries].filter((entry) => entry.endsWith('*')).map((entry) => entry.slice(0, -1));
  const samples: (string | null)[] = [null, unlisted('none', { exact, prefixes }, ''), ...exact];
  for (const prefix of prefixes) samples.push(unlisted(prefix, { exact, prefixes }, prefix));
  const matches = (entry: string, text: string): boolean =>
    entry.endsWith('*') ? text.startsWith(entry.slice(0, -1)) : text === entry;
  const setOfEntries = (listed: readonly string[]): AtomSet =>
    atomSet(
      [...samples.keys()].filter((atom) => {
        const sample = samples[atom]!;
        return sample !== null && listed.some((entry) => matches(entry, sample));
      }),
    );
  return {
    all: Int32Array.of(0, samples.length),
    setOfEntries,
    setOf(loaded, slot) {
      const listed = fingerprintEntries(loaded, slot, which);
      return listed.length === 0 ? null : setOfEntries(listed);
    },
    sample: (atom) => samples[atom]!,
  };
}

/** A text that starts with `start`, is no exact entry, and has no listed prefix longer than `prefix`. */
function unlisted(
  start: string,
  { exact, prefixes }: { readonly exact: readonly string[]; readonly prefixes: readonly string[] },
  prefix: string,
): string {
  const isFree = (text: string): boolean =>
    !exact.includes(text) &&
    !prefixes.some((other) => other.length > prefix.length && text.startsWith(other));
  let text = start;
  // Each listed entry excludes at most one of these texts, or all that follow it; another filler leaves those.
  for (let tried = 0; !isFree(text) && tried <= exact.length + prefixes.length; tried++) {
    text = `${start}${FILLER.repeat((tried % 4) + 1)}${tried}`;
  }
  return text;
}

/** Statuses of responses: those that an error_page rule of a plan lists, and one that none lists. */
export function statusAxis(plans: readonly LoadedPlan[]): SmallAxis<number> {
  const codesOf = (loaded: LoadedPlan, slot: number): Uint32Array => {
    const codes = loaded.plan.slots[row(slot) + SLOT.fields]! + PAGE_FIELDS.codes;
    return loaded.plan.words.subarray(codes, codes + loaded.plan.words[codes - 1]!);
  };
  const listed = new Set<number>();
  for (const loaded of plans) {
    for (let slot = 0; slot < loaded.plan.slots.length / SLOT.size; slot++) {
      if (typeOf(loaded, slot) === ERROR_PAGE) for (const code of codesOf(loaded, slot)) listed.add(code);
    }
  }
  const codes = [...listed].sort((a, b) => a - b);
  let other = 400;
  while (listed.has(other)) other++;
  const samples = [...codes, other];
  return {
    all: Int32Array.of(0, samples.length),
    setOf: (loaded, slot) =>
      typeOf(loaded, slot) === ERROR_PAGE
        ? atomSet([...codesOf(loaded, slot)].map((code) => samples.indexOf(code)))
        : null,
    sample: (atom) => samples[atom]!,
  };
}
