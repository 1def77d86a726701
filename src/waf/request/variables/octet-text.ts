/** Request text as Latin-1: one character an octet. */
import { utf8Bytes } from '../../../base/octets.ts';
import { latin1Text } from '../../octets/latin1.ts';

/** A text whose characters above 0x7F stand for their octets in UTF-8. */
export function utf8AsLatin1(text: string): string {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) >= 0x80) {
      const octets = utf8Bytes(text);
      return latin1Text(octets, 0, octets.length);
    }
  }
  return text;
}

/** A header as the platform gives it: octets already, as HTTP parsers of Node hand them out; or else Unicode text. */
export function headerAsLatin1(text: string): string {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0xff) return utf8AsLatin1(text);
  return text;
}
