/**
 * Folds a token stream to a few tokens: arithmetic chains, comma lists, unary operators, repeated brackets, types before a
 * value and qualified names each become one token; words of a phrase become the phrase. Method: N. Galbreath,
 * "libinjection" (2012), implemented as a stack. A new token first resolves the kind of the top one as its look-ahead,
 * then it is pushed, and the top three tokens are reduced while a rule applies.
 */
import { kindOf, phraseOf, wordNumber } from './lexicon.ts';
import {
  ARITHMETIC,
  BACKSLASH,
  BAREWORD,
  CLOSE,
  CLOSE_BRACE,
  COLLATE,
  COMMA,
  COMMENT,
  DOT,
  EMPTY,
  EVIL,
  EXPRESSION,
  FUNCTION,
  GROUPING,
  KEYWORD,
  LOGIC,
  NUMBER,
  OPEN,
  OPEN_BRACE,
  OPERATOR,
  type Scan,
  SEMICOLON,
  STATEMENT,
  STRING,
  TYPE,
  UNARY,
  VARIABLE,
} from './scan.ts';
import { nextToken } from './tokens.ts';

/** The number of tokens in a fingerprint, as in libinjection. */
export const FINGERPRINT = 5;
/** The number of tokens that the grammar reads: a `UNION` after a bracketed condition is beyond the fifth. */
export const WINDOW = 16;

/** The folded tokens, in parallel arrays. */
export interface Folded {
  /** The number of tokens. */
  size: number;
  /** `scan.ts`. */
  readonly kind: Uint8Array;
  /** The number in the lexicon; 0: none. */
  readonly word: Uint16Array;
  /** `UNARY`, `OPENED` … of `scan.ts`. */
  readonly flags: Uint8Array;
  /** The place of the first character in the value, and the place after the last. */
  readonly start: Int32Array;
  readonly end: Int32Array;
  /** The place of a comment that ends the value; -1: absent. */
  comment: number;
}

/** Allocates an empty window. */
export function newFolded(): Folded {
  return {
    size: 0,
    kind: new Uint8Array(WINDOW),
    word: new Uint16Array(WINDOW),
    flags: new Uint8Array(WINDOW),
    start: new Int32Array(WINDOW),
    end: new Int32Array(WINDOW),
    comment: -1,
  };
}

/** Words whose kind depends on the next token. */
const IF = wordNumber('IF');
const IF_NOT = wordNumber('IF NOT');
const IF_EXISTS = wordNumber('IF EXISTS');
const IF_NOT_EXISTS = wordNumber('IF NOT EXISTS');
const IN = wordNumber('IN');
const NOT_IN = wordNumber('NOT IN');
const LIKE = wordNumber('LIKE');
const ISNULL = wordNumber('ISNULL');
const NOT_LIKE = wordNumber('NOT LIKE');
const USER = wordNumber('USER');

/**
 * Folds the rest of the value into `to`. If `to.size` is 1, its first token is the rest of a string before the scan's
 * place. Stops as soon as the window is full of tokens that cannot change.
 */
export function fold(scan: Scan, to: Folded): void {
  let comment = -1;
  while (nextToken(scan)) {
    if (scan.kind === COMMENT) {
      comment = scan.start;
      continue;
    }
    comment = -1;
    if (to.size === 0 && isLead(scan)) continue;
    add(scan, to);
    if (to.size === WINDOW || (to.size === 3 && isProse(scan, to))) break;
  }
  if (to.size > 0 && to.size < WINDOW) resolveTop(to, 0, 0);
  to.comment = comment;
  if (comment < 0 || to.size === 0 || to.size >= WINDOW) return;
  scan.kind = COMMENT;
  scan.start = comment;
  put(scan, to);
}

/** Whether the value begins with two names, or a string and a name, and has no query: then it is prose. */
function isProse(scan: Scan, to: Folded): boolean {
  if (scan.mayQuery || to.kind[1] !== BAREWORD) return false;
  return to.kind[0] === BAREWORD || to.kind[0] === STRING;
}

/** Whether a token before the first value is ignored: a bracket, a type, a sign. */
function isLead(scan: Scan): boolean {
  return scan.kind === OPEN || scan.kind === TYPE || (scan.kind === OPERATOR && (scan.flags & UNARY) !== 0);
}

/** Pushes the last token of the scan. */
function put(scan: Scan, to: Folded): void {
  const at = to.size++;
  to.kind[at] = scan.kind;
  to.word[at] = scan.word;
  to.flags[at] = scan.flags;
  to.start[at] = scan.start;
  to.end[at] = scan.at;
}

/** Adds the last token of the scan: merges it, resolves the top token, then pushes and reduces. */
function add(scan: Scan, to: Folded): void {
  if (to.size === 0) {
    put(scan, to);
    return;
  }
  if (mergeWords(scan, to)) return;
  resolveTop(to, scan.kind, scan.flags);
  if (to.size > 0 && absorbs(scan, to)) return;
  put(scan, to);
  reduce(to);
}

/** Merges a word into the top token if both are a phrase: `UNION` and `ALL` become the token `UNION ALL`. */
function mergeWords(scan: Scan, to: Folded): boolean {
  const top = to.size - 1;
  const phrase = phraseOf(to.word[top]!, scan.word);
  if (phrase === 0) return false;
  to.word[top] = phrase;
  to.kind[top] = kindOf(phrase);
  to.end[top] = scan.at;
  return true;
}

/** Resolves the kind of the top token, now that the kind of the next one is known (0: the value ends). */
function resolveTop(to: Folded, next: number, flags: number): void {
  const top = to.size - 1;
  const kind = to.kind[top]!;
  const word = to.word[top]!;
  switch (kind) {
    case FUNCTION:
      // Without a bracket it is a name; `; IF` begins a statement.
      if (isIf(word)) {
        if (top > 0 && to.kind[top - 1] === SEMICOLON) to.kind[top] = STATEMENT;
      } else if (next !== OPEN) setTopKind(to, BAREWORD);
      return;
    case VARIABLE:
      // `CURRENT_USER()` is a call.
      if (word !== 0 && next === OPEN) to.kind[top] = FUNCTION;
      return;
    case KEYWORD:
      // `IN (…` is an operator, `in` elsewhere a word of prose.
      if (word === IN || word === NOT_IN) setTopKind(to, next === OPEN ? OPERATOR : BAREWORD);
      return;
    case OPERATOR:
      // `LIKE('a', 'b')` is a function of SQLite.
      if ((word === LIKE || word === NOT_LIKE || word === ISNULL) && next === OPEN) to.kind[top] = FUNCTION;
      return;
    case OPEN:
      // `USER(1)` is a table with its column; only `USER()` is a call
      if (top > 0 && to.word[top - 1] === USER && next !== CLOSE) to.kind[top - 1] = BAREWORD;
      return;
    case TYPE:
      // A type before a value, `DATE '…'`, is part of it.
      if (next === OPEN || next === FUNCTION || isValue(next) || next === TYPE) to.size--;
      return;
    case BACKSLASH:
      // Before an operator of arithmetic it is a number; before anything else it is ignored.
      if ((flags & ARITHMETIC) !== 0) to.kind[top] = NUMBER;
      else if (next !== 0) to.size--;
      return;
    default:
  }
}

/** `IF` and its phrases in `IF [NOT] EXISTS`. */
function isIf(word: number): boolean {
  return word === IF || word === IF_NOT || word === IF_EXISTS || word === IF_NOT_EXISTS;
}

/** Sets the kind of the top token and reduces again. */
function setTopKind(to: Folded, kind: number): void {
  to.kind[to.size - 1] = kind;
  reduce(to);
}

/** Whether a token of this kind can be a member of a list. */
function isValue(kind: number): boolean {
  return kind === NUMBER || kind === BAREWORD || kind === STRING || kind === VARIABLE;
}

/** Whether the next token is dropped because the top one includes it; may change the next token's kind. */
function absorbs(scan: Scan, to: Folded): boolean {
  const top = to.kind[to.size - 1]!;
  const { kind } = scan;
  if (kind === top) {
    if (kind === STRING || kind === SEMICOLON || kind === OPEN || kind === CLOSE) return true;
  }
  if (kind === CLOSE_BRACE) return true;
  if (top === OPEN_BRACE && kind === BAREWORD) {
    // MySQL accepts {``.``.name} as a name; ordinary text does not contain it.
    if ((scan.flags & EMPTY) === 0) to.size--;
    else scan.kind = EVIL;
    return scan.kind !== EVIL;
  }
  if (top === COLLATE && kind === BAREWORD && hasUnderscore(scan)) scan.kind = TYPE;
  if (kind === TYPE && top === OPERATOR) {
    if (isCast(scan.text, to.start[to.size - 1]!)) to.size--;
    return true;
  }
  if (kind === TYPE) return top === LOGIC;
  return kind === OPERATOR && (scan.flags & UNARY) !== 0 && takesSign(top);
}

/** Whether the operator at `at` is PostgreSQL's cast `::`. */
function isCast(text: string, at: number): boolean {
  return text.charCodeAt(at) === 0x3a && text.charCodeAt(at + 1) === 0x3a;
}

/** Whether the last token has an underscore, as every name of a collation has; there are too many to list. */
function hasUnderscore(scan: Scan): boolean {
  for (let i = scan.start; i < scan.at; i++) if (scan.text.charCodeAt(i) === 0x5f) return true;
  return false;
}

/** Whether an operator after a token of this kind can only be a sign. */
function takesSign(kind: number): boolean {
  switch (kind) {
    case OPERATOR:
    case LOGIC:
    case OPEN:
    case COMMA:
    case KEYWORD:
    case EXPRESSION:
    case GROUPING:
      return true;
    default:
      return false;
  }
}

/** Reduces the top of the stack while a rule applies. */
function reduce(to: Folded): void {
  while (to.size >= 3 && (reduceThree(to) || reduceBrackets(to)));
}

/** Applies a rule to the top three tokens: `1 + 2`, `a, b`, `a.b`, repeated operators; `false`: none applies. */
function reduceThree(to: Folded): boolean {
  const top = to.size - 1;
  const last = to.kind[top]!;
  const middle = to.kind[top - 1]!;
  const first = to.kind[top - 2]!;
  switch (middle) {
    case OPERATOR:
      // `1 + 2`, `a = b`, `@x + 1`
      if (first === NUMBER || first === BAREWORD)
        return (last === NUMBER || last === BAREWORD) && drop(to, 2);
      return first === VARIABLE && (last === VARIABLE || last === NUMBER || last === BAREWORD) && drop(to, 2);
    case COMMA:
      // `1, a`
      return isValue(first) && isValue(last) && drop(to, 2);
    case DOT:
      // `schema.table`; a dot after anything else is dropped.
      if (last !== BAREWORD) return false;
      if (first === BAREWORD) return drop(to, 2);
      moveTop(to, top - 1);
      return true;
    case OPEN:
      return false;
    default:
      if (first === OPERATOR && last === OPERATOR) return drop(to, 2);
      return first === LOGIC && last === LOGIC && drop(to, 2);
  }
}

/** Reduces a bracketed value after a sign or a comma at the beginning: `1 - (2)`, `1), (2`. */
function reduceBrackets(to: Folded): boolean {
  if (to.size !== FINGERPRINT) return false;
  const [first, second, third, fourth, fifth] = to.kind;
  if (third === OPEN && fifth === CLOSE) {
    if (first === NUMBER)
      return (second === OPERATOR || second === COMMA) && fourth === NUMBER && drop(to, 4);
    if (first !== BAREWORD || second !== OPERATOR) return false;
    return (fourth === BAREWORD || fourth === NUMBER) && drop(to, 4);
  }
  if (second !== CLOSE || fourth !== OPEN || first !== fifth) return false;
  return ((first === NUMBER && third === COMMA) || (first === BAREWORD && third === OPERATOR)) && drop(to, 4);
}

/** Removes tokens from the top; returns `true`: a rule was applied. */
function drop(to: Folded, count: number): true {
  to.size -= count;
  return true;
}

/** Moves the top token down to `at` and drops those between. */
function moveTop(to: Folded, at: number): void {
  const top = to.size - 1;
  to.kind[at] = to.kind[top]!;
  to.word[at] = to.word[top]!;
  to.flags[at] = to.flags[top]!;
  to.start[at] = to.start[top]!;
  to.end[at] = to.end[top]!;
  to.size = at + 1;
}
