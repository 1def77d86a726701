/**
 * The tokens of one value in one context, read on demand: the grammar of statements looks at a few tokens first, and most
 * prose is rejected there. Comments are no tokens here; what they show is recorded. Tokenizer: `../sqli/tokens.ts`.
 */
import { kindOf } from '../sqli/lexicon.ts';
import { readRest } from '../sqli/literals.ts';
import {
  BAREWORD,
  begin,
  CLOSE,
  CLOSED,
  COMMENT,
  EVIL,
  FUNCTION,
  isLetter,
  LOGIC,
  NUMBER,
  newScan,
  OPEN,
  OPERATOR,
  type Scan,
  SEMICOLON,
  STRING,
  UNARY,
} from '../sqli/scan.ts';
import { nextToken } from '../sqli/tokens.ts';

/** The tokens that are read at most: statements in attacks are shorter, and a long one begins within these. */
export const MOST_TOKENS = 256;

/** The longest name that is compared, in characters; the longest listed one has 36. */
const LONGEST_NAME = 64;

/** The tokens of a value. */
export interface SqlTokens {
  readonly scan: Scan;
  /** The number of tokens read. */
  size: number;
  /** Whether all tokens have been read. */
  complete: boolean;
  /** Whether a quote is assumed before the value; then its first token is the rest of that string. */
  quoted: boolean;
  /** By token: its kind, its number in the lexicon, its flags, its start and end, and whether a comment precedes it. */
  readonly kind: Uint8Array;
  readonly word: Uint16Array;
  readonly flags: Uint8Array;
  readonly start: Int32Array;
  readonly end: Int32Array;
  readonly commented: Uint8Array;
  /** Whether a conditional comment of MySQL or a nested comment occurred. */
  conditional: boolean;
  /** The start of a comment behind the last token; -1: none. */
  tail: number;
}

/** Allocates tokens; one is enough, since `beginTokens` resets it. */
export function newTokens(): SqlTokens {
  return {
    scan: newScan(),
    size: 0,
    complete: false,
    quoted: false,
    kind: new Uint8Array(MOST_TOKENS),
    word: new Uint16Array(MOST_TOKENS),
    flags: new Uint8Array(MOST_TOKENS),
    start: new Int32Array(MOST_TOKENS),
    end: new Int32Array(MOST_TOKENS),
    commented: new Uint8Array(MOST_TOKENS),
    conditional: false,
    tail: -1,
  };
}

/** A context in which a value is read. */
export interface SqlContext {
  /** The code of the quote that is assumed before the value; 0: none. */
  readonly quote: number;
  /** Whether the comment rules of MySQL apply. */
  readonly mysql: boolean;
}

/** Begins to read `text` in a context. */
export function beginTokens(tokens: SqlTokens, text: string, { quote, mysql }: SqlContext): void {
  const { scan } = tokens;
  begin(scan, text, mysql);
  tokens.size = 0;
  tokens.complete = false;
  tokens.quoted = quote !== 0;
  tokens.conditional = false;
  tokens.tail = -1;
  if (quote === 0) return;
  readRest(scan, quote);
  scan.start = 0;
  scan.word = 0;
  store(tokens, false);
}

/** Reads tokens until there are `count`; `false`: the value has fewer. */
export function readUpTo(tokens: SqlTokens, count: number): boolean {
  const { scan } = tokens;
  let commented = false;
  while (tokens.size < count) {
    if (tokens.complete || tokens.size === MOST_TOKENS) return false;
    const start = scan.at;
    if (!nextToken(scan)) {
      tokens.complete = true;
      return false;
    }
    if (scan.kind === COMMENT || scan.kind === EVIL) {
      tokens.conditional ||= scan.kind === EVIL;
      tokens.tail = Math.max(start, scan.start);
      commented = true;
    } else {
      store(tokens, commented);
      commented = false;
    }
  }
  return true;
}

/** Stores the last token of the scan. */
function store(tokens: SqlTokens, commented: boolean): void {
  const { scan, size } = tokens;
  tokens.kind[size] = scan.kind;
  tokens.word[size] = scan.word;
  tokens.flags[size] = scan.flags;
  tokens.start[size] = scan.start;
  tokens.end[size] = scan.at;
  tokens.commented[size] = commented ? 1 : 0;
  tokens.tail = -1;
  tokens.size++;
}

/** The kind of the token at `i`; 0: there are fewer. */
export function kindAt(tokens: SqlTokens, i: number): number {
  return i >= 0 && i < tokens.size ? tokens.kind[i]! : 0;
}

/** The number in the lexicon of the token at `i`; 0: none. */
export function wordAt(tokens: SqlTokens, i: number): number {
  return i >= 0 && i < tokens.size ? tokens.word[i]! : 0;
}

/** Whether the word at `i` is a function, in any role. */
export function isFunction(tokens: SqlTokens, i: number): boolean {
  return kindOf(wordAt(tokens, i)) === FUNCTION;
}

/** The token at `i` in lower case without quotes and brackets around it, cut after `LONGEST_NAME` characters. */
export function nameAt(tokens: SqlTokens, i: number): string {
  const start = tokens.start[i]!;
  const text = tokens.scan.text.slice(start, Math.min(tokens.end[i]!, start + LONGEST_NAME));
  const bare = '"`['.includes(text.charAt(0)) ? text.slice(1, -1) : text;
  return (bare.includes('`') ? bare.replaceAll('`', '') : bare).toLowerCase();
}

/** Whether the tokens at `i` and `j` have the same text. */
export function sameText({ scan, start, end }: SqlTokens, i: number, j: number): boolean {
  const length = end[i]! - start[i]!;
  if (length !== end[j]! - start[j]!) return false;
  for (let at = 0; at < length; at++)
    if (scan.text.charCodeAt(start[i]! + at) !== scan.text.charCodeAt(start[j]! + at)) return false;
  return true;
}

/** Whether a comment without words ends the value: `--`, `#`, `-- -`, an open `/*`. */
export function isCutOff({ scan, tail, complete }: SqlTokens): boolean {
  if (!complete || tail < 0) return false;
  for (let at = tail; at < scan.text.length; at++) if (isLetter(scan.text.charCodeAt(at))) return false;
  return true;
}

/** Whether nothing but brackets and a semicolon follows up to the end of the value. */
export function isEnd(tokens: SqlTokens, i: number): boolean {
  let at = i;
  while (kindAt(tokens, at) === CLOSE || kindAt(tokens, at) === SEMICOLON) at++;
  return at === tokens.size && tokens.complete;
}

/** The place after the bracket that closes the one at `i`, or after the last token. */
export function afterBrackets(tokens: SqlTokens, i: number): number {
  let depth = 0;
  let at = i;
  for (; at < tokens.size; at++) {
    if (tokens.kind[at] === OPEN) depth++;
    else if (tokens.kind[at] === CLOSE && --depth === 0) return at + 1;
  }
  return at;
}

/** The place after `NOT`, signs and opening brackets at `i`. */
export function skipOpening(tokens: SqlTokens, i: number): number {
  let at = i;
  while (kindAt(tokens, at) === OPEN || isUnary(tokens, at)) at++;
  return at;
}

/** Whether the token at `i` is `NOT` or a sign. */
function isUnary({ kind, flags, size }: SqlTokens, i: number): boolean {
  return i < size && kind[i] === OPERATOR && (flags[i]! & UNARY) !== 0;
}

/** Whether a word, a value or a string is at `i` that no statement has behind a complete condition: prose goes on. */
export function isProse(tokens: SqlTokens, i: number): boolean {
  const kind = kindAt(tokens, i);
  if (kind === BAREWORD || kind === NUMBER || kind === STRING) return true;
  // `… 1=1 is always true`: a word that is an operator, and words.
  return (
    kind === OPERATOR && tokens.word[i] !== 0 && kindAt(tokens, i + 1) === BAREWORD && isProse(tokens, i + 2)
  );
}

/** Whether the logical connective at `i` is `||`, which joins strings in most dialects. */
export function isDoubleBar(tokens: SqlTokens, i: number): boolean {
  return kindAt(tokens, i) === LOGIC && tokens.scan.text.charCodeAt(tokens.start[i]!) === 0x7c;
}

/** Whether a string without a closing quote is at `i`. */
export function isOpenString(tokens: SqlTokens, i: number): boolean {
  return kindAt(tokens, i) === STRING && (tokens.flags[i]! & CLOSED) === 0;
}
