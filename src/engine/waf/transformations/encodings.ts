/**
 * Transformations between octets and their text in Base64 and hexadecimal (RFC 4648). In: Latin-1 text. Out: the encoded
 * or decoded text.
 */
import { hexOctet, latin1Text, scratchOctets } from '../octets/latin1.ts';

/** The alphabet of RFC 4648 §4, by value of six bits. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** The mark of octets outside the alphabet in `SEXTET`. */
const INVALID = 255;
/** By octet, the six bits it denotes. */
const SEXTET = sextetTable();

function sextetTable(): Uint8Array {
  const table = new Uint8Array(256).fill(INVALID);
  for (let index = 0; index < 64; index++) table[ALPHABET.charCodeAt(index)] = index;
  return table;
}

/** The six bits that a character of the alphabet denotes; -1: it is not in the alphabet. */
function sextetOf(code: number): number {
  const sextet = SEXTET[code]!;
  return sextet === INVALID ? -1 : sextet;
}

/**
 * Decodes Base64 up to the first character outside the alphabet; skips line ends. The result up to there counts, as in
 * ModSecurity 2 and Coraza; libmodsecurity 3 returns nothing, so that one stray character would hide an attack.
 */
export function base64Decode(value: string): string {
  return decodeBase64(value, isLineEnd);
}

/** The length in octets of `base64Decode(value)`. */
export function base64Octets(value: string): number {
  let sextets = 0;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (sextetOf(code) >= 0) sextets++;
    else if (!isLineEnd(code)) break;
  }
  return (sextets * 3) >> 2;
}

function isLineEnd(code: number): boolean {
  return code === 13 || code === 10;
}

/** Decodes Base64 up to the first character outside the alphabet that is not skipped. */
function decodeBase64(value: string, isSkipped: (code: number) => boolean): string {
  const octets = scratchOctets(value.length);
  let count = 0;
  let bits = 0;
  let sextets = 0;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    const sextet = sextetOf(code);
    if (sextet < 0) {
      if (isSkipped(code)) continue;
      break;
    }
    bits = ((bits << 6) | sextet) & 0xffff;
    sextets = (sextets + 1) & 3;
    if (sextets !== 1) octets[count++] = bits >> (((4 - sextets) & 3) * 2);
  }
  return latin1Text(octets, 0, count);
}

// The transformation `base64DecodeExt`: Base64 as forgiving as PHP's `base64_decode`.

/** Decodes Base64 and skips every character outside the alphabet, padding included, wherever it is. */
export function base64DecodeExt(value: string): string {
  return decodeBase64(value, () => true);
}

// The transformation `base64Encode` (RFC 4648 §4).

/** Encodes the octets as Base64 with padding, without line ends. */
export function base64Encode(value: string): string {
  let out = '';
  for (let at = 0; at < value.length; at += 3) {
    const rest = value.length - at;
    const bits = (octetAt(value, at) << 16) | (octetAt(value, at + 1) << 8) | octetAt(value, at + 2);
    out += ALPHABET.charAt(bits >> 18) + ALPHABET.charAt((bits >> 12) & 63);
    out += rest > 1 ? ALPHABET.charAt((bits >> 6) & 63) : '=';
    out += rest > 2 ? ALPHABET.charAt(bits & 63) : '=';
  }
  return out;
}

function octetAt(value: string, at: number): number {
  return at < value.length ? value.charCodeAt(at) : 0;
}

// The transformation `hexDecode`: decodes pairs of hexadecimal digits.

/**
 * Replaces every two characters by one octet; removes an odd last one. As in ModSecurity, characters are not checked to
 * be digits: any character counts as its distance from `0` or `A`.
 */
export function hexDecode(value: string): string {
  const octets = scratchOctets(value.length);
  let count = 0;
  for (let at = 0; at + 1 < value.length; at += 2) {
    octets[count++] = looseDigit(value.charCodeAt(at)) * 16 + looseDigit(value.charCodeAt(at + 1));
  }
  return latin1Text(octets, 0, count);
}

function looseDigit(code: number): number {
  return code >= 65 ? (code & 0xdf) - 55 : code - 48;
}

const DIGITS = '0123456789abcdef';

/** Replaces each octet by two lower-case hexadecimal digits. */
export function hexEncode(value: string): string {
  let out = '';
  for (let at = 0; at < value.length; at++) out += hexPair(value.charCodeAt(at));
  return out;
}

/** An octet as two lower-case hexadecimal digits. */
export function hexPair(octet: number): string {
  return DIGITS.charAt(octet >> 4) + DIGITS.charAt(octet & 15);
}

// The transformation `sqlHexDecode`: decodes hexadecimal literals of MySQL.

/** Replaces `0x` and the pairs of hexadecimal digits that follow, at least one, by their octets; a last single digit stays. */
export function sqlHexDecode(value: string): string {
  const first = firstString(value);
  if (first < 0) return value;
  const octets = scratchOctets(value.length);
  let count = 0;
  let at = first;
  while (at < value.length) {
    if (!startsString(value, at)) {
      octets[count++] = value.charCodeAt(at++);
      continue;
    }
    at += 2;
    for (let octet = hexOctet(value, at); octet >= 0; octet = hexOctet(value, at)) {
      octets[count++] = octet;
      at += 2;
    }
  }
  return value.slice(0, first) + latin1Text(octets, 0, count);
}

/** The place of the first literal; -1: absent. */
function firstString(value: string): number {
  let at = value.indexOf('0');
  while (at >= 0 && !startsString(value, at)) at = value.indexOf('0', at + 1);
  return at;
}

/** Whether `0x` or `0X` with at least one pair of digits is at `at`. */
function startsString(value: string, at: number): boolean {
  return (
    value.charCodeAt(at) === 48 && (value.charCodeAt(at + 1) | 32) === 0x78 && hexOctet(value, at + 2) >= 0
  );
}
