import { latin1Text, scratchOctets } from '../octets/latin1.ts';

/**
 * Each two digits become an octet, a digit left over goes. As in ModSecurity nothing checks that they are digits: any
 * character counts as its distance from `0` or `A`.
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
