/** What each octet can be in SQL text, over all dialects. */

/** Goes on in a word: letters, digits, `_`, `$`, `.`, the backquote, and every octet above ASCII but MySQL's white A0. */
const IN_WORD = 1;
const SPACE = 2;
const DIGIT = 4;
const LETTER = 8;

const classes = new Uint8Array(256);

for (let code = 0; code < 256; code++) classes[code] = classOf(code);

function classOf(code: number): number {
  // MySQL takes A0 for white space in Latin-1 connections; NUL and the other controls are skipped by several dialects
  if (code <= 0x20 || code === 0x7f || code === 0xa0) return SPACE;
  if (code >= 0x80) return IN_WORD;
  const character = String.fromCharCode(code);
  if (character >= '0' && character <= '9') return IN_WORD | DIGIT;
  const lower = character.toLowerCase();
  if (lower >= 'a' && lower <= 'z') return IN_WORD | LETTER;
  return '_$.`'.includes(character) ? IN_WORD : 0;
}

/** The class bits of a character code; a code beyond Latin-1 goes on in a word. */
function bits(code: number): number {
  return code < 256 ? classes[code]! : IN_WORD;
}

export function isSpace(code: number): boolean {
  return (bits(code) & SPACE) !== 0;
}

export function isInWord(code: number): boolean {
  return (bits(code) & IN_WORD) !== 0;
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

export function isLetter(code: number): boolean {
  return (bits(code) & LETTER) !== 0;
}

export function isHexDigit(code: number): boolean {
  return isDigit(code) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}
