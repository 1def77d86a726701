/**
 * Detects lookups of Log4j that reach JNDI, however they are spelled: `@detectLookup`. A lookup is evaluated as
 * `StrSubstitutor` does it: inner lookups first, `:-` begins a default value, `lower:`, `upper:` and `date:` return their
 * argument, others return nothing. Sources: Apache Log4j 2 manual, "Lookups" and "Property substitution"; CVE-2021-44228.
 * One pass with a stack of `MOST_OPEN` lookups, of each of which `LONGEST_TEXT` characters are stored.
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import { hexUnit, isUpper } from '../octets/latin1.ts';

export const LOOKUP_KINDS = KIND.dollar;

/** The length in octets of the shortest value that is detected: `${jndi:`. */
export const SHORTEST_LOOKUP = 7;

/** The lookups that are open at the same time; deeper ones count as text. */
const MOST_OPEN = 64;
/** The stored characters of a lookup: more than the longest prefix and the name that is searched. */
const LONGEST_TEXT = 48;

/** The prefixes of lookups that return their argument; `date:'j'` returns a quoted letter. */
const RETURNS_ARGUMENT: ReadonlySet<string> = new Set(['lower', 'upper', 'date', 'base64', 'unsafe']);

const WANTED = 'jndi:';

/** A lookup that is open. */
interface Lookup {
  /** Its text, evaluated, in lower case: of a default value, if it has one. */
  text: string;
  /** The last character that was added, stored or not. */
  last: number;
  /** Whether `:-` has occurred. */
  hasDefault: boolean;
  /** Whether the value of another lookup is part of the text. */
  isNested: boolean;
}

/** Returns the construct of a JNDI lookup in `value` (Latin-1), or `null`. Takes linear time; never throws. */
export function detectLookup(value: string): string | null {
  const first = value.indexOf('${');
  if (first < 0) return null;
  const open: Lookup[] = [];
  for (let at = first; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code === 0x24 && value.charCodeAt(at + 1) === 0x7b) {
      if (open.length < MOST_OPEN) open.push({ text: '', last: 0, hasDefault: false, isNested: false });
      at++;
      continue;
    }
    const lookup = open.at(-1);
    if (lookup === undefined) continue;
    if (code === 0x7d) {
      open.pop();
      addValue(open.at(-1), lookup);
    } else {
      const length = escapeLength(value, at);
      addCharacter(lookup, length > 1 ? hexUnit(value, at + 2) : letterOf(value, at));
      at += length - 1;
    }
    const found = constructOf(open.at(-1));
    if (found !== null) return found;
  }
  // A lookup that the value does not close may be closed by what the application appends.
  return open.some((lookup) => isWanted(lookup)) ? 'JNDI lookup' : null;
}

function isWanted({ text, hasDefault }: Lookup): boolean {
  return !hasDefault && text.startsWith(WANTED);
}

/** The construct of a lookup whose text is complete enough. */
function constructOf(lookup: Lookup | undefined): string | null {
  if (lookup === undefined || !isWanted(lookup)) return null;
  if (lookup.isNested) return 'JNDI lookup put together from others';
  // `${jndi:ldap}` in a text about it has no name: nothing is looked up.
  return lookup.text.length > WANTED.length && !isUpper(lookup.last & ~32) ? 'JNDI lookup' : null;
}

/** The length of the escape or character at `at`: 6 of `\u006a`, else 1. */
function escapeLength(value: string, at: number): number {
  const isEscape = value.charCodeAt(at) === 0x5c && (value.charCodeAt(at + 1) | 0x20) === 0x75;
  return isEscape && hexUnit(value, at + 2) >= 0 ? 6 : 1;
}

/** The code at `at`; that of `i` for the UTF-8 of U+0130 and U+0131, which change into it with the case. */
function letterOf(value: string, at: number): number {
  const code = value.charCodeAt(at);
  const next = value.charCodeAt(at + 1);
  return code === 0xc4 && (next === 0xb0 || next === 0xb1) ? 0x69 : code;
}

/** Adds a character to a lookup, except white space, controls and the second octet of a sequence. */
function addCharacter(lookup: Lookup, code: number): void {
  if (code <= 0x20 || (code >= 0x80 && code < 0xc0)) return;
  if (code === 0x2d && !lookup.hasDefault && lookup.last === 0x3a) {
    lookup.hasDefault = true;
    lookup.text = '';
  } else if (lookup.text.length < LONGEST_TEXT) {
    lookup.text += String.fromCharCode(code).toLowerCase();
  }
  lookup.last = code;
}

/** Adds the value of a lookup to the one around it. */
function addValue(around: Lookup | undefined, lookup: Lookup): void {
  if (around === undefined) return;
  around.isNested = true;
  const value = evaluated(lookup);
  if (value === '' || around.text.length >= LONGEST_TEXT) return;
  around.last = value.charCodeAt(value.length - 1);
  around.text = (around.text + value).slice(0, LONGEST_TEXT);
}

/** The value of a lookup. */
function evaluated({ text, hasDefault }: Lookup): string {
  if (hasDefault) return text;
  const colon = text.indexOf(':');
  if (colon < 0 || !RETURNS_ARGUMENT.has(text.slice(0, colon))) return '';
  return text.slice(colon + 1).replaceAll("'", '');
}
