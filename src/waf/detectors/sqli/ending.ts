/** Whether a comment at the end of a value is there to cut the statement off, or is a dash or a hash of prose. */
import { isInWord, isSpace } from './characters.ts';
import { BAREWORD, CLOSE, COMMENT, NUMBER, SEMICOLON, STRING, VARIABLE } from './kinds.ts';
import type { Reading } from './reading.ts';
import { isEdge, kindAt } from './reading.ts';

const HASH = 0x23;
const SLASH = 0x2f;
/** `-->` ends a comment of HTML's. */
const GREATER = 0x3e;
/** The length of a bracketed comment with nothing in it. */
const EMPTY_COMMENT = 4;

/** SQL Server left a statement with this word out of its log: nobody writes it into a comment otherwise. */
const UNLOGGED = 'sp_password';

/** Whether the comment that ends the value, if one does, ends an injection; what stands before it has a say. */
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

/** Whether the comment that ends the value is a bracketed one or has two words at most. */
export function bodyIsShort({ folded, scan }: Reading): boolean {
  const { comment } = folded;
  if (comment < 0 || scan.text.charCodeAt(comment + 2) === GREATER) return false;
  return scan.text.charCodeAt(comment) === SLASH || bodyWords(scan.text, comment + 2) <= 2;
}

/** Whether the comment stands without a space after what it follows. */
function isTight(text: string, comment: number): boolean {
  return comment > 0 && !isSpace(text.charCodeAt(comment - 1));
}

/** A hash at the very end; `'#` after a space is a quoted number sign. */
function endsWithHash({ folded, scan }: Reading): boolean {
  const { text } = scan;
  const { comment } = folded;
  if (!isTight(text, comment) || !isBare(text, comment + 1)) return false;
  return folded.kind[0] !== STRING || folded.end[0] !== comment || comment < 2 || isTight(text, comment - 1);
}

/** Whether a hash has at most one sign after it: `#`, `#(`. */
function isBare(text: string, at: number): boolean {
  return bodyWords(text, at) === 0 || (at + 1 === text.length && !isInWord(text.charCodeAt(at)));
}

/** Whether nothing but one value and perhaps a bracket or semicolon stands before the comment. */
function isSmall(reading: Reading): boolean {
  const second = kindAt(reading, 1);
  if (second === COMMENT) return true;
  return (second === CLOSE || second === SEMICOLON) && kindAt(reading, 2) === COMMENT;
}

function endsSmall(reading: Reading, mark: number): boolean {
  const { scan, folded } = reading;
  const { text } = scan;
  const words = bodyWords(text, folded.comment + 2);
  const closes = kindAt(reading, 1) === CLOSE;
  switch (kindAt(reading, 0)) {
    case NUMBER:
      return scan.names === 0 && (mark === SLASH || (words <= 1 && !hasComma(text, folded.comment)));
    case STRING:
      if (!reading.quoted) return closes && words === 0 && scan.names === 0;
      if (isQuotedComment(reading)) return false;
      return mark === SLASH || words === 0 || (words === 1 && !isQuoted(text, folded.comment + 2));
    case BAREWORD:
      // `x/*` and `src/**/` are paths
      return mark === SLASH && text.endsWith('*/') && text.length - folded.comment > EMPTY_COMMENT;
    case VARIABLE:
      return mark === SLASH || (words === 0 && (closes || isTight(text, folded.comment)));
    default:
      return false;
  }
}

/** `1,1--` is a list with a dash. */
function hasComma(text: string, end: number): boolean {
  const comma = text.indexOf(',');
  return comma >= 0 && comma < end;
}

/** Whether the comment stands in quotes of its own: `'--first'`, a pattern of paths. */
export function isQuotedComment({ scan, folded, quoted }: Reading): boolean {
  const close = folded.end[0]! - 1;
  if (!quoted || !isEdge(scan.text, close - 1)) return false;
  return scan.text.indexOf(scan.text.charAt(close), folded.comment) >= 0;
}

/** Whether a comment's text has quotes of its own, as where two strings follow a dash: `a'--'b'`. */
function isQuoted(text: string, at: number): boolean {
  const quote = text.indexOf("'", at);
  return quote >= 0 && text.indexOf("'", quote + 1) >= 0;
}

/** How many words a comment has, from `at` to the end; counts to 3. */
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
