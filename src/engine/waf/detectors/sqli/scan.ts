/** The state of the tokenizer: its place in the value, facts about the tokens so far, and the last token. */
export interface Scan {
  /** The value, Latin-1. */
  text: string;
  /** The place after the last token. */
  at: number;
  /** Whether MySQL's comment rules apply: `#` begins a comment, `--` only before white space. Else those of ANSI. */
  mysql: boolean;
  /** Whether a comment or operator occurred that the other rules read differently. */
  dialect: boolean;
  /** Whether a query is possible anywhere in the value, not only at its beginning (`prefilter.ts`). */
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
