import { codePointOf, hasTail, isForbidden, tailOf } from '../octets/utf8.ts';

/**
 * Each UTF-8 sequence above ASCII becomes `%uHHHH` (four digits, more above U+FFFF), for `urlDecodeUni` to read. As in
 * ModSecurity a NUL before the end goes, and so does a leading octet whose sequence is not whole; continuation octets
 * that stand alone stay. A sequence longer than need be, or of a surrogate, is followed by its first octet.
 */
export function utf8toUnicode(value: string): string {
  let out = '';
  let from = 0;
  for (let at = 0; at < value.length; ) {
    const code = value.charCodeAt(at);
    const tail = tailOf(code);
    const drops = code === 0 && at + 1 < value.length;
    if (tail === 0 && !drops) {
      at++;
      continue;
    }
    out += value.slice(from, at);
    if (code >= 0xf5) out += value.charAt(at);
    const whole = tail > 0 && hasTail(value, at, tail);
    if (whole) out += spelled(value, at, tail);
    at += whole ? tail + 1 : 1;
    from = at;
  }
  return from === 0 ? value : out + value.slice(from);
}

function spelled(value: string, at: number, tail: number): string {
  const code = codePointOf(value, at, tail);
  const text = `%u${code.toString(16).padStart(4, '0')}`;
  return isForbidden(code, tail) ? text + value.charAt(at) : text;
}
