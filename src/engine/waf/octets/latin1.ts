/**
 * Latin-1 text: one character is one octet, 0 to 255. Character classes as C's `isspace` and its siblings define them in
 * the C locale, which ModSecurity uses; hexadecimal digits; text from octets; UTF-8 sequences in such text.
 */
import { hexValue, utf8Bytes } from '../../../base/octets/octets.ts';

/** Space, tab, line feed, vertical tab, form feed, carriage return. */
export function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

/** `0` to `9`. */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** `0` to `7`. */
export function isOctalDigit(code: number): boolean {
  return code >= 48 && code <= 55;
}

/** `A` to `Z`. */
export function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

/** A digit or an ASCII letter. */
export function isAlphanumeric(code: number): boolean {
  return isDigit(code) || isUpper(code & ~32);
}

/** The octet that two hexadecimal digits at `at` denote; -1: they are not two digits. */
export function hexOctet(value: string, at: number): number {
  const high = hexValue(value.charCodeAt(at));
  const low = hexValue(value.charCodeAt(at + 1));
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/** The 16 bits that four hexadecimal digits at `at` denote; -1: they are not four digits. */
export function hexUnit(value: string, at: number): number {
  const high = hexOctet(value, at);
  const low = hexOctet(value, at + 2);
  return high < 0 || low < 0 ? -1 : high * 256 + low;
}

/** Octets in one `fromCharCode.apply`: its arguments go over the stack, which is small in a browser's worker. */
const CHUNK = 4_096;
/** The length in octets up to which a `fromCharCode` with eight arguments is faster than one with an array. */
const SHORT = 64;

/** The octets from `from` up to `to` as text. */
export function latin1Text(octets: Uint8Array, from: number, to: number): string {
  if (to - from <= SHORT) return shortText(octets, from, to);
  let text = '';
  for (let at = from; at < to; at += CHUNK) {
    text += String.fromCharCode.apply(
      null,
      octets.subarray(at, Math.min(at + CHUNK, to)) as unknown as number[],
    );
  }
  return text;
}

function shortText(octets: Uint8Array, from: number, to: number): string {
  let text = '';
  let at = from;
  for (; at + 8 <= to; at += 8) {
    text += String.fromCharCode(
      octets[at]!,
      octets[at + 1]!,
      octets[at + 2]!,
      octets[at + 3]!,
      octets[at + 4]!,
      octets[at + 5]!,
      octets[at + 6]!,
      octets[at + 7]!,
    );
  }
  for (; at + 2 <= to; at += 2) text += String.fromCharCode(octets[at]!, octets[at + 1]!);
  return at < to ? text + String.fromCharCode(octets[at]!) : text;
}

/** The largest scratch array reused between calls, in octets: the largest body that is inspected (`MAX_BODY_CAP_KB`). */
const MAX_REUSED = 1_048_576;

let scratch = new Uint8Array(4_096);

/**
 * Returns an array of at least `length` octets of undefined content for the result of one transformation. The next call
 * returns the same array: convert the result to text before calling anything else.
 */
// PERF: no allocation for a transformation of a value that fits.
export function scratchOctets(length: number): Uint8Array {
  if (length <= scratch.length) return scratch;
  const grown = new Uint8Array(Math.max(length, scratch.length * 2));
  if (grown.length <= MAX_REUSED) scratch = grown;
  return grown;
}

// UTF-8 (RFC 3629) in Latin-1 text: a sequence is as many characters as it has octets.

/** The number of continuation octets that a leading octet announces, 1 to 3; 0: it is no leading octet. */
export function tailOf(octet: number): number {
  if (octet < 0xc0 || octet >= 0xf8) return 0;
  return octet < 0xe0 ? 1 : octet < 0xf0 ? 2 : 3;
}

/** Whether the `tail` octets after `at` are continuation octets (`10xxxxxx`). */
export function hasTail(value: string, at: number, tail: number): boolean {
  for (let index = at + 1; index <= at + tail; index++) {
    if ((value.charCodeAt(index) & 0xc0) !== 0x80) return false;
  }
  return true;
}

/** The code point of the leading octet at `at` and its `tail` continuation octets, which the caller has checked. */
export function codePointOf(value: string, at: number, tail: number): number {
  let code = value.charCodeAt(at) & (0x3f >> tail);
  for (let index = at + 1; index <= at + tail; index++) code = (code << 6) | (value.charCodeAt(index) & 0x3f);
  return code;
}

/** By number of continuation octets, the smallest code point that needs them. */
const LEAST = [0, 0x80, 0x800, 0x10000] as const;

/** Whether a code point is a surrogate, or its sequence is longer than necessary (RFC 3629 §3). */
export function isForbidden(code: number, tail: number): boolean {
  return code < LEAST[tail]! || (code >= 0xd800 && code <= 0xdfff);
}

/** Converts Unicode text to the octets of its UTF-8; a lone surrogate becomes U+FFFD. */
export function utf8Text(unicode: string): string {
  const octets = utf8Bytes(unicode);
  return latin1Text(octets, 0, octets.length);
}
