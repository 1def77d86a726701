/**
 * Detects SQL injection: `detectSqli` for SecLang's `@detectSQLi`. The value is tokenized as it is and as if it were inside
 * a string, with the comment rules of ANSI SQL and of MySQL. Each token sequence is folded to a few tokens, and a grammar
 * decides. Method: N. Galbreath, "libinjection" (Black Hat USA 2012); tokenizer, folding, vocabulary and grammar are our
 * own. Stages: `sqli/prefilter.ts`, `sqli/tokens.ts`, `sqli/fold.ts`, `sqli/grammar.ts`.
 */
import { FINGERPRINT, fold, newFolded } from './sqli/fold.ts';
import { isInjection } from './sqli/grammar.ts';
import { BAREWORD, CLOSED, COMMENT, EMPTY, EVIL, STRING, TICK } from './sqli/kinds.ts';
import { HARMLESS, prefilter, QUERY } from './sqli/prefilter.ts';
import { readRest } from './sqli/quoted.ts';
import type { Reading } from './sqli/reading.ts';
import { begin, newScan } from './sqli/scan.ts';

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
