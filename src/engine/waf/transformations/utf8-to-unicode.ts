/** The transformation `utf8toUnicode`: rewrites UTF-8 as the `%uHHHH` of IIS, which `urlDecodeUni` decodes. */
import { codePointOf, hasTail, isForbidden, tailOf } from '../octets/utf8.ts';

/**
 * Replaces each UTF-8 sequence above ASCII by `%uHHHH` (four digits, more above U+FFFF). As in ModSecurity: removes a NUL
 * that is not the last octet, and a leading octet of an incomplete sequence; copies single continuation octets; repeats
 * the first octet of an overlong sequence or of a surrogate after its `%uHHHH`.
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

/** The `%uHHHH` of the sequence at `at`, and its first octet again if it is forbidden. */
function spelled(value: string, at: number, tail: number): string {
  const code = codePointOf(value, at, tail);
  const text = `%u${code.toString(16).padStart(4, '0')}`;
  return isForbidden(code, tail) ? text + value.charAt(at) : text;
}
