/** The transformation `base64Decode` (RFC 4648 §4), and the decoder that `base64DecodeExt` shares. */
import { latin1Text, scratchOctets } from '../octets/latin1.ts';

/** The alphabet of RFC 4648 §4, by value of six bits. */
export const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
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
export function decodeBase64(value: string, isSkipped: (code: number) => boolean): string {
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
