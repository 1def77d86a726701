import { isSpace } from '../octets/latin1.ts';
import { dropOctets } from './drop-octets.ts';

/**
 * Without white space. As in libmodsecurity 3 the octets of a no-break space go too, alone (0xA0) and in UTF-8
 * (0xC2 0xA0), the first of these wherever it stands.
 */
export function removeWhitespace(value: string): string {
  return dropOctets(value, isRemoved);
}

function isRemoved(code: number): boolean {
  return isSpace(code) || code === 0xa0 || code === 0xc2;
}
