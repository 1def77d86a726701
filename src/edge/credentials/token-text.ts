/**
 * The text of a token as a compact JWS (RFC 7515 §7.1), read strictly: what two parsers could read differently is no token. In: a
 * text. Out: its header and claims, not verified; `null`: it is malformed. Linear in the text, never throws.
 */
import { base64url } from 'jose';
import { isObject } from '../../base/text/json-object.ts';
import { MAX_JSON_DEPTH } from './limits.ts';

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

/** A byte order mark stays, since it is no JSON (RFC 8259 §8.1). */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function readMembers(part: string): JsonMembers | null {
  try {
    const text = UTF8.decode(base64url.decode(part));
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || !isStrict(text)) return null;
    // Without a prototype: a claim `constructor` that is absent is `undefined`, and one `__proto__` is a claim.
    return Object.assign(Object.create(null) as Record<string, unknown>, value);
  } catch {
    // No base64url, no UTF-8 and no JSON are alike.
    return null;
  }
}

/** Whether valid JSON is not too deep, and no object in it has two members of one name: parsers differ in which one they take. */
function isStrict(json: string): boolean {
  /** The names of each open object; `null` for a list. */
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '{' || character === '[') {
      if (open.push(character === '{' ? new Set() : null) > MAX_JSON_DEPTH) return false;
    } else if (character === '}' || character === ']') open.pop();
    else if (character === '"') {
      const end = endOfString(json, at);
      const names = open.at(-1);
      if (names != null && isName(json, end)) {
        const name = JSON.parse(json.slice(at, end)) as string;
        if (names.has(name)) return false;
        names.add(name);
      }
      at = end - 1;
    }
  }
  return true;
}

/** The index after the closing quote of a string that begins at `at`. */
function endOfString(json: string, at: number): number {
  let end = at + 1;
  while (end < json.length && json[end] !== '"') end += json[end] === '\\' ? 2 : 1;
  return end + 1;
}

/** Whether a string that ends before `at` is the name of a member: a colon follows. */
function isName(json: string, at: number): boolean {
  let next = at;
  while (' \t\n\r'.includes(json[next] ?? '.')) next++;
  return json[next] === ':';
}
