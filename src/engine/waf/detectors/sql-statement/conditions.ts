/**
 * Tails of a statement: what follows where a value stands in a query (`AND 1=1`, `WHERE 1=1`, `GROUP BY 1,2--`, `|| f()`).
 * A condition counts if no application has it for a filter: two constants, a name and itself, a query, a system object.
 */
import { isOrdinary, wordNumber } from '../sqli/lexicon.ts';
import {
  ARITHMETIC,
  BAREWORD,
  CLOSE,
  COMMA,
  EXPRESSION,
  FUNCTION,
  isLetter,
  KEYWORD,
  LOGIC,
  NUMBER,
  OPEN,
  OPERATOR,
  STRING,
  UNION,
  VARIABLE,
} from '../sqli/scan.ts';
import { isDelay, isSystemObject } from './names.ts';
import {
  afterBrackets,
  isCutOff,
  isDoubleBar,
  isEnd,
  isFunction,
  isOpenString,
  isProse,
  kindAt,
  nameAt,
  type SqlTokens,
  sameText,
  skipOpening,
  wordAt,
} from './tokens.ts';

const AS = wordNumber('AS');
const CASE = wordNumber('CASE');
const EXISTS = wordNumber('EXISTS');
const FROM = wordNumber('FROM');
const HAVING = wordNumber('HAVING');
const LIMIT = wordNumber('LIMIT');
const OFFSET = wordNumber('OFFSET');
const ORDERS: ReadonlySet<number> = new Set(['ASC', 'DESC'].map(wordNumber));
const SELECT = wordNumber('SELECT');
const TABLE = wordNumber('TABLE');
const WHEN = wordNumber('WHEN');
const WHERE = wordNumber('WHERE');
/** What can be between `UNION` and `SELECT`. */
const ALL: ReadonlySet<number> = new Set(['ALL', 'DISTINCT', 'DISTINCTROW'].map(wordNumber));

/** Keywords of clauses behind a condition; a comment that ends the value cuts off what the application has there. */
const ENDING_CLAUSES: ReadonlySet<number> = new Set(
  ['RETURNING', 'LIMIT', 'OFFSET', 'FETCH', 'PROCEDURE', 'INTO', 'HAVING', 'WHERE', 'WINDOW'].map(wordNumber),
);

/** The constructs that this file names. */
const CONSTANT = 'condition that is always true or false';
const OF_DATABASE = 'condition on the database';
const CLAUSE = 'clause of a query behind a value';
const DELAY = 'function that waits';
const JOINED = 'call joined to a value';

/** What is on a side of a comparison: nothing that counts; a constant; a name; a call; a query or a system object. */
type Side = 'nothing' | 'constant' | 'name' | 'call' | 'system';

interface Operand {
  readonly side: Side;
  /** The place of its first token, without brackets and signs before it. */
  readonly at: number;
  /** The place behind it. */
  readonly next: number;
}

/** Reads the operand at `i`, with arithmetic behind it. */
function operandAt(tokens: SqlTokens, i: number): Operand {
  const at = skipOpening(tokens, i);
  let operand = castOperand(tokens, at);
  if (operand.side === 'nothing') return operand;
  while (isArithmetic(tokens, operand.next)) {
    const { next } = castOperand(tokens, skipOpening(tokens, operand.next + 1));
    operand = { ...operand, next: Math.max(next, operand.next + 1) };
  }
  return operand;
}

/** Reads an operand without arithmetic, and PostgreSQL's casts behind it: `'{}'::jsonb`, `x::varchar(9)`, `y::int[]`. */
function castOperand(tokens: SqlTokens, at: number): Operand {
  const operand = simpleOperand(tokens, at);
  if (operand.side === 'nothing' || !isCast(tokens, operand.next)) return operand;
  let next = operand.next;
  while (isCast(tokens, next)) {
    next += 2;
    if (kindAt(tokens, next) === OPEN) next = afterBrackets(tokens, next);
    if (isArrayMark(tokens, next)) next++;
  }
  return { ...operand, next: skipClosing(tokens, next) };
}

/** Whether `::` is at `i`. */
export function isCast(tokens: SqlTokens, i: number): boolean {
  return kindAt(tokens, i) === OPERATOR && tokens.scan.text.startsWith('::', tokens.start[i]!);
}

/** Whether the brackets of an array type are at `i`; the tokenizer reads them as a name in brackets. */
function isArrayMark(tokens: SqlTokens, i: number): boolean {
  return kindAt(tokens, i) === BAREWORD && tokens.scan.text.startsWith('[', tokens.start[i]!);
}

/** Reads an operand without arithmetic and casts. */
function simpleOperand(tokens: SqlTokens, at: number): Operand {
  const behind = (side: Side, next: number): Operand => ({ side, at, next: skipClosing(tokens, next) });
  switch (kindAt(tokens, at)) {
    case NUMBER:
    case STRING:
      return behind('constant', at + 1);
    case VARIABLE:
      return behind(isSystemObject(tokens, at) ? 'system' : 'constant', at + 1);
    case EXPRESSION:
    case UNION:
      return isQuery(tokens, at) ? behind('system', afterQuery(tokens, at)) : behind('nothing', at);
    case KEYWORD:
      if (isTable(tokens, at)) return behind('system', afterQuery(tokens, at));
      if (wordAt(tokens, at) !== EXISTS) return behind('nothing', at);
      return behind('system', at + 1);
    case BAREWORD:
    case FUNCTION:
    case OPERATOR:
      // `ARRAY[1,2]`, `name[1]`
      if (isArrayMark(tokens, at + 1))
        return behind(nameAt(tokens, at) === 'array' ? 'constant' : 'name', at + 2);
      if (kindAt(tokens, at + 1) === OPEN) {
        const next = afterBrackets(tokens, at + 1);
        return behind(hasSystemObject(tokens, at, next) ? 'system' : 'call', next);
      }
      return kindAt(tokens, at) === BAREWORD ? behind('name', at + 1) : behind('nothing', at);
    default:
      return behind('nothing', at);
  }
}

/** Whether a call has a system object for its name or an argument. */
function hasSystemObject(tokens: SqlTokens, from: number, end: number): boolean {
  for (let at = from; at < end; at++) if (isSystemObject(tokens, at) || isDelay(tokens, at)) return true;
  return false;
}

function skipClosing(tokens: SqlTokens, i: number): number {
  let at = i;
  while (kindAt(tokens, at) === CLOSE) at++;
  return at;
}

/** Whether an operator that compares nothing is at `i`: one of arithmetic or of bits. */
function isArithmetic(tokens: SqlTokens, i: number): boolean {
  return kindAt(tokens, i) === OPERATOR && !isComparison(tokens, i);
}

/** `SELECT 1`, `SELECT f(…`, `SELECT x FROM`, `CASE WHEN`, `UNION SELECT`; not "select one". */
function isQuery(tokens: SqlTokens, i: number): boolean {
  const next = kindAt(tokens, i + 1);
  if (kindAt(tokens, i) === UNION) return next === EXPRESSION || next === BAREWORD;
  if (wordAt(tokens, i) === CASE) return next === NUMBER || next === OPEN || wordAt(tokens, i + 1) === WHEN;
  if (wordAt(tokens, i) !== SELECT) return false;
  if (next !== BAREWORD) return next !== 0 && next !== STRING;
  const third = kindAt(tokens, i + 2);
  return wordAt(tokens, i + 2) === FROM || third === COMMA || third === OPEN;
}

/** `TABLE users` or `TABLE users LIMIT 1` in brackets: a query of all columns. */
function isTable(tokens: SqlTokens, i: number): boolean {
  if (wordAt(tokens, i) !== TABLE || kindAt(tokens, i - 1) !== OPEN || kindAt(tokens, i + 1) !== BAREWORD)
    return false;
  return kindAt(tokens, i + 2) === CLOSE || isLimit(tokens, i + 2);
}

/** The place behind a query, which ends with its brackets. */
function afterQuery(tokens: SqlTokens, i: number): number {
  let depth = 0;
  let at = i;
  for (; at < tokens.size; at++) {
    if (tokens.kind[at] === OPEN) depth++;
    else if (tokens.kind[at] === CLOSE && --depth < 0) return at;
  }
  return at;
}

/** Whether the token at `i` compares: a word (`LIKE`), `=`, `<`, `>`, `~`, a sign that ends with `=`, or `@>`. */
export function isComparison(tokens: SqlTokens, i: number): boolean {
  if (kindAt(tokens, i) !== OPERATOR) return false;
  if (tokens.word[i] !== 0) return (tokens.flags[i]! & ARITHMETIC) === 0;
  const { text } = tokens.scan;
  const first = text.charCodeAt(tokens.start[i]!);
  if ((first >= 0x3c && first <= 0x3e) || first === 0x40 || first === 0x7e) return true;
  return text.charCodeAt(tokens.end[i]! - 1) === 0x3d;
}

/** A condition, and what it is: `null` if an application can have it for a filter. */
interface Condition {
  readonly construct: string | null;
  /** The place behind it. */
  readonly next: number;
}

/** Reads the condition at `i`. */
function conditionAt(tokens: SqlTokens, i: number): Condition {
  const left = operandAt(tokens, i);
  if (left.side === 'nothing') return { construct: null, next: i };
  if (!isComparison(tokens, left.next)) return { construct: loneConstruct(tokens, left), next: left.next };
  const right = operandAt(tokens, left.next + 1);
  return { construct: comparedConstruct(tokens, left, right), next: Math.max(right.next, left.next + 1) };
}

/** The construct of a comparison. */
function comparedConstruct(tokens: SqlTokens, left: Operand, right: Operand): string | null {
  if (left.side === 'system' || right.side === 'system') return OF_DATABASE;
  if (left.side === 'constant' && right.side === 'constant') return CONSTANT;
  if (left.side === 'constant' && right.side === 'call')
    return isFunction(tokens, right.at) ? OF_DATABASE : null;
  if (left.side !== 'name' || right.side !== 'name' || wordAt(tokens, left.next) !== 0) return null;
  return sameText(tokens, left.at, right.at) ? CONSTANT : null;
}

/** The construct of a condition without comparison: `SLEEP(5)`, `EXISTS (…)`, `TRUE`. */
function loneConstruct(tokens: SqlTokens, { side, at }: Operand): string | null {
  if (side === 'system') return isDelay(tokens, at) ? DELAY : OF_DATABASE;
  return side === 'constant' && isTruth(tokens, at) ? CONSTANT : null;
}

/** Whether the number at `i` is `TRUE` or `FALSE`. */
function isTruth({ kind, start, scan }: SqlTokens, i: number): boolean {
  return kind[i] === NUMBER && isLetter(scan.text.charCodeAt(start[i]!));
}

/** What is before a tail: nothing or a closed value; or one name, which may be a word of prose. */
export interface Place {
  /** Whether only constants, brackets and signs are before the tail: no name and no comparison. */
  readonly opens: boolean;
  /** Whether a name is before the tail. */
  readonly named: boolean;
  /** Whether a constant or a closed string is before the tail, and no name or comparison. */
  readonly follows: boolean;
}

/** The construct of `AND …`, `OR …`, `|| …` at `i`; `null`: it can be prose or a filter. */
export function logicTail(tokens: SqlTokens, i: number, place: Place): string | null {
  const joined = joinedCall(tokens, i, place);
  if (joined !== null) return joined;
  const { construct, next } = tokens.quoted ? chainedCondition(tokens, i + 1) : conditionAt(tokens, i + 1);
  if (next === i + 1) return null;
  const isCut = isCutOff(tokens) && isEnd(tokens, next);
  if (construct === null) return isCut && !place.named && isOpenCondition(tokens, i) ? CLAUSE : null;
  if (construct === CONSTANT)
    return isConstantTail(tokens, next, { ...place, isCut, at: i }) ? CONSTANT : null;
  return place.named && !tokens.quoted && construct !== DELAY && isProse(tokens, next) ? null : construct;
}

/** The conditions joined by `AND` and `OR` that are read at most. */
const MOST_CONDITIONS = 4;

/** Reads the condition at `i`; if that one is ordinary, the next ones too: `OR active AND 1=1`. */
function chainedCondition(tokens: SqlTokens, i: number): Condition {
  let condition = conditionAt(tokens, i);
  let from = i;
  for (let count = 1; count < MOST_CONDITIONS; count++) {
    if (condition.construct !== null || condition.next === from || kindAt(tokens, condition.next) !== LOGIC)
      break;
    from = condition.next + 1;
    const following = conditionAt(tokens, from);
    if (following.next === from) break;
    condition = following;
  }
  return condition;
}

/** Whether a constant condition that ends before `next` is no prose. */
function isConstantTail(
  tokens: SqlTokens,
  next: number,
  { opens, named, isCut, at }: Place & { readonly isCut: boolean; readonly at: number },
): boolean {
  if (isProse(tokens, next)) return false;
  if (isCut || tokens.quoted) return true;
  const first = skipOpening(tokens, at + 1);
  if (isTruth(tokens, first)) return false;
  return opens || (named && kindAt(tokens, first) === NUMBER);
}

/** Whether `OR x = y` or `OR f(…)` is at `i`, which counts if a comment cuts off what follows. */
function isOpenCondition(tokens: SqlTokens, i: number): boolean {
  const left = operandAt(tokens, i + 1);
  if (isComparison(tokens, left.next)) return operandAt(tokens, left.next + 1).side !== 'nothing';
  return left.side === 'call' || left.side === 'constant';
}

/** The construct of a call joined with `||`: `' || f('x') || '`, `1 || lpad(user, 7)`. */
function joinedCall(tokens: SqlTokens, i: number, { opens }: Place): string | null {
  if (!isDoubleBar(tokens, i)) return null;
  const right = operandAt(tokens, i + 1);
  if (right.side === 'system') return JOINED;
  if (right.side !== 'call') return null;
  if (tokens.quoted)
    return isDoubleBar(tokens, right.next) && isOpenString(tokens, right.next + 1) ? JOINED : null;
  const word = wordAt(tokens, right.at);
  const isDatabases = isFunction(tokens, right.at) && !isOrdinary(word);
  return opens && kindAt(tokens, i - 1) === NUMBER && isDatabases && isEnd(tokens, right.next)
    ? JOINED
    : null;
}

/** The construct of `WHERE 1=1`, `AS x WHERE 1=1`, `HAVING 1=1`, `LIMIT 1 OFFSET (SELECT …)` at `i`. */
export function keywordTail(tokens: SqlTokens, i: number, { opens, follows }: Place): string | null {
  if (!opens) return null;
  if (tokens.quoted && isCutOff(tokens) && ENDING_CLAUSES.has(wordAt(tokens, i))) return CLAUSE;
  if (isLimit(tokens, i)) return follows ? limitTail(tokens, i) : null;
  const at = wordAt(tokens, i) === AS && kindAt(tokens, i + 1) === BAREWORD ? i + 2 : i;
  const word = wordAt(tokens, at);
  if (word !== WHERE && word !== HAVING) return null;
  const { construct, next } = conditionAt(tokens, at + 1);
  if (construct === null || isProse(tokens, next)) return null;
  if (construct !== CONSTANT || tokens.quoted || isCutOff(tokens)) return construct;
  if (kindAt(tokens, next) !== LOGIC) return null;
  return conditionAt(tokens, next + 1).construct;
}

/** Whether `LIMIT` or `OFFSET` is at `i`. */
function isLimit(tokens: SqlTokens, i: number): boolean {
  const word = wordAt(tokens, i);
  return word === LIMIT || word === OFFSET;
}

/** The construct of `LIMIT …` with a query or a system object for a number; of `LIMIT 1 OFFSET …`, too. */
function limitTail(tokens: SqlTokens, i: number): string | null {
  let at = i;
  while (isLimit(tokens, at) || (at > i && kindAt(tokens, at) === COMMA)) {
    const { side, next } = operandAt(tokens, at + 1);
    if (side === 'system') return CLAUSE;
    if (side === 'nothing') return null;
    at = next;
  }
  return null;
}

/** Whether a query or a system object is in the list of `ORDER BY` or `GROUP BY`, whose last word is at `i`. */
function sortedByQuery(tokens: SqlTokens, i: number): boolean {
  let at = i + 1;
  for (;;) {
    const { side, next } = operandAt(tokens, at);
    if (side === 'system') return true;
    if (side === 'nothing') return false;
    at = ORDERS.has(wordAt(tokens, next)) ? next + 1 : next;
    if (kindAt(tokens, at) !== COMMA) return false;
    at++;
  }
}

/** The construct of `GROUP BY 1,2--`, `ORDER BY 3#`, `ORDER BY (SELECT …)` at `i`. */
export function groupingTail(tokens: SqlTokens, i: number, place: Place): string | null {
  if (place.follows && sortedByQuery(tokens, i)) return CLAUSE;
  let at = i + 1;
  while (kindAt(tokens, at) === NUMBER && kindAt(tokens, at + 1) === COMMA) at += 2;
  if (kindAt(tokens, at) !== NUMBER || !isEnd(tokens, at + 1)) return null;
  return isCutOff(tokens) || (tokens.quoted && at > i + 1) ? CLAUSE : null;
}

/** The construct of a function that waits at `i`: `SLEEP(5)#`, `SLEEP(5)="`, `+ SLEEP(5) + '`. */
export function delayTail(tokens: SqlTokens, i: number): string | null {
  if (!isDelay(tokens, i)) return null;
  const next = afterBrackets(tokens, i + 1);
  if (isEnd(tokens, next)) {
    const { tail, scan } = tokens;
    return isCutOff(tokens) || (tail >= 0 && scan.text.includes("'", tail)) ? DELAY : null;
  }
  const isOperator = kindAt(tokens, next) === OPERATOR || kindAt(tokens, next) === LOGIC;
  const behind = isOperator ? next + 1 : next;
  return isOpenString(tokens, behind) || isDelay(tokens, behind) ? DELAY : null;
}

/** Whether a number precedes the token at `i` without white space: `1e0UNION`. */
function isGlued(tokens: SqlTokens, i: number): boolean {
  return kindAt(tokens, i - 1) === NUMBER && tokens.start[i] === tokens.end[i - 1];
}

/** The construct of `UNION SELECT` at `i` without white space before, with a comment between, or that was revealed. */
export function unionTail(tokens: SqlTokens, i: number, altered: boolean): string | null {
  const at = ALL.has(wordAt(tokens, i + 1)) ? i + 2 : i + 1;
  if (wordAt(tokens, at) !== SELECT) return null;
  const hidden =
    altered ||
    tokens.conditional ||
    isGlued(tokens, i) ||
    tokens.commented[i + 1] === 1 ||
    tokens.commented[at] === 1;
  return hidden ? 'UNION of queries' : null;
}
