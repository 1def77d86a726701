/**
 * One look over the characters of a value, before any of it is read: most values have nothing that an injection could be
 * made of, and prose seldom has what a query needs.
 */
import { KINDS } from '../../../base/octet-kinds.ts';
import { isDigit, isInWord, isSpace } from './characters.ts';

/** What a glance says: nothing to read; worth reading; worth reading for a query anywhere in it, too. */
export const NOTHING = 0;
export const SOMETHING = 1;
export const QUERY = 2;

const PLAIN = 0;
/** Quotes, brackets, comparisons, …: no injection does without one of them, unless it is all words and numbers. */
const SIGN = 1;
/** A semicolon or an opening bracket: a query may stand behind it. */
const OPENS = 2;
/** `-`, `/` and `@`: dashes, paths and addresses have them singly. */
const DOUBTFUL = 3;
const DIGIT = 4;
const SPACE = 5;
const LETTER_U = 6;

const classes = new Uint8Array(256);
for (let code = 0; code < 256; code++) classes[code] = classOf(code);

function classOf(code: number): number {
  // what is space to a database and hardly anyone types
  if (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return SIGN;
  if (isSpace(code)) return SPACE;
  if (isDigit(code)) return DIGIT;
  const character = String.fromCharCode(code);
  if (character === 'u' || character === 'U') return LETTER_U;
  if (character === ';' || character === '(') return OPENS;
  if (character === '-' || character === '/' || character === '@') return DOUBTFUL;
  return '\'"#=<>|&*`{[\\'.includes(character) ? SIGN : PLAIN;
}

/** Kinds of octets (`base/octet-kinds.ts`) of which a value must hold one for a glance to see anything. */
export const GLANCED_KINDS = classes.reduce(
  (kinds, kind, code) => (kind === PLAIN || kind === DIGIT ? kinds : kinds | KINDS[code]!),
  0,
);

/** Looks at `value` once; a code beyond Latin-1 is a letter. */
export function glance(value: string): number {
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
  return sign || (digit && space) ? SOMETHING : NOTHING;
}

/** `--`, `/*`, `@@`, and an `@` that no name stands before. */
function isSign(value: string, at: number, code: number): boolean {
  const next = value.charCodeAt(at + 1);
  if (code === 0x2d) return next === 0x2d;
  if (code === 0x2f) return next === 0x2a;
  return next === 0x40 || at === 0 || !isInWord(value.charCodeAt(at - 1));
}

/** `UNION` and a space or sign after it; the words that may stand for it (`INTERSECT`) come with a bracket or a quote. */
function isUnion(value: string, at: number): boolean {
  return (
    (value.charCodeAt(at + 1) | 0x20) === 0x6e &&
    (value.charCodeAt(at + 2) | 0x20) === 0x69 &&
    (value.charCodeAt(at + 3) | 0x20) === 0x6f &&
    (value.charCodeAt(at + 4) | 0x20) === 0x6e
  );
}
