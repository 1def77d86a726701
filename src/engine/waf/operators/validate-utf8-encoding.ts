/** The operator `@validateUtf8Encoding`: the value is not well-formed UTF-8 (RFC 3629). JSON bodies use it as well. */
import { codePointOf, hasTail, isForbidden, tailOf } from '../octets/utf8.ts';

const LAST_CODE_POINT = 0x10ffff;

/** Whether a sequence of the value is incomplete, longer than necessary, a surrogate or above U+10FFFF (RFC 3629 §3, §4). */
export function validateUtf8Encoding(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const octet = value.charCodeAt(at);
    if (octet < 0x80) continue;
    const tail = tailOf(octet);
    if (tail === 0 || !hasTail(value, at, tail)) return true;
    const code = codePointOf(value, at, tail);
    if (isForbidden(code, tail) || code > LAST_CODE_POINT) return true;
    at += tail;
  }
  return false;
}
