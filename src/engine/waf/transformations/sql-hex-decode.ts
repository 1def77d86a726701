/** The transformation `sqlHexDecode`: decodes hexadecimal literals of MySQL. */
import { hexOctet, latin1Text, scratchOctets } from '../octets/latin1.ts';

/** Replaces `0x` and the pairs of hexadecimal digits that follow, at least one, by their octets; a last single digit stays. */
export function sqlHexDecode(value: string): string {
  const first = firstString(value);
  if (first < 0) return value;
  const octets = scratchOctets(value.length);
  let count = 0;
  let at = first;
  while (at < value.length) {
    if (!startsString(value, at)) {
      octets[count++] = value.charCodeAt(at++);
      continue;
    }
    at += 2;
    for (let octet = hexOctet(value, at); octet >= 0; octet = hexOctet(value, at)) {
      octets[count++] = octet;
      at += 2;
    }
  }
  return value.slice(0, first) + latin1Text(octets, 0, count);
}

/** The place of the first literal; -1: there is none. */
function firstString(value: string): number {
  let at = value.indexOf('0');
  while (at >= 0 && !startsString(value, at)) at = value.indexOf('0', at + 1);
  return at;
}

/** Whether `0x` or `0X` with at least one pair of digits is at `at`. */
function startsString(value: string, at: number): boolean {
  return (
    value.charCodeAt(at) === 48 && (value.charCodeAt(at + 1) | 32) === 0x78 && hexOctet(value, at + 2) >= 0
  );
}
