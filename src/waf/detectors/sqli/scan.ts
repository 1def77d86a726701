/** Where the reading of a value stands, and the token read last. One is made at load and used over and over. */
export interface Scan {
  text: string;
  /** Where the next token is looked for. */
  at: number;
  /** `#` begins a comment, and `--` only where a space follows: MySQL's rules rather than ANSI's. */
  mysql: boolean;
  /** A comment or operator was met that the other rules read differently. */
  dialect: boolean;
  /** A query may stand anywhere in the text; otherwise only at its beginning. */
  mayQuery: boolean;
  /** Tokens read, comments among them. */
  count: number;
  /** Names among them: words that SQL does not know. */
  names: number;
  /** A comparison was among them: `=`, `<`, `>` and their kin, `LIKE`, `IS`, `BETWEEN`, …; not a lone `!` or `&`. */
  compares: boolean;
  /** A word or sign like `AND` was among them. */
  joins: boolean;
  /** After such a one, a sign of comparison came. */
  tests: boolean;
  /** After such a one, two numbers were compared: a condition meant to be always true, or always false. */
  constant: boolean;
  /** How much of a constant comparison was read last: 1, a number; 2, a number and a comparison. */
  run: number;
  /** The last token: its kind, its number in the lexicon (0: none), its flags, its place. It ends at `at`. */
  kind: number;
  word: number;
  flags: number;
  start: number;
}

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

/** Makes a scan stand before `text`. */
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

/** Ends the token that starts at `scan.at`; `true`: as all readers say, a token was read. */
export function take(scan: Scan, kind: number, length: number): true {
  scan.kind = kind;
  scan.at += length;
  return true;
}
