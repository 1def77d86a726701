/** The transformation `urlDecode` (URL Standard, `application/x-www-form-urlencoded` parsing), and its loop. */
import { escapedOctet } from '../../../base/octets/octets.ts';
import { latin1Text, scratchOctets } from '../octets/latin1.ts';
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

/** The `EscapeReader` of `%XX`. */
export function readOctet(value: string, at: number): number {
  const octet = escapedOctet(value, at);
  return octet < 0 ? NONE : read(octet, 3);
}
