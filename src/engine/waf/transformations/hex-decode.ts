/** The transformation `hexDecode`: decodes pairs of hexadecimal digits. */
import { latin1Text, scratchOctets } from '../octets/latin1.ts';

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
