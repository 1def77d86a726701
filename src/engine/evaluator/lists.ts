/**
 * Opened lists (layout: `engine/plan/lists.ts`) and whether one has an address, a number, a country or a text. A list is opened
 * once and shared by all evaluators whose plans name it; a look-up allocates nothing and takes at most one pass over a text.
 */
import {
  ahoCorasickFault,
  createHits,
  type LiteralHits,
  literalCount,
  resetHits,
  scanAhoCorasick,
} from '../../base/octets/aho-corasick.ts';
import { LIST_KINDS, type ListKind } from '../../base/vocabulary/vocabulary.ts';
import { COUNTRIES, COUNTRY_WORDS, NONE, PATTERN_KIND, PlanFault } from '../plan/layout.ts';
import {
  hashOn,
  hashPlace,
  hashStart,
  LIST_HEADER,
  LIST_MAGIC,
  LIST_VERSION,
  listChecksum,
  REDIRECT_ROW,
  ROW_MASK,
  TEXT_INDEX,
  TEXT_ROW,
} from '../plan/lists.ts';

/** A list as evaluators use it: views of its octets. */
export interface OpenedList {
  readonly kind: ListKind;
  readonly entries: number;
  /** Octets of the sealed form. */
  readonly octets: number;
  readonly words: Uint32Array;
  readonly text: Uint8Array | Uint16Array;
  /** The automaton of kinds that have texts; `null`: no entry needs one. */
  readonly machine: { readonly words: Uint32Array; readonly hits: LiteralHits } | null;
  /** Pieces of general wildcards by row, decoded at their first use. */
  readonly pieces: Map<number, readonly string[]>;
  /** The last two texts and the rows that matched them, or -1. PERF: a path has two forms, and several rules name one list. */
  readonly memo: [Remembered, Remembered];
}

interface Remembered {
  text: string | null;
  row: number;
}

/** What the caller knows about the octets. */
export interface OpenListOptions {
  /** Skip the checksum and the checks of the tables for octets that this process has checked before. */
  readonly trusted?: boolean;
}

/**
 * Opens a sealed list. The octets must not change afterwards: the list is a view of them (a copy is made only if the array does
 * not start on an 8-byte boundary).
 * @throws PlanFault naming what was found and what this build reads
 */
export function openList(bytes: Uint8Array, { trusted = false }: OpenListOptions = {}): OpenedList {
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
  const start = LIST_HEADER.size * 4;
  if (aligned.length < start)
    throw fault('truncated', `has at least ${start} octets, these are ${aligned.length}`);
  const view = new DataView(aligned.buffer, aligned.byteOffset, aligned.byteLength);
  const header = (word: number): number => view.getUint32(word * 4, true);
  if (header(LIST_HEADER.magic) !== LIST_MAGIC)
    throw fault('not_a_plan', 'starts with `EPLL`, these octets do not');
  const version = header(LIST_HEADER.version);
  if (version !== LIST_VERSION) {
    const advice = version > LIST_VERSION ? 'upgrade this node' : 'compile it again';
    throw fault('version', `has version ${version}, this build reads ${LIST_VERSION}; ${advice}`);
  }
  const total = header(LIST_HEADER.bytes);
  if (total !== aligned.length)
    throw fault('truncated', `says it has ${total} octets, these are ${aligned.length}`);
  if (!trusted && listChecksum(aligned) !== header(LIST_HEADER.checksum))
    throw fault('checksum', 'is damaged: its checksum differs; fetch or compile it again');
  const count = header(LIST_HEADER.words);
  const units = header(LIST_HEADER.text);
  const wide = header(LIST_HEADER.wide) === 1;
  const kind = LIST_KINDS[header(LIST_HEADER.kind)];
  if (kind === undefined || start + count * 4 + units * (wide ? 2 : 1) > total)
    throw fault('layout', 'is damaged: its parts lie outside it; fetch or compile it again');
  const words = new Uint32Array(aligned.buffer, aligned.byteOffset + start, count);
  const from = aligned.byteOffset + start + count * 4;
  const text = wide
    ? new Uint16Array(aligned.buffer, from, units)
    : new Uint8Array(aligned.buffer, from, units);
  const opened = { kind, entries: header(LIST_HEADER.entries), octets: total, words, text };
  if (!trusted && isText(kind)) checkIndex(opened);
  const hasMachine = isText(kind) && words[TEXT_INDEX.machine] !== NONE;
  return {
    ...opened,
    machine: hasMachine ? machineOf(words) : null,
    pieces: new Map(),
    memo: [
      { text: null, row: -1 },
      { text: null, row: -1 },
    ],
  };
}

function fault(code: PlanFault['code'], what: string): PlanFault {
  return new PlanFault(code, `a sealed list ${what}`);
}

/** Whether the entries of a kind are texts that `entryAt` reads. */
export function isText(kind: ListKind): boolean {
  return kind !== 'ip' && kind !== 'asn' && kind !== 'country';
}

function machineOf(words: Uint32Array): NonNullable<OpenedList['machine']> {
  const at = words[TEXT_INDEX.machine]!;
  const machine = words.subarray(at, at + words[TEXT_INDEX.machineWords]!);
  return { words: machine, hits: createHits(literalCount(machine, 0)) };
}

/** Checks what look-ups follow: rows and tables lie inside the list, each table has a free place, and the automaton ends. */
function checkIndex({ entries, words, text }: Pick<OpenedList, 'entries' | 'words' | 'text'>): void {
  const damaged = (what: string): PlanFault =>
    fault('layout', `is damaged: ${what}; fetch or compile it again`);
  const rows = words[TEXT_INDEX.rows] ?? NONE;
  if (words.length < TEXT_INDEX.size || rows + entries * TEXT_ROW.size > words.length)
    throw damaged('its rows lie outside it');
  for (let row = 0; row < entries; row++) {
    const at = rows + row * TEXT_ROW.size;
    if (words[at + TEXT_ROW.at]! + words[at + TEXT_ROW.length]! > text.length)
      throw damaged('a text lies outside it');
  }
  for (const part of [TEXT_INDEX.exact, TEXT_INDEX.prefix, TEXT_INDEX.suffix]) {
    const at = words[part]!;
    if (at === NONE) continue;
    const size = words[at]! + 1;
    const table = words.subarray(at + 1, at + 1 + size);
    if (table.length !== size || (size & (size - 1)) !== 0 || !table.includes(0))
      throw damaged('a table has another size');
    if (table.some((word) => (word & ROW_MASK) > entries))
      throw damaged('a table names an entry that is not there');
  }
  if (words[TEXT_INDEX.machine] === NONE) return;
  const wrong = ahoCorasickFault(machineOf(words).words);
  if (wrong !== null) throw damaged(`the machine of literals ${wrong}`);
}

/** Whether a list of kind `asn` has a number. */
export function hasNumber({ words }: OpenedList, number: number): boolean {
  let low = 0;
  let high = words.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (words[middle]! < number) low = middle + 1;
    else high = middle;
  }
  return low < words.length && words[low] === number;
}

/** Whether a list of kind `country` has the country with this number (`countryNumber`). */
export function hasCountry({ words }: OpenedList, country: number): boolean {
  if (country < 0 || country >= COUNTRIES || words.length < COUNTRY_WORDS) return false;
  return ((words[country >> 5]! >>> (country & 31)) & 1) === 1;
}

/** Whether a list has a text: of kind `asn` digits, of kind `country` a code, else what an entry matches. */
export function hasText(list: OpenedList, text: string): boolean {
  if (list.kind === 'asn') return hasNumber(list, Number(text));
  if (list.kind === 'country')
    return hasCountry(list, (text.charCodeAt(0) - 65) * 26 + text.charCodeAt(1) - 65);
  return rowOf(list, text) >= 0;
}

/** The row of an entry that matches a text, or -1. */
export function rowOf(list: OpenedList, text: string): number {
  const [last, before] = list.memo;
  if (last.text === text) return last.row;
  if (before.text === text) return before.row;
  list.memo[0] = before;
  list.memo[1] = last;
  before.text = text;
  before.row = searchRow(list, text);
  return before.row;
}

/** Whether an entry matches every text that starts with `text`. */
export function hasStart(list: OpenedList, text: string): boolean {
  if (!isText(list.kind)) return false;
  const { words } = list;
  return (
    words[TEXT_INDEX.any] !== 0 || prefixRow(list, text, false) >= 0 || machineRow(list, text, false) >= 0
  );
}

function searchRow(list: OpenedList, text: string): number {
  const any = list.words[TEXT_INDEX.any]!;
  if (any !== 0) return any - 1;
  const prefix = prefixRow(list, text, true);
  if (prefix >= 0) return prefix;
  const suffix = suffixRow(list, text);
  return suffix >= 0 ? suffix : machineRow(list, text, true);
}

/** The entry that is a start of the text or, if it is `whole`, all of it; or -1. */
function prefixRow(list: OpenedList, text: string, whole: boolean): number {
  const { words } = list;
  const exact = whole ? words[TEXT_INDEX.exact]! : NONE;
  const prefix = words[TEXT_INDEX.prefix]!;
  if (exact === NONE && prefix === NONE) return -1;
  const lengths = words[TEXT_INDEX.prefixLengths]!;
  const end = prefix === NONE ? 0 : lengths + 1 + words[lengths]!;
  let next = lengths + 1;
  let hash = hashStart(words[TEXT_INDEX.seed]!);
  for (let at = 0; at < text.length; at++) {
    if (next < end && words[next] === at) {
      next++;
      const row = tableRow(list, prefix, hash, text, 0, at);
      if (row >= 0) return row;
    } else if (next >= end && exact === NONE) return -1;
    hash = hashOn(hash, text.charCodeAt(at));
  }
  if (next < end && words[next] === text.length) {
    const row = tableRow(list, prefix, hash, text, 0, text.length);
    if (row >= 0) return row;
  }
  return exact === NONE ? -1 : tableRow(list, exact, hash, text, 0, text.length);
}

/** The entry that is an end of the text, or -1. */
function suffixRow(list: OpenedList, text: string): number {
  const { words } = list;
  const suffix = words[TEXT_INDEX.suffix]!;
  if (suffix === NONE) return -1;
  const lengths = words[TEXT_INDEX.suffixLengths]!;
  const end = lengths + 1 + words[lengths]!;
  let hash = hashStart(words[TEXT_INDEX.seed]!);
  let length = 0;
  for (let next = lengths + 1; next < end && words[next]! <= text.length; next++) {
    for (; length < words[next]!; length++) hash = hashOn(hash, text.charCodeAt(text.length - 1 - length));
    const row = tableRow(list, suffix, hash, text, text.length - length, length);
    if (row >= 0) return row;
  }
  return -1;
}

/**
 * The row in a table whose text is `length` characters of `text` from `from` on, or -1.
 * PERF: six parameters, for an object to carry them would be allocated at each call.
 */
function tableRow(
  list: OpenedList,
  table: number,
  hash: number,
  text: string,
  from: number,
  length: number,
): number {
  const { words } = list;
  const mask = words[table]!;
  const rows = words[TEXT_INDEX.rows]!;
  for (let place = hashPlace(hash, mask); ; place = (place + 1) & mask) {
    const word = words[table + 1 + place]!;
    if (word === 0) return -1;
    if (((word ^ hash) & ~ROW_MASK) !== 0) continue;
    const number = word & ROW_MASK;
    const row = rows + (number - 1) * TEXT_ROW.size;
    if (words[row + TEXT_ROW.length] !== length) continue;
    const start = words[row + TEXT_ROW.at]!;
    let at = 0;
    while (at < length && list.text[start + at] === text.charCodeAt(from + at)) at++;
    if (at === length) return number - 1;
  }
}

/** The entry that the automaton finds, or -1; without `whole` only one that matches however the text goes on. */
function machineRow(list: OpenedList, text: string, whole: boolean): number {
  const { machine, words } = list;
  if (machine === null) return -1;
  resetHits(machine.hits);
  scanAhoCorasick(machine.words, 0, text, machine.hits);
  const places = words[TEXT_INDEX.machineRows]!;
  const rows = words[TEXT_INDEX.rows]!;
  for (let hit = 0; hit < machine.hits.count; hit++) {
    const place = words[places + machine.hits.literals[hit]!]!;
    const end = place + 1 + words[place]!;
    for (let at = place + 1; at < end; at++) {
      const number = words[at]!;
      if (words[rows + number * TEXT_ROW.size + TEXT_ROW.kind] === PATTERN_KIND.contains) return number;
      const pieces = piecesOf(list, number);
      if ((whole || pieces.at(-1) === '') && piecesMatch(pieces, text)) return number;
    }
  }
  return -1;
}

function piecesOf(list: OpenedList, number: number): readonly string[] {
  const known = list.pieces.get(number);
  if (known !== undefined) return known;
  const pieces = entryAt(list, number).text.split('\0');
  list.pieces.set(number, pieces);
  return pieces;
}

/** An entry of a list of texts: its kind (PATTERN_KIND), and its text, in which NUL divides the pieces of a general wildcard. */
export function entryAt(
  { words, text }: OpenedList,
  number: number,
): { readonly kind: number; readonly text: string } {
  const row = words[TEXT_INDEX.rows]! + number * TEXT_ROW.size;
  const from = words[row + TEXT_ROW.at]!;
  return { kind: words[row + TEXT_ROW.kind]!, text: textAt(text, from, words[row + TEXT_ROW.length]!) };
}

function textAt(text: OpenedList['text'], from: number, length: number): string {
  let decoded = '';
  for (let at = from; at < from + length; at++) decoded += String.fromCharCode(text[at]!);
  return decoded;
}

/** The target and the status (0: that of the rule) of a redirect. */
export function redirectOf(
  { words, text }: OpenedList,
  number: number,
): { readonly to: string; readonly status: number } {
  const row = words[words[TEXT_INDEX.rows]! + number * TEXT_ROW.size + TEXT_ROW.data]!;
  const to = textAt(text, words[row + REDIRECT_ROW.at]!, words[row + REDIRECT_ROW.length]!);
  return { to, status: words[row + REDIRECT_ROW.status]! };
}

/** Matches a wildcard's pieces. The leftmost place is the best for every inner piece, so no backtracking is needed. */
export function piecesMatch(pieces: readonly string[], text: string): boolean {
  const last = pieces.length - 1;
  const head = pieces[0]!;
  const tail = pieces[last]!;
  const end = text.length - tail.length;
  if (head.length > end || !text.startsWith(head) || !text.endsWith(tail)) return false;
  let at = head.length;
  for (let index = 1; index < last; index++) {
    const piece = pieces[index]!;
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= end;
}
