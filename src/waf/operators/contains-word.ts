import { isUpper } from '../octets/latin1.ts';

/** The argument stands in the value with no ASCII letter before or after it; digits bound a word. */
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
