/**
 * Encodes the data of stored records as RDATA (RFC 1035 §3.3, 3596, 2782, 8659, 6698, 9460), names uncompressed. In: the
 * fields of the model, read as for a zone file (`control/dns/zone-file/rdata.ts`). Never throws.
 */
import { utf8Bytes } from '../../base/octets/octets.ts';
import { printData, type RecordData, type ZoneType } from '../dns/zone-file/rdata.ts';
import { readOctets, txtStrings } from '../dns/zone-file/text.ts';
import { encodeName } from './wire/name.ts';
import { encodeServiceParams, ipv4Octets, ipv6Octets, uint16 } from './wire/service-params.ts';

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
