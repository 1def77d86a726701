/** The transformation `removeWhitespace`. */
import { isSpace } from '../octets/latin1.ts';
import { dropOctets } from './drop-octets.ts';

/**
 * Removes white space. As in libmodsecurity 3, also the octets of a no-break space in Latin-1 (0xA0) and in UTF-8
 * (0xC2 0xA0); 0xC2 wherever it occurs.
 */
export function removeWhitespace(value: string): string {
  return dropOctets(value, isRemoved);
}

function isRemoved(code: number): boolean {
  return isSpace(code) || code === 0xa0 || code === 0xc2;
}
