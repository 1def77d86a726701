/** The transformations `trim`, `trimLeft` and `trimRight`. */
import { isSpace } from '../octets/latin1.ts';

/** Removes white space at both ends. */
export function trim(value: string): string {
  return trimRight(trimLeft(value));
}

/** Removes white space at the start. */
export function trimLeft(value: string): string {
  let from = 0;
  while (from < value.length && isSpace(value.charCodeAt(from))) from++;
  return from === 0 ? value : value.slice(from);
}

/** Removes white space at the end. */
export function trimRight(value: string): string {
  let to = value.length;
  while (to > 0 && isSpace(value.charCodeAt(to - 1))) to--;
  return to === value.length ? value : value.slice(0, to);
}
