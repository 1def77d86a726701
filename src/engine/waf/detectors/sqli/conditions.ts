/** Rules for what follows a value: conditions (after `AND`, `OR` or an operator), clauses and function calls. */
import { isOrdinary, wordNumber } from './lexicon.ts';
import {
  bindsStrings,
  bodyIsShort,
  endsValue,
  followsDigit,
  isLater,
  isOpenEnd,
  isQuotedComment,
  kindAt,
  type Reading,
} from './reading.ts';
import {
  ADJACENT,
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
} from './scan.ts';
import { isQuery } from './statements.ts';

// Rules for function calls: which calls occur in SQL and hardly ever in ordinary text.

/** Functions that return a property of the database, and `IF`. */
const DATABASE = wordNumber('DATABASE');
const IF = wordNumber('IF');
const SCHEMA = wordNumber('SCHEMA');
const USER = wordNumber('USER');
const VERSION = wordNumber('VERSION');

/** Whether the folded tokens at `i` are a call of a function that ordinary text does not call. */
export function isCall(reading: Reading, i: number): boolean {
  const { folded } = reading;
  if (kindAt(reading, i) !== FUNCTION || kindAt(reading, i + 1) !== OPEN) return false;
  if (isCall(reading, i + 2) || isSystemValue(reading, i + 2)) return true;
  return !isOrdinary(folded.word[i]!) && (folded.flags[i + 1]! & ADJACENT) !== 0;
}

/** Whether the argument at `i` is a property of the database: `LENGTH(version())`, `MID(@@hostname, …`. */
function isSystemValue({ folded, scan }: Reading, i: number): boolean {
  if (i >= folded.size) return false;
  const word = folded.word[i]!;
  if (folded.kind[i] === FUNCTION)
    return word === VERSION || word === DATABASE || word === USER || word === SCHEMA;
  return folded.kind[i] === VARIABLE && word === 0 && scan.text.startsWith('@@', folded.start[i]!);
}

/** Whether any tokens from `i` on are such a call. */
export function hasCall(reading: Reading, i: number): boolean {
  for (let at = i; at < reading.folded.size; at++) if (isCall(reading, at)) return true;
  return false;
}

/** Whether the value begins with a call of any function, followed by a condition or a final comment. */
export function isCallWithTail(reading: Reading): boolean {
  const { scan } = reading;
  if (kindAt(reading, 1) !== OPEN) return false;
  if (isLater(reading, 2, COMMENT) && endsValue(reading)) return scan.names === 0;
  return (
    isLater(reading, 2, LOGIC) &&
    (scan.constant ||
      (scan.compares && scan.names === 0 && reading.folded.word[0] !== IF) ||
      hasCall(reading, 2))
  );
}

// Rules for clauses after a value: `GROUP BY`, `HAVING`, `INTO OUTFILE`, further members of a list.

/** The keywords of clauses that have a rule. */
const FROM = wordNumber('FROM');
const HAVING = wordNumber('HAVING');
const LIMIT = wordNumber('LIMIT');
const WHERE = wordNumber('WHERE');
const OUTFILE = wordNumber('INTO OUTFILE');
const DUMPFILE = wordNumber('INTO DUMPFILE');
const ANALYSE = wordNumber('PROCEDURE ANALYSE');

/** Whether the tokens at `i`, after `GROUP BY` or `ORDER BY`, are columns rather than prose. */
export function isGrouping(reading: Reading, i: number): boolean {
  const next = kindAt(reading, i + 1);
  const from = reading.quoted || kindAt(reading, 0) === NUMBER || kindAt(reading, i - 2) === CLOSE;
  switch (kindAt(reading, i)) {
    case NUMBER:
      // `ORDER BY 5`
      return from ? next !== BAREWORD : next === COMMENT || next === 0;
    case FUNCTION:
      // `ORDER BY rand()`
      return next === OPEN;
    case BAREWORD:
      // `ORDER BY name--`
      return next === COMMENT ? endsValue(reading) : from && next !== BAREWORD;
    case OPEN:
      // `ORDER BY (…`
      return from;
    default:
      return false;
  }
}

/** Whether the keyword at `i` begins a clause of SQL rather than prose. */
export function isClause(reading: Reading, i: number): boolean {
  const { folded, scan, quoted } = reading;
  const next = kindAt(reading, i + 1);
  switch (folded.word[i]) {
    case OUTFILE:
    case DUMPFILE:
      // `INTO OUTFILE '…'`
      return next !== 0;
    case ANALYSE:
      // `PROCEDURE ANALYSE(…`
      return next === OPEN;
    case HAVING:
      // `HAVING 1=1`, `HAVING sum(…`
      return (
        scan.compares ||
        next === OPEN ||
        next === FUNCTION ||
        (next === NUMBER && kindAt(reading, i + 2) !== BAREWORD)
      );
    case WHERE:
      // `WHERE id=1`
      if (!scan.compares || i === 0) return false;
      if (isLater(reading, i, COMMENT) && endsValue(reading)) return true;
      return quoted ? next !== 0 : next === NUMBER || next === STRING || next === FUNCTION;
    case FROM:
      // `) FROM t WHERE a=b`
      return isLater(reading, i, KEYWORD) && kindAt(reading, i - 1) === CLOSE && scan.compares;
    case LIMIT:
      // `LIMIT 1--`
      return next === NUMBER && (quoted || isLater(reading, i, COMMENT));
    default:
      return false;
  }
}

/** Whether the tokens at `i`, after a comma that folding kept, are a member of an SQL list. */
export function isListed(reading: Reading, i: number): boolean {
  const next = kindAt(reading, i + 1);
  switch (kindAt(reading, i)) {
    case OPEN:
      // `, (SELECT …`
      return next === EXPRESSION || next === FUNCTION || (next === NUMBER && reading.quoted);
    case FUNCTION:
      // `, sleep(5)`
      return isCall(reading, i) || (next === OPEN && (reading.quoted || kindAt(reading, 0) === NUMBER));
    case EXPRESSION:
      // `, CASE WHEN …`
      return isQuery(reading, i);
    default:
      return false;
  }
}

const NULL = wordNumber('NULL');

/** Whether the tokens at `i`, after `AND`, `OR`, `XOR`, `&&` or `||`, are a condition of SQL. */
export function isCondition(reading: Reading, i: number): boolean {
  const { scan, quoted } = reading;
  const next = kindAt(reading, i + 1);
  if (scan.names === 0 && isLater(reading, i + 1, COMMENT) && endsValue(reading)) return true;
  switch (kindAt(reading, i)) {
    case FUNCTION:
      // `OR sleep(5)`
      if (isCall(reading, i)) return true;
      return (
        next === OPEN &&
        (quoted || scan.constant || kindAt(reading, 0) === NUMBER || hasComparedCall(reading, i))
      );
    case OPEN:
      // `OR (1=1)`
      return isBracketed(reading, i + 1);
    case EXPRESSION:
      // `OR CASE WHEN …`
      return isQuery(reading, i);
    case KEYWORD:
      // `AND EXISTS (SELECT …`
      return next === OPEN || (next === EXPRESSION && isQuery(reading, i + 1));
    case VARIABLE:
      // `OR @@version`
      return quoted || scan.compares || next !== 0;
    case STRING:
      // `OR 'a'='a`
      return isStringCondition(reading, i);
    case NUMBER:
      // `OR 1=1`
      return isNumberCondition(reading, i);
    case BAREWORD:
      // `OR id=1`
      return isNameCondition(reading, i);
    default:
      return false;
  }
}

/** `COS(3) = SIN(4)`, `PI() = 3`: whether a call is compared with a number or another call. */
function hasComparedCall(reading: Reading, i: number): boolean {
  if (!reading.scan.compares) return false;
  for (let at = i + 2; at < reading.folded.size; at++) {
    if (kindAt(reading, at) !== CLOSE || kindAt(reading, at + 1) !== OPERATOR) continue;
    const operand = kindAt(reading, at + 2);
    if (operand === NUMBER || operand === FUNCTION) return true;
  }
  return false;
}

/** Whether the tokens at `i`, in the bracket after `AND` or `OR`, are a condition. */
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

/** Whether the name at `i` begins a condition: it needs a comparison, or an open string at the end. */
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

/** Whether the string at `i` begins a condition, or is the open string that the statement's own quote closes. */
function isStringCondition(reading: Reading, i: number): boolean {
  const { scan, quoted } = reading;
  const next = kindAt(reading, i + 1);
  if (next === COMMENT) return endsValue(reading);
  if (scan.tests || (scan.compares && next === OPERATOR)) return true;
  return quoted && next === 0 && bindsStrings(reading, i);
}

/** Whether the number at `i` begins a condition. */
function isNumberCondition(reading: Reading, i: number): boolean {
  const { scan, quoted } = reading;
  const next = kindAt(reading, i + 1);
  if (next === COMMENT) return endsValue(reading);
  if (scan.constant) return true;
  if (scan.compares) return next !== BAREWORD && (scan.tests || kindAt(reading, 0) !== BAREWORD);
  if (next === GROUPING) return isGrouping(reading, i + 2);
  if (next === OPERATOR || next === COMMA) return scan.names === 0;
  if (next !== 0 && next !== CLOSE && next !== LOGIC) return false;
  return quoted && !followsDigit(reading);
}

/** Whether the tokens at `i`, after an operator that folding kept, are an operand of SQL. */
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
      // `1 = (SELECT …`
      return next === EXPRESSION || (next === FUNCTION && quoted) || hasCall(reading, i + 1);
    case FUNCTION:
      // `a' + sleep(5)`
      return next === OPEN && (quoted || hasCall(reading, i));
    case EXPRESSION:
      // `1 = CASE WHEN …`
      return isQuery(reading, i);
    case VARIABLE:
      // `1 = @@version`
      return (quoted || kindAt(reading, 0) === NUMBER) && reading.folded.word[i] !== NULL;
    case STRING:
      // `a' + 'b`
      return quoted && next === 0 && bindsStrings(reading, i);
    default:
      return false;
  }
}

/** Whether arithmetic is followed by a condition: one that compares, or that ends in an open string. */
function isJoined(reading: Reading): boolean {
  const { scan, quoted, folded } = reading;
  if (scan.constant) return true;
  if (scan.compares) return quoted || scan.names === 0;
  return quoted && kindAt(reading, folded.size - 2) === LOGIC && isOpenEnd(reading, folded.size - 1);
}

/** Whether the value ends in an open string that belongs to its first quote. */
function isBound(reading: Reading): boolean {
  return bindsStrings(reading, reading.folded.size - 1);
}
