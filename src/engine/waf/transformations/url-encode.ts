/** The transformation `urlEncode`. */
import { isAlphanumeric } from '../octets/latin1.ts';
import { hexPair } from './hex-encode.ts';

/** Replaces a space by `+` and every other octet but letters, digits and `*` by `%xx` in lower case. */
export function urlEncode(value: string): string {
  let out = '';
  let from = 0;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code === 42 || isAlphanumeric(code)) continue;
    out += value.slice(from, at) + (code === 32 ? '+' : `%${hexPair(code)}`);
    from = at + 1;
  }
  return from === 0 ? value : out + value.slice(from);
}
