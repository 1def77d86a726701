/** Replaces references in XML character data (XML 1.0 §4.1, §4.6). */
import { hexValue } from '../../../../base/octets/octets.ts';
import { utf8Text } from '../../octets/utf8.ts';

const HASH = 35;
const SEMICOLON = 59;
const LOWER_X = 120;
const LAST_CODE_POINT = 0x10ffff;

/** The five entities that need no declaration (XML 1.0 §4.6). */
const ENTITIES = [
  { name: 'lt;', text: '<' },
  { name: 'gt;', text: '>' },
  { name: 'amp;', text: '&' },
  { name: 'quot;', text: '"' },
  { name: 'apos;', text: "'" },
] as const;

/** The result of a replacement. */
export interface Dereferenced {
  readonly text: string;
  /** Whether a `&` does not begin a known reference; it stays as it is. */
  readonly hasUnknown: boolean;
}

/** Replaces character references (by UTF-8) and the five predefined entities; never expands other entities. */
export function dereference(raw: string): Dereferenced {
  let at = raw.indexOf('&');
  if (at < 0) return { text: raw, hasUnknown: false };
  let text = '';
  let from = 0;
  let hasUnknown = false;
  while (at >= 0) {
    const found = raw.charCodeAt(at + 1) === HASH ? character(raw, at + 2) : entity(raw, at + 1);
    if (found === null) hasUnknown = true;
    else {
      text += raw.slice(from, at) + found.text;
      from = found.end;
    }
    at = raw.indexOf('&', found === null ? at + 1 : from);
  }
  return { text: text + raw.slice(from), hasUnknown };
}

/** A reference: its text, and the place after it. */
interface Found {
  readonly text: string;
  readonly end: number;
}

/** Reads a predefined entity, its name at `at`; `null`: it is not one. */
function entity(raw: string, at: number): Found | null {
  const known = ENTITIES.find(({ name }) => raw.startsWith(name, at));
  return known === undefined ? null : { text: known.text, end: at + known.name.length };
}

/** Reads a character reference, its digits or `x` at `start`; `null`: it is malformed. */
function character(raw: string, start: number): Found | null {
  const isHex = raw.charCodeAt(start) === LOWER_X;
  let end = isHex ? start + 1 : start;
  let code = 0;
  for (; end < raw.length; end++) {
    const digit = hexValue(raw.charCodeAt(end));
    if (digit < 0 || (digit > 9 && !isHex)) break;
    code = Math.min(code * (isHex ? 16 : 10) + digit, LAST_CODE_POINT + 1);
  }
  if (raw.charCodeAt(end) !== SEMICOLON || code === 0 || code > LAST_CODE_POINT) return null;
  return { text: utf8Text(String.fromCodePoint(code)), end: end + 1 };
}
