/**
 * Says whether folded tokens have the shape of an injection: a grammar of what can follow a value that was broken out
 * of, and of what can begin a query. Everyday text meets single rules of it (a name in quotes, a number and a word, a
 * list), so each asks for the piece that only SQL would have there: a comparison, a call, a query after `UNION`, a
 * comment that ends the value.
 */
import { hasCall, isCall, isCalledFurther } from './calls.ts';
import { isClause, isGrouping, isListed } from './clauses.ts';
import { isCondition, isOperand } from './conditions.ts';
import { endsValue } from './ending.ts';
import {
  ADJACENT,
  BAREWORD,
  CLOSE,
  COMMA,
  COMMENT,
  EVIL,
  EXPRESSION,
  FUNCTION,
  GROUPING,
  KEYWORD,
  LOGIC,
  NUMBER,
  OPEN,
  OPERATOR,
  SEMICOLON,
  STATEMENT,
  STRING,
  UNION,
} from './kinds.ts';
import type { Reading } from './reading.ts';
import { isLater, isQuotedWord, kindAt } from './reading.ts';
import { isQuery, isStatement } from './statements.ts';

export function isInjection(reading: Reading): boolean {
  if (isLater(reading, 0, EVIL)) return true;
  if (isPath(reading)) return false;
  if (hasQuery(reading)) return true;
  switch (kindAt(reading, 0)) {
    case EXPRESSION:
      return isQuery(reading, 0);
    case STATEMENT:
      return isStatement(reading, 0);
    case FUNCTION:
      return hasCall(reading, 0) || isCalledFurther(reading);
    case LOGIC:
      return isBareCondition(reading);
    case KEYWORD:
    case GROUPING:
    case CLOSE:
    case COMMA:
      return goesOn(reading, 0);
    case 0:
    case SEMICOLON:
    case UNION:
    case OPERATOR:
      return false;
    default:
      return goesOn(reading, 1);
  }
}

/** `AND 1=1`, `OR sleep(5)`: no value stands before the condition, so it has to be one beyond doubt. */
function isBareCondition(reading: Reading): boolean {
  const { scan } = reading;
  const certain =
    scan.constant ||
    hasCall(reading, 1) ||
    (scan.tests && scan.names === 0) ||
    kindAt(reading, 2) === EXPRESSION;
  return certain && isCondition(reading, 1);
}

/** A value that begins with a slash is a path, and its words are folders: a query in it has to break out of a string. */
function isPath(reading: Reading): boolean {
  const { text } = reading.scan;
  return !reading.quoted && text.charCodeAt(0) === 0x2f && text.charCodeAt(1) !== 0x2a;
}

/** A query or a statement where only SQL has one: after `UNION`, a semicolon or an opening bracket. */
function hasQuery(reading: Reading): boolean {
  for (let i = 0; i < reading.folded.size; i++) {
    const kind = kindAt(reading, i);
    const next = kindAt(reading, i + 1);
    if (kind === UNION && isUnited(reading, i)) return true;
    if (kind === SEMICOLON && next === EXPRESSION && isQuery(reading, i + 1)) return true;
    if (kind === SEMICOLON && next === STATEMENT && isStatement(reading, i + 1)) return true;
    if (kind === OPEN && next === EXPRESSION && isQuery(reading, i + 1)) return true;
  }
  return false;
}

/** `UNION SELECT …`, `UNION (SELECT …`, a sign before the bracket too; not "a Union select committee". */
function isUnited(reading: Reading, i: number): boolean {
  const at = kindAt(reading, i + 1) === OPERATOR ? i + 2 : i + 1;
  const next = kindAt(reading, at);
  if (next === OPEN) return kindAt(reading, at + 1) === EXPRESSION;
  if (next === STATEMENT) return isStatement(reading, at);
  if (next !== EXPRESSION) return false;
  const names = kindAt(reading, at + 1) === BAREWORD && kindAt(reading, at + 2) === BAREWORD;
  return !names || kindAt(reading, 0) !== BAREWORD;
}

/** What stands at `i`, after a value that is complete. */
function goesOn(reading: Reading, i: number): boolean {
  if (isQuotedWord(reading)) return false;
  const at = kindAt(reading, i) === CLOSE ? i + 1 : i;
  switch (kindAt(reading, at)) {
    case COMMENT:
      return endsValue(reading);
    case LOGIC:
      return isCondition(reading, at + 1);
    case OPERATOR:
      return isOperand(reading, at + 1);
    case SEMICOLON:
      return kindAt(reading, at + 1) === COMMENT && endsValue(reading);
    case EXPRESSION:
      return isQuery(reading, at);
    case STATEMENT:
      return isRunOn(reading, at) && isStatement(reading, at);
    case UNION:
      return isSplitUnion(reading, at);
    case GROUPING:
      return isGrouping(reading, at + 1);
    case KEYWORD:
      return isClause(reading, at);
    case COMMA:
      return isListed(reading, at + 1);
    case FUNCTION:
      if (reading.quoted && isLater(reading, at, COMMENT) && endsValue(reading)) return true;
      return isCall(reading, at) && (reading.quoted || kindAt(reading, 0) === NUMBER);
    case BAREWORD:
      return at === 1 && isSuffix(reading) && kindAt(reading, 2) !== COMMENT && goesOn(reading, 2);
    case OPEN:
      return kindAt(reading, at + 1) === EXPRESSION;
    default:
      return false;
  }
}

/** Whether a statement may follow without a semicolon: not after a name, where a verb of prose stands, but `x WAITFOR …`. */
function isRunOn(reading: Reading, at: number): boolean {
  if (reading.quoted || at > 1 || kindAt(reading, 0) === NUMBER) return true;
  return kindAt(reading, at + 2) === STRING;
}

/** `1108_519`, `3rd`: a name that goes on from a number. */
function isSuffix(reading: Reading): boolean {
  return kindAt(reading, 0) === NUMBER && (reading.folded.flags[1]! & ADJACENT) !== 0;
}

/** A `UNION` whose query comes in another parameter: nobody hides it behind a comment otherwise. */
function isSplitUnion(reading: Reading, at: number): boolean {
  const last = kindAt(reading, at + 1);
  return (
    (last === 0 || last === COMMENT) &&
    kindAt(reading, 0) === NUMBER &&
    reading.scan.names === 0 &&
    reading.scan.count > 2
  );
}
