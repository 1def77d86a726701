/** Percent-decoding and percent-encoding over octets (RFC 3986 §2.1, semantics §1.1). */

const HEX = '0123456789ABCDEF';

/** The value of a hexadecimal digit's character code, or -1. */
export function hexValue(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

/** The octet of the escape `%XX` at `at`, or -1 if there is no complete escape. */
export function escapedOctet(text: string, at: number): number {
  if (text.charCodeAt(at) !== 37) return -1;
  const high = hexValue(text.charCodeAt(at + 1));
  const low = hexValue(text.charCodeAt(at + 2));
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function escapeOctet(octet: number): string {
  return `%${HEX[octet >> 4]}${HEX[octet & 15]}`;
}

/** The length of the valid UTF-8 sequence at `at` (Unicode 16, table 3-7), or 0. */
function sequenceLength(octets: readonly number[], at: number): number {
  const first = octets[at]!;
  if (first < 0x80) return 1;
  const second = octets[at + 1] ?? 0;
  if (first >= 0xc2 && first <= 0xdf) return isContinuation(second) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const low = first === 0xe0 ? 0xa0 : 0x80;
    const high = first === 0xed ? 0x9f : 0xbf;
    return second >= low && second <= high && isContinuation(octets[at + 2] ?? 0) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const low = first === 0xf0 ? 0x90 : 0x80;
    const high = first === 0xf4 ? 0x8f : 0xbf;
    const tail = isContinuation(octets[at + 2] ?? 0) && isContinuation(octets[at + 3] ?? 0);
    return second >= low && second <= high && tail ? 4 : 0;
  }
  return 0;
}

function isContinuation(octet: number): boolean {
  return octet >= 0x80 && octet <= 0xbf;
}

function sequenceValue(octets: readonly number[], at: number, length: number): number {
  const first = octets[at]!;
  if (length === 1) return first;
  let value = first & (0x7f >> length);
  for (let i = 1; i < length; i++) value = (value << 6) | (octets[at + i]! & 0x3f);
  return value;
}

/**
 * Decodes every escape of `text` exactly once. Octets that form valid UTF-8 become characters, an octet that does
 * not stays as `%XX` in upper case, and raw characters never join with escaped octets.
 * What is not a complete escape stays as it is; `hasBadEscape` detects it beforehand.
 */
export function decodeEscapes(text: string): string {
  let at = text.indexOf('%');
  if (at < 0) return text;
  let out = text.slice(0, at);
  while (at < text.length) {
    const run: number[] = [];
    for (let octet = escapedOctet(text, at); octet >= 0; octet = escapedOctet(text, at)) {
      run.push(octet);
      at += 3;
    }
    out += decodeRun(run);
    if (at >= text.length) break;
    const next = text.indexOf('%', run.length === 0 ? at + 1 : at);
    const end = next < 0 ? text.length : next;
    out += text.slice(at, end);
    at = end;
  }
  return out;
}

function decodeRun(octets: readonly number[]): string {
  let out = '';
  for (let at = 0; at < octets.length; ) {
    const length = sequenceLength(octets, at);
    if (length === 0) {
      out += escapeOctet(octets[at]!);
      at++;
    } else {
      out += String.fromCodePoint(sequenceValue(octets, at, length));
      at += length;
    }
  }
  return out;
}

/** Whether `text` holds a `%` that starts no whole escape, or a `%00`. */
export function hasBadEscape(text: string): boolean {
  for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', at + 3)) {
    if (escapedOctet(text, at) <= 0) return true;
  }
  return false;
}

/** RFC 3986 unreserved, reserved and `%`: what a URI may hold as it is. */
const URI_TEXT = characterTable("-._~:/?#[]@!$&'()*+,;=%");
/** What captured text may hold raw inside a path: unreserved, sub-delims, `:`, `@`, `/`. */
const PATH_TEXT = characterTable("-._~!$&'()*+,;=:@/");

function characterTable(marks: string): Uint8Array {
  const table = new Uint8Array(128);
  for (let code = 48; code <= 57; code++) table[code] = 1;
  for (let code = 65; code <= 90; code++) {
    table[code] = 1;
    table[code + 32] = 1;
  }
  for (const mark of marks) table[mark.charCodeAt(0)] = 1;
  return table;
}

/** Whether a URI may hold this character code as it is. */
export function isUriCode(code: number): boolean {
  return code < 128 && URI_TEXT[code] === 1;
}

/** Percent-encodes only what a URI may not hold; escapes that stand there stay. */
export function encodeUri(text: string): string {
  return encodeWith(text, URI_TEXT);
}

/** Percent-encodes text that enters a path from a capture: `%` becomes `%25`, so nothing decodes twice. */
export function encodeCapture(text: string): string {
  return encodeWith(text, PATH_TEXT);
}

function encodeWith(text: string, table: Uint8Array): string {
  let at = 0;
  while (at < text.length && table[text.charCodeAt(at)] === 1) at++;
  if (at === text.length) return text;
  let out = text.slice(0, at);
  for (const character of text.slice(at).toWellFormed()) {
    out += table[character.codePointAt(0)!] === 1 ? character : encodeCharacter(character);
  }
  return out;
}

function encodeCharacter(character: string): string {
  let out = '';
  for (const octet of utf8Bytes(character)) out += escapeOctet(octet);
  return out;
}

/** The length of `text` in octets of UTF-8; a lone surrogate counts as U+FFFD does. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    if (code < 0x800) length += 1;
    else if (code >= 0xd800 && code < 0xdc00 && isLowSurrogate(text.charCodeAt(at + 1))) {
      length += 2;
      at++;
    } else length += 2;
  }
  return length;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000;
}

/** `text` as octets of UTF-8; a lone surrogate becomes U+FFFD. */
export function utf8Bytes(text: string): Uint8Array {
  const bytes = new Uint8Array(utf8Length(text));
  let at = 0;
  for (const character of text.toWellFormed()) at = writeCodePoint(bytes, at, character.codePointAt(0)!);
  return bytes;
}

function writeCodePoint(bytes: Uint8Array, at: number, code: number): number {
  if (code < 0x80) {
    bytes[at] = code;
    return at + 1;
  }
  const tail = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  const lead = [0, 0xc0, 0xe0, 0xf0][tail]!;
  bytes[at] = lead | (code >> (6 * tail));
  for (let rest = tail - 1, next = at + 1; rest >= 0; rest--, next++)
    bytes[next] = 0x80 | ((code >> (6 * rest)) & 63);
  return at + 1 + tail;
}

/** The text with its ASCII letters in lower case; other characters stay, as octets of another encoding must. */
export function lowerAscii(text: string): string {
  let at = 0;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 127 || (code >= 65 && code <= 90)) break;
  }
  if (at === text.length) return text;
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
