/**
 * Finds which stored name answers for a name of the zone: the name itself, else the wildcard at its closest encloser
 * (RFC 4592 §3.3.1). PERF: names are sorted from their last label on, so that names below one name are neighbours, and a
 * search needs neither a set of all parents, of which a long name has a hundred, nor a step for each of them.
 */
import type { OwnName } from './own-names.ts';
import { TYPES } from './wire/records.ts';

/** Finds names of one zone. */
export interface NameIndex {
  /** Whether the zone is authoritative for a name: it is at or below the apex, and not at or below a delegation. */
  isInside(name: string): boolean;
  /** The stored name that answers for a name inside; `null`: it does not exist, or there is nothing but names below it. */
  find(name: string): OwnName | null;
}

/** Creates the index of a zone's names; sorts them at the first search. */
export function nameIndex(domain: string, names: ReadonlyMap<string, OwnName>): NameIndex {
  let sortedNames: readonly string[] | null = null;
  const cuts = topmost(sorted([...names.values()].filter(isDelegation(domain)).map(({ name }) => name)));
  return {
    isInside(name) {
      if (name !== domain && !name.endsWith(`.${domain}`)) return false;
      if (cuts.length === 0) return true;
      const key = backwards(name);
      // A delegation that is a parent of the name sorts directly before it, or equals it.
      return [-1, 0].every((step) => !isAtOrBelow(key, cuts[placeOf(cuts, key) + step]));
    },
    find(name) {
      const exact = names.get(name);
      if (exact !== undefined) return exact;
      sortedNames ??= sorted([...names.keys(), domain]);
      const key = backwards(name);
      const place = placeOf(sortedNames, key);
      const shared = Math.max(
        sharedLength(key, sortedNames[place - 1]),
        sharedLength(key, sortedNames[place]),
      );
      const encloser = name.slice(name.length - shared);
      return encloser === name ? null : (names.get(`*.${encloser}`) ?? null);
    },
  };
}

/** Sorts before every character of a name, so that a name comes directly before those below it. */
const SEPARATOR = '\0';

/** The characters of a name from the last to the first, dots as separators. Canonical names are ASCII. */
function backwards(name: string): string {
  const octets = Buffer.from(name, 'latin1').reverse();
  for (let at = octets.indexOf(DOT); at >= 0; at = octets.indexOf(DOT, at)) octets[at] = 0;
  return octets.toString('latin1');
}

const DOT = 0x2e;

function sorted(names: readonly string[]): readonly string[] {
  return names.map(backwards).sort();
}

/** The first place whose entry is not less than `key`. */
function placeOf(entries: readonly string[], key: string): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The length of the labels that a key and an entry have in common. */
function sharedLength(key: string, entry = ''): number {
  let shared = 0;
  for (let at = 0; at <= key.length; at++) {
    const end = at === key.length || key[at] === SEPARATOR;
    if (end && (at === entry.length || entry[at] === SEPARATOR)) shared = at;
    if (key[at] !== entry[at]) break;
  }
  return shared;
}

function isAtOrBelow(key: string, parent: string | undefined): boolean {
  return parent !== undefined && (key === parent || key.startsWith(`${parent}${SEPARATOR}`));
}

/** A name below the apex that has NS records (RFC 1034 §4.2.1). */
function isDelegation(domain: string): (own: OwnName) => boolean {
  return ({ name, others }) => name !== domain && others.some(({ type }) => type === TYPES.NS);
}

/** The entries that are not below another one. */
function topmost(entries: readonly string[]): readonly string[] {
  const top: string[] = [];
  for (const entry of entries) if (!isAtOrBelow(entry, top.at(-1))) top.push(entry);
  return top;
}
