/** Encodes the parameters of SVCB and HTTPS records (RFC 9460 §2.2, §7, §8). */
import { parseIpv4, parseIpv6 } from '../../../base/addresses/ip.ts';
import { keyNumber } from '../../dns/zone-file/service-params.ts';
import { readOctets } from '../../dns/zone-file/text.ts';
import { lex } from '../../dns/zone-file/tokens.ts';

/** What is wrong with parameters, as the predicate of a sentence. */
export interface ServiceParamsProblem {
  readonly message: string;
}

/**
 * The octets of the parameters of a printed record (`zone-file/service-params.ts`), keys ascending. Checks also what the
 * text form leaves open: name servers refuse a whole transfer for one malformed record.
 */
export function encodeServiceParams(text: string): Uint8Array | ServiceParamsProblem {
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
export function uint16(value: number): Uint8Array {
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

/** The octets of an IPv4 address; `null`: it is none. */
export function ipv4Octets(text: string): Uint8Array | null {
  const address = parseIpv4(text);
  return address < 0 ? null : Uint8Array.of(address >>> 24, address >>> 16, address >>> 8, address);
}

/** The octets of an IPv6 address; `null`: it is none. */
export function ipv6Octets(text: string): Uint8Array | null {
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
