/**
 * Transformations of percent-encoding: `urlDecode` (URL Standard, `application/x-www-form-urlencoded` parsing),
 * `urlEncode`, and those of the `%uHHHH` of IIS.
 */
import { escapedOctet } from '../../../base/octets/octets.ts';
import {
  codePointOf,
  hasTail,
  hexUnit,
  isAlphanumeric,
  isForbidden,
  latin1Text,
  scratchOctets,
  tailOf,
} from '../octets/latin1.ts';
import { hexPair } from './encodings.ts';
import { decodeEscapes, type EscapeReader, NONE, read } from './escapes.ts';

/** Replaces `%XX` by its octet and `+` by a space; an incomplete escape stays as it is. */
export function urlDecode(value: string): string {
  return decodeForm(value, readOctet);
}

const PERCENT = 37;
const PLUS = 43;
const SPACE = 32;

/** Replaces each `+` by a space and each escape that begins with `%`; `readEscape` never returns `dropped`. */
// PERF: in one pass, since bodies of forms have many of both.
function decodeForm(value: string, readEscape: EscapeReader): string {
  if (value.indexOf('+') < 0) return decodeEscapes(value, '%', readEscape);
  const { length } = value;
  const octets = scratchOctets(length);
  let count = 0;
  for (let at = 0; at < length; ) {
    const code = value.charCodeAt(at);
    const found = code === PERCENT ? readEscape(value, at) : NONE;
    if (found === NONE) {
      octets[count++] = code === PLUS ? SPACE : code;
      at++;
    } else {
      octets[count++] = found & 255;
      at += found >> 9;
    }
  }
  return latin1Text(octets, 0, count);
}

/** The `EscapeReader` of `%XX`. */
export function readOctet(value: string, at: number): number {
  const octet = escapedOctet(value, at);
  return octet < 0 ? NONE : read(octet, 3);
}

// The transformation `urlDecodeUni`: decodes percent-encoding and the `%uHHHH` of IIS.

/**
 * Decodes as `urlDecode` does and replaces `%uHHHH` by its ASCII lookalike, else by its lower octet. This is ModSecurity
 * with the code page of its recommended configuration (`SecUnicodeMapFile unicode.mapping 20127`).
 */
export function urlDecodeUni(value: string): string {
  return decodeForm(value, readUnit);
}

function readUnit(value: string, at: number): number {
  if ((value.charCodeAt(at + 1) | 32) !== 0x75) return readOctet(value, at);
  const unit = hexUnit(value, at + 2);
  return unit < 0 ? NONE : read(bestFit(unit), 6);
}

// The transformation `urlDecodeDeep`, our own: what chains of proxies, frameworks and applications make of a value.

/** How often percent-encoding is decoded: a value that was encoded three times is plain text behind it. */
const ROUNDS = 3;

/**
 * Decodes as `urlDecodeUni` does, again while escapes are left, at most `ROUNDS` times; `+` only the first time. Then
 * replaces what lenient decoders read as ASCII: UTF-8 sequences that are longer than necessary (RFC 3629 §10; up to six
 * octets as in RFC 2279), full-width forms (U+FF01 to U+FF5E), and the characters that resemble a slash or a backslash.
 * C1 AF is a slash, not an `o`: decoders that drop a bit make it one, and nobody disguises an `o`.
 */
export function urlDecodeDeep(value: string): string {
  let text = decodeForm(value, readDeepUnit);
  for (let round = 1; round < ROUNDS; round++) {
    const again = decodeEscapes(text, '%', readDeepUnit);
    if (again === text) break;
    text = again;
  }
  return foldUtf8(text);
}

function readDeepUnit(value: string, at: number): number {
  const slash = (value.charCodeAt(at + 1) | 32) === 0x75 ? slashOf(hexUnit(value, at + 2)) : 0;
  return slash > 0 ? read(slash, 6) : readUnit(value, at);
}

/** Octets of `/` and of its mirror image. */
const SLASH = 47;
const BACKSLASH = 92;

/**
 * The slash or backslash that a code point resembles; 0: none. U+EFC8 and U+F025 are what old servers of Windows made
 * separators of.
 */
function slashOf(code: number): number {
  if (code === 0x2044 || code === 0x2215 || code === 0x29f8 || code === 0xf025) return SLASH;
  return code === 0x2216 || code === 0x29f5 || code === 0x29f9 || code === 0xefc8 ? BACKSLASH : 0;
}

/** The first octet of a sequence that can be ASCII in disguise: overlong, or of U+2000 to U+2FFF or U+E000 to U+FFFF. */
function mayHide(octet: number): boolean {
  return octet === 0xc0 || octet === 0xc1 || octet === 0xe0 || octet === 0xe2 || octet >= 0xee;
}

/** Replaces each UTF-8 sequence that hides an ASCII character by it. */
function foldUtf8(value: string): string {
  let first = nextLead(value, 0);
  while (first < value.length && hiddenAt(value, first) === NONE) first = nextLead(value, first + 1);
  if (first === value.length) return value;
  const octets = scratchOctets(value.length);
  let count = 0;
  for (let at = first; at < value.length; ) {
    const found = hiddenAt(value, at);
    octets[count++] = found === NONE ? value.charCodeAt(at) : found & 255;
    at += found === NONE ? 1 : found >> 9;
  }
  return value.slice(0, first) + latin1Text(octets, 0, count);
}

/** The place of the first octet from `from` on that can begin a sequence. PERF: all but these cost one comparison. */
function nextLead(value: string, from: number): number {
  let at = from;
  while (at < value.length && value.charCodeAt(at) < 0xc0) at++;
  return at;
}

/** The `EscapeReader` of UTF-8 sequences that hide an ASCII character. */
function hiddenAt(value: string, at: number): number {
  const lead = value.charCodeAt(at);
  if (lead < 0xc0 || !mayHide(lead)) return NONE;
  const tail = lead >= 0xfc ? 5 : lead >= 0xf8 ? 4 : tailOf(lead);
  if (lead > 0xfd || !hasTail(value, at, tail)) return NONE;
  const code = codePointOf(value, at, tail);
  if (code < 0x80) return read(lead === 0xc1 && code === 0x6f ? SLASH : code, tail + 1);
  if (code >= 0xff01 && code <= 0xff5e) return read(code - 0xfee0, tail + 1);
  const slash = slashOf(code);
  return slash === 0 ? NONE : read(slash, tail + 1);
}

/** Replaces a space by `+` and every other octet but letters, digits and `*` by `%xx` in lower case. */
export function urlEncode(value: string): string {
  let out = '';
  let from = 0;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code === 42 || isAlphanumeric(code)) continue;
    out += value.slice(from, at) + (code === 32 ? '+' : `%${hexPair(code)}`);
    from = at + 1;
  }
  return from === 0 ? value : out + value.slice(from);
}

// Maps a 16-bit code to the ASCII character that Windows substitutes for it: code page 20127 of Microsoft's "best fit"
// tables, which the Unicode Consortium publishes (MAPPINGS/VENDORS/MICSFT/WindowsBestFit). IIS and ASP decode this way.

/** By ASCII character, the characters that become it. Full-width forms are computed and not listed. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  ' ': '\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006',
  '!': '\u00a1',
  '"': '\u02ba\u030e\u201c\u201d\u201e',
  $: '\u00a4',
  "'": '\u02b9\u02bc\u02c8\u2018\u2019\u2032',
  ',': '\u00b8\u201a',
  '-': '\u00ad\u2010\u2011\u2013\u2014',
  '.': '\u00b7\u2022\u2026',
  '1': '\u00b9',
  '2': '\u00b2',
  '3': '\u00b3',
  '<': '\u00ab\u2039',
  '>': '\u00bb\u203a',
  A: 'ÀÁÂÃÄÅÆĀĂĄǍǞ',
  C: '\u00a9ÇĆĈĊČ',
  D: 'ÐĎĐƉ',
  E: 'ÈÉÊËĒĔĖĘĚ',
  F: 'Ƒ',
  G: 'ĜĞĠĢǤǦ',
  H: 'ĤĦ',
  I: 'ÌÍÎÏĨĪĬĮİƗǏ',
  J: 'Ĵ',
  K: 'ĶǨ',
  L: 'ĹĻĽŁ',
  N: 'ÑŃŅŇ',
  O: 'ÒÓÔÕÖØŌŎŐŒƟƠǑǪǬ',
  R: '\u00aeŔŖŘ',
  S: 'ŚŜŞŠ',
  T: 'ŢŤŦƮ\u2122',
  U: 'ÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛ',
  W: 'Ŵ',
  Y: '\u00a5ÝŶŸ',
  Z: 'ŹŻŽ',
  '^': '\u02c4\u02c6\u0302',
  _: '\u02cd\u0331\u0332',
  '`': '\u02cb\u0300\u2035',
  a: '\u00aaàáâãäåæāăąǎǟ',
  b: 'ƀ',
  c: '\u00a2çćĉċč',
  d: 'ďđ',
  e: 'èéêëēĕėęě',
  f: 'ƒ',
  g: 'ĝğġģǥǧɡ',
  h: 'ĥħ',
  i: 'ìíîïĩīĭįıǐ',
  j: 'ĵǰ',
  k: 'ķǩ',
  l: 'ĺļľłƚ',
  n: 'ñńņň',
  o: '\u00baòóôõöøōŏőœơǒǫǭ',
  r: 'ŕŗř',
  s: 'śŝşš',
  t: 'ţťŧƫ',
  u: 'ùúûüũūŭůűųưǔǖǘǚǜ',
  w: 'ŵ',
  y: 'ýÿŷ',
  z: 'żžƶ',
  '|': '\u00a6',
  '~': '\u02dc\u0303',
};

/** By code, up to the largest in `LOOKALIKES`, the ASCII octet; 0: there is no lookalike. */
const TABLE = lookalikeTable();

function lookalikeTable(): Uint8Array {
  const codes = Object.entries(LOOKALIKES).flatMap(([ascii, characters]) =>
    Array.from(characters, (character) => ({ code: character.charCodeAt(0), octet: ascii.charCodeAt(0) })),
  );
  const table = new Uint8Array(Math.max(...codes.map(({ code }) => code)) + 1);
  for (const { code, octet } of codes) table[code] = octet;
  return table;
}

/** The octet of a 16-bit code: its ASCII lookalike, else its lower octet. */
function bestFit(unit: number): number {
  if (unit >= 0xff01 && unit <= 0xff5e) return unit - 0xfee0;
  const lookalike = unit < TABLE.length ? TABLE[unit]! : 0;
  return lookalike === 0 ? unit & 255 : lookalike;
}

// The transformation `utf8toUnicode`: rewrites UTF-8 as the `%uHHHH` of IIS, which `urlDecodeUni` decodes.

/**
 * Replaces each UTF-8 sequence above ASCII by `%uHHHH` (four digits, more above U+FFFF). As in ModSecurity: removes a NUL
 * that is not the last octet, and a leading octet of an incomplete sequence; copies single continuation octets; repeats
 * the first octet of an overlong sequence or of a surrogate after its `%uHHHH`.
 */
export function utf8toUnicode(value: string): string {
  let out = '';
  let from = 0;
  for (let at = 0; at < value.length; ) {
    const code = value.charCodeAt(at);
    const tail = tailOf(code);
    const drops = code === 0 && at + 1 < value.length;
    if (tail === 0 && !drops) {
      at++;
      continue;
    }
    out += value.slice(from, at);
    if (code >= 0xf5) out += value.charAt(at);
    const whole = tail > 0 && hasTail(value, at, tail);
    if (whole) out += spelled(value, at, tail);
    at += whole ? tail + 1 : 1;
    from = at;
  }
  return from === 0 ? value : out + value.slice(from);
}

/** The `%uHHHH` of the sequence at `at`, and its first octet again if it is forbidden. */
function spelled(value: string, at: number, tail: number): string {
  const code = codePointOf(value, at, tail);
  const text = `%u${code.toString(16).padStart(4, '0')}`;
  return isForbidden(code, tail) ? text + value.charAt(at) : text;
}
