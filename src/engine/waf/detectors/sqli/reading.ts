/** A reading: the value tokenized in one context (assumed quote, dialect), with predicates that the grammar uses. */
import { isDigit, isInWord, isLetter, isSpace } from './characters.ts';
import type { Folded } from './fold.ts';
import { WINDOW } from './fold.ts';
import { CLOSED, LOGIC, OPENED, OPERATOR, STRING } from './kinds.ts';
import type { Scan } from './scan.ts';

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
export function isEdge(text: string, at: number): boolean {
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
