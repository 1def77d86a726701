/**
 * The grammar of injections: decides whether folded tokens are one. Its rules are the continuations of a value whose
 * string was closed, and the beginnings of a query. Ordinary text satisfies parts of rules (a name in quotes, a number and
 * a word, a list), so each rule requires a piece that only SQL has in that place: a comparison, a call, a query after
 * `UNION`, a comment that ends the value.
 */
import {
  hasCall,
  isCall,
  isCallWithTail,
  isClause,
  isCondition,
  isGrouping,
  isListed,
  isOperand,
} from './conditions.ts';
import { endsValue, isLater, isQuotedWord, kindAt, type Reading } from './reading.ts';
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
} from './scan.ts';
import { isQuery, isStatement } from './statements.ts';

/** Whether the folded tokens of a reading are an injection. */
export function isInjection(reading: Reading): boolean {
  if (isLater(reading, 0, EVIL)) return true;
  if (isPath(reading)) return false;
  if (hasQuery(reading)) return true;
  switch (kindAt(reading, 0)) {
    case EXPRESSION:
      // `SELECT …` as the whole value.
      return isQuery(reading, 0);
    case STATEMENT:
      // `DROP TABLE …`
      return isStatement(reading, 0);
    case FUNCTION:
      // `sleep(5)`
      return hasCall(reading, 0) || isCallWithTail(reading);
    case LOGIC:
      // `OR 1=1`
      return isBareCondition(reading);
    case KEYWORD:
    case GROUPING:
    case CLOSE:
    case COMMA:
      // `HAVING 1=1`, `) OR 1=1`, `, (SELECT …`
      return continuesValue(reading, 0);
    case 0:
    case SEMICOLON:
    case UNION:
    case OPERATOR:
      // Nothing that begins like this is an injection, unless `hasQuery` has found one.
      return false;
    default:
      return continuesValue(reading, 1);
  }
}

/** `AND 1=1`, `OR sleep(5)`: without a value before it, the condition needs a sign that ordinary text lacks. */
function isBareCondition(reading: Reading): boolean {
  const { scan } = reading;
  const certain =
    scan.constant ||
    hasCall(reading, 1) ||
    (scan.tests && scan.names === 0) ||
    kindAt(reading, 2) === EXPRESSION;
  return certain && isCondition(reading, 1);
}

/** Whether the value is a path (it begins with a slash): its words are directories unless a quote is assumed. */
function isPath(reading: Reading): boolean {
  const { text } = reading.scan;
  return !reading.quoted && text.charCodeAt(0) === 0x2f && text.charCodeAt(1) !== 0x2a;
}

/** Whether a query or statement stands where only SQL allows one: after `UNION`, a semicolon or an opening parenthesis. */
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

/** `UNION SELECT …`, `UNION (SELECT …`, also with a sign before the bracket; not "a Union select committee". */
function isUnited(reading: Reading, i: number): boolean {
  const at = kindAt(reading, i + 1) === OPERATOR ? i + 2 : i + 1;
  const next = kindAt(reading, at);
  if (next === OPEN) return kindAt(reading, at + 1) === EXPRESSION;
  if (next === STATEMENT) return isStatement(reading, at);
  if (next !== EXPRESSION) return false;
  const names = kindAt(reading, at + 1) === BAREWORD && kindAt(reading, at + 2) === BAREWORD;
  return !names || kindAt(reading, 0) !== BAREWORD;
}

/** Whether the tokens at `i` continue a complete value as SQL does. */
function continuesValue(reading: Reading, i: number): boolean {
  if (isQuotedWord(reading)) return false;
  const at = kindAt(reading, i) === CLOSE ? i + 1 : i;
  switch (kindAt(reading, at)) {
    case COMMENT:
      // `a'--`
      return endsValue(reading);
    case LOGIC:
      // `a' OR 1=1`
      return isCondition(reading, at + 1);
    case OPERATOR:
      // `a' + sleep(5)`
      return isOperand(reading, at + 1);
    case SEMICOLON:
      // `a';--`
      return kindAt(reading, at + 1) === COMMENT && endsValue(reading);
    case EXPRESSION:
      // `1 SELECT …`
      return isQuery(reading, at);
    case STATEMENT:
      // `1 WAITFOR DELAY '0:0:5'`
      return mayFollowDirectly(reading, at) && isStatement(reading, at);
    case UNION:
      // `1/**/UNION/*`
      return isSplitUnion(reading, at);
    case GROUPING:
      // `a' ORDER BY 5`
      return isGrouping(reading, at + 1);
    case KEYWORD:
      // `a' HAVING 1=1`
      return isClause(reading, at);
    case COMMA:
      // `1, (SELECT …`
      return isListed(reading, at + 1);
    case FUNCTION:
      // `1 sleep(5)`
      if (reading.quoted && isLater(reading, at, COMMENT) && endsValue(reading)) return true;
      return isCall(reading, at) && (reading.quoted || kindAt(reading, 0) === NUMBER);
    case BAREWORD:
      // `1108_519' OR 1=1`
      return at === 1 && isSuffix(reading) && kindAt(reading, 2) !== COMMENT && continuesValue(reading, 2);
    case OPEN:
      // `1 (SELECT …`
      return kindAt(reading, at + 1) === EXPRESSION;
    default:
      return false;
  }
}

/**
 * Whether a statement may follow a value without a semicolon. After a name its verb may be prose, unless a string comes
 * third: `x WAITFOR DELAY '…'`.
 */
function mayFollowDirectly(reading: Reading, at: number): boolean {
  if (reading.quoted || at > 1 || kindAt(reading, 0) === NUMBER) return true;
  return kindAt(reading, at + 2) === STRING;
}

/** `1108_519`, `3rd`: a name directly after a number. */
function isSuffix(reading: Reading): boolean {
  return kindAt(reading, 0) === NUMBER && (reading.folded.flags[1]! & ADJACENT) !== 0;
}

/** A `UNION` at the end or before a comment: its query is in another parameter. */
function isSplitUnion(reading: Reading, at: number): boolean {
  const last = kindAt(reading, at + 1);
  return (
    (last === 0 || last === COMMENT) &&
    kindAt(reading, 0) === NUMBER &&
    reading.scan.names === 0 &&
    reading.scan.count > 2
  );
}
