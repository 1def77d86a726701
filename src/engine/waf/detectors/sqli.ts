/**
 * Detects SQL injection: `detectSqli` for SecLang's `@detectSQLi`. The value is tokenized as it is and as if it were
 * inside a string, with the comment rules of ANSI SQL and of MySQL. Each token sequence is folded to a few tokens, and a
 * grammar decides. Method: N. Galbreath, "libinjection" (Black Hat USA 2012); tokenizer, folding, vocabulary and grammar
 * are our own.
 * Stages: the prefilter in this file, `sqli/tokens.ts`, `sqli/fold.ts`, `sqli/grammar.ts`.
 */
import { KINDS } from '../../../base/octets/octet-kinds.ts';
import { FINGERPRINT, fold, newFolded } from './sqli/fold.ts';
import { isInjection } from './sqli/grammar.ts';
import { readRest } from './sqli/literals.ts';
import type { Reading } from './sqli/reading.ts';
import {
  BAREWORD,
  begin,
  CLOSED,
  COMMENT,
  EMPTY,
  EVIL,
  isDigit,
  isInWord,
  isSpace,
  newScan,
  STRING,
  TICK,
} from './sqli/scan.ts';

// One pass over the characters of a value before it is tokenized: most values have no character that every injection
// needs, and prose rarely has those that a query needs.

/** Results: no injection is possible; one is possible; a query is possible anywhere in the value, too. */
const HARMLESS = 0;
export const SUSPECT = 1;
const QUERY = 2;

/** Classes of octets; plain ones occur in every text. */
const PLAIN = 0;
/** Quotes, brackets, comparisons …: every injection has one of them, unless it has only words and numbers. */
const SIGN = 1;
/** A semicolon or an opening bracket: a query may follow it. */
const OPENS = 2;
/** `-`, `/` and `@`: a single one is a dash, a path or an address. */
const DOUBTFUL = 3;
const DIGIT = 4;
const SPACE = 5;
/** The first letter of `UNION`. */
const LETTER_U = 6;

/** By octet, its class. */
const classes = new Uint8Array(256);
for (let code = 0; code < 256; code++) classes[code] = classOf(code);

function classOf(code: number): number {
  // White space to a database, but rare in typed text.
  if (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return SIGN;
  if (isSpace(code)) return SPACE;
  if (isDigit(code)) return DIGIT;
  const character = String.fromCharCode(code);
  if (character === 'u' || character === 'U') return LETTER_U;
  if (character === ';' || character === '(') return OPENS;
  if (character === '-' || character === '/' || character === '@') return DOUBTFUL;
  return '\'"#=<>|&*`{[\\'.includes(character) ? SIGN : PLAIN;
}

/** The kinds of octets (`base/octets/octet-kinds.ts`) of which every value that passes the prefilter has one. */
export const PREFILTER_KINDS = classes.reduce(
  (kinds, kind, code) => (kind === PLAIN || kind === DIGIT ? kinds : kinds | KINDS[code]!),
  0,
);

/** Classifies a value; a code above U+00FF counts as a letter. */
function prefilter(value: string): number {
  let sign = false;
  let digit = false;
  let space = false;
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    switch (code < 256 ? classes[code] : PLAIN) {
      case PLAIN:
        break;
      case LETTER_U:
        if (isUnion(value, i)) return QUERY;
        break;
      case DIGIT:
        digit = true;
        break;
      case SPACE:
        space = true;
        break;
      case DOUBTFUL:
        sign ||= isSign(value, i, code);
        break;
      case OPENS:
        return QUERY;
      default:
        sign = true;
    }
  }
  return sign || (digit && space) ? SUSPECT : HARMLESS;
}

/** Whether a doubtful character is `--`, `/*`, `@@`, or an `@` without a name before it. */
function isSign(value: string, at: number, code: number): boolean {
  const next = value.charCodeAt(at + 1);
  if (code === 0x2d) return next === 0x2d;
  if (code === 0x2f) return next === 0x2a;
  return next === 0x40 || at === 0 || !isInWord(value.charCodeAt(at - 1));
}

/** Whether `UNION` is at `at`. Its alternatives (`INTERSECT`) need a bracket or a quote, which other cases find. */
function isUnion(value: string, at: number): boolean {
  return (
    (value.charCodeAt(at + 1) | 0x20) === 0x6e &&
    (value.charCodeAt(at + 2) | 0x20) === 0x69 &&
    (value.charCodeAt(at + 3) | 0x20) === 0x6f &&
    (value.charCodeAt(at + 4) | 0x20) === 0x6e
  );
}

// PERF: one reading for all calls. Calls are synchronous, and each resets all of its fields.
const reading: Reading = { scan: newScan(), folded: newFolded(), quoted: false };

/** The quote that is assumed before the value. */
const NO_QUOTE = 0;
const SINGLE = 0x27;
const DOUBLE = 0x22;

/** The length in octets of the shortest injections: a name or a quote, then `#`, which cuts off the statement. */
export const SHORTEST_SQLI = 2;

/**
 * Returns the fingerprint of an injection in `value` (at most 5 letters, as libinjection names kinds of tokens), or `null`
 * if there is none. `value` is Latin-1: one character an octet. Takes linear time; never throws.
 */
export function detectSqli(value: string): string | null {
  const found = prefilter(value);
  if (found === HARMLESS) return null;
  reading.scan.mayQuery = found === QUERY;
  if (isInjected(value, NO_QUOTE)) return fingerprint();
  if (value.includes("'") && isInjected(value, SINGLE)) return fingerprint();
  return value.includes('"') && isInDouble(value) ? fingerprint() : null;
}

/**
 * Tokenizes the value as if it began inside `quote`, and again with MySQL's rules if the first pass found syntax that
 * MySQL reads differently. Returns whether either pass found an injection.
 */
function isInjected(value: string, quote: number): boolean {
  read(value, { quote, mysql: false });
  if (isInjection(reading)) return true;
  if (!reading.scan.dialect) return false;
  read(value, { quote, mysql: true });
  return isInjection(reading);
}

/** Tokenizes with the rules of MySQL only, since other dialects have no strings in double quotes. */
function isInDouble(value: string): boolean {
  read(value, { quote: DOUBLE, mysql: true });
  return isInjection(reading);
}

/** Tokenizes and folds the value; an assumed quote makes its first token the rest of a string. */
function read(value: string, { quote, mysql }: { readonly quote: number; readonly mysql: boolean }): void {
  const { scan, folded } = reading;
  begin(scan, value, mysql);
  reading.quoted = quote !== NO_QUOTE;
  folded.size = 0;
  if (quote !== NO_QUOTE) {
    readRest(scan, quote);
    folded.size = 1;
    folded.kind[0] = STRING;
    folded.word[0] = 0;
    folded.flags[0] = scan.flags;
    folded.start[0] = 0;
    folded.end[0] = scan.at;
    scan.count = 1;
  }
  fold(scan, folded);
  commentBackquote();
}

/** Converts an empty unclosed backquote at the end to a comment, since it ends a statement in MySQL. */
function commentBackquote(): void {
  const { folded } = reading;
  const last = Math.min(folded.size, FINGERPRINT) - 1;
  if (last < 2 || folded.kind[last] !== BAREWORD) return;
  if ((folded.flags[last]! & (TICK | EMPTY | CLOSED)) !== (TICK | EMPTY)) return;
  folded.kind[last] = COMMENT;
  folded.comment = folded.start[last]!;
}

/** The kinds of the first folded tokens; `X` if one of them is `EVIL`. */
function fingerprint(): string {
  const { kind, size } = reading.folded;
  let letters = '';
  for (let i = 0; i < size && i < FINGERPRINT; i++) {
    if (kind[i] === EVIL) return 'X';
    letters += String.fromCharCode(kind[i]!);
  }
  return letters;
}
