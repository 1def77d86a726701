/** The transformation `uppercase`. */
import { isUpper, latin1Text, scratchOctets } from '../octets/latin1.ts';

/** Converts ASCII letters to upper case; octets above 127 stay. */
export function uppercase(value: string): string {
  let at = 0;
  while (at < value.length && !isLower(value.charCodeAt(at))) at++;
  if (at === value.length) return value;
  const octets = scratchOctets(value.length);
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index);
    octets[index] = isLower(code) ? code - 32 : code;
  }
  return latin1Text(octets, 0, value.length);
}

function isLower(code: number): boolean {
  return code > 96 && isUpper(code - 32);
}
