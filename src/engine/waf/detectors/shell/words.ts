/**
 * Reads words of command lines as shells do: quotes, backslashes and carets taken away, unset variables empty, `$IFS` a
 * blank (POSIX.1-2017, "Shell Command Language", 2.2 Quoting and 2.6 Word Expansions; `cmd /?` for carets).
 */
import { isAlphanumeric, isSpace, isUpper } from '../../octets/latin1.ts';

/** A word, as far as it was read. */
export interface CommandWord {
  /** The first characters without quoting, in lower case. */
  plain: string;
  /** The place after it. */
  end: number;
  /** Quotes, backslashes, carets and empty expansions between two letters of it. */
  breaks: number;
  /** Variables in it. */
  variables: number;
  /** Whether it has capital letters. */
  cased: boolean;
}

/** Creates a word; readers fill it again and again. */
export function newWord(): CommandWord {
  return { plain: '', end: 0, breaks: 0, variables: 0, cased: false };
}

/** The most characters of a word that are compared, and that are read. */
const LONGEST_PLAIN = 64;
const LONGEST_WORD = 96;

/** Characters that end a word, besides blanks. */
const ENDS = ';|&()<>`\n\r\0';

/** By octet, 1 if it can end a word, or a shell can take it away: every other octet is a character of the word. */
const SPECIAL = new Uint8Array(256);
for (const mark of `${ENDS} \t\v\f\xa0$"'\\^`) SPECIAL[mark.charCodeAt(0)] = 1;

/** The place after the characters at `from` that are no `SPECIAL` ones, at most `limit`. */
function plainEnd(text: string, from: number, limit: number): number {
  let at = from;
  while (at < limit && SPECIAL[text.charCodeAt(at)] !== 1) at++;
  return at;
}

function hasUpper(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (isUpper(text.charCodeAt(at))) return true;
  return false;
}

/** Whether the separator of fields is at `at` (`$IFS`, `${IFS}`, `$IFS$9`); returns the place after it, or -1. */
export function fieldSeparator(text: string, at: number): number {
  if (text.charCodeAt(at) !== 0x24) return -1;
  const braced = text.charCodeAt(at + 1) === 0x7b;
  const name = at + (braced ? 2 : 1);
  if (text.slice(name, name + 3).toUpperCase() !== 'IFS') return -1;
  if (!braced) return name + 3;
  const close = closingBrace(text, name);
  return close < 0 ? name + 3 : close + 1;
}

/** The longest expansion in braces that is read, in characters. */
const LONGEST_EXPANSION = 32;

/** The place of the brace that closes an expansion; -1: none is near. */
function closingBrace(text: string, from: number): number {
  const limit = Math.min(text.length, from + LONGEST_EXPANSION);
  for (let at = from; at < limit; at++) if (text.charCodeAt(at) === 0x7d) return at;
  return -1;
}

/** The place after blanks, `$IFS` among them. */
export function skipBlanks(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === 0x20 || code === 0x09 || code === 0x0b || code === 0x0c || code === 0xa0) at++;
    else {
      const after = fieldSeparator(text, at);
      if (after < 0) return at;
      at = after;
    }
  }
}

/** Reads the word at `from` into `word`. */
export function readWord(text: string, from: number, word: CommandWord): void {
  word.plain = '';
  word.breaks = 0;
  word.variables = 0;
  word.cased = false;
  let at = from;
  let pending = 0;
  const limit = Math.min(text.length, from + LONGEST_WORD);
  while (at < limit) {
    const code = text.charCodeAt(at);
    // PERF: the plain characters of a word are copied together.
    const plain = plainEnd(text, at, limit);
    if (plain > at) {
      word.cased ||= hasUpper(text, at, plain);
      if (word.plain !== '') word.breaks += pending;
      pending = 0;
      const room = LONGEST_PLAIN - word.plain.length;
      if (room > 0) word.plain += text.slice(at, Math.min(plain, at + room)).toLowerCase();
      at = plain;
      continue;
    }
    if (isSpace(code) || code === 0xa0 || isEnd(text, at) || isWrittenEnd(text, at)) break;
    if (code === 0x24) {
      if (fieldSeparator(text, at) >= 0 || text.charCodeAt(at + 1) === 0x28) break;
      const after = variableEnd(text, at);
      if (after > at + 1) {
        word.variables++;
        pending++;
        at = after;
        continue;
      }
    }
    // An empty substitution is nothing.
    if (code === 0x60 && text.charCodeAt(at + 1) === 0x60) {
      pending++;
      at += 2;
      continue;
    }
    if (isQuoting(text, at)) {
      pending++;
      at++;
      continue;
    }
    if (isUpper(code)) word.cased = true;
    if (word.plain !== '') word.breaks += pending;
    pending = 0;
    if (word.plain.length < LONGEST_PLAIN) word.plain += text.charAt(at).toLowerCase();
    at++;
  }
  word.end = at;
}

function isEnd(text: string, at: number): boolean {
  return ENDS.includes(text.charAt(at)) && !(text[at] === '`' && text[at + 1] === '`');
}

/** Whether the line end at the end of the text is written as an escape: `\n`. */
function isWrittenEnd(text: string, at: number): boolean {
  return at + 2 === text.length && (text.endsWith('\\n') || text.endsWith('\\r'));
}

/** Whether a shell takes the character at `at` away: a quote, or a backslash or caret before a letter. */
function isQuoting(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code === 0x22 || code === 0x27) return true;
  return (code === 0x5c || code === 0x5e) && isAlphanumeric(text.charCodeAt(at + 1)) && !isDrive(text, at);
}

/** Whether the backslash at `at` is the separator of a path of Windows. */
function isDrive(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  return text.charCodeAt(at) === 0x5c && (before === 0x3a || before === 0x5c);
}

/** The place after the variable or empty expansion at `at` (`$x`, `$@`, `${x}`, `$9`); `at` itself: absent. */
function variableEnd(text: string, at: number): number {
  const next = text.charAt(at + 1);
  if (next !== '' && '@*!?#-'.includes(next)) return at + 2;
  if (next === '{') {
    const close = closingBrace(text, at);
    return close < 0 ? at : close + 1;
  }
  let end = at + 1;
  while (isAlphanumeric(text.charCodeAt(end)) || text.charCodeAt(end) === 0x5f) end++;
  return end;
}
