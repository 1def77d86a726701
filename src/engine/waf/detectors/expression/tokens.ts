/**
 * Tokens of expressions as scripting, template and query languages share them: names, numbers, strings in quotes, and
 * signs of one octet. Reads each octet once.
 */
import { isDigit, isSpace } from '../../octets/latin1.ts';

/** The kinds of tokens. */
export const NAME = 1;
export const NUMBER = 2;
export const STRING = 3;
export const SIGN = 4;

/** A tokenizer and its last token, `text[start, at)`. */
export interface ExpressionTokens {
  text: string;
  /** The place of the next octet. */
  at: number;
  /** The place of the last token's first octet. */
  start: number;
  /** The kind of the last token. */
  kind: number;
  /** The last token: a name in lower case, a string's content in lower case, else the octets themselves. */
  word: string;
  /** The place behind which no single, double, or back quote closes a string. */
  readonly unclosed: [single: number, double: number, back: number];
}

/** The longest part of a name or string that is compared, in octets. */
const LONGEST_WORD = 64;

/** Allocates a tokenizer. */
export function newTokens(): ExpressionTokens {
  return { text: '', at: 0, start: 0, kind: SIGN, word: '', unclosed: [0, 0, 0] };
}

/** Starts reading `text`. */
export function beginTokens(tokens: ExpressionTokens, text: string): void {
  tokens.text = text;
  tokens.at = 0;
  tokens.unclosed.fill(Number.POSITIVE_INFINITY);
}

/** Reads the next token; `false`: the text ends. */
export function nextToken(tokens: ExpressionTokens): boolean {
  const { text } = tokens;
  let at = tokens.at;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  tokens.start = at;
  tokens.at = at;
  if (at >= text.length) return false;
  const code = text.charCodeAt(at);
  if (isNamePart(code)) {
    readName(tokens, isDigit(code) ? NUMBER : NAME);
    return true;
  }
  const quote = quoteOf(code);
  if (quote >= 0 && readString(tokens, quote)) return true;
  tokens.kind = SIGN;
  tokens.at = at + 1;
  tokens.word = text.charAt(at);
  return true;
}

/** A letter, a digit, `_`, or an octet above ASCII. */
export function isNamePart(code: number): boolean {
  if (code >= 0x80 || code === 0x5f || isDigit(code)) return true;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x7a;
}

function readName(tokens: ExpressionTokens, kind: number): void {
  const { text, start } = tokens;
  let at = start + 1;
  while (at < text.length && isNamePart(text.charCodeAt(at))) at++;
  tokens.kind = kind;
  tokens.at = at;
  tokens.word = text.slice(start, Math.min(at, start + LONGEST_WORD)).toLowerCase();
}

/** The place of a quote in `unclosed`; -1: the octet is no quote. */
function quoteOf(code: number): number {
  if (code === 0x27) return 0;
  if (code === 0x22) return 1;
  return code === 0x60 ? 2 : -1;
}

/** Reads a string; `false`: its quote does not close. A backslash escapes the octet behind it. */
// PERF: a quote that does not close is searched for once a text; without that, quotes cost quadratic time.
function readString(tokens: ExpressionTokens, quote: number): boolean {
  const { text, start, unclosed } = tokens;
  if (start >= unclosed[quote as 0]) return false;
  const code = text.charCodeAt(start);
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== code) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
  if (at >= text.length) {
    unclosed[quote as 0] = start;
    return false;
  }
  tokens.kind = STRING;
  tokens.at = at + 1;
  tokens.word = text.slice(start + 1, Math.min(at, start + 1 + LONGEST_WORD)).toLowerCase();
  return true;
}
