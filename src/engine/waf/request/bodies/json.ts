/**
 * Parses JSON (RFC 8259) and flattens it into arguments as libmodsecurity 3 does: `{"a": {"b": [1]}}` becomes
 * `json.a.b.array_0` = `1`. Strings are decoded; numbers, `true` and `false` keep their text; `null` is empty; an empty
 * key is `empty-key`; duplicate keys all become arguments. The text is read once, with an explicit stack. Invalid JSON is
 * reported, and reading continues if the meaning is clear: after a bare word, or a control character in a string.
 *
 * The relaxed dialect, of decoded bodies, also accepts what lenient parsers of applications accept: JSON5
 * (https://spec.json5.org), comments, and several documents in one text (ndjson, RFC 7464).
 */
import { hexValue } from '../../../../base/octets/octets.ts';
import { hexOctet, hexUnit, isAlphanumeric, isDigit, isSpace, utf8Text } from '../../octets/latin1.ts';
import { validateUtf8Encoding } from '../../operators/operators.ts';
import {
  addTo,
  type BodyInput,
  type BodyMembers,
  EMPTY_BODY,
  isPlainText,
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

/** Which JSON a text is, and where its values go. */
export interface JsonDialect {
  /** Whether JSON5, comments and several documents are valid. */
  readonly relaxed: boolean;
  /**
   * Whether the text is the value of a member, or of no stated type: octets that a string may not have are no error, which
   * would hide the document, and many plain values are left out (`MANY_VALUES`).
   */
  readonly isNested: boolean;
  /** The name of the document, which begins the name of each value. */
  readonly root: string;
  /** Octets of all names so far, shared by the documents of a body. */
  readonly names: { octets: number };
}

/**
 * Values of a nested document after which those of one word or number are left out: the text around them is inspected
 * whole in any case, and a chart or drawing in a form field has tens of thousands of numbers, which is no error.
 */
const MANY_VALUES = 1_000;

const RECORD_SEPARATOR = 30;
const QUOTE = 34;
const NUMBER_SIGN = 35;
const APOSTROPHE = 39;
const ASTERISK = 42;
const COMMA = 44;
const SOLIDUS = 47;
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
  readonly dialect: JsonDialect;
}

/** Parses a body; without a dialect, as libmodsecurity 3 does. */
export function parseJson(
  input: BodyInput,
  dialect: JsonDialect = { relaxed: false, isNested: false, root: 'json', names: { octets: 0 } },
): ParsedBody {
  const { text } = toUtf8(input.text);
  const reader: Reader = {
    parser: 'json',
    args: [],
    error: null,
    text,
    truncated: input.truncated,
    containers: [],
    at: 0,
    name: dialect.root,
    dialect,
  };
  if (peek(reader) >= 0) {
    while (readValue(reader) && nextValue(reader));
  }
  return { ...EMPTY_BODY, args: reader.args, error: reader.error };
}

/** Skips white space; returns the next character without reading it; -1: the end. */
function peek(reader: Reader): number {
  const { text, dialect } = reader;
  do {
    while (reader.at < text.length && isSpace(text.charCodeAt(reader.at))) reader.at++;
  } while (dialect.relaxed && skipComment(reader));
  return reader.at < text.length ? text.charCodeAt(reader.at) : -1;
}

/** Skips a comment (of JavaScript, or from a number sign to the end of its line) or a record separator at the current place. */
function skipComment(reader: Reader): boolean {
  const { text, at } = reader;
  const code = text.charCodeAt(at);
  const next = text.charCodeAt(at + 1);
  if (code === RECORD_SEPARATOR) reader.at++;
  else if (code === SOLIDUS && next === ASTERISK) {
    const end = text.indexOf('*/', at + 2);
    if (end < 0) ends(reader);
    reader.at = end < 0 ? text.length : end + 2;
  } else if (code === NUMBER_SIGN || (code === SOLIDUS && next === SOLIDUS)) {
    while (reader.at < text.length && !isLineEnd(text.charCodeAt(reader.at))) reader.at++;
  } else if (code === SOLIDUS && reader.truncated && at + 1 === text.length) reader.at++;
  else return false;
  return true;
}

function isLineEnd(code: number): boolean {
  return code === 10 || code === 13;
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
      const isTrailing = reader.dialect.relaxed && peek(reader) === closeOf(open);
      if (isTrailing) continue;
      return nameValue(reader);
    }
    if (code !== closeOf(open)) {
      return misplaced(reader, 'a comma or the end of a container');
    }
    reader.containers.pop();
  }
  if (peek(reader) < 0) return false;
  if (reader.dialect.relaxed) {
    reader.name = reader.dialect.root;
    return true;
  }
  report(reader, `something follows the document at octet ${reader.at}`);
  return false;
}

function closeOf({ index }: Container): number {
  return index < 0 ? CLOSE_OBJECT : CLOSE_ARRAY;
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
  const key = readKey(reader, code);
  if (key === null) return misplaced(reader, 'a key');
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

/** Reads a key; `null`: absent. */
function readKey(reader: Reader, code: number): string | null {
  if (isQuote(reader, code)) return readString(reader);
  if (!reader.dialect.relaxed) return null;
  const start = reader.at;
  while (isIdentifier(reader.text.charCodeAt(reader.at))) reader.at++;
  return reader.at === start ? null : reader.text.slice(start, reader.at);
}

/** Whether an octet may be in an unquoted key (ECMAScript `IdentifierName`); a hyphen too, which some parsers accept. */
function isIdentifier(code: number): boolean {
  return isAlphanumeric(code) || code === 36 || code === 45 || code === 95 || code >= 128;
}

function isQuote(reader: Reader, code: number): boolean {
  return code === QUOTE || (code === APOSTROPHE && reader.dialect.relaxed);
}

/** Reads a string, number, `true`, `false` or `null`, or reports a bare word and reads it as text. */
function readScalar(reader: Reader, code: number): boolean {
  if (isQuote(reader, code)) return addValue(reader, readString(reader));
  const { text, dialect } = reader;
  const start = reader.at;
  while (reader.at < text.length && !endsWord(text.charCodeAt(reader.at))) {
    if (dialect.relaxed && startsComment(text, reader.at)) break;
    reader.at++;
  }
  if (reader.at === start) return misplaced(reader, 'a value');
  const word = text.slice(start, reader.at);
  const isCut = reader.truncated && reader.at === text.length;
  if (word === 'null') return addValue(reader, '');
  const isValue = word === 'true' || word === 'false' || isNumber(word);
  if (!isValue && !isCut && !(dialect.relaxed && isRelaxedNumber(word))) {
    report(reader, `the word at octet ${start} is not a value`);
  }
  return addValue(reader, word);
}

function startsComment(text: string, at: number): boolean {
  if (text.charCodeAt(at) !== SOLIDUS) return false;
  const next = text.charCodeAt(at + 1);
  return next === SOLIDUS || next === ASTERISK;
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
  const read = readJsonString(reader.text, reader.at, reader.dialect.relaxed);
  if (!read.closed) ends(reader);
  const { isNested } = reader.dialect;
  if (read.problem !== null && (read.closed || !reader.truncated) && !isNested) {
    report(reader, `the string at octet ${reader.at} ${read.problem}`);
  }
  if (read.closed && !isNested && validateUtf8Encoding(read.value)) {
    report(reader, `the string at octet ${reader.at} is not UTF-8`);
  }
  reader.at = read.end;
  return read.value;
}

function addValue(reader: Reader, value: string): boolean {
  const { names, isNested } = reader.dialect;
  if (isNested && reader.args.length >= MANY_VALUES && isPlainText(value)) {
    const prefix = reader.containers.at(-1)?.prefix.length ?? 0;
    if (isPlainText(reader.name.slice(prefix))) return true;
  }
  names.octets += reader.name.length;
  if (names.octets > MAX_JSON_NAME_OCTETS) {
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

/** Whether a word is a number of JSON5 only: with `+`, hexadecimal, without digits on one side of the point, not finite. */
function isRelaxedNumber(word: string): boolean {
  const bare = word.startsWith('+') || word.startsWith('-') ? word.slice(1) : word;
  if (bare === 'Infinity' || bare === 'NaN') return true;
  if (bare.startsWith('0x') || bare.startsWith('0X')) {
    for (let at = 2; at < bare.length; at++) if (hexValue(bare.charCodeAt(at)) < 0) return false;
    return bare.length > 2;
  }
  const point = bare.indexOf('.');
  if (point < 0 || bare === '.') return isNumber(bare);
  const whole = point === 0 ? `0${bare}` : bare;
  const next = whole.charCodeAt(whole.indexOf('.') + 1);
  return isNumber(isDigit(next) ? whole : whole.replace('.', ''));
}

function digitsFrom(word: string, from: number): number {
  let at = from;
  while (at < word.length && word.charCodeAt(at) >= 48 && word.charCodeAt(at) <= 57) at++;
  return at;
}

// Reads one JSON string (RFC 8259 §7), also a malformed one, so that signatures inspect its content.

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

/** Reads the string whose opening quote is at `start`; copies an invalid escape as it is; `relaxed`: as JSON5. */
export function readJsonString(text: string, start: number, relaxed: boolean): JsonString {
  const quote = text.charCodeAt(start);
  let value = '';
  let problem: string | null = null;
  let from = start + 1;
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === quote) return { value: value + text.slice(from, at), end: at + 1, closed: true, problem };
    if (code < 32) problem ??= 'holds a control character';
    if (code !== BACKSLASH) {
      at++;
      continue;
    }
    const found = readEscape(text, at) ?? (relaxed ? readRelaxedEscape(text, at) : null);
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

/**
 * Reads an escape that only JSON5 has (§5.2): two hexadecimal digits, a line that continues, a character that stands for
 * itself; `null`: it is invalid.
 */
function readRelaxedEscape(text: string, at: number): { readonly text: string; readonly end: number } | null {
  const letter = text.charAt(at + 1);
  const octet = letter === 'x' ? hexOctet(text, at + 2) : -1;
  if (octet >= 0) return { text: utf8Text(String.fromCharCode(octet)), end: at + 4 };
  if (letter === '' || letter === 'u' || letter === 'x') return null;
  if (letter === '\r' && text[at + 2] === '\n') return { text: '', end: at + 3 };
  if (letter === '\n' || letter === '\r') return { text: '', end: at + 2 };
  if (letter === 'v') return { text: '\v', end: at + 2 };
  return { text: letter === '0' ? '\0' : letter, end: at + 2 };
}
