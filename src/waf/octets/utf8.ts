/** UTF-8 in Latin-1 text: one character is one octet. */
import { utf8Bytes } from '../../base/octets.ts';
import { latin1Text } from './latin1.ts';

/** Octets that follow a leading one by its bits; 0 for an octet that leads nothing. */
export function tailOf(octet: number): number {
  if (octet < 0xc0 || octet >= 0xf8) return 0;
  return octet < 0xe0 ? 1 : octet < 0xf0 ? 2 : 3;
}

/** Whether the `tail` octets after `at` are continuations. */
export function hasTail(value: string, at: number, tail: number): boolean {
  for (let index = at + 1; index <= at + tail; index++) {
    if ((value.charCodeAt(index) & 0xc0) !== 0x80) return false;
  }
  return true;
}

/** The code point of the leading octet at `at` and its `tail`. */
export function codePointOf(value: string, at: number, tail: number): number {
  let code = value.charCodeAt(at) & (0x3f >> tail);
  for (let index = at + 1; index <= at + tail; index++) code = (code << 6) | (value.charCodeAt(index) & 0x3f);
  return code;
}

/** The smallest code point that needs so many octets after the first. */
const LEAST = [0, 0x80, 0x800, 0x10000] as const;

/** Whether a code point is a surrogate or was written longer than need be (RFC 3629 §3). */
export function isForbidden(code: number, tail: number): boolean {
  return code < LEAST[tail]! || (code >= 0xd800 && code <= 0xdfff);
}

/** Unicode text as the octets of its UTF-8; a lone surrogate becomes U+FFFD. */
export function utf8Text(unicode: string): string {
  const octets = utf8Bytes(unicode);
  return latin1Text(octets, 0, octets.length);
}
