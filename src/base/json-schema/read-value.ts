/**
 * Reads the JSON of a body for its schema (RFC 8259), without what parsers read differently: valid UTF-8 without a byte order mark, no
 * name twice in one object, no lone surrogate, numbers without rounding. In: octets. Out: a value, whose objects are maps. Linear in
 * the length, and no deeper than `MAX_VALUE_DEPTH`.
 */
import { type Decimal, readDecimal } from './decimal.ts';

/** A value of JSON. */
export type JsonValue =
  | null
  | boolean
  | string
  | number
  | Decimal
  | readonly JsonValue[]
  | ReadonlyMap<string, JsonValue>;

/** Maximum nesting depth of objects and lists: as of other bodies that the edge reads, and the recursion of a schema ends there. */
export const MAX_VALUE_DEPTH = 32;

/** A value, or why the text is no JSON. */
export type JsonReading =
  | { readonly ok: true; readonly value: JsonValue }
  | {
      readonly ok: false;
      /** It may be valid JSON, beyond what is read. */
      readonly isBeyond: boolean;
      /** Without text of the body. */
      readonly detail: string;
    };

interface Reader {
  readonly text: string;
  at: number;
  depth: number;
  error: { readonly isBeyond: boolean; readonly detail: string } | null;
}

/** Reads one value. Never throws. */
export function readValue(octets: Uint8Array): JsonReading {
  const text = decodeUtf8(octets);
  if (text === null) return { ok: false, isBeyond: false, detail: 'must be valid UTF-8' };
  const reader: Reader = { text, at: 0, depth: 0, error: null };
  const value = readNext(reader);
  if (reader.error === null && skipBlanks(reader) >= 0) fail(reader);
  return reader.error === null ? { ok: true, value } : { ok: false, ...reader.error };
}

function fail(reader: Reader, detail = 'must be valid JSON', isBeyond = false): null {
  reader.error ??= { isBeyond, detail };
  reader.at = reader.text.length;
  return null;
}

const [QUOTE, COMMA, MINUS, POINT, COLON, BACKSLASH] = [0x22, 0x2c, 0x2d, 0x2e, 0x3a, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The next code unit after white space, which is not read; -1: the end. */
function skipBlanks(reader: Reader): number {
  const { text } = reader;
  for (; reader.at < text.length; reader.at++) {
    const code = text.charCodeAt(reader.at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
  }
  return -1;
}

function readNext(reader: Reader): JsonValue {
  const code = skipBlanks(reader);
  if (code === QUOTE) return stringOf(reader);
  if (code === OPEN_OBJECT) return below(reader, objectOf);
  if (code === OPEN_LIST) return below(reader, listOf);
  if (code === MINUS || (code >= 0x30 && code <= 0x39)) return numberOf(reader);
  for (const [word, value] of WORDS) {
    if (!reader.text.startsWith(word, reader.at)) continue;
    reader.at += word.length;
    return value;
  }
  return fail(reader);
}

const WORDS: readonly (readonly [string, boolean | null])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

function below(reader: Reader, read: (reader: Reader) => JsonValue): JsonValue {
  if (++reader.depth > MAX_VALUE_DEPTH) return fail(reader, 'is nested too deep', true);
  reader.at++;
  const value = read(reader);
  reader.depth--;
  return value;
}

function listOf(reader: Reader): JsonValue {
  const list: JsonValue[] = [];
  if (closes(reader, CLOSE_LIST)) return list;
  do list.push(readNext(reader));
  while (continues(reader, CLOSE_LIST));
  return list;
}

function objectOf(reader: Reader): JsonValue {
  const object = new Map<string, JsonValue>();
  if (closes(reader, CLOSE_OBJECT)) return object;
  do {
    if (skipBlanks(reader) !== QUOTE) return fail(reader);
    const name = stringOf(reader);
    if (skipBlanks(reader) !== COLON) return fail(reader);
    reader.at++;
    if (object.has(name)) return fail(reader, 'must not have two members of one name');
    object.set(name, readNext(reader));
  } while (continues(reader, CLOSE_OBJECT));
  return object;
}

/** Reads the end of an empty container. */
function closes(reader: Reader, close: number): boolean {
  if (skipBlanks(reader) !== close) return false;
  reader.at++;
  return true;
}

/** Reads what follows an entry; `true`: another entry. */
function continues(reader: Reader, close: number): boolean {
  const code = skipBlanks(reader);
  if (code !== COMMA && code !== close) fail(reader);
  reader.at++;
  return code === COMMA;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** Digits of integers that are computed without rounding. */
const SHORT_DIGITS = 15;

function numberOf(reader: Reader): number | Decimal | null {
  return shortIntegerOf(reader) ?? longNumberOf(reader);
}

/** PERF: most numbers are short integers, which need no text of their own. `null`: it is another one, of which nothing is read. */
function shortIntegerOf(reader: Reader): number | null {
  const { text } = reader;
  const isNegative = text.charCodeAt(reader.at) === MINUS;
  const start = isNegative ? reader.at + 1 : reader.at;
  let at = start;
  let value = 0;
  let code = text.charCodeAt(at);
  for (; code >= 0x30 && code <= 0x39; code = text.charCodeAt(++at)) {
    if (at - start === SHORT_DIGITS) return null;
    value = value * 10 + (code - 0x30);
  }
  const isOther = code === POINT || code === 0x65 || code === 0x45;
  if (at === start || isOther || (at > start + 1 && text.charCodeAt(start) === 0x30)) return null;
  reader.at = at;
  return isNegative ? 0 - value : value;
}

function longNumberOf(reader: Reader): number | Decimal | null {
  NUMBER.lastIndex = reader.at;
  const found = NUMBER.exec(reader.text);
  if (found === null) return fail(reader);
  reader.at += found[0].length;
  return readDecimal(found[0]) ?? fail(reader, 'has a number that is too long', true);
}

function stringOf(reader: Reader): string {
  const { text } = reader;
  const start = reader.at;
  let isPlain = true;
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      reader.at = at + 1;
      return isPlain ? text.slice(start + 1, at) : unescaped(reader, text.slice(start, at + 1));
    }
    if (code < 0x20) break;
    if (code === BACKSLASH) {
      isPlain = false;
      at++;
    }
  }
  fail(reader);
  return '';
}

function unescaped(reader: Reader, quoted: string): string {
  try {
    const value: string = JSON.parse(quoted);
    if (/\p{Surrogate}/u.test(value)) fail(reader, 'must not have a lone surrogate');
    return value;
  } catch {
    // An escape that JSON does not have.
    fail(reader);
    return '';
  }
}

/** Units turned into a string at a time; more would overflow the stack of arguments. */
const CHUNK = 4_096;

/**
 * Octets as text (RFC 3629); `null`: they are not UTF-8. `TextDecoder` is not part of the language, and hosts of the evaluator may have
 * none.
 */
function decodeUtf8(octets: Uint8Array): string | null {
  const units = new Uint16Array(octets.length);
  let length = 0;
  for (let at = 0; at < octets.length; ) {
    const first = octets[at++]!;
    if (first < 0x80) {
      units[length++] = first;
      continue;
    }
    const more = first < 0xc2 ? -1 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : -1;
    if (more < 0 || at + more > octets.length) return null;
    let point = first & (0x3f >> more);
    for (let left = more; left > 0; left--) {
      const next = octets[at++]!;
      if ((next & 0xc0) !== 0x80) return null;
      point = (point << 6) | (next & 0x3f);
    }
    const least = more === 1 ? 0x80 : more === 2 ? 0x800 : 0x10000;
    if (point < least || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return null;
    if (point > 0xffff) {
      units[length++] = 0xd7c0 + (point >> 10);
      units[length++] = 0xdc00 | (point & 0x3ff);
    } else units[length++] = point;
  }
  let text = '';
  // PERF: `apply` reads the array in place, where a spread would iterate it.
  for (let at = 0; at < length; at += CHUNK)
    text += String.fromCharCode.apply(null, units.subarray(at, Math.min(length, at + CHUNK)) as never);
  return text;
}
