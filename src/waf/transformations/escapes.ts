import { latin1Text, scratchOctets } from '../octets/latin1.ts';

/**
 * What stands for the escape that starts at a place: `read(octet, width)`, `dropped(width)`, or `NONE` where there is
 * none and the character stays. One number, since a pair would be an allocation for each escape.
 */
export type EscapeReader = (value: string, at: number) => number;

export const NONE = -1;
const NOTHING = 256;

/** An escape of `width` characters for one octet. */
export function read(octet: number, width: number): number {
  return (octet & 255) | (width << 9);
}

/** An escape of `width` characters for nothing. */
export function dropped(width: number): number {
  return NOTHING | (width << 9);
}

/** `value` with the escapes that begin with the character `mark` replaced, once, from the left. */
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
