/**
 * Writes small databases in MaxMind's format (MaxMind DB File Format Specification 2.0): 32-bit records, an IPv6 tree
 * with IPv4 in its first 96 bits of zeros, or an IPv4 tree.
 */
import { parseIpEntry } from '../../src/base/addresses/ip.ts';

export type MmdbValue = string | number | { readonly [name: string]: MmdbValue };

export interface MmdbOptions {
  readonly ipVersion?: 4 | 6;
  /** Seconds since the epoch. */
  readonly builtAt?: number;
  readonly major?: number;
}

const UTF8 = 2;
const UINT16 = 5;
const UINT32 = 6;
const MAP = 7;
const UINT64 = 9;
const EMPTY = -1;

/** A database of prefixes, none inside another, and what it says of each. */
export function writeMmdb(entries: Readonly<Record<string, MmdbValue>>, options: MmdbOptions = {}): Buffer {
  const { ipVersion = 6, builtAt = 1_700_000_000, major = 2 } = options;
  /** Pairs of what follows a 0 and a 1: another node, EMPTY, or -2 - the offset of a record. */
  const nodes: [number, number][] = [[EMPTY, EMPTY]];
  const records: Buffer[] = [];
  let offset = 0;
  for (const [prefix, value] of Object.entries(entries)) {
    const bits = bitsOf(prefix, ipVersion);
    let node = 0;
    for (const bit of bits.slice(0, -1)) {
      let next = nodes[node]![bit]!;
      if (next === EMPTY) {
        next = nodes.push([EMPTY, EMPTY]) - 1;
        nodes[node]![bit] = next;
      }
      node = next;
    }
    nodes[node]![bits.at(-1)!] = -2 - offset;
    const encoded = encode(value);
    records.push(encoded);
    offset += encoded.length;
  }
  const tree = Buffer.alloc(nodes.length * 8);
  for (const [index, pair] of nodes.entries()) {
    for (const bit of [0, 1] as const) {
      const at = pair[bit];
      const number = at === EMPTY ? nodes.length : at >= 0 ? at : nodes.length + 16 + (-2 - at);
      tree.writeUInt32BE(number, index * 8 + bit * 4);
    }
  }
  const metadata = map([
    ['binary_format_major_version', integer(UINT16, major)],
    ['binary_format_minor_version', integer(UINT16, 0)],
    ['build_epoch', integer(UINT64, builtAt)],
    ['database_type', encode('Test-Country')],
    ['ip_version', integer(UINT16, ipVersion)],
    ['node_count', integer(UINT32, nodes.length)],
    ['record_size', integer(UINT16, 32)],
  ]);
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
  return Buffer.concat([tree, Buffer.alloc(16), ...records, marker, metadata]);
}

function bitsOf(prefix: string, ipVersion: 4 | 6): readonly (0 | 1)[] {
  const read = parseIpEntry(prefix);
  if (!read.ok) throw new Error(read.reason);
  const length = Number(prefix.slice(prefix.indexOf('/') + 1));
  const digits = [...read.first].map((word) => word.toString(2).padStart(32, '0')).join('');
  const padding = read.family === 4 && ipVersion === 6 ? '0'.repeat(96) : '';
  return [...(padding + digits.slice(0, length))].map((bit) => (bit === '1' ? 1 : 0));
}

function control(type: number, size: number): Buffer {
  if (size >= 29) throw new Error('too long for this writer');
  return type <= MAP ? Buffer.from([(type << 5) | size]) : Buffer.from([size, type - MAP]);
}

function integer(type: number, value: number): Buffer {
  const octets = Buffer.alloc(4);
  octets.writeUInt32BE(value);
  const short = octets.subarray([...octets].findIndex((octet) => octet !== 0));
  const kept = value === 0 ? Buffer.alloc(0) : type === UINT16 ? octets.subarray(2) : short;
  return Buffer.concat([control(type, kept.length), kept]);
}

function map(pairs: readonly (readonly [string, Buffer])[]): Buffer {
  return Buffer.concat([
    control(MAP, pairs.length),
    ...pairs.flatMap(([name, value]) => [encode(name), value]),
  ]);
}

function encode(value: MmdbValue): Buffer {
  if (typeof value === 'number') return integer(UINT32, value);
  if (typeof value === 'object') return map(Object.entries(value).map(([name, one]) => [name, encode(one)]));
  const octets = Buffer.from(value, 'utf8');
  return Buffer.concat([control(UTF8, octets.length), octets]);
}
