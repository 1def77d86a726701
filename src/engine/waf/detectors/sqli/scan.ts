/**
 * The parts of the tokenizer of SQL: its state (the place in the value, facts about the tokens so far, the last token),
 * the kinds and flags of tokens, and the classes of octets.
 */

export interface Scan {
  /** The value, Latin-1. */
  text: string;
  /** The place after the last token. */
  at: number;
  /** Whether MySQL's comment rules apply: `#` begins a comment, `--` only before white space. Else those of ANSI. */
  mysql: boolean;
  /** Whether a comment or operator occurred that the other rules read differently. */
  dialect: boolean;
  /** Whether a query is possible anywhere in the value, not only at its beginning (`../sqli.ts`). */
  mayQuery: boolean;
  /** The number of tokens, including comments. */
  count: number;
  /** The number of names: words that are not in the vocabulary. */
  names: number;
  /** Whether a comparison occurred: `=`, `<`, `>`, `!=`, `LIKE`, `IS`, `BETWEEN` …; not a single `!` or `&`. */
  compares: boolean;
  /** Whether `AND`, `OR`, `XOR`, `&&` or `||` occurred. */
  joins: boolean;
  /** Whether a comparison by a sign, not a word, occurred after that. */
  tests: boolean;
  /** Whether two numbers were compared after that: a condition that is always true or always false. */
  constant: boolean;
  /** The part of a constant comparison read last: 1, a number; 2, a number and a comparison; 0, none. */
  run: number;
  /** The last token: its kind, its number in the lexicon (0: none), its flags, its start. It ends at `at`. */
  kind: number;
  word: number;
  flags: number;
  start: number;
}

/** Allocates a scan; one is enough, since `begin` resets it. */
export function newScan(): Scan {
  return {
    text: '',
    at: 0,
    mysql: false,
    dialect: false,
    mayQuery: true,
    count: 0,
    names: 0,
    compares: false,
    joins: false,
    tests: false,
    constant: false,
    run: 0,
    kind: 0,
    word: 0,
    flags: 0,
    start: 0,
  };
}

/** Begins to tokenize `text`. `mayQuery` keeps its value. */
export function begin(scan: Scan, text: string, mysql: boolean): void {
  scan.text = text;
  scan.at = 0;
  scan.mysql = mysql;
  scan.dialect = false;
  scan.count = 0;
  scan.names = 0;
  scan.compares = false;
  scan.joins = false;
  scan.tests = false;
  scan.constant = false;
  scan.run = 0;
}

/** Completes a token of `length` characters at `scan.at`; returns `true`, as every reader that has read a token. */
export function take(scan: Scan, kind: number, length: number): true {
  scan.kind = kind;
  scan.at += length;
  return true;
}

// The kinds and flags of tokens. A kind is the character code of its letter in a fingerprint (N. Galbreath,
// "libinjection", Black Hat USA 2012), so that kinds fit typed arrays.

/** k: a keyword of a clause (`FROM`, `WHERE`, `LIMIT`). */
export const KEYWORD = 0x6b;
/** U: a set operation (`UNION`, `INTERSECT`, `EXCEPT`, `MINUS`). */
export const UNION = 0x55;
/** B: `GROUP BY` and `ORDER BY`. */
export const GROUPING = 0x42;
/** E: the verb of a statement or expression that queries or changes rows (`SELECT`, `UPDATE`, `CASE`). */
export const EXPRESSION = 0x45;
/** T: the verb of any other statement (`DROP`, `EXEC`, `WAITFOR`). */
export const STATEMENT = 0x54;
/** t: a type or a character set (`VARCHAR`, `_UTF8`). */
export const TYPE = 0x74;
/** f: the name of a built-in function. */
export const FUNCTION = 0x66;
/** n: a name: a word outside the vocabulary, or a keyword that is also a frequent name. */
export const BAREWORD = 0x6e;
/** 1: a number, `TRUE`, `FALSE`. */
export const NUMBER = 0x31;
/** v: a variable (`@x`, `@@version`), `NULL`, or a value without brackets (`CURRENT_USER`). */
export const VARIABLE = 0x76;
/** s: a string. */
export const STRING = 0x73;
/** o: an operator by sign or word (`=`, `LIKE`, `NOT`). */
export const OPERATOR = 0x6f;
/** &: a logical connective (`AND`, `OR`, `&&`). */
export const LOGIC = 0x26;
/** A: `COLLATE`. */
export const COLLATE = 0x41;
/** c: a comment. */
export const COMMENT = 0x63;
/** `(` */
export const OPEN = 0x28;
/** `)` */
export const CLOSE = 0x29;
/** {: of an ODBC escape (`{d '2020-01-01'}`), which MySQL accepts. */
export const OPEN_BRACE = 0x7b;
/** `}` */
export const CLOSE_BRACE = 0x7d;
/** . outside a name or number. */
export const DOT = 0x2e;
/** `,` */
export const COMMA = 0x2c;
/** `:` */
export const COLON = 0x3a;
/** `;` */
export const SEMICOLON = 0x3b;
/** \: T-SQL accepts it as a number without digits. */
export const BACKSLASH = 0x5c;
/** ?: any other character. */
export const OTHER = 0x3f;
/** A conditional comment of MySQL or a nested comment: ordinary text has none, and dialects disagree on it. */
export const EVIL = 0x58; // X

/** Flag: an operator that can be a sign. */
export const UNARY = 1;
/** Flag: an operator of arithmetic. */
export const ARITHMETIC = 2;
/** Flag: a quoted token whose opening quote is in the value, not assumed before it. */
export const OPENED = 4;
/** Flag: a quoted token whose closing quote is in the value. */
export const CLOSED = 8;
/** Flag: a token in backquotes. */
export const TICK = 16;
/** Flag: the quotes are empty. */
export const EMPTY = 32;
/** Flag: there is no white space before the token. */
export const ADJACENT = 64;

// Classes of octets in SQL text, for all dialects together.

/** Part of a word: letters, digits, `_`, `$`, `.`, the backquote, and every octet above ASCII except A0. */
const IN_WORD = 1;
const SPACE = 2;
const DIGIT = 4;
const LETTER = 8;

/** By octet, its classes, a bit each. */
const classes = new Uint8Array(256);

for (let code = 0; code < 256; code++) classes[code] = classOf(code);

function classOf(code: number): number {
  // A0 is white space to MySQL in Latin-1 connections; several dialects skip NUL and the other control characters.
  if (code <= 0x20 || code === 0x7f || code === 0xa0) return SPACE;
  if (code >= 0x80) return IN_WORD;
  const character = String.fromCharCode(code);
  if (character >= '0' && character <= '9') return IN_WORD | DIGIT;
  const lower = character.toLowerCase();
  if (lower >= 'a' && lower <= 'z') return IN_WORD | LETTER;
  return '_$.`'.includes(character) ? IN_WORD : 0;
}

/** The classes of a character code, a bit each; a code above U+00FF is part of a word. */
function bits(code: number): number {
  return code < 256 ? classes[code]! : IN_WORD;
}

/** White space or a control character. */
export function isSpace(code: number): boolean {
  return (bits(code) & SPACE) !== 0;
}

/** Whether a word continues with this character. */
export function isInWord(code: number): boolean {
  return (bits(code) & IN_WORD) !== 0;
}

/** `0` to `9`. */
export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** An ASCII letter. */
export function isLetter(code: number): boolean {
  return (bits(code) & LETTER) !== 0;
}

/** A hexadecimal digit in either case. */
export function isHexDigit(code: number): boolean {
  return isDigit(code) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}
