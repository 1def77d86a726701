/** Parts of backslash escapes that C, JavaScript and CSS have in common. */
import { isOctalDigit } from '../octets/latin1.ts';

/** By letter, the control character of `\a \b \f \n \r \t \v`. */
const CONTROLS = new Map(
  Object.entries({ a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 }).map(([letter, octet]) => [
    letter.charCodeAt(0),
    octet,
  ]),
);

/** The octet that a backslash and this character denote: a control character, else the character itself. */
export function letterEscape(code: number): number {
  return CONTROLS.get(code) ?? code;
}

/** The number of octal digits at `at`, at most three. */
export function octalDigits(value: string, at: number): number {
  let count = 0;
  while (count < 3 && isOctalDigit(value.charCodeAt(at + count))) count++;
  return count;
}

/** The value of so many octal digits at `at`: up to 511, of which callers take the lower octet. */
export function octalValue(value: string, at: number, digits: number): number {
  let octal = 0;
  for (let index = at; index < at + digits; index++) octal = octal * 8 + value.charCodeAt(index) - 48;
  return octal;
}

/** The lower octet of a code; for a full-width form (U+FF01 to U+FF5E) the ASCII character, as in ModSecurity. */
export function fullWidthOctet(unit: number): number {
  const octet = unit & 255;
  return unit >> 8 === 255 && octet > 0 && octet < 0x5f ? octet + 32 : octet;
}
