/**
 * Says whether a value is an SQL injection: `detectSqli` for SecLang's `@detectSQLi`. The value is read as it stands and
 * as though it stood inside a string, to ANSI's and MySQL's rules of comments; each reading is folded to a handful of
 * tokens, and their shape decides. Method: N. Galbreath, "libinjection" (Black Hat USA 2012); tokenizer, folding,
 * vocabulary and grammar are our own.
 */
import { FINGERPRINT, fold, newFolded } from './sqli/fold.ts';
import { glance, NOTHING, QUERY } from './sqli/glance.ts';
import { BAREWORD, CLOSED, COMMENT, EMPTY, EVIL, STRING, TICK } from './sqli/kinds.ts';
import { readRest } from './sqli/quoted.ts';
import type { Reading } from './sqli/reading.ts';
import { begin, newScan } from './sqli/scan.ts';
import { isInjection } from './sqli/verdict.ts';

// PERF: one reading for all calls; a call is synchronous and leaves nothing in it that the next one sees
const reading: Reading = { scan: newScan(), folded: newFolded(), quoted: false };

const NO_QUOTE = 0;
const SINGLE = 0x27;
const DOUBLE = 0x22;

/** Octets of the shortest injections: a name or a quote, and the `#` that ends what stood behind. */
export const SHORTEST_SQLI = 2;

/**
 * The fingerprint of the injection found in `value` (at most 5 letters, as libinjection names them), or `null`. `value` is
 * Latin-1: a character is an octet. Linear in the value's length; never throws.
 */
export function detectSqli(value: string): string | null {
  const seen = glance(value);
  if (seen === NOTHING) return null;
  reading.scan.mayQuery = seen === QUERY;
  if (isInjected(value, NO_QUOTE)) return fingerprint();
  if (value.includes("'") && isInjected(value, SINGLE)) return fingerprint();
  return value.includes('"') && isInDouble(value) ? fingerprint() : null;
}

/** Reads the value behind a supposed quote, to both rules of comments where they differ. */
function isInjected(value: string, quote: number): boolean {
  read(value, { quote, mysql: false });
  if (isInjection(reading)) return true;
  if (!reading.scan.dialect) return false;
  read(value, { quote, mysql: true });
  return isInjection(reading);
}

/** Only MySQL's strings have double quotes. */
function isInDouble(value: string): boolean {
  read(value, { quote: DOUBLE, mysql: true });
  return isInjection(reading);
}

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

/** An empty backquote that is never closed ends MySQL's statement like a comment. */
function commentBackquote(): void {
  const { folded } = reading;
  const last = Math.min(folded.size, FINGERPRINT) - 1;
  if (last < 2 || folded.kind[last] !== BAREWORD) return;
  if ((folded.flags[last]! & (TICK | EMPTY | CLOSED)) !== (TICK | EMPTY)) return;
  folded.kind[last] = COMMENT;
  folded.comment = folded.start[last]!;
}

function fingerprint(): string {
  const { kind, size } = reading.folded;
  let letters = '';
  for (let i = 0; i < size && i < FINGERPRINT; i++) {
    if (kind[i] === EVIL) return 'X';
    letters += String.fromCharCode(kind[i]!);
  }
  return letters;
}
