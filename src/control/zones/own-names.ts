/**
 * Reads the stored records of a domain name by name: which data a name has in the zone, whether the edge answers for it,
 * and which other names its addresses come from.
 */
import { normalizeName } from '../../base/addresses/host.ts';
import { PROXIABLE_TYPES, type RecordType } from '../../base/vocabulary/record-types.ts';
import { absoluteName } from '../../rules/model/record-name.ts';
import type { ZoneRecord } from '../dns/zone-file/parse.ts';
import { MAX_ALIAS_STEPS, MAX_FLATTENED, MAX_FLATTENED_ADDRESSES } from './limits.ts';
import { encodeData } from './rdata.ts';
import { decodeName, TYPES } from './wire/records.ts';

/** Data of a record in wire form. */
export interface WireData {
  /** The number of the type. */
  readonly type: number;
  readonly rdata: Uint8Array;
}

/** A CNAME or ALIAS record. */
export interface AliasRecord {
  readonly type: 'CNAME' | 'ALIAS';
  /** Canonical. */
  readonly target: string;
}

/** A name with stored records. Data is distinct. */
export interface OwnName {
  /** Absolute and canonical. */
  readonly name: string;
  /** The edge answers: the addresses and aliases of the name are not in the zone, and not read. */
  readonly proxied: boolean;
  /** A and AAAA. */
  readonly addresses: readonly WireData[];
  readonly aliases: readonly AliasRecord[];
  /** Of the other types. */
  readonly others: readonly WireData[];
  /** Whether the only record is a CNAME below the apex, which stays one (RFC 1034 §3.6.2). */
  readonly canonical: boolean;
}

/** A stored record that the zone contains not at all or not completely. */
export interface ContentProblem {
  /** Absolute and canonical; an invalid name as it is stored. */
  readonly name: string;
  readonly type: RecordType;
  /** Lower case, without a full stop. */
  readonly message: string;
}

/** The names of a domain's records, in the order of their first records. Adds to `problems` what cannot be served. */
export function readOwnNames(
  domain: string,
  records: readonly ZoneRecord[],
  problems: ContentProblem[],
): ReadonlyMap<string, OwnName> {
  const stored = new Map<string, ZoneRecord[]>();
  for (const record of records) {
    const name = absoluteName(record.name, domain);
    if (name === null) {
      problems.push({ name: record.name, type: record.type, message: 'the name is not inside the domain' });
    } else {
      const same = stored.get(name);
      if (same === undefined) stored.set(name, [record]);
      else same.push(record);
    }
  }
  const names = new Map<string, OwnName>();
  for (const [name, same] of stored) names.set(name, readOwnName({ name, domain, stored: same, problems }));
  return names;
}

interface StoredName {
  readonly name: string;
  readonly domain: string;
  readonly stored: readonly ZoneRecord[];
  readonly problems: ContentProblem[];
}

function readOwnName({ name, domain, stored, problems }: StoredName): OwnName {
  const proxied = stored.some((record) => record.proxied && isProxiable(record.type));
  const data = new Map<string, WireData>();
  const aliases = new Map<string, AliasRecord>();
  for (const record of stored) {
    const { type } = record;
    if (proxied && isProxiable(type)) continue;
    const unserved = type === 'NS' ? unservedDelegation(name, domain) : null;
    if (unserved !== null) {
      problems.push({ name, type, message: unserved });
      continue;
    }
    const encoded = type === 'ALIAS' ? null : encodeData(type, record);
    if (encoded !== null && !(encoded instanceof Uint8Array)) {
      problems.push({ name, type, message: encoded.message });
    } else if (type === 'ALIAS' || type === 'CNAME') {
      const target = encoded === null ? normalizeName(record.destination) : decodeName(encoded, 0)!.name;
      if (target === null) problems.push({ name, type, message: `type \`${type}\` takes a host name` });
      else aliases.set(`${type} ${target}`, { type, target });
    } else {
      const wire = { type: TYPES[type], rdata: encoded! };
      data.set(keyOf(wire), wire);
    }
  }
  const all = [...data.values()];
  const [only] = aliases.values();
  return {
    name,
    proxied,
    addresses: all.filter(isAddress),
    aliases: [...aliases.values()],
    others: all.filter((wire) => !isAddress(wire)),
    canonical: aliases.size === 1 && data.size === 0 && only!.type === 'CNAME' && name !== domain,
  };
}

/** Why an NS record is in no zone. A wildcard one is undefined, and BIND refuses the whole zone for it (RFC 4592 §4.2). */
function unservedDelegation(name: string, domain: string): string | null {
  if (name === domain) return 'the NS records of the domain itself are those of its nameserver set';
  return name.startsWith('*.') ? 'a wildcard cannot be delegated (RFC 4592 §4.2)' : null;
}

function isProxiable(type: RecordType): boolean {
  return PROXIABLE_TYPES.includes(type);
}

function isAddress({ type }: WireData): boolean {
  return type === TYPES.A || type === TYPES.AAAA;
}

/** A text that is equal for equal data, and sorts addresses by family, then by their octets. */
export function keyOf({ type, rdata }: WireData): string {
  return `${type} ${Buffer.from(rdata.buffer, rdata.byteOffset, rdata.length).toString('latin1')}`;
}

// Finds the addresses behind the target of an alias: of a name inside the zone from the zone's own records, of any other
// from its last answer. Inside the zone as resolvers do: the exact name, else the wildcard at the closest encloser
// (RFC 4592), CNAME and ALIAS records followed.

/** The addresses behind a target. */
export interface TargetAddresses {
  /** A and AAAA; of a name that is not proxied at most `MAX_FLATTENED_ADDRESSES` of each. */
  readonly addresses: readonly WireData[];
  /** Whether they depend on an answer about a name outside the zone. */
  readonly external: boolean;
  /** Why there are none, or not all; `null`: nothing is missing. */
  readonly problem: string | null;
}

/** Follows targets. */
export interface TargetFollower {
  follow(target: string): TargetAddresses;
  /** The names outside the zone that were reached, in this order. */
  targets(): readonly string[];
}

/** One zone, as the follower needs it. */
export interface TargetFollowerOptions {
  readonly domain: string;
  readonly names: ReadonlyMap<string, OwnName>;
  /** The addresses of proxied names. */
  readonly edge: readonly WireData[];
  addressesOf(target: string): readonly string[] | null;
}

/** A target that was reached before. PERF: many aliases may lead to one name, which may have many addresses. */
interface Reached {
  readonly target: string;
  /** The name that answers; `null`: the target is outside the zone, or does not exist. */
  readonly own: OwnName | null;
  readonly inside: boolean;
  /** Results by the number of steps that remained. */
  readonly found: (TargetAddresses | undefined)[];
}

/** Creates a follower for one zone. */
export function createFollower({ domain, names, edge, addressesOf }: TargetFollowerOptions): TargetFollower {
  const targets = new Set<string>();
  const reached = new Map<string, Reached>();
  const index = nameIndex(domain, names);

  function reach(target: string): Reached {
    const before = reached.get(target);
    if (before !== undefined) return before;
    const inside = index.isInside(target);
    const first = { target, inside, own: inside ? index.find(target) : null, found: [] };
    reached.set(target, first);
    return first;
  }

  function follow(target: string, steps: number): TargetAddresses {
    const at = reach(target);
    at.found[steps] ??= at.inside ? inside(at, steps) : outside(target);
    return at.found[steps];
  }

  function inside({ target, own }: Reached, steps: number): TargetAddresses {
    if (own === null) return nothing(`\`${target}\` does not exist`);
    if (own.proxied) return { addresses: edge, external: false, problem: null };
    if (own.aliases.length > 0 && steps === 0) {
      return nothing(`more than ${MAX_ALIAS_STEPS} aliases lead on from the target`);
    }
    const behind = own.aliases.map((alias) => follow(alias.target, steps - 1));
    const all = [...own.addresses, ...behind.flatMap(({ addresses }) => addresses)];
    const addresses = firstOfEach(all);
    const failed = behind.find(({ problem }) => problem !== null)?.problem;
    return {
      addresses,
      external: behind.some(({ external }) => external),
      problem: failed ?? (all.length === 0 ? `\`${target}\` has no address` : null),
    };
  }

  function outside(target: string): TargetAddresses {
    if (!targets.has(target) && targets.size === MAX_FLATTENED) {
      return nothing(`only ${MAX_FLATTENED} targets outside the domain are resolved`);
    }
    targets.add(target);
    const texts = addressesOf(target);
    if (texts === null) return { ...nothing(`\`${target}\` is not resolved yet`), external: true };
    const addresses = firstOfEach(texts.map(addressData).filter((address) => address !== null));
    const problem = addresses.length === 0 ? `\`${target}\` has no address` : null;
    return { addresses, external: true, problem };
  }

  return { follow: (target) => follow(target, MAX_ALIAS_STEPS), targets: () => [...targets] };
}

/** The data of an address in text form; `null`: not an address. */
export function addressData(text: string): WireData | null {
  const type = text.includes(':') ? 'AAAA' : 'A';
  const rdata = encodeData(type, { destination: text, mx_priority: null });
  return rdata instanceof Uint8Array ? { type: TYPES[type], rdata } : null;
}

function nothing(problem: string): TargetAddresses {
  return { addresses: [], external: false, problem };
}

/** Sorted, distinct, at most `MAX_FLATTENED_ADDRESSES` of each family. */
function firstOfEach(addresses: readonly WireData[]): readonly WireData[] {
  if (addresses.length === 0) return addresses;
  const byKey = new Map(addresses.map((address) => [keyOf(address), address]));
  const sorted = [...byKey.keys()].sort().map((key) => byKey.get(key)!);
  return [TYPES.A, TYPES.AAAA].flatMap((family) =>
    sorted.filter(({ type }) => type === family).slice(0, MAX_FLATTENED_ADDRESSES),
  );
}

// Finds which stored name answers for a name of the zone: the name itself, else the wildcard at its closest encloser
// (RFC 4592 §3.3.1). PERF: names are sorted from their last label on, so that names below one name are neighbours, and a
// search needs neither a set of all parents, of which a long name has a hundred, nor a step for each of them.

/** Finds names of one zone. */
export interface NameIndex {
  /** Whether the zone is authoritative for a name: it is at or below the apex, and not at or below a delegation. */
  isInside(name: string): boolean;
  /** The stored name that answers for a name inside; `null`: it does not exist, or there is nothing but names below it. */
  find(name: string): OwnName | null;
}

/** Creates the index of a zone's names; sorts them at the first search. */
function nameIndex(domain: string, names: ReadonlyMap<string, OwnName>): NameIndex {
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
