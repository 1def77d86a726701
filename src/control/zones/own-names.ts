/**
 * Reads the stored records of a domain name by name: which data a name has in the zone, whether the edge answers for it,
 * and which other names its addresses come from.
 */
import { normalizeName } from '../../base/addresses/host.ts';
import { PROXIABLE_TYPES, type RecordType } from '../../base/vocabulary/vocabulary.ts';
import { absoluteName } from '../../rules/model/record-name.ts';
import type { ZoneRecord } from '../dns/zone-file/parse.ts';
import { encodeData } from './rdata.ts';
import { decodeName } from './wire/name.ts';
import { TYPES } from './wire/records.ts';

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
  return (PROXIABLE_TYPES as readonly RecordType[]).includes(type);
}

function isAddress({ type }: WireData): boolean {
  return type === TYPES.A || type === TYPES.AAAA;
}

/** A text that is equal for equal data, and sorts addresses by family, then by their octets. */
export function keyOf({ type, rdata }: WireData): string {
  return `${type} ${Buffer.from(rdata.buffer, rdata.byteOffset, rdata.length).toString('latin1')}`;
}
