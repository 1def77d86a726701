/**
 * The tokenizer of SQL: accepts the text of any dialect, cut off anywhere. No text is an error; an unknown character is a
 * token of kind `OTHER`. Each token begins after the one before, and characters read ahead become part of a token, so that
 * tokenizing takes linear time.
 */
import { find, hashed, kindOf, lookUp, wordNumber } from './lexicon.ts';
import { readDollar, readNumber, readPrefixed, readQuoted } from './literals.ts';
import {
  ADJACENT,
  ARITHMETIC,
  BACKSLASH,
  BAREWORD,
  CLOSE,
  CLOSE_BRACE,
  COLON,
  COMMA,
  COMMENT,
  EVIL,
  FUNCTION,
  isDigit,
  isInWord,
  isLetter,
  isSpace,
  KEYWORD,
  LOGIC,
  NUMBER,
  OPEN,
  OPEN_BRACE,
  OPERATOR,
  OTHER,
  type Scan,
  SEMICOLON,
  STATEMENT,
  TYPE,
  take,
  UNARY,
  VARIABLE,
} from './scan.ts';

const FROM = wordNumber('FROM');
const NOT = wordNumber('NOT');
/** The words that compare. */
const COMPARISONS: ReadonlySet<number> = new Set(
  ['BETWEEN', 'GLOB', 'ILIKE', 'IS', 'ISNULL', 'LIKE', 'NOTNULL', 'REGEXP', 'RLIKE', 'SIMILAR', 'SOUNDS'].map(
    wordNumber,
  ),
);

/** Reads the next token into `scan`; `false`: the value has ended. */
export function nextToken(scan: Scan): boolean {
  const { text } = scan;
  const before = scan.at;
  let at = before;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  if (at === text.length) {
    scan.at = at;
    return false;
  }
  scan.at = at;
  scan.word = 0;
  scan.flags = 0;
  scan.start = at;
  read(scan, text.charCodeAt(at));
  if (at === before) scan.flags |= ADJACENT;
  scan.count++;
  recordToken(scan);
  return true;
}

/** Updates the counts and flags of the whole value for the last token. */
function recordToken(scan: Scan): void {
  const { run } = scan;
  if (scan.kind === OPEN || scan.kind === CLOSE || (run === 2 && (scan.flags & UNARY) !== 0)) return;
  scan.run = 0;
  if (scan.kind === BAREWORD) scan.names++;
  if (scan.kind === LOGIC) scan.joins = true;
  if (scan.kind === NUMBER) {
    if (run === 2 && scan.joins) scan.constant = true;
    scan.run = 1;
  }
  if (scan.kind !== OPERATOR || !isComparison(scan)) return;
  scan.compares = true;
  if (scan.joins && scan.word === 0) scan.tests = true;
  if (run === 1) scan.run = 2;
}

/** Whether the last token is `=`, `<`, `>`, `!=`, `^=` or a word that compares. */
function isComparison({ text, start, at, word }: Scan): boolean {
  if (word !== 0) return COMPARISONS.has(word);
  const first = text.charCodeAt(start);
  return (first >= 0x3c && first <= 0x3e) || (at - start > 1 && text.charCodeAt(at - 1) === 0x3d);
}

/** Reads the token that begins with the character `code` at `scan.at`. */
function read(scan: Scan, code: number): true {
  if (isLetter(code)) return readPrefixed(scan, code) || readWord(scan);
  if (isDigit(code)) return readNumber(scan);
  switch (code) {
    case 0x27: // '
    case 0x22: // "
    case 0x60: // `
      return readQuoted(scan, code);
    case 0x2d: // -
      return readDash(scan);
    case 0x2f: // /
      return readSlash(scan);
    case 0x23: // #
      return readHash(scan);
    case 0x2e: // .
      return readNumber(scan);
    case 0x24: // $
      return readDollar(scan);
    case 0x40: // @, or the operator @>
      return scan.text.charCodeAt(scan.at + 1) === 0x3e ? readOperator(scan, code) : readVariable(scan);
    case 0x5b: // [
      return readBracket(scan);
    case 0x5c: // \
      return readBackslash(scan);
    case 0x28:
      return take(scan, OPEN, 1);
    case 0x29:
      return take(scan, CLOSE, 1);
    case 0x2c:
      return take(scan, COMMA, 1);
    case 0x3b:
      return take(scan, SEMICOLON, 1);
    case 0x7b:
      return take(scan, OPEN_BRACE, 1);
    case 0x7d:
      return take(scan, CLOSE_BRACE, 1);
    default:
      return isInWord(code) ? readWord(scan) : readOperator(scan, code);
  }
}

/** Reads a word; a dot or a backquote ends it if the text before is a keyword: `SELECT.1`, `CURRENT_USER``x`. */
function readWord(scan: Scan): true {
  const { text, at } = scan;
  let end = at;
  let hash = 0;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (!isInWord(code)) break;
    if ((code === 0x2e || code === 0x60) && end > at && endsWord(scan, end)) break;
    hash = hashed(hash, code);
  }
  const word = find(text, at, end, hash);
  take(scan, kindOf(word), end - at);
  scan.word = word;
  if (word === NOT) scan.flags = UNARY;
  return true;
}

/**
 * Whether the word ends at the dot or backquote at `end`. A name, a function or a type before a dot is part of a longer
 * name (`date.now`), and so is a keyword before letters (`table.id`); but MySQL accepts `FROM.users` and `SELECT.id`.
 */
function endsWord({ text, at }: Scan, end: number): boolean {
  const word = lookUp(text, at, end);
  const kind = kindOf(word);
  if (kind === BAREWORD) return false;
  if (text.charCodeAt(end) === 0x60) return true;
  if (kind === FUNCTION || kind === TYPE) return false;
  return word === FROM || (kind !== KEYWORD && kind !== STATEMENT) || isDigit(text.charCodeAt(end + 1));
}

/** Reads a minus sign, or a comment `--`, for which MySQL requires white space after it. */
function readDash(scan: Scan): true {
  const { text, at } = scan;
  if (text.charCodeAt(at + 1) !== 0x2d) return takeOperator(scan, 1, UNARY | ARITHMETIC);
  const bare = at + 2 === text.length || isSpace(text.charCodeAt(at + 2));
  if (bare) return readLineComment(scan);
  scan.dialect = true;
  if (scan.mysql) return takeOperator(scan, 1, UNARY | ARITHMETIC);
  return readLineComment(scan);
}

/** Reads `#`: a comment in MySQL, an operator in other dialects. */
function readHash(scan: Scan): true {
  scan.dialect = true;
  if (!scan.mysql) return takeOperator(scan, 1, 0);
  return readLineComment(scan);
}

/** Reads a comment up to the end of the line. */
function readLineComment(scan: Scan): true {
  const { text, at } = scan;
  const end = text.indexOf('\n', at);
  return take(scan, COMMENT, (end < 0 ? text.length : end + 1) - at);
}

/** Reads a division sign or a comment; a nested comment or MySQL's conditional comment (`/*!`) is `EVIL`. */
function readSlash(scan: Scan): true {
  const { text, at } = scan;
  if (text.charCodeAt(at + 1) !== 0x2a) return takeOperator(scan, 1, ARITHMETIC);
  const close = text.indexOf('*/', at + 2);
  const end = close < 0 ? text.length : close + 2;
  const nested = close >= 0 && text.slice(at + 2, end - 1).includes('/*');
  const conditional = text.charCodeAt(at + 2) === 0x21;
  return take(scan, nested || conditional ? EVIL : COMMENT, end - at);
}

/** Reads a variable: `@name`, `@@name`, `@'name'`, `` @`name` ``. */
function readVariable(scan: Scan): true {
  const { text, at } = scan;
  let end = at + 1;
  if (text.charCodeAt(end) === 0x40) end++;
  const code = text.charCodeAt(end);
  if (code === 0x27 || code === 0x22 || code === 0x60) {
    scan.at = end;
    readQuoted(scan, code);
    scan.kind = VARIABLE;
    return true;
  }
  while (end < text.length && isInWord(text.charCodeAt(end)) && text.charCodeAt(end) !== 0x60) end++;
  return take(scan, VARIABLE, end - at);
}

/** Reads a quoted name of T-SQL: `[name]`. */
function readBracket(scan: Scan): true {
  const { text, at } = scan;
  const end = text.indexOf(']', at);
  return take(scan, BAREWORD, (end < 0 ? text.length : end + 1) - at);
}

/** Reads MySQL's `\N` (null), or another backslash, which T-SQL accepts as a number without digits. */
function readBackslash(scan: Scan): true {
  const isNull = scan.text.charCodeAt(scan.at + 1) === 0x4e;
  return take(scan, isNull ? NUMBER : BACKSLASH, isNull ? 2 : 1);
}

/** Operators of two characters, as numbers; `<=>` is the only one of three. */
const TWO = new Set(
  [
    '!!',
    '!<',
    '!=',
    '!>',
    '%=',
    '&=',
    '*=',
    '+=',
    '-=',
    '->',
    '/=',
    '::',
    ':=',
    '<<',
    '<=',
    '<>',
    '<@',
    '==',
    '>=',
    '>>',
    '@>',
    '^=',
    '|=',
    '|/',
    '~*',
  ].map((pair) => pair.charCodeAt(0) * 256 + pair.charCodeAt(1)),
);

/** Reads an operator, a colon or an unknown character. */
function readOperator(scan: Scan, code: number): true {
  const { text, at } = scan;
  const next = at + 1 < text.length ? text.charCodeAt(at + 1) : 0;
  if (next === code && (code === 0x26 || code === 0x7c)) return take(scan, LOGIC, 2);
  if (code === 0x3c && next === 0x3d && text.charCodeAt(at + 2) === 0x3e) return takeOperator(scan, 3, 0);
  if (next < 256 && TWO.has(code * 256 + next))
    return takeOperator(scan, 2, code === 0x21 && next === 0x21 ? UNARY : 0);
  switch (code) {
    case 0x2b: // +
      return takeOperator(scan, 1, UNARY | ARITHMETIC);
    case 0x21: // !
    case 0x7e: // ~
      return takeOperator(scan, 1, UNARY);
    case 0x25: // %
    case 0x2a: // *
      return takeOperator(scan, 1, ARITHMETIC);
    case 0x26:
    case 0x3c:
    case 0x3d:
    case 0x3e:
    case 0x5e:
    case 0x7c:
      return takeOperator(scan, 1, 0);
    case 0x3a:
      return take(scan, COLON, 1);
    default:
      return take(scan, OTHER, 1);
  }
}

/** Completes an operator of `length` characters. */
function takeOperator(scan: Scan, length: number, flags: number): true {
  take(scan, OPERATOR, length);
  scan.flags = flags;
  return true;
}
