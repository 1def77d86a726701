/** Classes of octets in SQL text, for all dialects together. */

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
