/** The operator `@containsWord`: the argument occurs in the value as a whole word. */
import { isUpper } from '../octets/latin1.ts';

/**
 * Whether the argument occurs with no ASCII letter before or after it. As in libmodsecurity a digit ends a word, and an
 * empty argument occurs everywhere.
 */
export function containsWord(value: string, argument: string): boolean {
  if (argument === '') return true;
  for (let at = value.indexOf(argument); at >= 0; at = value.indexOf(argument, at + 1)) {
    if (!isLetterAt(value, at - 1) && !isLetterAt(value, at + argument.length)) return true;
  }
  return false;
}

function isLetterAt(value: string, at: number): boolean {
  return isUpper(value.charCodeAt(at) & ~32);
}
