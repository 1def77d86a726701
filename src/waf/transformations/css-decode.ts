import { hexValue } from '../../base/octets.ts';
import { isSpace } from '../octets/latin1.ts';
import { fullWidthOctet } from './backslash.ts';
import { decodeEscapes, dropped, read } from './escapes.ts';

const LINE_FEED = 10;
const MOST_DIGITS = 6;

/**
 * CSS escapes (CSS 2.1 §4.1.3): `\` with one to six hexadecimal digits and one white space is the lower octet of that
 * code (full-width forms become ASCII), `\` before a line feed or the end is nothing, before any other character it
 * goes. Coraza writes codes above 255 as UTF-8 instead; this is libmodsecurity's way.
 */
export function cssDecode(value: string): string {
  return decodeEscapes(value, '\\', readEscape);
}

function readEscape(value: string, at: number): number {
  if (at + 1 >= value.length) return dropped(1);
  let end = at + 1;
  let code = 0;
  for (; end <= at + MOST_DIGITS; end++) {
    const digit = hexValue(value.charCodeAt(end));
    if (digit < 0) break;
    code = code * 16 + digit;
  }
  if (end > at + 1) {
    const space = end < value.length && isSpace(value.charCodeAt(end)) ? 1 : 0;
    return read(fullWidthOctet(code), end - at + space);
  }
  const next = value.charCodeAt(at + 1);
  return next === LINE_FEED ? dropped(2) : read(next, 2);
}
