/** Converts text of the request to Latin-1: one character an octet. */
import { utf8Bytes } from '../../../../base/octets/octets.ts';
import { latin1Text } from '../../octets/latin1.ts';

/** Converts Unicode text to the octets of its UTF-8; text in ASCII is returned as it is. */
export function utf8AsLatin1(text: string): string {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) >= 0x80) {
      const octets = utf8Bytes(text);
      return latin1Text(octets, 0, octets.length);
    }
  }
  return text;
}

/** Converts a header. Node's HTTP parser returns Latin-1; a header with characters above U+00FF is Unicode text. */
export function headerAsLatin1(text: string): string {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0xff) return utf8AsLatin1(text);
  return text;
}
