/**
 * Encodes the data of stored records as RDATA (RFC 1035 §3.3, 3596, 2782, 8659, 6698, 9460), names uncompressed. In: the
 * fields of the model, read as for a zone file (`control/dns/zone-file/rdata.ts`). Never throws.
 */
import { parseIpv4, parseIpv6 } from '../../base/addresses/ip.ts';
import { utf8Bytes } from '../../base/octets/octets.ts';
import type { ZoneType } from '../../base/vocabulary/record-types.ts';
import { printData, type RecordData } from '../dns/zone-file/rdata.ts';
import { keyNumber } from '../dns/zone-file/service-params.ts';
import { lex, readOctets, txtStrings } from '../dns/zone-file/tokens.ts';
import { encodeName } from './wire/records.ts';

/** What is wrong with a record's data, as a sentence about it. */
export interface RdataProblem {
  readonly message: string;
}

/** The RDATA of a record, or what is wrong with its data. */
export function encodeData(type: ZoneType, data: RecordData): Uint8Array | RdataProblem {
  const quick = encodeQuick(type, data.destination);
  if (quick !== null) return quick;
  const text = printData(type, data);
  if (typeof text !== 'string') return { message: text.message };
  const octets = encodeText(type, text);
  return octets instanceof Uint8Array ? octets : { message: `type \`${type}\` ${octets.message}` };
}

/** PERF: addresses and texts are most records of large zones; their data needs no tokens. `null`: needs the long way. */
function encodeQuick(type: ZoneType, destination: string): Uint8Array | null {
  if (type === 'A') return ipv4Octets(destination);
  if (type === 'AAAA') return ipv6Octets(destination);
  return type === 'TXT' ? encodeStrings(txtStrings(destination) ?? []) : null;
}

/** Character strings, each with its length before it; `null`: the text has no string. */
function encodeStrings(strings: readonly Uint8Array[]): Uint8Array | null {
  if (strings.length === 0) return null;
  return Buffer.concat(strings.flatMap((octets) => [Uint8Array.of(octets.length), octets]));
}

/** Encodes canonical zone file text. */
function encodeText(type: ZoneType, text: string): Uint8Array | RdataProblem {
  const words = text.split(' ');
  switch (type) {
    case 'A':
      return ipv4Octets(text)!;
    case 'AAAA':
      return ipv6Octets(text)!;
    case 'TXT':
      return encodeStrings(txtStrings(text)!)!;
    case 'CNAME':
    case 'NS':
    case 'PTR':
      return dottedName(text);
    case 'MX':
      return Buffer.concat([uint16(Number(words[0])), dottedName(words[1]!)]);
    case 'SRV': {
      const numbers = words.slice(0, 3).map((word) => uint16(Number(word)));
      return Buffer.concat([...numbers, dottedName(words[3]!)]);
    }
    case 'CAA': {
      const value = readOctets(text.slice(text.indexOf('"') + 1, -1))!;
      return encodeCaa({ flags: Number(words[0]), tag: words[1]!, value });
    }
    case 'TLSA': {
      const numbers = Uint8Array.from(words.slice(0, 3), Number);
      return Buffer.concat([numbers, Buffer.from(words[3]!, 'hex')]);
    }
    case 'HTTPS':
    case 'SVCB': {
      const params = encodeServiceParams(words.slice(2).join(' '));
      if (!(params instanceof Uint8Array)) return params;
      return Buffer.concat([uint16(Number(words[0])), dottedName(words[1]!), params]);
    }
    default:
      return type satisfies never;
  }
}

/** A CAA record's data (RFC 8659 §4.1). */
export interface CaaData {
  /** 128: the issuer critical flag. */
  readonly flags: number;
  readonly tag: string;
  readonly value: Uint8Array;
}

/** The RDATA of a CAA record. */
export function encodeCaa({ flags, tag, value }: CaaData): Uint8Array {
  const name = utf8Bytes(tag);
  return Buffer.concat([Uint8Array.of(flags, name.length), name, value]);
}

/** A printed name, which ends in a dot. */
function dottedName(text: string): Uint8Array {
  return encodeName(text.slice(0, -1));
}

// Encodes the parameters of SVCB and HTTPS records (RFC 9460 §2.2, §7, §8).

/** What is wrong with parameters, as the predicate of a sentence. */
export interface ServiceParamsProblem {
  readonly message: string;
}

/**
 * The octets of the parameters of a printed record (`control/dns/zone-file/service-params.ts`), keys ascending. Checks also what the
 * text form leaves open: name servers refuse a whole transfer for one malformed record.
 */
function encodeServiceParams(text: string): Uint8Array | ServiceParamsProblem {
  const params = new Map<number, Uint8Array>();
  for (const { raw } of lex(text).entries[0]?.tokens ?? []) {
    const equals = raw.indexOf('=');
    const name = equals < 0 ? raw : raw.slice(0, equals);
    const value = encodeValue(keyNumber(name), equals < 0 ? '' : raw.slice(equals + 1));
    if (value === null) return { message: `takes another value for parameter \`${name}\`` };
    params.set(keyNumber(name), value);
  }
  const mandatory = params.get(MANDATORY);
  if (mandatory !== undefined && !eachPresent(mandatory, params)) {
    return { message: 'takes `mandatory` only with other parameters of the record, each once (RFC 9460 §8)' };
  }
  if (params.has(NO_DEFAULT_ALPN) && !params.has(ALPN)) {
    return { message: 'takes `no-default-alpn` only beside `alpn` (RFC 9460 §7.1.1)' };
  }
  const ascending = [...params].sort(([left], [right]) => left - right);
  return Buffer.concat(
    ascending.flatMap(([key, value]) => [Buffer.concat([uint16(key), uint16(value.length)]), value]),
  );
}

// Numbers of keys (RFC 9460 §14.3.2; RFC 9461 for `dohpath`)
const MANDATORY = 0;
const ALPN = 1;
const NO_DEFAULT_ALPN = 2;
const PORT = 3;
const IPV4_HINT = 4;
const ECH = 5;
const IPV6_HINT = 6;
const DOH_PATH = 7;

/** Two octets, the higher first. */
function uint16(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value & 0xff);
}

/** The octets of a value, which may contain escapes; `null`: it has none. */
function encodeValue(key: number, value: string): Uint8Array | null {
  switch (key) {
    case MANDATORY: {
      const keys = value.split(',').map(keyNumber);
      return Buffer.concat(keys.sort((left, right) => left - right).map(uint16));
    }
    case ALPN:
      return encodeIds(value);
    case NO_DEFAULT_ALPN:
      return new Uint8Array(0);
    case PORT:
      return uint16(Number(value));
    case IPV4_HINT:
      return joined(value.split(',').map(ipv4Octets));
    case ECH: {
      const octets = Buffer.from(value, 'base64');
      return octets.toString('base64').replace(/=+$/, '') === value.replace(/=+$/, '') ? octets : null;
    }
    case IPV6_HINT:
      return joined(value.split(',').map(ipv6Octets));
    case DOH_PATH: {
      const octets = readOctets(value);
      const path = octets === null ? '' : Buffer.from(octets).toString('latin1');
      return path.startsWith('/') && path.includes('{?dns}') ? octets : null;
    }
    default:
      return readOctets(value);
  }
}

/** The octets of an IPv4 address; `null`: not an address. */
function ipv4Octets(text: string): Uint8Array | null {
  const address = parseIpv4(text);
  return address < 0 ? null : Uint8Array.of(address >>> 24, address >>> 16, address >>> 8, address);
}

/** The octets of an IPv6 address; `null`: not an address. */
function ipv6Octets(text: string): Uint8Array | null {
  const words = new Uint32Array(4);
  if (!parseIpv6(text, words)) return null;
  const octets = Buffer.alloc(16);
  for (const [index, word] of words.entries()) octets.writeUInt32BE(word, index * 4);
  return octets;
}

/** All parts one after the other; `null`: one is missing. */
function joined(parts: readonly (Uint8Array | null)[]): Uint8Array | null {
  return parts.includes(null) ? null : Buffer.concat(parts as Uint8Array[]);
}

/**
 * Protocol ids separated by commas, each with its length before it (RFC 9460 §7.1.1). After the escapes of the zone file,
 * `\` makes the next octet part of an id (RFC 9460 §A.1).
 */
function encodeIds(value: string): Uint8Array | null {
  const ids: number[][] = [[]];
  const octets = readOctets(value) ?? [];
  for (let at = 0; at < octets.length; at++) {
    if (octets[at] === COMMA) ids.push([]);
    else if (octets[at] !== BACKSLASH) ids.at(-1)!.push(octets[at]!);
    else if (++at < octets.length) ids.at(-1)!.push(octets[at]!);
    else return null;
  }
  if (ids.some(({ length }) => length === 0 || length > MAX_ID_OCTETS)) return null;
  return Buffer.concat(ids.map((id) => Uint8Array.of(id.length, ...id)));
}

const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** Of one protocol id, whose length is one octet (RFC 7301 §3.1). */
const MAX_ID_OCTETS = 255;

/** Whether the keys in the octets of `mandatory`, ascending, are distinct and all present. */
function eachPresent(octets: Uint8Array, params: ReadonlyMap<number, Uint8Array>): boolean {
  let before = MANDATORY;
  for (let at = 0; at < octets.length; at += 2) {
    const key = (octets[at]! << 8) | octets[at + 1]!;
    if (key <= before || !params.has(key)) return false;
    before = key;
  }
  return true;
}
