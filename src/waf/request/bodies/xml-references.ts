import { hexValue } from '../../../base/octets.ts';
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

export interface Dereferenced {
  readonly text: string;
  /** Whether a `&` stands for nothing known: it and what follows stay. */
  readonly hasUnknown: boolean;
}

/** Character data with references to characters (as UTF-8) and to the five entities replaced; others never expand. */
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

interface Found {
  readonly text: string;
  readonly end: number;
}

function entity(raw: string, at: number): Found | null {
  const known = ENTITIES.find(({ name }) => raw.startsWith(name, at));
  return known === undefined ? null : { text: known.text, end: at + known.name.length };
}

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
