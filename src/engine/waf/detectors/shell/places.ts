/** Whether a command can begin or end at a place in a value, by the octets around it. */
import { isDigit, isSpace, isUpper } from '../../octets/latin1.ts';

/** Whether the semicolon at `at` ends a reference to a character (`&amp;`). */
export function endsReference(value: string, at: number): boolean {
  let start = at - 1;
  while (start > 0 && at - start < 9 && isReferenceCharacter(value.charCodeAt(start))) start--;
  return start >= 0 && value[start] === '&' && at - start > 2;
}

function isReferenceCharacter(code: number): boolean {
  return isUpper(code & ~32) || isDigit(code) || code === 0x23;
}

/** Whether a character is at `at`, and one of `marks`. */
export function isOneOf(value: string, at: number, marks: string): boolean {
  return at < value.length && marks.includes(value.charAt(at));
}

/** A letter or an underscore. */
export function isNameCharacter(code: number): boolean {
  return isUpper(code & ~32) || code === 0x5f;
}

export function isLineEnd(value: string, at: number): boolean {
  return value.charCodeAt(at) === 0x0a || value.charCodeAt(at) === 0x0d;
}

export function isBlankAt(value: string, at: number): boolean {
  return at >= 0 && at < value.length && isSpace(value.charCodeAt(at));
}

/** Whether the substitution from `from` has a blank before it, as an argument of its own has. */
export function isArgument(value: string, from: number, close: string): boolean {
  return isBlankAt(value, from - (close === ')' ? 3 : 2));
}

/** Whether the backtick before `from` is one of a name in SQL with two parts: `` `users`.`id` ``. */
export function isQuotedName(value: string, from: number): boolean {
  let end = from;
  while (isReferenceCharacter(value.charCodeAt(end)) || value[end] === '_') end++;
  if (end === from || value[end] !== '`') return false;
  return value.startsWith('`.', from - 3) || value.startsWith('.`', end + 1);
}

/** Whether the bracket at `at` begins a text that Ruby runs: `%x(id)`. */
export function isRubyText(value: string, at: number): boolean {
  return value.charCodeAt(at - 1) === 0x78 && value.charCodeAt(at - 2) === 0x25;
}

/** Maximum distance, in characters, at which the end of a substitution and the text after it are searched. */
const REACH = 96;

/** Words of prose behind the end of a substitution, at most two. */
export function proseBehind(value: string, from: number, close: string): number {
  const limit = Math.min(value.length, from + REACH);
  let at = from;
  while (at < limit && value[at] !== close) at++;
  let words = 0;
  // What is glued to the substitution is no word of prose.
  let letters = -1;
  for (at++; at <= limit && words < 2; at++) {
    const code = at < limit ? value.charCodeAt(at) : 0x20;
    if (isLetter(code)) letters = letters < 0 ? letters : letters + 1;
    else if (isSpace(code)) {
      if (letters > 1) words++;
      if (code === 0x0a) return words;
      letters = 0;
    } else if (';|&'.includes(value.charAt(at))) return words;
    else if (!'.,:!?'.includes(value.charAt(at))) letters = -1;
  }
  return words;
}

/** The same behind a bracket and a blank at `at`: `bash $(command) vs backticks` is a question; none without them. */
export function proseBehindBracket(value: string, at: number): number {
  return value.charCodeAt(at) === 0x29 && isBlankAt(value, at + 1) ? proseBehind(value, at, ')') : 0;
}

/** Whether the folder of a program is one of a system: `/bin/`, `/usr/local/sbin/`, `/tmp/`, `./`. */
export function isProgramFolder(folder: string): boolean {
  return (
    folder.endsWith('bin/') || folder.startsWith('/tmp/') || folder.startsWith('/dev/shm/') || folder === './'
  );
}

function isLetter(code: number): boolean {
  return isUpper(code & ~32) || code >= 0x80;
}
