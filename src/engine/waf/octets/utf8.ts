/** UTF-8 (RFC 3629) in Latin-1 text: a sequence is as many characters as it has octets. */
import { utf8Bytes } from '../../../base/octets/octets.ts';
import { latin1Text } from './latin1.ts';

/** The number of continuation octets that a leading octet announces, 1 to 3; 0: it is no leading octet. */
export function tailOf(octet: number): number {
  if (octet < 0xc0 || octet >= 0xf8) return 0;
  return octet < 0xe0 ? 1 : octet < 0xf0 ? 2 : 3;
}

/** Whether the `tail` octets after `at` are continuation octets (`10xxxxxx`). */
export function hasTail(value: string, at: number, tail: number): boolean {
  for (let index = at + 1; index <= at + tail; index++) {
    if ((value.charCodeAt(index) & 0xc0) !== 0x80) return false;
  }
  return true;
}

/** The code point of the leading octet at `at` and its `tail` continuation octets, which the caller has checked. */
export function codePointOf(value: string, at: number, tail: number): number {
  let code = value.charCodeAt(at) & (0x3f >> tail);
  for (let index = at + 1; index <= at + tail; index++) code = (code << 6) | (value.charCodeAt(index) & 0x3f);
  return code;
}

/** By number of continuation octets, the smallest code point that needs them. */
const LEAST = [0, 0x80, 0x800, 0x10000] as const;

/** Whether a code point is a surrogate, or its sequence is longer than necessary (RFC 3629 §3). */
export function isForbidden(code: number, tail: number): boolean {
  return code < LEAST[tail]! || (code >= 0xd800 && code <= 0xdfff);
}

/** Converts Unicode text to the octets of its UTF-8; a lone surrogate becomes U+FFFD. */
export function utf8Text(unicode: string): string {
  const octets = utf8Bytes(unicode);
  return latin1Text(octets, 0, octets.length);
}
