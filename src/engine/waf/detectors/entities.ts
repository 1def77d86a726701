/**
 * Detects entities of XML that are used to attack its parser: `@detectEntities`. Reads the declarations of entities in a
 * value (XML 1.0 §4.2 and §4.4) and the references to them: an entity that grows with each level (W. Klein's "billion
 * laughs", CVE-2003-1564), one that refers to itself, and a text that a document declares in order to use it. References in
 * attributes do not count, since drawings have declared namespaces. One pass over at most `MOST_ENTITIES` declarations.
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import { isSpace } from '../octets/latin1.ts';

export const ENTITY_KINDS = KIND.angle;

/** The length in octets of the shortest value that is detected: `<!ENTITYa"&a;`. */
export const SHORTEST_ENTITIES = 13;
/** Texts (`Detector.triggers`): a declaration. */
export const ENTITY_TRIGGERS = ['<!entity'];

/** The declarations that are read at most. */
const MOST_ENTITIES = 64;
/** The longest name, in characters. */
const LONGEST_NAME = 64;
/** The longest value of an entity that is read, in characters. */
const LONGEST_VALUE = 4_096;

/** References in one value that no document needs. */
const MANY = 4;

/** Returns the construct of an attack by entities in `value` (Latin-1), or `null`. Takes linear time; never throws. */
export function detectEntities(value: string): string | null {
  /** By name, how deeply its references are nested: 0, if it has none. */
  const depths = new Map<string, number>();
  let last = -1;
  let declarations = 0;
  for (
    let at = value.indexOf('<!');
    at >= 0 && declarations < MOST_ENTITIES;
    at = value.indexOf('<!', at + 2)
  ) {
    if (value.slice(at + 2, at + 8).toLowerCase() !== 'entity') continue;
    declarations++;
    const found = declare(value, at + 8, depths);
    if (found !== null) return found;
    last = at + 8;
  }
  return depths.size > 0 && isUsed(value, last, depths) ? 'entity declared to be used in text' : null;
}

/** Reads the declaration behind `<!ENTITY` at `from`; returns the construct if the entity grows or refers to itself. */
function declare(value: string, from: number, depths: Map<string, number>): string | null {
  let at = skipSpace(value, from);
  if (value.charCodeAt(at) === 0x25) at = skipSpace(value, at + 1);
  const end = nameEnd(value, at);
  const name = value.slice(at, end);
  at = skipSpace(value, end);
  const quote = value.charCodeAt(at);
  if (name === '' || (quote !== 0x22 && quote !== 0x27)) return null;
  const limit = Math.min(value.length, at + LONGEST_VALUE);
  const { count, depth, refersTo } = referencesIn(value, at + 1, { quote, limit, depths, name });
  if (refersTo) return 'entity that refers to itself';
  if (count >= MANY || (depth >= 2 && count >= 2)) return 'entity that grows';
  depths.set(name, depth);
  return null;
}

/** White space, of which at most `LONGEST_NAME` characters are skipped. */
function skipSpace(value: string, from: number): number {
  let at = from;
  while (at < from + LONGEST_NAME && isSpace(value.charCodeAt(at))) at++;
  return at;
}

/** The place where a name ends. */
function nameEnd(value: string, from: number): number {
  let at = from;
  while (at < from + LONGEST_NAME && isNamePart(value.charCodeAt(at))) at++;
  return at;
}

function isNamePart(code: number): boolean {
  if (code >= 0x30 && code <= 0x3a) return true;
  return (
    ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a) ||
    code === 0x5f ||
    code === 0x2d ||
    code === 0x2e ||
    code > 0x7f
  );
}

/** What the value of an entity refers to. */
interface References {
  /** The number of references. */
  readonly count: number;
  /** One more than the greatest depth of an entity that it refers to; 0: absent. */
  readonly depth: number;
  /** Whether it refers to its own name. */
  readonly refersTo: boolean;
}

/** Reads the references in the value of an entity, up to its quote. */
function referencesIn(
  value: string,
  from: number,
  {
    quote,
    limit,
    depths,
    name,
  }: {
    readonly quote: number;
    readonly limit: number;
    readonly depths: ReadonlyMap<string, number>;
    readonly name: string;
  },
): References {
  let count = 0;
  let depth = 0;
  let refersTo = false;
  for (let at = from; at < limit; at++) {
    const code = value.charCodeAt(at);
    if (code === quote) break;
    const start = code === 0x26 || code === 0x25 ? referenceStart(value, at) : -1;
    if (start < 0) continue;
    const end = nameEnd(value, start);
    const referred = value.slice(start, end);
    if (value.charCodeAt(end) !== 0x3b || referred === '') continue;
    count++;
    depth = Math.max(depth, (depths.get(referred) ?? 0) + 1);
    refersTo ||= referred === name;
    at = end;
  }
  return { count, depth, refersTo };
}

/** The place of the name behind `&`, `%`, or `%` written as a character reference, at `at`; -1: another reference. */
function referenceStart(value: string, at: number): number {
  if (value.charCodeAt(at + 1) !== 0x23) return at + 1;
  const reference = value.slice(at + 2, at + 6).toLowerCase();
  if (reference.startsWith('37;')) return at + 5;
  return reference === 'x25;' ? at + 6 : -1;
}

/** Whether a declared entity is referred to in text: behind the last declaration at `from`, outside of tags. */
function isUsed(value: string, from: number, depths: ReadonlyMap<string, number>): boolean {
  let inTag = true;
  for (let at = from; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code === 0x3c) inTag = true;
    else if (code === 0x3e) inTag = false;
    else if (code === 0x26 && !inTag) {
      const end = nameEnd(value, at + 1);
      if (value.charCodeAt(end) === 0x3b && depths.has(value.slice(at + 1, end))) return true;
      at = end;
    }
  }
  return false;
}
