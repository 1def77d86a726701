/**
 * Countries and autonomous systems of addresses, from a database in MaxMind's format (MaxMind DB File Format Specification
 * 2.0) that the user supplies: GeoLite2, DB-IP, IP2Location, IPinfo and others come in it. In: its octets. Out: what it
 * has of an address; a database of one kind has nothing of the other.
 */
import { LRUCache } from 'lru-cache';
import { Reader, type Response } from 'mmdb-lib';
import { isAsn, parseAsn } from '../../base/addresses/asn.ts';
import { COUNTRIES } from '../../base/addresses/countries.ts';

/**
 * Maximum number of decoded records of a database in the cache: a country database has some 250 different ones, one of
 * cities or autonomous systems many.
 */
const MAX_DECODED_RECORDS = 4_096;

/** An open database. */
export interface AddressDatabase {
  /** ISO 3166-1 alpha-2 in upper case; `null` if the database has none. `ip` is an address in canonical text. */
  country(ip: string): string | null;
  /** The number of the autonomous system; `null` if the database has none. `ip` is an address in canonical text. */
  asn(ip: string): number | null;
  /** When the database was made, milliseconds since the epoch. */
  readonly builtAt: number;
}

/** The fields in which databases have the country and the autonomous system. */
interface AddressRecord {
  readonly country?: { readonly iso_code?: unknown } | string;
  readonly country_code?: unknown;
  /** GeoLite2-ASN, DB-IP ASN Lite; DB-IP's combined ones too. */
  readonly autonomous_system_number?: unknown;
  /** GeoIP2 Enterprise. */
  readonly traits?: { readonly autonomous_system_number?: unknown };
  /** IPinfo: `AS64496`. */
  readonly asn?: unknown;
}

/** Octets between the tree and the records. */
const SEPARATOR = 16;

/**
 * Opens a database.
 * @throws Error with the reason if the octets are not such a database
 */
export function openAddressDatabase(octets: Uint8Array): AddressDatabase {
  const reader = open(Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength));
  const { ipVersion, buildEpoch } = reader.metadata;
  // PERF: of a combined database both facts of a request come from one search.
  let lastIp = '';
  let last: AddressRecord | null = null;

  function recordOf(ip: string): AddressRecord | null {
    if (ip === lastIp) return last;
    lastIp = ip;
    last = null;
    if (ipVersion === 4 && ip.includes(':')) return null;
    try {
      last = reader.get(ip) as AddressRecord | null;
    } catch {
      // A record that cannot be decoded counts as missing: what it has is unknown.
    }
    return last;
  }

  return {
    builtAt: buildEpoch.getTime(),
    country: (ip) => codeOf(recordOf(ip)),
    asn: (ip) => numberOf(recordOf(ip)),
  };
}

function open(octets: Buffer): Reader<Response> {
  try {
    const cache = new LRUCache<string | number, NonNullable<unknown>>({ max: MAX_DECODED_RECORDS });
    const reader = new Reader<Response>(octets, {
      cache: { get: (key) => cache.get(key), set: (key, value) => void cache.set(key, value) },
    });
    const { metadata } = reader;
    if (metadata.binaryFormatMajorVersion !== 2) {
      throw new Error(`its format has version ${metadata.binaryFormatMajorVersion}, known is 2`);
    }
    if (!(metadata.searchTreeSize + SEPARATOR <= octets.length)) throw new Error('it is cut short');
    return reader;
  } catch (error) {
    throw new Error(`this is no database in MaxMind's format: ${(error as Error).message}`, { cause: error });
  }
}

function codeOf(record: AddressRecord | null): string | null {
  if (record === null) return null;
  const { country } = record;
  const code = typeof country === 'object' ? country?.iso_code : (record.country_code ?? country);
  return typeof code === 'string' && COUNTRIES.has(code) ? code : null;
}

function numberOf(record: AddressRecord | null): number | null {
  if (record === null) return null;
  const value = record.autonomous_system_number ?? record.traits?.autonomous_system_number ?? record.asn;
  if (typeof value === 'string') return parseAsn(value);
  return isAsn(value) ? value : null;
}
