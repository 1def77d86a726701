/**
 * Countries of addresses, from a database in MaxMind's format (MaxMind DB File Format Specification 2.0) that the user
 * supplies: GeoLite2, DB-IP, IP2Location, IPinfo and others come in it.
 */
import { LRUCache } from 'lru-cache';
import { Reader, type Response } from 'mmdb-lib';
import { COUNTRIES } from '../../base/addresses/countries.ts';

/**
 * Maximum number of decoded records of a country database in the cache: a country database has some 250 different ones,
 * a city database many.
 */
const MAX_DECODED_RECORDS = 4_096;

/** An open country database. */
export interface Countries {
  /** ISO 3166-1 alpha-2 in upper case; `null` if the database has none. `ip` is an address in canonical text. */
  country(ip: string): string | null;
  /** When the database was made, milliseconds since the epoch. */
  readonly builtAt: number;
}

/** The fields in which databases have the country. */
interface CountryRecord {
  readonly country?: { readonly iso_code?: unknown } | string;
  readonly country_code?: unknown;
}

/** Octets between the tree and the records. */
const SEPARATOR = 16;

/**
 * Opens a database.
 * @throws Error with the reason if the octets are not such a database
 */
export function openCountries(octets: Uint8Array): Countries {
  const reader = open(Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength));
  const { ipVersion, buildEpoch } = reader.metadata;
  return {
    builtAt: buildEpoch.getTime(),
    country(ip) {
      if (ipVersion === 4 && ip.includes(':')) return null;
      try {
        return codeOf(reader.get(ip) as CountryRecord | null);
      } catch {
        // A record that cannot be decoded counts as missing: the country is unknown.
        return null;
      }
    },
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

function codeOf(record: CountryRecord | null): string | null {
  if (record === null) return null;
  const { country } = record;
  const code = typeof country === 'object' ? country.iso_code : (record.country_code ?? country);
  return typeof code === 'string' && COUNTRIES.has(code) ? code : null;
}
