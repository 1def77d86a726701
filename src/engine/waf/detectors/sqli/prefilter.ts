/**
 * One pass over the characters of a value before it is tokenized: most values have no character that every injection
 * needs, and prose rarely has those that a query needs.
 */
import { KINDS } from '../../../../base/octets/octet-kinds.ts';
import { isDigit, isInWord, isSpace } from './characters.ts';

/** Results: no injection is possible; one is possible; a query is possible anywhere in the value, too. */
export const HARMLESS = 0;
export const SUSPECT = 1;
export const QUERY = 2;

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
export function prefilter(value: string): number {
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
