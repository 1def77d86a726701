/**
 * Decoders of escapes: the loop of all of them, in one pass and without allocation per escape, and the transformations
 * that decode the escapes of C, JavaScript, CSS and HTML.
 */
import { hexValue } from '../../../base/octets/octets.ts';
import {
  hexOctet,
  hexUnit,
  isDigit,
  isOctalDigit,
  isSpace,
  latin1Text,
  scratchOctets,
} from '../octets/latin1.ts';

/** `x`, after which hexadecimal digits follow. */
const LOWER_X = 0x78;

/**
 * Reads the escape at `at`. Returns `read(octet, width)` for an escape of one octet, `dropped(width)` for an escape that
 * is removed, or `NONE` if no escape begins and the character is copied.
 */
// PERF: the result is one number, since an object would be an allocation for each escape.
export type EscapeReader = (value: string, at: number) => number;

/** The result of an `EscapeReader` if no escape begins. */
export const NONE = -1;
/** The bit of an escape without an octet; bits 0 to 7 are the octet, bits 9 and up the width in characters. */
const NOTHING = 256;

/** An escape of `width` characters that denotes one octet. */
export function read(octet: number, width: number): number {
  return (octet & 255) | (width << 9);
}

/** An escape of `width` characters that denotes nothing. */
function dropped(width: number): number {
  return NOTHING | (width << 9);
}

/** Replaces the escapes that begin with the character `mark`, once and from the left. */
export function decodeEscapes(value: string, mark: string, readEscape: EscapeReader): string {
  let first = value.indexOf(mark);
  while (first >= 0 && readEscape(value, first) === NONE) first = value.indexOf(mark, first + 1);
  if (first < 0) return value;
  const octets = scratchOctets(value.length);
  const markCode = mark.charCodeAt(0);
  let count = 0;
  for (let at = first; at < value.length; ) {
    const code = value.charCodeAt(at);
    const found = code === markCode ? readEscape(value, at) : NONE;
    if (found === NONE) {
      octets[count++] = code;
      at++;
    } else {
      if ((found & NOTHING) === 0) octets[count++] = found & 255;
      at += found >> 9;
    }
  }
  return value.slice(0, first) + latin1Text(octets, 0, count);
}

// Parts of backslash escapes that C, JavaScript and CSS have in common.

/** By letter, the control character of `\a \b \f \n \r \t \v`. */
const CONTROLS = new Map(
  Object.entries({ a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 }).map(([letter, octet]) => [
    letter.charCodeAt(0),
    octet,
  ]),
);

/** The octet that a backslash and this character denote: a control character, else the character itself. */
function letterEscape(code: number): number {
  return CONTROLS.get(code) ?? code;
}

/** The number of octal digits at `at`, at most three. */
function octalDigits(value: string, at: number): number {
  let count = 0;
  while (count < 3 && isOctalDigit(value.charCodeAt(at + count))) count++;
  return count;
}

/** The value of so many octal digits at `at`: up to 511, of which callers take the lower octet. */
function octalValue(value: string, at: number, digits: number): number {
  let octal = 0;
  for (let index = at; index < at + digits; index++) octal = octal * 8 + value.charCodeAt(index) - 48;
  return octal;
}

/** The lower octet of a code; for a full-width form (U+FF01 to U+FF5E) the ASCII character, as in ModSecurity. */
function fullWidthOctet(unit: number): number {
  const octet = unit & 255;
  return unit >> 8 === 255 && octet > 0 && octet < 0x5f ? octet + 32 : octet;
}

// The transformation `escapeSeqDecode`: decodes escape sequences of ANSI C.

/**
 * Replaces `\a \b \f \n \r \t \v`, `\xHH` and `\OOO` (one to three digits, the lower octet) by their octets; removes a
 * backslash before any other character. A backslash at the end stays.
 */
export function escapeSeqDecode(value: string): string {
  return decodeEscapes(value, '\\', readCEscape);
}

function readCEscape(value: string, at: number): number {
  if (at + 1 >= value.length) return NONE;
  const next = value.charCodeAt(at + 1);
  if ((next | 32) === LOWER_X) {
    const octet = hexOctet(value, at + 2);
    if (octet >= 0) return read(octet, 4);
  }
  const digits = octalDigits(value, at + 1);
  return digits === 0 ? read(letterEscape(next), 2) : read(octalValue(value, at + 1, digits), 1 + digits);
}

// The transformation `jsDecode`: decodes escape sequences of JavaScript strings (ECMA-262, "String Literals").

const JS_UNICODE = 0x75;

/**
 * Replaces `\uHHHH` by its lower octet (a full-width form by its ASCII character), `\xHH`, `\OOO` up to `\377` and
 * `\a \b \f \n \r \t \v` by their octets; removes a backslash before any other character. A backslash at the end stays.
 */
export function jsDecode(value: string): string {
  return decodeEscapes(value, '\\', readJsEscape);
}

function readJsEscape(value: string, at: number): number {
  if (at + 1 >= value.length) return NONE;
  const next = value.charCodeAt(at + 1);
  if (next === JS_UNICODE) {
    const unit = hexUnit(value, at + 2);
    if (unit >= 0) return read(fullWidthOctet(unit), 6);
  }
  if (next === LOWER_X) {
    const octet = hexOctet(value, at + 2);
    if (octet >= 0) return read(octet, 4);
  }
  const digits = octalDigits(value, at + 1);
  if (digits === 0) return read(letterEscape(next), 2);
  const whole = digits === 3 && next > 0x33 ? 2 : digits;
  return read(octalValue(value, at + 1, whole), 1 + whole);
}

// The transformation `cssDecode`: decodes escapes of CSS (CSS 2.1 §4.1.3).

const LINE_FEED = 10;
/** CSS 2.1 §4.1.3: an escape has at most six digits. */
const MOST_DIGITS = 6;

/**
 * Replaces `\` with one to six hexadecimal digits and one optional white space by the lower octet of that code (a
 * full-width form by its ASCII character). Removes `\` with a line feed, and `\` before any other character or at the end.
 * Follows libmodsecurity; Coraza writes codes above 255 as UTF-8.
 */
export function cssDecode(value: string): string {
  return decodeEscapes(value, '\\', readCssEscape);
}

function readCssEscape(value: string, at: number): number {
  if (at + 1 >= value.length) return dropped(1);
  let end = at + 1;
  let code = 0;
  for (; end <= at + MOST_DIGITS; end++) {
    const digit = hexValue(value.charCodeAt(end));
    if (digit < 0) break;
    code = code * 16 + digit;
  }
  if (end > at + 1) {
    const space = end < value.length && isSpace(value.charCodeAt(end)) ? 1 : 0;
    return read(fullWidthOctet(code), end - at + space);
  }
  const next = value.charCodeAt(at + 1);
  return next === LINE_FEED ? dropped(2) : read(next, 2);
}

// The transformation `htmlEntityDecode`: decodes character references of HTML (HTML Standard, "Character references").

const HASH = 35;
const SEMICOLON = 59;

/** The names that ModSecurity decodes; browsers decode all of them without the semicolon too. */
const NAMES: readonly { readonly name: string; readonly octet: number }[] = [
  { name: 'quot', octet: 34 },
  { name: 'amp', octet: 38 },
  { name: 'lt', octet: 60 },
  { name: 'gt', octet: 62 },
  { name: 'nbsp', octet: 160 },
];

/**
 * Replaces numeric references by the lower octet of their code, and `quot`, `amp`, `lt`, `gt` and `nbsp` (in any case) by
 * their octet; the semicolon is optional. Two deviations from libmodsecurity 3.0.13: numbers have any number of digits, as
 * in ModSecurity 2 (there at most two or three, so that leading zeros hide an attack), and the text after a name without
 * semicolon (`&ltscript`) stays, as in browsers and Coraza (there it is removed).
 */
export function htmlEntityDecode(value: string): string {
  return decodeEscapes(value, '&', readReference);
}

/** The `EscapeReader` of `&#NNN`, `&#xHHH` and the names. */
function readReference(value: string, at: number): number {
  if (value.charCodeAt(at + 1) !== HASH) return readName(value, at);
  const hexadecimal = (value.charCodeAt(at + 2) | 32) === LOWER_X;
  const start = at + (hexadecimal ? 3 : 2);
  const base = hexadecimal ? 16 : 10;
  let end = start;
  let code = 0;
  for (; end < value.length; end++) {
    const digit = hexadecimal ? hexValue(value.charCodeAt(end)) : decimalValue(value.charCodeAt(end));
    if (digit < 0) break;
    code = (code * base + digit) & 255;
  }
  return end === start ? NONE : read(code, withSemicolon(value, end) - at);
}

function readName(value: string, at: number): number {
  for (const { name, octet } of NAMES) {
    if (hasName(value, at + 1, name)) return read(octet, withSemicolon(value, at + 1 + name.length) - at);
  }
  return NONE;
}

function hasName(value: string, at: number, name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    if ((value.charCodeAt(at + index) | 32) !== name.charCodeAt(index)) return false;
  }
  return true;
}

function decimalValue(code: number): number {
  return isDigit(code) ? code - 48 : -1;
}

/** The end of a reference that ends at `end`, including its semicolon. */
function withSemicolon(value: string, end: number): number {
  return value.charCodeAt(end) === SEMICOLON ? end + 1 : end;
}
