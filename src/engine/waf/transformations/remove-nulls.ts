/** The transformation `removeNulls`. */
import { dropOctets } from './drop-octets.ts';

/** Removes NUL octets. */
export function removeNulls(value: string): string {
  return value.indexOf('\0') < 0 ? value : dropOctets(value, isNull);
}

function isNull(code: number): boolean {
  return code === 0;
}
