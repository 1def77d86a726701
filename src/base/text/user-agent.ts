/**
 * The named bots a User-Agent declares (semantics §1, fact `bot`). In goes the header's text, out comes the kind that
 * is the first in the API's order among those whose token occurs anywhere in it, in whatever ASCII case. A declared
 * name proves nothing; verification happens outside the evaluator.
 *
 * All tokens are searched at once, by their first characters: Wu and Manber, "A fast algorithm for multi-pattern
 * searching", TR-94-17, University of Arizona, 1994. The last two characters of a window give how far it can move on,
 * mostly by its whole length, so that an ordinary header costs a quarter of a look per character.
 */
import { BOT_KINDS, type BotKind } from '../vocabulary/vocabulary.ts';

/**
 * Kinds without a token: `google-extended` is a robots.txt product token that no crawler sends as its User-Agent (Google,
 * "Google's common crawlers", developers.google.com/search/docs/crawling-indexing/google-common-crawlers), and
 * `generic-bot` is set by the caller.
 */
const TOKENLESS: readonly BotKind[] = ['google-extended', 'generic-bot'];
/** The token of every other kind is its name (`base/vocabulary/vocabulary.ts` cites the operators), in the API's order. */
const TOKENS = BOT_KINDS.filter((kind) => !TOKENLESS.includes(kind));

/** Characters of a window: as many as the shortest token has. */
const WINDOW = Math.min(...TOKENS.map((token) => token.length));

/** 0 for every character no token has, then a number for each that some token has, in either case. */
const LETTERS = buildLetters();
/** Columns of `SHIFTS`: a power of two above the number of letters. */
const ROW_BITS = 5;
/** By the last two letters of a window: how far it may move on; 0 if a token may start at it. */
const SHIFTS = buildShifts();

/**
 * The kind a User-Agent declares, as an index into `BOT_KINDS`, or -1. Of several the first in the API's order.
 * Nothing is allocated.
 */
export function classifyUserAgent(text: string): number {
  let kind = -1;
  const { length } = text;
  for (let end = WINDOW - 1; end < length; ) {
    const shift = SHIFTS[(letterAt(text, end - 1) << ROW_BITS) | letterAt(text, end)]!;
    if (shift > 0) end += shift;
    else {
      const found = tokenAt(text, end - WINDOW + 1);
      if (found >= 0 && (kind < 0 || found < kind)) kind = found;
      end++;
    }
  }
  return kind;
}

/** Case is folded by the table of letters, for ASCII only: the Kelvin sign is not a k. */
function letterAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit < 128 ? LETTERS[unit]! : 0;
}

/** The first kind whose token is at `at`, or -1. */
function tokenAt(text: string, at: number): number {
  for (const token of TOKENS) if (standsAt(text, at, token)) return BOT_KINDS.indexOf(token);
  return -1;
}

function standsAt(text: string, at: number, token: string): boolean {
  if (at + token.length > text.length) return false;
  for (let i = 0; i < token.length; i++) {
    if (letterAt(text, at + i) !== LETTERS[token.charCodeAt(i)]) return false;
  }
  return true;
}

function buildLetters(): Uint8Array {
  const letters = new Uint8Array(128);
  const used = [...new Set(TOKENS.join(''))].sort();
  for (const [i, letter] of used.entries()) {
    letters[letter.charCodeAt(0)] = i + 1;
    letters[letter.toUpperCase().charCodeAt(0)] = i + 1;
  }
  return letters;
}

function buildShifts(): Uint8Array {
  const shifts = new Uint8Array(1 << (2 * ROW_BITS)).fill(WINDOW - 1);
  for (const token of TOKENS) {
    for (let end = 1; end < WINDOW; end++) {
      const pair = (LETTERS[token.charCodeAt(end - 1)]! << ROW_BITS) | LETTERS[token.charCodeAt(end)]!;
      shifts[pair] = Math.min(shifts[pair]!, WINDOW - 1 - end);
    }
  }
  return shifts;
}
