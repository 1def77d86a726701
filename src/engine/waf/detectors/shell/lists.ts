/** Distinguishes lists of words (`name|id|price`) from commands behind separators. */
import { isDigit, isUpper } from '../../octets/latin1.ts';
import { isCommandName, LONGEST_COMMAND } from './commands.ts';

/** The most elements of a list that are read. */
const MAX_ELEMENTS = 16;

/**
 * Whether a value lists words, of which only some are names of commands: `name|id|price`. `first`: the letters before its
 * first separator.
 */
export function isList(value: string, first: number): boolean {
  let elements = 0;
  let others = 0;
  for (let start = 0; start <= value.length && elements < MAX_ELEMENTS; ) {
    let end = start;
    while (end < value.length && !';|&\n\r'.includes(value.charAt(end))) end++;
    const element = value
      .slice(start, Math.min(end, start + LONGEST_COMMAND))
      .trim()
      .toLowerCase();
    if (element !== '') elements++;
    if (start > 0 && isSimple(element) && !isCommandName(element)) others++;
    start = end + 1;
  }
  return others > 0 || (elements > 2 && first > 1);
}

/** Whether an element is one word of letters and digits. */
function isSimple(element: string): boolean {
  for (let at = 0; at < element.length; at++) {
    const code = element.charCodeAt(at);
    if (!isLetter(code) && !isDigit(code) && code !== 0x5f && code !== 0x20 && code !== 0x2d) return false;
  }
  return element !== '';
}

function isLetter(code: number): boolean {
  return isUpper(code & ~32) || code >= 0x80;
}
