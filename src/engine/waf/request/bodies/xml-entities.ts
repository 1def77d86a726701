/**
 * Replaces references in XML character data (XML 1.0 §4.1, §4.6), and stores the entities that an internal DTD declares
 * (§4.2), whose expansion is bounded: nested references multiply ("billion laughs").
 */
import { hexValue } from '../../../../base/octets/octets.ts';
import { isSpace, utf8Text } from '../../octets/latin1.ts';

/** Maximum octets of all expansions of one document: parsers of applications refuse far larger ones. */
export const MAX_EXPANSION = 65_536;
/** Octets that each expansion counts besides its text, since empty entities multiply too. */
const EXPANSION_OVERHEAD = 16;
/** Maximum nesting depth of references in entities. */
const MAX_ENTITY_DEPTH = 16;
/** Maximum number of declared entities: DTDs of documents have some dozens. */
const MAX_ENTITIES = 1_000;

/** The entities of one document. */
export interface EntityTable {
  /** By name, the literal value with its references. */
  readonly values: Map<string, string>;
  /** Octets of expansion left. */
  left: number;
  /** Whether an expansion exceeded a bound; its text is incomplete. */
  isExhausted: boolean;
}

/** Creates a table without entities. */
export function newEntityTable(): EntityTable {
  return { values: new Map(), left: MAX_EXPANSION, isExhausted: false };
}

/**
 * Stores the entity whose declaration `<!ENTITY name "value"` is at `at`; the first of a name counts (§4.2). Returns the
 * place of the closing quote; `null`: it is external, a parameter entity or malformed, and is not stored.
 */
export function declareEntity(table: EntityTable, text: string, at: number): number | null {
  const start = skipSpaces(text, at + '<!ENTITY'.length);
  let end = start;
  while (end < text.length && isNameOctet(text.charCodeAt(end))) end++;
  const opening = skipSpaces(text, end);
  const quote = text.charAt(opening);
  if (end === start || opening === end || (quote !== '"' && quote !== "'")) return null;
  const closing = text.indexOf(quote, opening + 1);
  if (closing < 0 || table.values.size >= MAX_ENTITIES) return null;
  const name = text.slice(start, end);
  if (!table.values.has(name)) table.values.set(name, text.slice(opening + 1, closing));
  return closing;
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** Whether an octet may be in the name of an entity; `%`, of parameter entities, may not. */
function isNameOctet(code: number): boolean {
  return code > 32 && !'%&;<>"\'=/'.includes(String.fromCharCode(code));
}

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

/** Replaces character references (by UTF-8), the five predefined entities and those of a table. */
export function dereference(raw: string, table: EntityTable | null): Dereferenced {
  return replaced(raw, table, 0);
}

function replaced(raw: string, table: EntityTable | null, depth: number): Dereferenced {
  let at = raw.indexOf('&');
  if (at < 0) return { text: raw, hasUnknown: false };
  let text = '';
  let from = 0;
  let hasUnknown = false;
  while (at >= 0) {
    const found =
      raw.charCodeAt(at + 1) === HASH
        ? character(raw, at + 2)
        : (entity(raw, at + 1) ?? declared(raw, at + 1, { table, depth }));
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

/** Expands a declared entity, its name at `at`; `null`: it is not declared. */
function declared(
  raw: string,
  at: number,
  { table, depth }: { readonly table: EntityTable | null; readonly depth: number },
): Found | null {
  if (table === null || table.values.size === 0) return null;
  let end = at;
  while (end < raw.length && isNameOctet(raw.charCodeAt(end))) end++;
  const value = raw.charCodeAt(end) === SEMICOLON ? table.values.get(raw.slice(at, end)) : undefined;
  if (value === undefined) return null;
  table.left -= value.length + EXPANSION_OVERHEAD;
  if (table.left < 0 || depth >= MAX_ENTITY_DEPTH) {
    table.isExhausted = true;
    return { text: '', end: end + 1 };
  }
  return { text: replaced(value, table, depth + 1).text, end: end + 1 };
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
