/** Removal of single octets, for `removeNulls` and `removeWhitespace`. */
import { latin1Text, scratchOctets } from '../octets/latin1.ts';

/** Removes the octets for which `isDropped` is true; returns the same string if there are none. */
export function dropOctets(value: string, isDropped: (code: number) => boolean): string {
  let at = 0;
  while (at < value.length && !isDropped(value.charCodeAt(at))) at++;
  if (at === value.length) return value;
  const octets = scratchOctets(value.length);
  let count = 0;
  for (let index = at + 1; index < value.length; index++) {
    const code = value.charCodeAt(index);
    if (!isDropped(code)) octets[count++] = code;
  }
  return value.slice(0, at) + latin1Text(octets, 0, count);
}
