/** Tells prose and source code from a command line by the whole value. */
import { isSpace, isUpper } from '../../octets/latin1.ts';
import { commandKind, LONGEST_COMMAND, UNKNOWN } from './commands.ts';

/** The most words of prose beside a command that was put into a value, its arguments left out. */
const MAX_WORDS = 2;
/** The most octets of a text with several lines: longer ones are source code or logs. */
const MAX_LINED_TEXT = 200;
/** Octets beyond ASCII that count as a word of prose more: scripts without blanks write one or two characters with them. */
const OCTETS_OF_WORD = 4;

/** Whether a value is a text that has commands in it; `own` words of letters belong to the command itself. */
export function isText(value: string, own: number): boolean {
  let words = 0;
  let lines = 0;
  for (let at = 0; at < value.length; ) {
    const code = value.charCodeAt(at);
    if (isSpace(code)) {
      if (code === 0x0a) lines++;
      at++;
      continue;
    }
    let end = at;
    while (end < value.length && !isSpace(value.charCodeAt(end))) end++;
    words += wordsOf(value, at, end);
    if (words > MAX_WORDS + own) return true;
    at = end;
  }
  return lines > 1 && value.length > MAX_LINED_TEXT;
}

/** The words of prose in a token: one of letters that is no command, and what is written without blanks. */
function wordsOf(value: string, at: number, end: number): number {
  let last = end;
  while (last > at && '.,:!?'.includes(value.charAt(last - 1))) last--;
  let high = 0;
  let letters = 0;
  for (let place = at; place < last; place++) {
    const code = value.charCodeAt(place);
    if (code >= 0x80) high++;
    if (isUpper(code & ~32) || code >= 0x80 || code === 0x27 || code === 0x2d) letters++;
  }
  const dense = Math.floor(high / OCTETS_OF_WORD);
  if (letters < last - at || letters < 3 || value.charCodeAt(at) === 0x2d) return dense;
  const isCommand =
    letters <= LONGEST_COMMAND && commandKind(value.slice(at, last).toLowerCase(), false) !== UNKNOWN;
  return isCommand ? dense : dense + 1;
}
