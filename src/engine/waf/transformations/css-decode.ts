/** The transformation `cssDecode`: decodes escapes of CSS (CSS 2.1 §4.1.3). */
import { hexValue } from '../../../base/octets/octets.ts';
import { isSpace } from '../octets/latin1.ts';
import { fullWidthOctet } from './backslash.ts';
import { decodeEscapes, dropped, read } from './escapes.ts';

const LINE_FEED = 10;
/** CSS 2.1 §4.1.3: an escape has at most six digits. */
const MOST_DIGITS = 6;

/**
 * Replaces `\` with one to six hexadecimal digits and one optional white space by the lower octet of that code (a
 * full-width form by its ASCII character). Removes `\` with a line feed, and `\` before any other character or at the end.
 * Follows libmodsecurity; Coraza writes codes above 255 as UTF-8.
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
