/** Rules for statements: whether a verb begins a query or statement of SQL, or is a word of prose (`select`, `drop`). */
import { kindOf, wordNumber } from './lexicon.ts';
import { endsValue, isLater, kindAt, type Reading } from './reading.ts';
import {
  BAREWORD,
  CLOSE,
  CLOSED,
  COMMA,
  COMMENT,
  EMPTY,
  EXPRESSION,
  FUNCTION,
  isSpace,
  KEYWORD,
  LOGIC,
  NUMBER,
  OPEN,
  OPENED,
  OPERATOR,
  SEMICOLON,
  STATEMENT,
  STRING,
  TYPE,
  UNION,
  VARIABLE,
} from './scan.ts';

/** Verbs and keywords that have rules of their own. */
const CASE = wordNumber('CASE');
const WHEN = wordNumber('WHEN');
const DELETES: ReadonlySet<number> = new Set(
  ['DELETE FROM', 'DELETE IGNORE FROM', 'DELETE LOW_PRIORITY FROM'].map(wordNumber),
);
/** Verbs and keywords of `UPDATE x SET …`. */
const UPDATE = wordNumber('UPDATE');
/** Keywords that may follow the columns of a `SELECT`. */
const SOURCES: ReadonlySet<number> = new Set(
  ['AS', 'FROM', 'HAVING', 'INTO', 'INTO DUMPFILE', 'INTO OUTFILE', 'LIMIT', 'WHERE'].map(wordNumber),
);
const INSERT = wordNumber('INSERT');
const VALUES = wordNumber('VALUES');
const SET = wordNumber('SET');
/** `SELECT` and its phrases. */
const SELECTS: ReadonlySet<number> = new Set(['SELECT', 'SELECT ALL', 'SELECT DISTINCT'].map(wordNumber));
const CURSOR = wordNumber('CURSOR');
const DECLARE = wordNumber('DECLARE');
const GOTO = wordNumber('GOTO');
/** Verbs that run a procedure. */
const CALLS: ReadonlySet<number> = new Set(['EXEC', 'EXECUTE', 'CALL'].map(wordNumber));
const WAITFOR = wordNumber('WAITFOR');
const SHUTDOWN = wordNumber('SHUTDOWN');
/** Phrases that change a database object, whose name follows. */
const OBJECTS: ReadonlySet<number> = new Set(
  [
    'DROP TABLE',
    'DROP DATABASE',
    'DROP VIEW',
    'CREATE TABLE',
    'ALTER TABLE',
    'ALTER DATABASE',
    'TRUNCATE TABLE',
  ].map(wordNumber),
);

/** Whether the `EXPRESSION` at `i` begins a query. */
export function isQuery(reading: Reading, i: number): boolean {
  const { folded } = reading;
  const word = folded.word[i]!;
  if (SELECTS.has(word)) return isSelect(reading, i + 1);
  const next = kindAt(reading, i + 1);
  const third = kindAt(reading, i + 2);
  if (word === CASE) return isCase(reading, i);
  if (next !== BAREWORD) return false;
  if (DELETES.has(word) && third === 0) return i > 0 && (reading.quoted || kindAt(reading, 0) === NUMBER);
  if (word === UPDATE) return folded.word[i + 2] === SET && third === KEYWORD && hasCodeCharacter(reading);
  if (word === INSERT) return folded.word[i + 2] === VALUES || folded.word[i + 2] === SET;
  const follows = third === OPEN || third === KEYWORD || third === EXPRESSION;
  return (follows && hasCodeCharacter(reading)) || (third === COMMENT && endsValue(reading));
}

/** `CASE WHEN 2>1 …`, `CASE x WHEN 1 …`; not "a case of wine when needed". */
function isCase(reading: Reading, i: number): boolean {
  const next = kindAt(reading, i + 1);
  if (next === FUNCTION) return kindAt(reading, i + 2) === OPEN;
  if (!isLaterWord(reading, i, WHEN)) return false;
  if (next === OPEN && kindAt(reading, i + 2) === BAREWORD) return false;
  return next !== BAREWORD || reading.folded.word[i + 2] === WHEN;
}

/** Whether the tokens at `i`, after `SELECT`, are columns. */
function isSelect(reading: Reading, i: number): boolean {
  const next = kindAt(reading, i + 1);
  switch (kindAt(reading, i)) {
    case FUNCTION:
      // `SELECT version()`
      return next === OPEN;
    case VARIABLE:
    case EXPRESSION:
      // `SELECT @@version`, `SELECT CASE …`
      return true;
    case OPEN:
      // `SELECT (1)`
      return next !== BAREWORD || (kindAt(reading, i + 2) === CLOSE && kindAt(reading, i + 3) !== 0);
    case OPERATOR:
      // `SELECT * FROM …`
      return reading.scan.text.charCodeAt(reading.folded.start[i]!) === 0x2a && next !== BAREWORD;
    case STRING:
    case NUMBER:
      // `SELECT 1,2`, `SELECT 1 FROM users`
      if (next === BAREWORD)
        return kindAt(reading, i + 2) === KEYWORD && reading.scan.text.trimStart().startsWith('(');
      if (next === KEYWORD) return isSourced(reading, i + 1);
      if (next === LOGIC) return reading.scan.compares || isLater(reading, i, COMMENT);
      if (next === 0) return reading.scan.text.includes(',');
      return next !== BAREWORD && next !== STRING;
    case BAREWORD:
      // `SELECT name FROM …`
      return isColumn(reading, i + 1);
    case KEYWORD:
      // `SELECT TOP 1 …`
      return next === NUMBER || next === OPEN || next === FUNCTION;
    default:
      return false;
  }
}

/** `FROM members`, `INTO OUTFILE '…'`; not "from the list", nor "for 5". */
function isSourced(reading: Reading, i: number): boolean {
  if (!SOURCES.has(reading.folded.word[i]!)) return false;
  return kindAt(reading, i + 1) !== BAREWORD || kindAt(reading, i + 2) !== BAREWORD;
}

/** Whether the tokens at `i`, after the name of a column, continue a query: a list, a call, a table. */
function isColumn(reading: Reading, i: number): boolean {
  const next = kindAt(reading, i + 1);
  switch (kindAt(reading, i)) {
    case COMMA:
      // `name, version()`
      return next === FUNCTION || next === OPEN || next === OPERATOR;
    case LOGIC:
      // `name AND 1=1`
      return reading.scan.compares;
    case OPERATOR:
    case OPEN:
    case UNION:
      // `name + 1`, `name (…`, `name UNION …`
      return hasCodeCharacter(reading);
    case COMMENT:
      // `name--`
      return endsValue(reading);
    case KEYWORD:
      // `name FROM users`
      return next !== 0 && hasCodeCharacter(reading);
    default:
      return false;
  }
}

/** Whether the value has a character that prose rarely has: a digit, `=`, `*`, `(`, `_`, `@` … */
function hasCodeCharacter({ scan }: Reading): boolean {
  const { text } = scan;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0x80 || isSpace(code) || code === 0x2e || code === 0x27) continue;
    const letter = code | 0x20;
    if (letter < 0x61 || letter > 0x7a) return true;
  }
  return false;
}

/** Whether a word of the lexicon occurs at `from` or later. */
function isLaterWord({ folded }: Reading, from: number, word: number): boolean {
  for (let i = from; i < folded.size; i++) if (folded.word[i] === word) return true;
  return false;
}

/** Whether the `STATEMENT` at `i` begins a statement. */
export function isStatement(reading: Reading, i: number): boolean {
  const { folded, quoted } = reading;
  const word = folded.word[i]!;
  const next = kindAt(reading, i + 1);
  const third = kindAt(reading, i + 2);
  switch (next) {
    case VARIABLE:
      // `DECLARE @x`
      return folded.word[i + 1] === 0;
    case STRING:
      // `EXEC 'x'`
      if (i === 0 && !quoted && !CALLS.has(word)) return false;
      return (folded.flags[i + 1]! & (OPENED | CLOSED | EMPTY)) === (OPENED | CLOSED) && third !== BAREWORD;
    case OPEN:
      // `EXEC ('x')`
      if (quoted || isLater(reading, i, EXPRESSION) || (third === VARIABLE && folded.word[i + 2] === 0))
        return true;
      return i > 0 && third !== BAREWORD;
    case STATEMENT:
      // `BEGIN DROP …`
      return quoted || (i > 0 && third !== BAREWORD);
    case EXPRESSION:
      // `EXPLAIN SELECT …`
      return (quoted || i > 0) && third !== BAREWORD;
    case NUMBER:
      // `KILL 5`
      return i > 0 && (third === 0 || reading.scan.compares);
    case FUNCTION:
      // `CALL sleep(5)`
      return third === OPEN;
    case 0:
    case COMMENT:
    case SEMICOLON:
    case KEYWORD:
      // `SHUTDOWN`
      return word === SHUTDOWN && i > 0;
    case BAREWORD:
      // `DROP TABLE users`, `DECLARE x INT`, `EXEC xp_cmdshell …`
      if (word === DECLARE) return third === TYPE || folded.word[i + 2] === CURSOR;
      if (word === GOTO) return quoted || i > 0;
      if (CALLS.has(word) && kindOf(folded.word[i + 1]!) === FUNCTION) return true;
      if (word === WAITFOR || OBJECTS.has(word)) return third !== BAREWORD;
      if (i === 0 && !quoted && !CALLS.has(word)) return false;
      if (CALLS.has(word) && (third === STRING || third === OPEN)) return true;
      if (third === COMMENT) return endsValue(reading);
      return third === VARIABLE || (third === SEMICOLON && (quoted || kindAt(reading, 0) === NUMBER));
    default:
      return false;
  }
}
