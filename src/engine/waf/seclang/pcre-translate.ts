/**
 * Translates PCRE syntax to RE2 syntax if both have a feature with different notation (pcre2pattern(3);
 * https://github.com/google/re2/wiki/Syntax). ModSecurity 2 compiles with DOTALL and DOLLAR_ENDONLY, which is RE2 with `s`
 * and without `m`. Features that RE2 lacks are left as they are, and the parser refuses them.
 */

/** A translated pattern. */
export interface TranslatedPattern {
  /** The pattern in RE2 syntax. */
  readonly source: string;
  /** Whether the pattern began with `(?i)`, which is removed. */
  readonly ignoreCase: boolean;
}

/** Classes as ranges of code points. PCRE's `\s` includes the vertical tab since 8.34, RE2's does not. */
const SPACE = '\\x09-\\x0d\\x20';
/** PCRE's `\S`. */
const NOT_SPACE = '\\x00-\\x08\\x0e-\\x1f\\x21-\\x{10ffff}';
/** PCRE's `\h` and `\H`, horizontal white space, within Latin-1. */
const HORIZONTAL = '\\x09\\x20\\xa0';
const NOT_HORIZONTAL = '\\x00-\\x08\\x0a-\\x1f\\x21-\\x9f\\xa1-\\x{10ffff}';
/** PCRE's `\v` and `\V`, vertical white space, within Latin-1. */
const VERTICAL = '\\x0a-\\x0d\\x85';
const NOT_VERTICAL = '\\x00-\\x09\\x0e-\\x84\\x86-\\x{10ffff}';

/** By letter of an escape for a class, the ranges of the class. */
const CLASSES: Readonly<Record<string, string>> = {
  s: SPACE,
  S: NOT_SPACE,
  h: HORIZONTAL,
  H: NOT_HORIZONTAL,
  v: VERTICAL,
  V: NOT_VERTICAL,
};

/** By letter of an escape for one character in PCRE only, its notation in RE2. */
const CHARACTERS: Readonly<Record<string, string>> = { e: '\\x1b' };

/** Letters with a meaning after a backslash; PCRE accepts any other letter as itself. */
const MEANINGFUL = /[abdfnrtwxzABCDEGKNPQRUWXZgklpuoc]/;

/** Translates a pattern. */
export function translatePattern(written: string): TranslatedPattern {
  const flags = /^(?:\(\?[is]+\))+/.exec(written)?.[0] ?? '';
  const rest = written.slice(flags.length);
  let source = '';
  for (let at = 0; at < rest.length; ) {
    const piece = pieceAt(rest, at);
    source += piece.text;
    at = piece.end;
  }
  return { source, ignoreCase: flags.includes('i') };
}

/** A translated piece and the end of its original. */
interface Piece {
  readonly text: string;
  readonly end: number;
}

/** Translates the piece at `at`: an escape, a class, or one character. */
function pieceAt(pattern: string, at: number): Piece {
  const character = pattern[at]!;
  if (character === '\\' && at + 1 < pattern.length) {
    return { text: translateEscape(pattern[at + 1]!, false), end: at + 2 };
  }
  return character === '[' ? translateClass(pattern, at) : { text: character, end: at + 1 };
}

/** Translates a bracketed class; in it, `[` and a leading `]` are ordinary characters. */
export function translateClass(pattern: string, from: number): Piece {
  const opening = /^\[\^?\]?/.exec(pattern.slice(from, from + 3))![0];
  let text = opening.endsWith(']') ? `${opening.slice(0, -1)}\\]` : opening;
  let at = from + opening.length;
  for (; at < pattern.length && pattern[at] !== ']'; at++) {
    const character = pattern[at]!;
    const named = character === '[' ? /^\[:\^?[a-z]+:\]/.exec(pattern.slice(at, at + 16))?.[0] : undefined;
    if (character === '\\' && at + 1 < pattern.length) {
      at++;
      text += translateEscape(pattern[at]!, true);
    } else if (named !== undefined) {
      at += named.length - 1;
      text += named;
    } else {
      text += character === '[' ? '\\[' : character;
    }
  }
  return at < pattern.length ? { text: `${text}]`, end: at + 1 } : { text, end: at };
}

/** Translates the escape of a letter, inside a class or outside. */
function translateEscape(letter: string, inClass: boolean): string {
  const members = CLASSES[letter];
  if (members !== undefined) return inClass ? members : `[${members}]`;
  const character = CHARACTERS[letter];
  if (character !== undefined) return character;
  // In a class, the backspace.
  if (inClass && letter === 'b') return '\\x08';
  if (/[A-Za-z]/.test(letter) && !MEANINGFUL.test(letter)) return letter;
  return `\\${letter}`;
}
