/** The transformation `hexEncode`. */
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
