/** One reading of a value, and what the rules ask about it. */
import { isDigit, isInWord, isLetter, isSpace } from './characters.ts';
import type { Folded } from './fold.ts';
import { WINDOW } from './fold.ts';
import { CLOSED, LOGIC, OPENED, OPERATOR, STRING } from './kinds.ts';
import type { Scan } from './scan.ts';

const DOUBLE = 0x22;

/** Two strings with an operator of two words between them, in tokens. */
const PHRASE = 4;

export interface Reading {
  readonly scan: Scan;
  readonly folded: Folded;
  /** The value was read as though a quote stood before it: its first token is the rest of that string. */
  quoted: boolean;
}

/** The kind of the folded token at `i`; 0: there are fewer. */
export function kindAt({ folded }: Reading, i: number): number {
  return i < folded.size ? folded.kind[i]! : 0;
}

/** Whether a token of a kind stands at `from` or after it. */
export function isLater(reading: Reading, from: number, kind: number): boolean {
  for (let i = from; i < WINDOW; i++) if (kindAt(reading, i) === kind) return true;
  return false;
}

/** `5' or 6"`: a quote after a digit is feet or inches as long as nothing is compared. */
export function isFeet({ scan, folded }: Reading): boolean {
  return isDigit(scan.text.charCodeAt(folded.end[0]! - 2));
}

/** Whether the string at `i` is opened by the quote that closed the first one and runs on to the end: `…a' … 'b…`. */
export function isOpenEnd({ scan, folded }: Reading, i: number): boolean {
  if (i < 1 || folded.kind[i] !== STRING || (folded.flags[i]! & (OPENED | CLOSED)) !== OPENED) return false;
  return scan.text.charCodeAt(folded.end[0]! - 1) === scan.text.charCodeAt(folded.start[i]!);
}

/**
 * Whether the token after the first string is all there is between two quotes that look like its own: the word in
 * `["select", …]`, `token '=' expected`, `the word 'or' is`.
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
 * `…a' + 'b…`: an open end that ties two strings together. Where the first quote opens a word and the second closes one
 * (`token '=' expected`, `q="like"&`), it is the part between that is quoted.
 */
export function bindsStrings(reading: Reading, i: number): boolean {
  if (!isOpenEnd(reading, i)) return false;
  const { scan, folded } = reading;
  const { text } = scan;
  const close = folded.end[0]! - 1;
  const open = folded.start[i]!;
  if (text.charCodeAt(close) === DOUBLE && folded.kind[i - 1] !== LOGIC && isFeet(reading)) return false;
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

/** Whether no letter or digit stands at `at`: a space, a sign, or the text's end does. */
export function isEdge(text: string, at: number): boolean {
  if (at < 0 || at >= text.length) return true;
  const code = text.charCodeAt(at);
  return !isLetter(code) && !isDigit(code) && !(code >= 0x80 && isInWord(code));
}

/**
 * Whether a value that is a string from end to end is one to MySQL only by what stands in it: `'='` asks whether an empty
 * string equals one, and `' is 0 = '` is no words. `'not like'` and `"*"` are words in quotes.
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
