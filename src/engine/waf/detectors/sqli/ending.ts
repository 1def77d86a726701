/** Rules for comments at the end of a value: whether one cuts off the statement, or is a dash or hash of prose. */
import { isInWord, isSpace } from './characters.ts';
import { BAREWORD, CLOSE, COMMENT, NUMBER, SEMICOLON, STRING, VARIABLE } from './kinds.ts';
import type { Reading } from './reading.ts';
import { isEdge, kindAt } from './reading.ts';

const HASH = 0x23;
const SLASH = 0x2f;
/** `-->` ends a comment of HTML. */
const GREATER = 0x3e;
/** The length of an empty bracketed comment. */
const EMPTY_COMMENT = 4;

/** SQL Server does not log a statement with this word; in a comment it has no other purpose. */
const UNLOGGED = 'sp_password';

/** Whether the value ends with a comment that cuts off a statement, judging by the tokens before it as well. */
export function endsValue(reading: Reading): boolean {
  const { folded, scan } = reading;
  const { comment } = folded;
  if (comment < 0) return false;
  const mark = scan.text.charCodeAt(comment);
  if (mark === HASH) return endsWithHash(reading);
  if (scan.text.indexOf(UNLOGGED, comment) >= 0) return true;
  if (scan.text.charCodeAt(comment + 2) === GREATER) return false;
  if (isSmall(reading)) return endsSmall(reading, mark);
  return bodyIsShort(reading);
}

/** Whether the comment at the end is a bracketed one, or has at most two words. */
export function bodyIsShort({ folded, scan }: Reading): boolean {
  const { comment } = folded;
  if (comment < 0 || scan.text.charCodeAt(comment + 2) === GREATER) return false;
  return scan.text.charCodeAt(comment) === SLASH || bodyWords(scan.text, comment + 2) <= 2;
}

/** Whether there is no white space before the comment. */
function isTight(text: string, comment: number): boolean {
  return comment > 0 && !isSpace(text.charCodeAt(comment - 1));
}

/** Whether a hash at the very end cuts off a statement; `'#` after white space is a quoted number sign. */
function endsWithHash({ folded, scan }: Reading): boolean {
  const { text } = scan;
  const { comment } = folded;
  if (!isTight(text, comment) || !isBare(text, comment + 1)) return false;
  return folded.kind[0] !== STRING || folded.end[0] !== comment || comment < 2 || isTight(text, comment - 1);
}

/** Whether at most one sign follows a hash: `#`, `#(`. */
function isBare(text: string, at: number): boolean {
  return bodyWords(text, at) === 0 || (at + 1 === text.length && !isInWord(text.charCodeAt(at)));
}

/** Whether only one value, and possibly a bracket or semicolon, precedes the comment. */
function isSmall(reading: Reading): boolean {
  const second = kindAt(reading, 1);
  if (second === COMMENT) return true;
  return (second === CLOSE || second === SEMICOLON) && kindAt(reading, 2) === COMMENT;
}

/** `endsValue` if `isSmall`: the kind of the value and the text of the comment decide. */
function endsSmall(reading: Reading, mark: number): boolean {
  const { scan, folded } = reading;
  const { text } = scan;
  const words = bodyWords(text, folded.comment + 2);
  const closes = kindAt(reading, 1) === CLOSE;
  switch (kindAt(reading, 0)) {
    case NUMBER:
      // `1--`, `1/*`
      return scan.names === 0 && (mark === SLASH || (words <= 1 && !hasComma(text, folded.comment)));
    case STRING:
      // `a'--`, `a')--`
      if (!reading.quoted) return closes && words === 0 && scan.names === 0;
      if (isQuotedComment(reading)) return false;
      return mark === SLASH || words === 0 || (words === 1 && !isQuoted(text, folded.comment + 2));
    case BAREWORD:
      // `x/*` and `src/**/` are paths
      return mark === SLASH && text.endsWith('*/') && text.length - folded.comment > EMPTY_COMMENT;
    case VARIABLE:
      // `@x/*`, `@x)--`
      return mark === SLASH || (words === 0 && (closes || isTight(text, folded.comment)));
    default:
      return false;
  }
}

/** Whether a comma is before `end`: `1,1--` is a list with dashes. */
function hasComma(text: string, end: number): boolean {
  const comma = text.indexOf(',');
  return comma >= 0 && comma < end;
}

/** Whether the comment is inside quotes of ordinary text: `'--first'`, a pattern of paths. */
export function isQuotedComment({ scan, folded, quoted }: Reading): boolean {
  const close = folded.end[0]! - 1;
  if (!quoted || !isEdge(scan.text, close - 1)) return false;
  return scan.text.indexOf(scan.text.charAt(close), folded.comment) >= 0;
}

/** Whether the text of a comment has two quotes, as in `a'--'b'`. */
function isQuoted(text: string, at: number): boolean {
  const quote = text.indexOf("'", at);
  return quote >= 0 && text.indexOf("'", quote + 1) >= 0;
}

/** The number of words from `at` to the end, at most 3. */
function bodyWords(text: string, at: number): number {
  let words = 0;
  let inside = false;
  for (let i = at; i < text.length && words < 3; i++) {
    const space = isSpace(text.charCodeAt(i));
    if (!space && !inside) words++;
    inside = !space;
  }
  return words;
}
