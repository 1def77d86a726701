/**
 * The text of a token as a compact JWS (RFC 7515 §7.1), read strictly: what two parsers could read differently is no token. In: a
 * text. Out: its header and claims, not verified; `null`: it is malformed. Linear in the text, never throws.
 */
import { base64url } from 'jose';
import { readJson } from '../../base/http/json-body.ts';
import { isObject } from '../../base/text/json-object.ts';

/** A JSON object whose own members alone are its properties. */
export type JsonMembers = Readonly<Record<string, unknown>>;

/** A token that is not verified. */
export interface TokenText {
  readonly text: string;
  readonly header: JsonMembers;
  readonly claims: JsonMembers;
}

/** Reads a token; `null`: it is malformed. One of five parts is encrypted (RFC 7516), and none that a gateway takes. */
export function readTokenText(text: string): TokenText | null {
  const parts = text.split('.', 4);
  const [head, payload, signature] = parts;
  if (parts.length !== 3 || head === '' || payload === '' || signature === '') return null;
  if (!isBase64Url(head!) || !isBase64Url(payload!) || !isBase64Url(signature!)) return null;
  const header = readMembers(head!);
  const claims = header === null ? null : readMembers(payload!);
  return header === null || claims === null ? null : { text, header, claims };
}

/** Whether a text is base64url without padding whose last character has no bits beyond the octets (RFC 4648 §3.5). */
function isBase64Url(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (digitOf(text.charCodeAt(at)) < 0) return false;
  const last = digitOf(text.charCodeAt(text.length - 1));
  switch (text.length % 4) {
    case 0:
      return true;
    case 2:
      return (last & 15) === 0;
    case 3:
      return (last & 3) === 0;
    default:
      return false;
  }
}

/** The six bits of a character's code; -1: it is not of the alphabet of base64url. */
function digitOf(code: number): number {
  if (code >= 65 && code <= 90) return code - 65;
  if (code >= 97 && code <= 122) return code - 71;
  if (code >= 48 && code <= 57) return code + 4;
  if (code === 45) return 62;
  return code === 95 ? 63 : -1;
}

/** The first octet of a byte order mark, which `readJson` removes and which is no JSON (RFC 8259 §8.1). */
const MARK = 0xef;

/** @param part base64url */
function readMembers(part: string): JsonMembers | null {
  const octets = base64url.decode(part);
  if (octets[0] === MARK) return null;
  const read = readJson(octets);
  if (!read.ok || !isObject(read.value)) return null;
  // Without a prototype: a claim `constructor` that is absent is `undefined`, and one `__proto__` is a claim.
  return Object.assign(Object.create(null) as Record<string, unknown>, read.value);
}
