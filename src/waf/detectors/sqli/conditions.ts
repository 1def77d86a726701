/** What follows a value through `AND` and `OR`, or through an operator. */
import { hasCall, isCall } from './calls.ts';
import { isGrouping } from './clauses.ts';
import { bodyIsShort, endsValue, isQuotedComment } from './ending.ts';
import {
  BAREWORD,
  CLOSE,
  COMMA,
  COMMENT,
  EXPRESSION,
  FUNCTION,
  GROUPING,
  KEYWORD,
  LOGIC,
  NUMBER,
  OPEN,
  OPERATOR,
  STRING,
  VARIABLE,
} from './kinds.ts';
import { wordNumber } from './lexicon.ts';
import type { Reading } from './reading.ts';
import { bindsStrings, isFeet, isLater, isOpenEnd, kindAt } from './reading.ts';
import { isQuery } from './statements.ts';

const NULL = wordNumber('NULL');

/** What stands after `AND`, `OR` and their like. */
export function isCondition(reading: Reading, i: number): boolean {
  const { scan, quoted } = reading;
  const next = kindAt(reading, i + 1);
  if (scan.names === 0 && isLater(reading, i + 1, COMMENT) && endsValue(reading)) return true;
  switch (kindAt(reading, i)) {
    case FUNCTION:
      if (isCall(reading, i)) return true;
      return (
        next === OPEN &&
        (quoted || scan.constant || kindAt(reading, 0) === NUMBER || hasComparedCall(reading, i))
      );
    case OPEN:
      return isBracketed(reading, i + 1);
    case EXPRESSION:
      return isQuery(reading, i);
    case KEYWORD:
      return next === OPEN || (next === EXPRESSION && isQuery(reading, i + 1));
    case VARIABLE:
      return quoted || scan.compares || next !== 0;
    case STRING:
      return isStringCondition(reading, i);
    case NUMBER:
      return isNumberCondition(reading, i);
    case BAREWORD:
      return isNameCondition(reading, i);
    default:
      return false;
  }
}

/** `COS(3) = SIN(4)`, `PI() = 3`: a call that is compared with a number or another call. */
function hasComparedCall(reading: Reading, i: number): boolean {
  if (!reading.scan.compares) return false;
  for (let at = i + 2; at < reading.folded.size; at++) {
    if (kindAt(reading, at) !== CLOSE || kindAt(reading, at + 1) !== OPERATOR) continue;
    const operand = kindAt(reading, at + 2);
    if (operand === NUMBER || operand === FUNCTION) return true;
  }
  return false;
}

/** What stands in the bracket after `AND` or `OR`. */
function isBracketed(reading: Reading, i: number): boolean {
  const { scan, quoted } = reading;
  const kind = kindAt(reading, i);
  if (kind === EXPRESSION) return quoted || isQuery(reading, i);
  if (kind === FUNCTION && kindAt(reading, i + 1) === OPEN)
    return quoted || scan.compares || hasCall(reading, i);
  if (scan.constant) return true;
  if (isLater(reading, i, COMMENT) && endsValue(reading)) return quoted || scan.names === 0;
  if (quoted) return kind !== BAREWORD || scan.compares;
  return scan.compares && scan.names === 0;
}

function isNameCondition(reading: Reading, i: number): boolean {
  const { scan, quoted } = reading;
  const next = kindAt(reading, i + 1);
  if (scan.constant) return true;
  if (next === COMMENT) return (quoted || scan.compares) && bodyIsShort(reading);
  if (quoted) return scan.compares || (next === OPERATOR && isOpenEnd(reading, reading.folded.size - 1));
  if (kindAt(reading, 0) !== NUMBER || !scan.compares) return false;
  if (next === OPERATOR) return isLater(reading, i, STRING);
  return (next === 0 || next === CLOSE) && scan.tests;
}

function isStringCondition(reading: Reading, i: number): boolean {
  const { scan, quoted } = reading;
  const next = kindAt(reading, i + 1);
  if (next === COMMENT) return endsValue(reading);
  if (scan.tests || (scan.compares && next === OPERATOR)) return true;
  return quoted && next === 0 && bindsStrings(reading, i);
}

function isNumberCondition(reading: Reading, i: number): boolean {
  const { scan, quoted } = reading;
  const next = kindAt(reading, i + 1);
  if (next === COMMENT) return endsValue(reading);
  if (scan.constant) return true;
  if (scan.compares) return next !== BAREWORD && (scan.tests || kindAt(reading, 0) !== BAREWORD);
  if (next === GROUPING) return isGrouping(reading, i + 2);
  if (next === OPERATOR || next === COMMA) return scan.names === 0;
  if (next !== 0 && next !== CLOSE && next !== LOGIC) return false;
  return quoted && !isFeet(reading);
}

/** What stands after an operator that the value before it could not be folded with. */
export function isOperand(reading: Reading, i: number): boolean {
  const { scan, quoted } = reading;
  const next = kindAt(reading, i + 1);
  if (isLater(reading, i, LOGIC) && isJoined(reading)) return true;
  if (isLater(reading, i, COMMENT) && endsValue(reading))
    return quoted ? !isQuotedComment(reading) : scan.names === 0;
  if (quoted && scan.compares && scan.names <= 1 && isOpenEnd(reading, reading.folded.size - 1))
    return isBound(reading);
  switch (kindAt(reading, i)) {
    case OPEN:
      return next === EXPRESSION || (next === FUNCTION && quoted) || hasCall(reading, i + 1);
    case FUNCTION:
      return next === OPEN && (quoted || hasCall(reading, i));
    case EXPRESSION:
      return isQuery(reading, i);
    case VARIABLE:
      return (quoted || kindAt(reading, 0) === NUMBER) && reading.folded.word[i] !== NULL;
    case STRING:
      return quoted && next === 0 && bindsStrings(reading, i);
    default:
      return false;
  }
}

/** Arithmetic and then a condition: one that compares, or that ends in the string the value's quote will close. */
function isJoined(reading: Reading): boolean {
  const { scan, quoted, folded } = reading;
  if (scan.constant) return true;
  if (scan.compares) return quoted || scan.names === 0;
  return quoted && kindAt(reading, folded.size - 2) === LOGIC && isOpenEnd(reading, folded.size - 1);
}

/** The value ends in a string that its own first quote binds it to. */
function isBound(reading: Reading): boolean {
  return bindsStrings(reading, reading.folded.size - 1);
}
