/**
 * The lists that rules name (semantics §13), as proofs read them: the texts of a list as wildcards, its addresses as ranges. In: an
 * opened list. Out: what it has, or `null` for one that is too large for a proof; rules that name it are then left open.
 */
import { entryAt, isText, type OpenedList } from '../../../engine/evaluator/lists.ts';
import type { LoadedPlan } from '../../../engine/evaluator/loaded.ts';
import {
  ADDRESSES,
  COUNTRIES,
  LISTED,
  LISTED_FILTER,
  NONE,
  PATTERN,
  PATTERN_KIND,
} from '../../../engine/plan/layout.ts';

/** Entries and characters of a list of texts that is part of a space. */
const MAX_LISTED_TEXTS = 512;
const MAX_LISTED_CHARACTERS = 60_000;
/** Intervals of a list of addresses that is part of a space. */
const MAX_LISTED_INTERVALS = 20_000;

/** The wildcards of a text, as pieces. */
export type ListedWildcards = readonly (readonly string[])[];

/** The lists that were read: a list is shared by all rules that name it. */
const READ = new WeakMap<OpenedList, ListedWildcards | null>();

/**
 * The entries of a list as wildcards, in an order that is the same for equal lists: of kind `asn` digits, of `country` codes.
 * `null`: too many. Numbers and countries are never too many.
 */
export function alternativesOf(list: OpenedList): ListedWildcards | null {
  const known = READ.get(list);
  if (known !== undefined) return known;
  const made = readAlternatives(list);
  READ.set(list, made);
  return made;
}

function readAlternatives(list: OpenedList): ListedWildcards | null {
  const { kind, entries, words, text } = list;
  if (kind === 'asn') return Array.from(words, (number) => [String(number)]);
  if (kind === 'country') return countriesOf(list);
  if (!isText(kind) || entries > MAX_LISTED_TEXTS || text.length > MAX_LISTED_CHARACTERS) return null;
  const pieces = Array.from({ length: entries }, (_, number) => piecesAt(list, number));
  const keyed = new Map(pieces.map((one) => [JSON.stringify(one), one]));
  return [...keyed.keys()].sort().map((key) => keyed.get(key)!);
}

function countriesOf({ words }: OpenedList): ListedWildcards {
  const listed = Array.from({ length: COUNTRIES }, (_, number) => number).filter(
    (number) => ((words[number >> 5]! >>> (number & 31)) & 1) === 1,
  );
  return listed.map((number) => [String.fromCharCode(65 + Math.floor(number / 26), 65 + (number % 26))]);
}

/** An entry as the pieces between its stars. */
export function piecesAt(list: OpenedList, number: number): readonly string[] {
  const { kind, text } = entryAt(list, number);
  switch (kind) {
    case PATTERN_KIND.any:
      return ['', ''];
    case PATTERN_KIND.prefix:
      return [text, ''];
    case PATTERN_KIND.suffix:
      return ['', text];
    case PATTERN_KIND.contains:
      return ['', text, ''];
    case PATTERN_KIND.pieces:
      return text.split('\0');
    default:
      return [text];
  }
}

/** The list that a pattern of a plan names; `null`: it names none. */
export function listOfPattern({ plan: { patterns }, lists }: LoadedPlan, number: number): OpenedList | null {
  const row = number * PATTERN.size;
  if (patterns[row + PATTERN.kind] !== PATTERN_KIND.list) return null;
  return lists[patterns[row + PATTERN.data]!]!;
}

/** An inclusive range: one word for IPv4, four for IPv6. */
export interface AddressRangeOf {
  readonly family: 4 | 6;
  readonly first: readonly number[];
  readonly last: readonly number[];
}

/** The merged ranges of the entries of an address filter that name no list. `at`: its offset in `words`. */
export function rangesAt({ plan: { words } }: LoadedPlan, at: number): readonly AddressRangeOf[] {
  const plain = words[at] === LISTED ? words[at + LISTED_FILTER.plain]! : at;
  return plain === NONE ? [] : [...mergedRanges(words, plain)];
}

/** The lists that an address filter or a list of countries names. */
export function listsAt({ plan, lists }: LoadedPlan, at: number): readonly OpenedList[] {
  return listNumbersAt(plan.words, at).map((number) => lists[number]!);
}

/** The numbers of these lists. */
export function listNumbersAt(words: Uint32Array, at: number): readonly number[] {
  if (words[at] !== LISTED) return [];
  const from = at + LISTED_FILTER.entries;
  const entries = words.subarray(from, from + words[at + LISTED_FILTER.count]!);
  return [...entries].flatMap((number) => (number === 0 ? [] : [number - 1]));
}

/** The merged ranges of a list of addresses; `null`: too many. */
export function rangesOfList({ words }: OpenedList): readonly AddressRangeOf[] | null {
  const count = words[ADDRESSES.m4]! + words[ADDRESSES.m6]!;
  return count > MAX_LISTED_INTERVALS ? null : [...mergedRanges(words, 0)];
}

function* mergedRanges(words: Uint32Array, at: number): Iterable<AddressRangeOf> {
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
