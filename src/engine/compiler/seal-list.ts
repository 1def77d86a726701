/**
 * Compiles a list to its sealed form (layout: `engine/plan/lists.ts`): once for all plans that name it. In: a list as the model
 * made it. Out: octets; the same entries always give the same.
 */
import { hostPieces } from '../../base/addresses/host.ts';
import { assert } from '../../base/diagnostics/assert.ts';
import { buildAhoCorasick } from '../../base/octets/aho-corasick.ts';
import { lowerAscii } from '../../base/octets/octets.ts';
import { pathPieces } from '../../base/paths/path.ts';
import { MAX_SEALED_LIST } from '../../base/vocabulary/limits.ts';
import { LIST_KINDS, type ListKind } from '../../base/vocabulary/vocabulary.ts';
import type { EntryList, ListEntry } from '../../rules/model/lists.ts';
import { COUNTRY_WORDS, NONE, PATTERN_KIND } from '../plan/layout.ts';
import {
  hashOn,
  hashPlace,
  hashStart,
  LIST_HEADER,
  LIST_MAGIC,
  LIST_VERSION,
  listChecksum,
  ROW_MASK,
  TEXT_INDEX,
} from '../plan/lists.ts';
import { addressWords, countryNumber } from './filters.ts';

/** A list that its sealed form cannot have. The message follows the name of the list. */
export class ListTooLarge extends Error {
  override readonly name = 'ListTooLarge';
}

/**
 * The list's octets.
 * @throws ListTooLarge
 */
export function sealList({ kind, entries }: Pick<EntryList, 'kind' | 'entries'>): Uint8Array {
  const { words, text } = bodyOf(kind, entries);
  const wide = text.some((part) => /[^\u0000-\u00ff]/.test(part));
  const units = text.reduce((sum, part) => sum + part.length, 0);
  const start = LIST_HEADER.size * 4;
  const octets = start + words.length * 4 + Math.ceil((units * (wide ? 2 : 1)) / 8) * 8;
  const total = Math.ceil(octets / 8) * 8;
  if (total > MAX_SEALED_LIST) {
    throw new ListTooLarge(
      `has ${total} octets when it is compiled, at most ${MAX_SEALED_LIST} are possible; divide it`,
    );
  }
  const bytes = new Uint8Array(total);
  new Uint32Array(bytes.buffer, start, words.length).set(words);
  const from = start + words.length * 4;
  const out = wide ? new Uint16Array(bytes.buffer, from, units) : new Uint8Array(bytes.buffer, from, units);
  let at = 0;
  for (const part of text) for (let unit = 0; unit < part.length; unit++) out[at++] = part.charCodeAt(unit);
  const view = new DataView(bytes.buffer);
  const header = [LIST_MAGIC, LIST_VERSION, total, 0, LIST_KINDS.indexOf(kind), entries.length, words.length];
  for (const [word, value] of [...header, units, wide ? 1 : 0].entries())
    view.setUint32(word * 4, value, true);
  view.setUint32(LIST_HEADER.checksum * 4, listChecksum(bytes), true);
  return bytes;
}

/** The words of a list and its text in parts. */
interface Body {
  readonly words: Uint32Array;
  readonly text: readonly string[];
}

function bodyOf(kind: ListKind, entries: readonly ListEntry[]): Body {
  const values = entries.map(({ value }) => value);
  switch (kind) {
    case 'ip':
      return { words: Uint32Array.from(addressWords(values)), text: [] };
    case 'asn':
      return { words: Uint32Array.from(values.map(Number)).sort(), text: [] };
    case 'country': {
      const bits = new Uint32Array(COUNTRY_WORDS);
      for (const number of values.map(countryNumber)) bits[number >> 5]! |= 1 << (number & 31);
      return { words: bits, text: [] };
    }
    case 'host':
    case 'path':
    case 'user_agent':
    case 'redirect':
      return textBody(kind, entries);
    default:
      return kind satisfies never;
  }
}

/** How the texts of a kind are divided at their stars, as the entries of rules are. */
function piecesOf(kind: ListKind, value: string): readonly string[] {
  const pieces =
    kind === 'host'
      ? hostPieces(value)
      : kind === 'user_agent'
        ? lowerAscii(value).split('*')
        : pathPieces(value);
  assert(pieces !== null, 'the model refuses entries that match nothing');
  const last = pieces.length - 1;
  return pieces.filter((piece, index) => index === 0 || index === last || piece !== '');
}

/** A text entry by its cheapest exact test. */
interface TextEntry {
  readonly kind: number;
  /** Pieces of a general wildcard divided by NUL, of another entry its one literal. */
  readonly text: string;
  /** For the automaton; empty: not in it. */
  readonly literal: string;
}

function textEntry(pieces: readonly string[]): TextEntry {
  const [head = '', tail = ''] = [pieces[0], pieces.at(-1)];
  if (pieces.length === 1) return { kind: PATTERN_KIND.exact, text: head, literal: '' };
  if (pieces.length === 2 && tail === '')
    return { kind: head === '' ? PATTERN_KIND.any : PATTERN_KIND.prefix, text: head, literal: '' };
  if (pieces.length === 2 && head === '') return { kind: PATTERN_KIND.suffix, text: tail, literal: '' };
  const literal = pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest), '');
  if (pieces.length === 3 && head === '' && tail === '') {
    return { kind: PATTERN_KIND.contains, text: literal, literal };
  }
  return { kind: PATTERN_KIND.pieces, text: pieces.join('\0'), literal };
}

function textBody(kind: ListKind, entries: readonly ListEntry[]): Body {
  const rows = entries.map(({ value }) => textEntry(piecesOf(kind, value)));
  const words = new Words(TEXT_INDEX.size);
  const index = new Array<number>(TEXT_INDEX.size).fill(NONE);
  const text: string[] = [];
  let units = 0;
  const place = (part: string): readonly [number, number] => {
    text.push(part);
    units += part.length;
    return [units - part.length, part.length];
  };
  const placed = rows.map((row) => place(row.text));
  const targets = entries.map(({ to, status = 0 }) =>
    to === undefined ? NONE : words.put([...place(to), status]),
  );
  index[TEXT_INDEX.rows] = words.put(
    rows.flatMap((row, number) => [...placed[number]!, row.kind, targets[number]!]),
  );
  index[TEXT_INDEX.any] = rows.findIndex((row) => row.kind === PATTERN_KIND.any) + 1;
  const seed = firstSeed(rows);
  index[TEXT_INDEX.seed] = seed;
  for (const [part, lengths, of] of HASHED) {
    const numbers = [...rows.keys()].filter((number) => rows[number]!.kind === of);
    if (numbers.length === 0) continue;
    index[part] = words.put(tableOf(rows, numbers, seed)!);
    if (lengths === null) continue;
    const sorted = [...new Set(numbers.map((number) => rows[number]!.text.length))].sort((a, b) => a - b);
    index[lengths] = words.put([sorted.length, ...sorted]);
  }
  layMachine(rows, words, index);
  return { words: words.from(index), text };
}

/** The parts of the index with a table, their lengths, and the kind of their entries. */
const HASHED = [
  [TEXT_INDEX.exact, null, PATTERN_KIND.exact],
  [TEXT_INDEX.prefix, TEXT_INDEX.prefixLengths, PATTERN_KIND.prefix],
  [TEXT_INDEX.suffix, TEXT_INDEX.suffixLengths, PATTERN_KIND.suffix],
] as const;

/** Places that a search in a table may look at: a list whose author found texts of one hash must not be slow for others. */
const MOST_STEPS = 64;
/** Seeds that are tried. */
const MOST_SEEDS = 16;

/** The first seed under which every table is searched in few steps. @throws ListTooLarge */
function firstSeed(rows: readonly TextEntry[]): number {
  for (let seed = 0; seed < MOST_SEEDS; seed++) {
    const fits = HASHED.every(([, , of]) => {
      const numbers = [...rows.keys()].filter((number) => rows[number]!.kind === of);
      return tableOf(rows, numbers, seed) !== null;
    });
    if (fits) return seed;
  }
  throw new ListTooLarge('has entries whose hashes collide, which no ordinary list has; divide it');
}

/** The table of the rows with these numbers; `null`: a search would take too many steps. */
function tableOf(
  rows: readonly TextEntry[],
  numbers: readonly number[],
  seed: number,
): readonly number[] | null {
  let size = 8;
  while (size < numbers.length * 2) size *= 2;
  const mask = size - 1;
  const table = new Array<number>(size).fill(0);
  for (const number of numbers) {
    const { kind, text } = rows[number]!;
    const hash = hashOf(text, seed, kind === PATTERN_KIND.suffix);
    let at = hashPlace(hash, mask);
    let steps = 0;
    for (; table[at] !== 0; at = (at + 1) & mask) if (++steps > MOST_STEPS) return null;
    table[at] = ((hash & ~ROW_MASK) | (number + 1)) >>> 0;
  }
  return [mask, ...table];
}

function hashOf(text: string, seed: number, backwards: boolean): number {
  let hash = hashStart(seed);
  const last = text.length - 1;
  for (let at = 0; at <= last; at++) hash = hashOn(hash, text.charCodeAt(backwards ? last - at : at));
  return hash;
}

/** Lays the automaton over the literals of the entries that no table has. */
function layMachine(rows: readonly TextEntry[], words: Words, index: number[]): void {
  const byLiteral = new Map<string, number[]>();
  for (const [number, { literal }] of rows.entries()) {
    if (literal === '') continue;
    const same = byLiteral.get(literal);
    if (same === undefined) byLiteral.set(literal, [number]);
    else same.push(number);
  }
  if (byLiteral.size === 0) return;
  const machine = buildAhoCorasick([...byLiteral.keys()]);
  index[TEXT_INDEX.machine] = words.put(machine);
  index[TEXT_INDEX.machineWords] = machine.length;
  const places = [...byLiteral.values()].map((numbers) => words.put([numbers.length, ...numbers]));
  index[TEXT_INDEX.machineRows] = words.put(places);
}

/** Growing words, the first of which are reserved. */
class Words {
  readonly #parts: ArrayLike<number>[] = [];
  #length: number;
  readonly #reserved: number;

  constructor(reserved: number) {
    this.#reserved = reserved;
    this.#length = reserved;
  }

  /** Adds words and returns the offset of the first. */
  put(words: ArrayLike<number>): number {
    this.#parts.push(words);
    this.#length += words.length;
    return this.#length - words.length;
  }

  /** All words after the reserved ones. */
  from(reserved: ArrayLike<number>): Uint32Array {
    assert(reserved.length === this.#reserved, 'as many words as were reserved');
    const all = new Uint32Array(this.#length);
    let at = 0;
    for (const part of [reserved, ...this.#parts]) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}
