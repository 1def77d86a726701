import { latin1Text, scratchOctets } from '../octets/latin1.ts';

export const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const INVALID = 255;
const SEXTET = sextetTable();

function sextetTable(): Uint8Array {
  const table = new Uint8Array(256).fill(INVALID);
  for (let index = 0; index < 64; index++) table[ALPHABET.charCodeAt(index)] = index;
  return table;
}

/** The six bits that a character of the alphabet (RFC 4648 §4) stands for, or -1. */
function sextetOf(code: number): number {
  const sextet = SEXTET[code]!;
  return sextet === INVALID ? -1 : sextet;
}

/**
 * Base64 up to the first character that is none. What was decoded until then counts, as in ModSecurity 2 and Coraza;
 * libmodsecurity 3 gives nothing then, and one stray character would hide an attack. Line ends are passed over.
 */
export function base64Decode(value: string): string {
  return decodeBase64(value, isLineEnd);
}

/** Octets that `base64Decode` makes of a text. */
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

/** Base64 past the characters for which `isPassedOver` holds, up to the first other that is none. */
export function decodeBase64(value: string, isPassedOver: (code: number) => boolean): string {
  const octets = scratchOctets(value.length);
  let count = 0;
  let bits = 0;
  let sextets = 0;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    const sextet = sextetOf(code);
    if (sextet < 0) {
      if (isPassedOver(code)) continue;
      break;
    }
    bits = ((bits << 6) | sextet) & 0xffff;
    sextets = (sextets + 1) & 3;
    if (sextets !== 1) octets[count++] = bits >> (((4 - sextets) & 3) * 2);
  }
  return latin1Text(octets, 0, count);
}
