import { escapedOctet } from '../../base/octets.ts';
import { latin1Text, scratchOctets } from '../octets/latin1.ts';
import { decodeEscapes, type EscapeReader, NONE, read } from './escapes.ts';

/** `%XX` becomes its octet and `+` a space; what is no whole escape stays as it is. */
export function urlDecode(value: string): string {
  return decodeForm(value, readOctet);
}

const PERCENT = 37;
const PLUS = 43;
const SPACE = 32;

/** `value` with each `+` as a space and the escapes that begin with `%` replaced; the reader drops none. */
// PERF: in one pass, since bodies of forms are full of both.
export function decodeForm(value: string, readEscape: EscapeReader): string {
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

/** Reads `%XX`. */
export function readOctet(value: string, at: number): number {
  const octet = escapedOctet(value, at);
  return octet < 0 ? NONE : read(octet, 3);
}
