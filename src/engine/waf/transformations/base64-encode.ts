/** The transformation `base64Encode` (RFC 4648 §4). */
import { ALPHABET } from './base64-decode.ts';

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
