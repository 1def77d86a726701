/** The transformation `escapeSeqDecode`: decodes escape sequences of ANSI C. */
import { hexOctet } from '../octets/latin1.ts';
import { letterEscape, octalDigits, octalValue } from './backslash.ts';
import { decodeEscapes, NONE, read } from './escapes.ts';

const LOWER_X = 0x78;

/**
 * Replaces `\a \b \f \n \r \t \v`, `\xHH` and `\OOO` (one to three digits, the lower octet) by their octets; removes a
 * backslash before any other character. A backslash at the end stays.
 */
export function escapeSeqDecode(value: string): string {
  return decodeEscapes(value, '\\', readEscape);
}

function readEscape(value: string, at: number): number {
  if (at + 1 >= value.length) return NONE;
  const next = value.charCodeAt(at + 1);
  if ((next | 32) === LOWER_X) {
    const octet = hexOctet(value, at + 2);
    if (octet >= 0) return read(octet, 4);
  }
  const digits = octalDigits(value, at + 1);
  return digits === 0 ? read(letterEscape(next), 2) : read(octalValue(value, at + 1, digits), 1 + digits);
}
