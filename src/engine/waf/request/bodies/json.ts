/**
 * Parses JSON (RFC 8259) and flattens it into arguments as libmodsecurity 3 does: `{"a": {"b": [1]}}` becomes
 * `json.a.b.array_0` = `1`. Strings are decoded; numbers, `true` and `false` keep their text; `null` is empty; an empty
 * key is `empty-key`; duplicate keys all become arguments. The text is read once, with an explicit stack. Invalid JSON is
 * reported, and reading continues if the meaning is clear: after a bare word, or a control character in a string.
 */
import { hexUnit, isSpace, utf8Text } from '../../octets/latin1.ts';
import { validateUtf8Encoding } from '../../operators/operators.ts';
import {
  addTo,
  type BodyInput,
  type BodyMembers,
  EMPTY_BODY,
  type ParsedBody,
  report,
  toUtf8,
} from './parsed-body.ts';

/** Maximum nesting depth of JSON containers: the limit of ModSecurity's recommended configuration. */
export const MAX_JSON_DEPTH = 512;
/**
 * Maximum size, in octets, of all argument names of a JSON body together. A name repeats the keys around its value, so
 * that 512 levels of long keys would turn one megabyte into hundreds; ten thousand ordinary names take a quarter of
 * this.
 */
export const MAX_JSON_NAME_OCTETS = 2_097_152;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** An open container. */
interface Container {
  /** The prefix of the names of its values, `json.items.` */
  readonly prefix: string;
  /** In an array, the index of the current value; -1: it is an object. */
  index: number;
}

/** The state of the parser. */
interface Reader extends BodyMembers {
  readonly text: string;
  readonly truncated: boolean;
  readonly containers: Container[];
  /** The place of the next character. */
  at: number;
  /** The name of the next value. */
  name: string;
  /** Octets of all names so far. */
  nameOctets: number;
}

/** Parses a body. */
export function parseJson(input: BodyInput): ParsedBody {
  const { text } = toUtf8(input.text);
  const reader: Reader = {
    parser: 'json',
    args: [],
    error: null,
    text,
    truncated: input.truncated,
    containers: [],
    at: 0,
    name: 'json',
    nameOctets: 0,
  };
  if (peek(reader) >= 0) {
    while (readValue(reader) && nextValue(reader));
  }
  return { ...EMPTY_BODY, args: reader.args, error: reader.error };
}

/** Skips white space; returns the next character without reading it; -1: the end. */
function peek(reader: Reader): number {
  const { text } = reader;
  while (reader.at < text.length && isSpace(text.charCodeAt(reader.at))) reader.at++;
  return reader.at < text.length ? text.charCodeAt(reader.at) : -1;
}

/** Reads a scalar, or opens containers down to the next scalar or empty container; `false`: reading ends. */
function readValue(reader: Reader): boolean {
  for (;;) {
    const code = peek(reader);
    if (code < 0) return ends(reader);
    if (code !== OPEN_OBJECT && code !== OPEN_ARRAY) return readScalar(reader, code);
    if (reader.containers.length >= MAX_JSON_DEPTH) {
      report(reader, `it is nested more than ${MAX_JSON_DEPTH} deep; the rest was not inspected`);
      return false;
    }
    reader.at++;
    const isObject = code === OPEN_OBJECT;
    reader.containers.push({ prefix: `${reader.name}.`, index: isObject ? -1 : 0 });
    const first = peek(reader);
    if (first === (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) return true;
    if (!nameValue(reader)) return false;
  }
}

/** Reads from the end of a value to the next one and closes containers between; `false`: reading ends. */
function nextValue(reader: Reader): boolean {
  for (let open = reader.containers.at(-1); open !== undefined; open = reader.containers.at(-1)) {
    const code = peek(reader);
    if (code < 0) return ends(reader);
    reader.at++;
    if (code === COMMA) {
      if (open.index >= 0) open.index++;
      return nameValue(reader);
    }
    if (code !== (open.index < 0 ? CLOSE_OBJECT : CLOSE_ARRAY)) {
      return misplaced(reader, 'a comma or the end of a container');
    }
    reader.containers.pop();
  }
  if (peek(reader) >= 0) report(reader, `something follows the document at octet ${reader.at}`);
  return false;
}

/** Sets the name of the next value in the innermost container; reads its key in an object; `false`: reading ends. */
function nameValue(reader: Reader): boolean {
  const { prefix, index } = reader.containers.at(-1)!;
  if (index >= 0) {
    reader.name = `${prefix}array_${index}`;
    return true;
  }
  const code = peek(reader);
  if (code < 0) return ends(reader);
  if (code !== QUOTE) return misplaced(reader, 'a key');
  const key = readString(reader);
  reader.name = `${prefix}${key === '' ? 'empty-key' : key}`;
  const colon = peek(reader);
  if (colon < 0) {
    addValue(reader, '');
    return ends(reader);
  }
  if (colon !== COLON) return misplaced(reader, 'a colon');
  reader.at++;
  return true;
}

/** Reads a string, number, `true`, `false` or `null`, or reports a bare word and reads it as text. */
function readScalar(reader: Reader, code: number): boolean {
  if (code === QUOTE) return addValue(reader, readString(reader));
  const start = reader.at;
  while (reader.at < reader.text.length && !endsWord(reader.text.charCodeAt(reader.at))) reader.at++;
  if (reader.at === start) return misplaced(reader, 'a value');
  const word = reader.text.slice(start, reader.at);
  const isCut = reader.truncated && reader.at === reader.text.length;
  if (word === 'null') return addValue(reader, '');
  if (word !== 'true' && word !== 'false' && !isNumber(word) && !isCut) {
    report(reader, `the word at octet ${start} is not a value`);
  }
  return addValue(reader, word);
}

function endsWord(code: number): boolean {
  return (
    isSpace(code) ||
    code === COMMA ||
    code === COLON ||
    code === QUOTE ||
    code === OPEN_ARRAY ||
    code === CLOSE_ARRAY ||
    code === OPEN_OBJECT ||
    code === CLOSE_OBJECT
  );
}

function readString(reader: Reader): string {
  const read = readJsonString(reader.text, reader.at);
  if (!read.closed) ends(reader);
  if (read.problem !== null && (read.closed || !reader.truncated)) {
    report(reader, `the string at octet ${reader.at} ${read.problem}`);
  }
  if (read.closed && validateUtf8Encoding(read.value)) {
    report(reader, `the string at octet ${reader.at} is not UTF-8`);
  }
  reader.at = read.end;
  return read.value;
}

function addValue(reader: Reader, value: string): boolean {
  reader.nameOctets += reader.name.length;
  if (reader.nameOctets > MAX_JSON_NAME_OCTETS) {
    report(reader, `its names take more than ${MAX_JSON_NAME_OCTETS} octets; the rest was not inspected`);
    return false;
  }
  return addTo(reader, reader.args, { name: reader.name, value });
}

/** Reports that the text ends inside a value, unless the body is truncated. */
function ends(reader: Reader): false {
  if (!reader.truncated) report(reader, 'it ends inside a value');
  return false;
}

function misplaced(reader: Reader, wanted: string): false {
  report(reader, `${wanted} is missing at octet ${reader.at}`);
  return false;
}

/** Whether a word is a number (RFC 8259 §6). */
function isNumber(word: string): boolean {
  let at = word.startsWith('-') ? 1 : 0;
  const whole = digitsFrom(word, at);
  if (whole === at || (word[at] === '0' && whole > at + 1)) return false;
  at = whole;
  if (word[at] === '.') {
    const fraction = digitsFrom(word, at + 1);
    if (fraction === at + 1) return false;
    at = fraction;
  }
  if (word[at] === 'e' || word[at] === 'E') {
    const sign = word[at + 1] === '+' || word[at + 1] === '-' ? 2 : 1;
    const exponent = digitsFrom(word, at + sign);
    if (exponent === at + sign) return false;
    at = exponent;
  }
  return at === word.length;
}

function digitsFrom(word: string, from: number): number {
  let at = from;
  while (at < word.length && word.charCodeAt(at) >= 48 && word.charCodeAt(at) <= 57) at++;
  return at;
}

// Reads one JSON string (RFC 8259 §7), also a malformed one, so that signatures inspect its content.

const STRING_END = 34;
const BACKSLASH = 92;
const LOWER_U = 117;

/** By letter after a backslash, the character (RFC 8259 §7). */
const ESCAPES = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, text]) => [letter.charCodeAt(0), text],
  ),
);

/** A string that was read. */
export interface JsonString {
  /** Decoded; characters of escapes are in UTF-8. */
  readonly value: string;
  /** The place after the closing quote, or the end of the text. */
  readonly end: number;
  /** Whether there is a closing quote. */
  readonly closed: boolean;
  /** The first error, a predicate of `the string at octet …`; `null`: none. */
  readonly problem: string | null;
}

/** Reads the string whose opening quote is at `start`; copies an invalid escape as it is. */
function readJsonString(text: string, start: number): JsonString {
  let value = '';
  let problem: string | null = null;
  let from = start + 1;
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === STRING_END)
      return { value: value + text.slice(from, at), end: at + 1, closed: true, problem };
    if (code < 32) problem ??= 'holds a control character';
    if (code !== BACKSLASH) {
      at++;
      continue;
    }
    const found = readEscape(text, at);
    if (found === null) {
      problem ??= 'holds an invalid escape';
      at += 2;
      continue;
    }
    value += text.slice(from, at) + found.text;
    at = found.end;
    from = at;
  }
  return { value: value + text.slice(from), end: text.length, closed: false, problem };
}

/** Reads the escape at `at`, a surrogate pair as one; `null`: it is invalid. */
function readEscape(text: string, at: number): { readonly text: string; readonly end: number } | null {
  const letter = text.charCodeAt(at + 1);
  const simple = ESCAPES.get(letter);
  if (simple !== undefined) return { text: simple, end: at + 2 };
  const unit = letter === LOWER_U ? hexUnit(text, at + 2) : -1;
  if (unit < 0) return null;
  const low = (unit & 0xfc00) === 0xd800 && text.startsWith('\\u', at + 6) ? hexUnit(text, at + 8) : -1;
  if ((low & 0xfc00) !== 0xdc00 || low < 0) return { text: utf8Text(String.fromCharCode(unit)), end: at + 6 };
  return { text: utf8Text(String.fromCharCode(unit, low)), end: at + 12 };
}
