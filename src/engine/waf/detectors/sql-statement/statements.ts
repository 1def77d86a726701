/**
 * Whole statements: by verb the shape of a statement, and marks of an attack in the rest of it. A query of a report has the
 * shape and no marks; `SELECT @@version` has one. A statement of administration needs fewer marks than a query.
 */
import { wordNumber } from '../sqli/lexicon.ts';
import {
  BAREWORD,
  CLOSE,
  COLON,
  COMMA,
  EXPRESSION,
  FUNCTION,
  KEYWORD,
  LOGIC,
  NUMBER,
  OPEN,
  OPERATOR,
  SEMICOLON,
  STATEMENT,
  STRING,
  TYPE,
  UNION,
  VARIABLE,
} from '../sqli/scan.ts';
import { isDelay, isSystemName, isSystemObject } from './names.ts';
import { afterBrackets, isCutOff, isOpenString, kindAt, nameAt, type SqlTokens, wordAt } from './tokens.ts';

/** Shapes: none; a query, which needs `ENOUGH` marks; a statement that needs one; one that needs none. */
const NO_SHAPE = 0;
const QUERY = 1;
const COMMAND = 2;
const CERTAIN = 3;

/** The marks at which a statement counts as an attack; a shape counts as marks, too. */
const ENOUGH = 3;

const AS = wordNumber('AS');
const FROM = wordNumber('FROM');
const INTO = wordNumber('INTO');
const RETURNING = wordNumber('RETURNING');
const SET = wordNumber('SET');
const TO = wordNumber('TO');
const VALUES = wordNumber('VALUES');
const WHERE = wordNumber('WHERE');

/** What is dropped, created and altered. */
const OBJECTS: ReadonlySet<string> = new Set(
  `table database schema view function procedure trigger index user login role sequence package tablespace extension
   server event assembly type system`.split(/\s+/),
);

/** What follows `BACKUP` and `RESTORE`. */
const BACKED_UP: ReadonlySet<string> = new Set(['database', 'log', 'db', 'certificate', 'transaction']);

/** The construct of the statement whose verb is at `i`; `null`: prose, or a query without marks. */
export function statementAt(tokens: SqlTokens, i: number): string | null {
  const shape = shapeOf(tokens, i);
  if (shape === NO_SHAPE) return null;
  const marks = shape + breakOut(tokens, i);
  if (marks >= ENOUGH || marks + marksFrom(tokens, i + 1) >= ENOUGH)
    return shape === QUERY ? 'statement with marks of an attack' : 'command to the database';
  return null;
}

/** The marks before the verb: a string that is closed and none that opens, a semicolon, a comment. */
function breakOut(tokens: SqlTokens, i: number): number {
  const closed = tokens.quoted && !isOpenString(tokens, tokens.size - 1);
  const stacked = isStacked(tokens, i) && !isMigration(tokens, i);
  return (closed ? 1 : 0) + (stacked ? 1 : 0) + tokens.commented[i]!;
}

/** Statements that change a schema. */
const MIGRATING: ReadonlySet<string> = new Set(['alter', 'create', 'drop', 'truncate']);

/** Whether the value begins with a change of the schema, and another one is at `i`: nothing is before it to break out of. */
function isMigration(tokens: SqlTokens, i: number): boolean {
  return (
    !tokens.quoted &&
    MIGRATING.has(nameAt(tokens, 0)) &&
    OBJECTS.has(nameOr(tokens, 1)) &&
    MIGRATING.has(nameAt(tokens, i))
  );
}

/** Whether a semicolon precedes the token at `i` on the same line; a script that is pasted has a line for each statement. */
export function isStacked({ size, kind, start, end, scan }: SqlTokens, i: number): boolean {
  if (i === 0 || i >= size || kind[i - 1] !== SEMICOLON) return false;
  for (let at = end[i - 1]!; at < start[i]!; at++) if (scan.text.charCodeAt(at) === 0x0a) return false;
  return true;
}

/** The shape of the statement at `i`. */
function shapeOf(tokens: SqlTokens, i: number): number {
  const name = nameAt(tokens, i);
  const next = kindAt(tokens, i + 1);
  switch (name) {
    case 'select':
      return isSelect(tokens, i + 1) ? QUERY : NO_SHAPE;
    case 'insert':
    case 'replace':
      return isInsert(tokens, i + 1) ? QUERY : NO_SHAPE;
    case 'update':
      return next === BAREWORD && wordAt(tokens, i + 2) === SET && kindAt(tokens, i + 4) === OPERATOR
        ? QUERY
        : NO_SHAPE;
    case 'delete':
      return isDelete(tokens, i + 1) ? QUERY : NO_SHAPE;
    case 'exec':
    case 'execute':
      return execShape(tokens, i + 1);
    case 'declare':
      return declareShape(tokens, i + 1);
    case 'with':
      return withShape(tokens, i + 1);
    case 'if':
      return isConditional(tokens, i + 1) ? CERTAIN : NO_SHAPE;
    default:
      return commandShape(tokens, i, name);
  }
}

/** The shape of other statements. */
function commandShape(tokens: SqlTokens, i: number, name: string): number {
  const next = kindAt(tokens, i + 1);
  switch (name) {
    case 'create':
      return OBJECTS.has(nameOr(tokens, i + 1)) && isNamed(tokens, i + 2) ? QUERY : NO_SHAPE;
    case 'drop':
    case 'truncate':
    case 'alter':
      return OBJECTS.has(nameOr(tokens, i + 1)) && isNamed(tokens, i + 2) ? COMMAND : NO_SHAPE;
    case 'backup':
    case 'restore':
      return isBackup(tokens, i + 1) ? CERTAIN : NO_SHAPE;
    case 'grant':
    case 'revoke':
      return isLaterWord(tokens, i + 2, name === 'grant' ? TO : FROM) ? COMMAND : NO_SHAPE;
    case 'load':
      return next === STRING ? COMMAND : NO_SHAPE;
    case 'set':
      return next === BAREWORD && isAssigned(tokens, i + 2) ? QUERY : NO_SHAPE;
    case 'values':
      return next === OPEN ? QUERY : NO_SHAPE;
    case 'copy':
      return isCopy(tokens, i + 1) ? COMMAND : NO_SHAPE;
    case 'attach':
      return nameOr(tokens, i + 1) === 'database' && kindAt(tokens, i + 2) === STRING ? CERTAIN : NO_SHAPE;
    case 'handler':
      return next === BAREWORD && ['open', 'read'].includes(nameOr(tokens, i + 2)) ? COMMAND : NO_SHAPE;
    case 'shutdown':
      return kindAt(tokens, i + 1) === SEMICOLON || nameOr(tokens, i + 2) === 'nowait' ? COMMAND : NO_SHAPE;
    case 'waitfor':
      return kindAt(tokens, i + 2) === STRING ? CERTAIN : NO_SHAPE;
    case 'begin':
      if (nameOr(tokens, i + 2) === 'immediate')
        return execShape(tokens, i + 2) === COMMAND ? CERTAIN : NO_SHAPE;
      return isSystemObject(tokens, i + 1) || isDelay(tokens, i + 1) ? CERTAIN : NO_SHAPE;
    case 'do':
    case 'call':
    case 'pragma':
      return isSystemObject(tokens, i + 1) || isDelay(tokens, i + 1) ? CERTAIN : NO_SHAPE;
    default:
      return NO_SHAPE;
  }
}

/** Whether `= 1` or `TO x` is at `i`. */
function isAssigned(tokens: SqlTokens, i: number): boolean {
  return kindAt(tokens, i) === OPERATOR ? kindAt(tokens, i + 1) !== 0 : wordAt(tokens, i) === TO;
}

/** The token at `i` in lower case, or the empty text behind the last one. */
function nameOr(tokens: SqlTokens, i: number): string {
  return i < tokens.size ? nameAt(tokens, i) : '';
}

/** Whether a name is at `i`, also behind `IF EXISTS`. */
function isNamed(tokens: SqlTokens, i: number): boolean {
  const kind = kindAt(tokens, i);
  return kind === BAREWORD || kind === FUNCTION || kind === KEYWORD;
}

/** Whether columns are at `i`, behind `SELECT`. */
function isSelect(tokens: SqlTokens, i: number): boolean {
  const next = kindAt(tokens, i + 1);
  switch (kindAt(tokens, i)) {
    case FUNCTION:
      return next === OPEN || next === COMMA || wordAt(tokens, i + 1) === FROM;
    case BAREWORD:
      return next !== BAREWORD || wordAt(tokens, i + 2) === FROM;
    case OPERATOR:
    case NUMBER:
    case STRING:
    case VARIABLE:
    case OPEN:
    case EXPRESSION:
    case KEYWORD:
      return true;
    default:
      return false;
  }
}

/** `INTO users (a) VALUES`, `INTO users SELECT`. */
function isInsert(tokens: SqlTokens, i: number): boolean {
  let at = wordAt(tokens, i) === INTO ? i + 1 : i;
  if (kindAt(tokens, at) !== BAREWORD) return false;
  at++;
  if (kindAt(tokens, at) === OPEN) at = afterBrackets(tokens, at);
  const word = wordAt(tokens, at);
  return word === VALUES || word === SET || kindAt(tokens, at) === EXPRESSION;
}

/** `FROM users`, `FROM users WHERE`; not "from the list". */
function isDelete(tokens: SqlTokens, i: number): boolean {
  const at = wordAt(tokens, i) === FROM ? i + 1 : i;
  if (kindAt(tokens, at) !== BAREWORD) return false;
  const next = kindAt(tokens, at + 1);
  if (next === 0 || next === SEMICOLON || next === CLOSE) return true;
  const word = wordAt(tokens, at + 1);
  return word === WHERE || word === RETURNING;
}

/** `xp_cmdshell`, `(@q)`, `('…'`, `@x = sp_…`; `exec('…')` is a call of several programming languages, too. */
function execShape(tokens: SqlTokens, i: number): number {
  const next = kindAt(tokens, i + 1);
  switch (kindAt(tokens, i)) {
    case VARIABLE:
      return tokens.word[i] === 0 ? CERTAIN : NO_SHAPE;
    case OPEN:
      if (next === STRING) return isJoined(tokens, i + 1) ? CERTAIN : QUERY;
      return next === VARIABLE || next === EXPRESSION ? CERTAIN : NO_SHAPE;
    case STRING:
      return QUERY;
    case FUNCTION:
    case BAREWORD: {
      const name = nameAt(tokens, i);
      const local = name.slice(name.lastIndexOf('.') + 1);
      if (name === 'immediate') return next === STRING || next === BAREWORD ? COMMAND : NO_SHAPE;
      if (local.startsWith('xp_') || isSystemName(local)) return CERTAIN;
      return local.startsWith('sp_') ? COMMAND : NO_SHAPE;
    }
    default:
      return NO_SHAPE;
  }
}

/** Whether two strings are joined at `i`: text put together hides a statement. */
function isJoined(tokens: SqlTokens, i: number): boolean {
  return kindAt(tokens, i + 1) === OPERATOR && kindAt(tokens, i + 2) === STRING;
}

/** `@x INT`, `c CURSOR FOR`, `x VARCHAR(5)`. */
function declareShape(tokens: SqlTokens, i: number): number {
  const next = kindAt(tokens, i + 1);
  if (kindAt(tokens, i) === VARIABLE && tokens.word[i] === 0)
    return next === TYPE || next === FUNCTION || next === BAREWORD || next === KEYWORD
      ? certainty(tokens, i)
      : NO_SHAPE;
  if (kindAt(tokens, i) !== BAREWORD) return NO_SHAPE;
  if (kindAt(tokens, i + 2) === COLON) return NO_SHAPE;
  return next === TYPE || nameOr(tokens, i + 1) === 'cursor' ? COMMAND : NO_SHAPE;
}

/** Words of a script that runs a text, or waits. */
const RUNNING: ReadonlySet<string> = new Set(['exec', 'execute', 'sp_executesql', 'waitfor']);

/** The shape of a variable declared at `i`: a script that begins with it and runs no text is an exercise. */
function certainty(tokens: SqlTokens, i: number): number {
  if (i !== 1 || tokens.quoted) return CERTAIN;
  for (let at = i; at < tokens.size; at++) if (RUNNING.has(nameAt(tokens, at))) return CERTAIN;
  return COMMAND;
}

/** `(1=1) SELECT …`, `(EXISTS (…)) DROP …`. */
function isConditional(tokens: SqlTokens, i: number): boolean {
  if (kindAt(tokens, i) !== OPEN) return false;
  const next = kindAt(tokens, afterBrackets(tokens, i));
  const isCompared = kindAt(tokens, i + 1) === NUMBER && kindAt(tokens, i + 2) === OPERATOR;
  return isCompared && (next === EXPRESSION || next === STATEMENT);
}

/** `x AS (SELECT …)`, `RECURSIVE x (a) AS (…)`: the shape of the first statement in brackets. */
function withShape(tokens: SqlTokens, i: number): number {
  let at = nameOr(tokens, i) === 'recursive' ? i + 2 : i + 1;
  if (kindAt(tokens, at) === OPEN) at = afterBrackets(tokens, at);
  if (wordAt(tokens, at) !== AS || kindAt(tokens, at + 1) !== OPEN) return NO_SHAPE;
  if (kindAt(tokens, at + 2) !== EXPRESSION) return NO_SHAPE;
  const shape = shapeOf(tokens, at + 2);
  return shape === QUERY && nameOr(tokens, at + 2) !== 'select' ? COMMAND : shape;
}

/** `DATABASE x TO DISK = '…'`, `LOG x FROM DISK`. */
function isBackup(tokens: SqlTokens, i: number): boolean {
  if (!BACKED_UP.has(nameOr(tokens, i))) return false;
  const word = wordAt(tokens, i + 2);
  if (word !== TO && word !== FROM) return false;
  return kindAt(tokens, i + 4) === OPERATOR || kindAt(tokens, i + 3) === STRING;
}

/** `t FROM '…'`, `t (a) TO PROGRAM`, `(SELECT …) TO '…'`, `t TO /tmp/x;`. */
function isCopy(tokens: SqlTokens, i: number): boolean {
  let at = kindAt(tokens, i) === OPEN ? afterBrackets(tokens, i) : i + 1;
  if (kindAt(tokens, at) === OPEN) at = afterBrackets(tokens, at);
  const word = wordAt(tokens, at);
  if (word !== TO && word !== FROM) return false;
  return (
    kindAt(tokens, at + 1) === STRING ||
    kindAt(tokens, at + 1) === OPERATOR ||
    kindAt(tokens, at + 2) === STRING
  );
}

/** Whether a word of the lexicon is at `i` or later, before a semicolon. */
function isLaterWord(tokens: SqlTokens, i: number, word: number): boolean {
  for (let at = i; at < tokens.size && tokens.kind[at] !== SEMICOLON; at++)
    if (tokens.word[at] === word && kindAt(tokens, at + 1) === BAREWORD) return true;
  return false;
}

/** The marks of an attack from `from` on, at most `ENOUGH`. */
function marksFrom(tokens: SqlTokens, from: number): number {
  let marks = isCutOff(tokens) ? 1 : 0;
  if (tokens.conditional) marks++;
  for (let i = from; i < tokens.size && marks < ENOUGH; i++) marks += marksAt(tokens, i);
  return marks;
}

/** The length of a string in dollar quotes that counts as a mark. */
const LONGEST_DOLLARS = 40;

/** The digits of a hexadecimal number that can be text. */
const TEXT_DIGITS = 8;

/** The marks of the token at `i`. */
function marksAt(tokens: SqlTokens, i: number): number {
  switch (tokens.kind[i]) {
    case VARIABLE:
    case FUNCTION:
    case BAREWORD:
    case KEYWORD:
    case STRING:
      if (isDollarQuoted(tokens, i)) return 1;
      return isSystemObject(tokens, i) || isDelay(tokens, i) ? 2 : 0;
    case SEMICOLON:
      return isStacked(tokens, i + 1) ? marksOfNext(tokens, i + 1) : 0;
    case NUMBER:
      return isHexText(tokens, i) || isConstant(tokens, i) ? 1 : 0;
    case UNION:
      return kindAt(tokens, i + 1) === EXPRESSION ? 1 : 0;
    default:
      return 0;
  }
}

/** Whether a short string in dollar quotes is at `i`: `$$a$$` needs no quote. Longer ones are bodies of functions. */
function isDollarQuoted({ scan, start, end }: SqlTokens, i: number): boolean {
  return end[i]! - start[i]! <= LONGEST_DOLLARS && scan.text.charCodeAt(start[i]!) === 0x24;
}

/** The marks of a second statement at `i`: a query has none, since reports have several. */
function marksOfNext(tokens: SqlTokens, i: number): number {
  const kind = kindAt(tokens, i);
  if (kind !== EXPRESSION && kind !== STATEMENT && kind !== BAREWORD) return 0;
  if (isMigration(tokens, i)) return 0;
  return shapeOf(tokens, i) > QUERY ? 2 : 0;
}

function isHexText({ scan, start, end }: SqlTokens, i: number): boolean {
  return end[i]! - start[i]! >= TEXT_DIGITS + 2 && (scan.text.charCodeAt(start[i]! + 1) | 0x20) === 0x78;
}

/** Whether two numbers are compared at `i`, behind `WHERE`, `AND` or `OR`. */
function isConstant(tokens: SqlTokens, i: number): boolean {
  const before = kindAt(tokens, i - 1);
  if (before !== LOGIC && wordAt(tokens, i - 1) !== WHERE) return false;
  return (
    kindAt(tokens, i + 1) === OPERATOR && kindAt(tokens, i + 2) === NUMBER && kindAt(tokens, i + 3) !== COMMA
  );
}
