/** The transformation `jsDecode`: decodes escape sequences of JavaScript strings (ECMA-262, "String Literals"). */
import { hexOctet, hexUnit } from '../octets/latin1.ts';
import { fullWidthOctet, letterEscape, octalDigits, octalValue } from './backslash.ts';
import { decodeEscapes, NONE, read } from './escapes.ts';

const LOWER_U = 0x75;
const LOWER_X = 0x78;

/**
 * Replaces `\uHHHH` by its lower octet (a full-width form by its ASCII character), `\xHH`, `\OOO` up to `\377` and
 * `\a \b \f \n \r \t \v` by their octets; removes a backslash before any other character. A backslash at the end stays.
 */
export function jsDecode(value: string): string {
  return decodeEscapes(value, '\\', readEscape);
}

function readEscape(value: string, at: number): number {
  if (at + 1 >= value.length) return NONE;
  const next = value.charCodeAt(at + 1);
  if (next === LOWER_U) {
    const unit = hexUnit(value, at + 2);
    if (unit >= 0) return read(fullWidthOctet(unit), 6);
  }
  if (next === LOWER_X) {
    const octet = hexOctet(value, at + 2);
    if (octet >= 0) return read(octet, 4);
  }
  const digits = octalDigits(value, at + 1);
  if (digits === 0) return read(letterEscape(next), 2);
  const whole = digits === 3 && next > 0x33 ? 2 : digits;
  return read(octalValue(value, at + 1, whole), 1 + whole);
}
