/** A reading: the value tokenized in one context (assumed quote, dialect), with predicates that the grammar uses. */
import { type Folded, WINDOW } from './fold.ts';
import {
  BAREWORD,
  CLOSE,
  CLOSED,
  COMMENT,
  isDigit,
  isInWord,
  isLetter,
  isSpace,
  LOGIC,
  NUMBER,
  OPENED,
  OPERATOR,
  type Scan,
  SEMICOLON,
  STRING,
  VARIABLE,
} from './scan.ts';

const DOUBLE = 0x22;

/** The number of tokens of two strings with an operator of two words between. */
const PHRASE = 4;

/** The state of one reading. */
export interface Reading {
  readonly scan: Scan;
  readonly folded: Folded;
  /** Whether a quote is assumed before the value; then its first token is the rest of that string. */
  quoted: boolean;
}

/** The kind of the folded token at `i`; 0: there are fewer. */
export function kindAt({ folded }: Reading, i: number): number {
  return i < folded.size ? folded.kind[i]! : 0;
}

/** Whether a token of a kind is at `from` or later. */
export function isLater(reading: Reading, from: number, kind: number): boolean {
  for (let i = from; i < WINDOW; i++) if (kindAt(reading, i) === kind) return true;
  return false;
}

/** Whether the first closing quote follows a digit, as in `5' or 6"`: feet or inches, as long as nothing is compared. */
export function followsDigit({ scan, folded }: Reading): boolean {
  return isDigit(scan.text.charCodeAt(folded.end[0]! - 2));
}

/** Whether the string at `i` opens with the quote that closed the first one and has no end: `…a' … 'b…`. */
export function isOpenEnd({ scan, folded }: Reading, i: number): boolean {
  if (i < 1 || folded.kind[i] !== STRING || (folded.flags[i]! & (OPENED | CLOSED)) !== OPENED) return false;
  return scan.text.charCodeAt(folded.end[0]! - 1) === scan.text.charCodeAt(folded.start[i]!);
}

/**
 * Whether the token after the first string is itself a quoted word of ordinary text: the word in `["select", …]`,
 * `token '=' expected`, `the word 'or' is`.
 */
export function isQuotedWord({ scan, folded, quoted }: Reading): boolean {
  if (!quoted || folded.size < 2 || (scan.count === 3 && folded.kind[1] === OPERATOR)) return false;
  const { text } = scan;
  const close = folded.end[0]! - 1;
  const open = folded.end[1]!;
  if (folded.start[1] !== close + 1 || text.charCodeAt(open) !== text.charCodeAt(close)) return false;
  return isEdge(text, close - 1) && isEdge(text, open + 1) && !isQuote(text.charCodeAt(open + 1));
}

function isQuote(code: number): boolean {
  return code === 0x27 || code === DOUBLE;
}

/**
 * Whether the open string at `i` and the first one are operands of what is between: `…a' + 'b…`. Not if the first quote
 * opens a word and the second closes it (`token '=' expected`, `q="like"&`).
 */
export function bindsStrings(reading: Reading, i: number): boolean {
  if (!isOpenEnd(reading, i)) return false;
  const { scan, folded } = reading;
  const { text } = scan;
  const close = folded.end[0]! - 1;
  const open = folded.start[i]!;
  if (text.charCodeAt(close) === DOUBLE && folded.kind[i - 1] !== LOGIC && followsDigit(reading))
    return false;
  if (scan.count > 3 && scan.compares && scan.names === 0 && isBlank(text, close)) {
    return text.charCodeAt(close) !== DOUBLE;
  }
  if (close === 0 && open === text.length - 1) return isBareOperator(reading, close, open);
  return !(isEdge(text, close - 1) && isEdge(text, open + 1));
}

function isBlank(text: string, end: number): boolean {
  for (let i = 0; i < end; i++) if (!isSpace(text.charCodeAt(i))) return false;
  return true;
}

/** Whether there is no letter or digit at `at`, but white space, a sign, or an end of the text. */
function isEdge(text: string, at: number): boolean {
  if (at < 0 || at >= text.length) return true;
  const code = text.charCodeAt(at);
  return !isLetter(code) && !isDigit(code) && !(code >= 0x80 && isInWord(code));
}

/**
 * Whether a value from quote to quote is an operator between two empty strings: `'='` and `' is 0 = '` are; `'not like'`
 * and `"*"` are words in quotes.
 */
function isBareOperator({ scan }: Reading, close: number, open: number): boolean {
  const { text } = scan;
  let letters = false;
  let digits = false;
  for (let i = close + 1; i < open; i++) {
    digits ||= isDigit(text.charCodeAt(i));
    letters ||= isLetter(text.charCodeAt(i));
  }
  if (scan.count > PHRASE) return digits || letters;
  return text.charCodeAt(close) !== DOUBLE && (digits || !letters);
}

// Rules for comments at the end of a value: whether one cuts off the statement, or is a dash or hash of prose.

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
