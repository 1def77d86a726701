/** The loop of every decoder of escapes (`%XX`, `\n`, `&lt;` …), in one pass and without allocation per escape. */
import { latin1Text, scratchOctets } from '../octets/latin1.ts';

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
export function dropped(width: number): number {
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
