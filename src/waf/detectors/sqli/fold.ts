/**
 * Folds a stream of tokens to the few that tell its shape: arithmetic chains, comma lists, unary operators, repeated
 * brackets, types before a value and qualified names each become one token, words that make a phrase become the phrase.
 * The method is N. Galbreath's (libinjection, 2012); here it is a stack on which a token, when it comes, is first taken
 * as the look-ahead that settles the one before, then pushed, and the top three are reduced while a rule fits.
 */
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
  SEMICOLON,
  STATEMENT,
  STRING,
  TYPE,
  UNARY,
  VARIABLE,
} from './kinds.ts';
import { kindOf, phraseOf, wordNumber } from './lexicon.ts';
import type { Scan } from './scan.ts';
import { nextToken } from './tokens.ts';

/** Tokens that a fingerprint is made of. */
export const FINGERPRINT = 5;
/** Tokens that the grammar sees: a `UNION` behind a bracketed condition comes later than the fifth. */
export const WINDOW = 16;

/** The folded tokens; `comment` is where a comment that ends the value begins, -1 where none does. */
export interface Folded {
  size: number;
  readonly kind: Uint8Array;
  readonly word: Uint16Array;
  readonly flags: Uint8Array;
  readonly start: Int32Array;
  readonly end: Int32Array;
  comment: number;
}

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
 * Folds what is left of the value into `to`, whose first token is a string that the scan stands behind when
 * `to.size` is 1. Stops as soon as the window is full of tokens that cannot change.
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
  if (to.size > 0 && to.size < WINDOW) settle(to, 0, 0);
  to.comment = comment;
  if (comment < 0 || to.size === 0 || to.size >= WINDOW) return;
  scan.kind = COMMENT;
  scan.start = comment;
  put(scan, to);
}

/** Two names, or a string and a name: nothing follows from them but a query, and none is to come. */
function isProse(scan: Scan, to: Folded): boolean {
  if (scan.mayQuery || to.kind[1] !== BAREWORD) return false;
  return to.kind[0] === BAREWORD || to.kind[0] === STRING;
}

/** Whether a token says nothing before the first value: a bracket, a type, a sign. */
function isLead(scan: Scan): boolean {
  return scan.kind === OPEN || scan.kind === TYPE || (scan.kind === OPERATOR && (scan.flags & UNARY) !== 0);
}

function put(scan: Scan, to: Folded): void {
  const at = to.size++;
  to.kind[at] = scan.kind;
  to.word[at] = scan.word;
  to.flags[at] = scan.flags;
  to.start[at] = scan.start;
  to.end[at] = scan.at;
}

function add(scan: Scan, to: Folded): void {
  if (to.size === 0) {
    put(scan, to);
    return;
  }
  if (mergeWords(scan, to)) return;
  settle(to, scan.kind, scan.flags);
  if (to.size > 0 && absorbs(scan, to)) return;
  put(scan, to);
  reduce(to);
}

/** `UNION` and `ALL` make `UNION ALL`, which is a token of its own class. */
function mergeWords(scan: Scan, to: Folded): boolean {
  const top = to.size - 1;
  const phrase = phraseOf(to.word[top]!, scan.word);
  if (phrase === 0) return false;
  to.word[top] = phrase;
  to.kind[top] = kindOf(phrase);
  to.end[top] = scan.at;
  return true;
}

/** What the top token is, now that the kind of the next one is known (0: the value ends). */
function settle(to: Folded, next: number, flags: number): void {
  const top = to.size - 1;
  const kind = to.kind[top]!;
  const word = to.word[top]!;
  switch (kind) {
    case FUNCTION:
      if (isIf(word)) {
        if (top > 0 && to.kind[top - 1] === SEMICOLON) to.kind[top] = STATEMENT;
      } else if (next !== OPEN) become(to, BAREWORD);
      return;
    case VARIABLE:
      if (word !== 0 && next === OPEN) to.kind[top] = FUNCTION;
      return;
    case KEYWORD:
      if (word === IN || word === NOT_IN) become(to, next === OPEN ? OPERATOR : BAREWORD);
      return;
    case OPERATOR:
      if ((word === LIKE || word === NOT_LIKE || word === ISNULL) && next === OPEN) to.kind[top] = FUNCTION;
      return;
    case OPEN:
      // `USER(1)` is a table with its column; only `USER()` is a call
      if (top > 0 && to.word[top - 1] === USER && next !== CLOSE) to.kind[top - 1] = BAREWORD;
      return;
    case TYPE:
      if (next === OPEN || next === FUNCTION || isValue(next) || next === TYPE) to.size--;
      return;
    case BACKSLASH:
      if ((flags & ARITHMETIC) !== 0) to.kind[top] = NUMBER;
      else if (next !== 0) to.size--;
      return;
    default:
  }
}

function isIf(word: number): boolean {
  return word === IF || word === IF_NOT || word === IF_EXISTS || word === IF_NOT_EXISTS;
}

function become(to: Folded, kind: number): void {
  to.kind[to.size - 1] = kind;
  reduce(to);
}

function isValue(kind: number): boolean {
  return kind === NUMBER || kind === BAREWORD || kind === STRING || kind === VARIABLE;
}

/** Whether the next token adds nothing to the top one. */
function absorbs(scan: Scan, to: Folded): boolean {
  const top = to.kind[to.size - 1]!;
  const { kind } = scan;
  if (kind === top) {
    if (kind === STRING || kind === SEMICOLON || kind === OPEN || kind === CLOSE) return true;
  }
  if (kind === CLOSE_BRACE) return true;
  if (top === OPEN_BRACE && kind === BAREWORD) {
    // MySQL takes {``.``.name} for a name; nothing harmless is written so
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

/** PostgreSQL's `::`. */
function isCast(text: string, at: number): boolean {
  return text.charCodeAt(at) === 0x3a && text.charCodeAt(at + 1) === 0x3a;
}

/** There are too many collations to list them; every one has an underscore. */
function hasUnderscore(scan: Scan): boolean {
  for (let i = scan.start; i < scan.at; i++) if (scan.text.charCodeAt(i) === 0x5f) return true;
  return false;
}

/** Where an operator can only be the sign of what follows. */
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

function reduce(to: Folded): void {
  while (to.size >= 3 && (reduceThree(to) || reduceBrackets(to)));
}

function reduceThree(to: Folded): boolean {
  const top = to.size - 1;
  const last = to.kind[top]!;
  const middle = to.kind[top - 1]!;
  const first = to.kind[top - 2]!;
  switch (middle) {
    case OPERATOR:
      if (first === NUMBER || first === BAREWORD)
        return (last === NUMBER || last === BAREWORD) && drop(to, 2);
      return first === VARIABLE && (last === VARIABLE || last === NUMBER || last === BAREWORD) && drop(to, 2);
    case COMMA:
      return isValue(first) && isValue(last) && drop(to, 2);
    case DOT:
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

/** A bracketed value after a sign or a comma, at the beginning: `1 - (2)`, `1), (2`. */
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

function drop(to: Folded, count: number): true {
  to.size -= count;
  return true;
}

function moveTop(to: Folded, at: number): void {
  const top = to.size - 1;
  to.kind[at] = to.kind[top]!;
  to.word[at] = to.word[top]!;
  to.flags[at] = to.flags[top]!;
  to.start[at] = to.start[top]!;
  to.end[at] = to.end[top]!;
  to.size = at + 1;
}
