/**
 * The encoding of SPOP 2.0 (HAProxy, `doc/SPOE.txt` §3.1): variable-length integers, typed data, strings. In: octets of one
 * frame. Out: values, or an exception of type `FrameFault` for octets that are none; and a writer for the same.
 */
import { formatIp } from '../../../base/addresses/ip.ts';

/** Status codes of AGENT-DISCONNECT (§3.5). */
export const STATUS = {
  normal: 0,
  io: 1,
  timeout: 2,
  tooBig: 3,
  invalid: 4,
  noVersion: 5,
  noFrameSize: 6,
  noCapabilities: 7,
  badVersion: 8,
  badFrameSize: 9,
  fragmented: 10,
} as const;
/** A key of `STATUS`. */
export type SpopStatus = keyof typeof STATUS;

/** Octets that break the protocol: the connection ends with this status. */
export class FrameFault extends Error {
  readonly status: SpopStatus;
  constructor(status: SpopStatus, message: string) {
    super(message);
    this.status = status;
  }
}

/** A place in a frame. */
export interface Cursor {
  readonly octets: Buffer;
  /** The next octet to read. */
  at: number;
  /** The octet behind the last one. */
  readonly end: number;
}

/** An address as typed data. */
export interface SpopAddress {
  readonly address: string;
}

/**
 * A value: `number` for the four integer types, `string` with one character an octet, octets for binary data.
 * An integer beyond 2^53 loses its low bits; no argument has such a range.
 */
export type SpopValue = null | boolean | number | string | SpopAddress | Buffer;

/** Types of data, the low four bits of their first octet (§3.1). */
const TYPE = {
  null: 0,
  boolean: 1,
  int32: 2,
  uint32: 3,
  int64: 4,
  uint64: 5,
  ipv4: 6,
  ipv6: 7,
  string: 8,
  binary: 9,
} as const;
/** The flag of a boolean that is true. */
const TRUE_FLAG = 0x10;

/** Octets of the longest variable-length integer: 4 bits in the first one, 7 in each other, 64 in all. */
const MAX_VARINT = 10;

/**
 * A variable-length integer, encoded as in HAProxy's peers protocol, not as in Protocol Buffers: a first octet below 240 is the
 * value; to any other, groups of 7 bits are added from bit 4 on.
 */
export function readVarint(cursor: Cursor): number {
  const { octets, at, end } = cursor;
  if (at >= end) throw cut('an integer');
  const first = octets[at]!;
  if (first < 240) {
    cursor.at = at + 1;
    return first;
  }
  let value = first;
  let factor = 16;
  let next = at + 1;
  for (;;) {
    if (next >= end) throw cut('an integer');
    if (next - at >= MAX_VARINT) throw new FrameFault('invalid', 'an integer has more than 64 bits');
    const octet = octets[next++]!;
    value += octet * factor;
    factor *= 128;
    if (octet < 128) break;
  }
  cursor.at = next;
  return value;
}

/** A signed integer: a negative one is sent as two's complement of 64 bits, also where its type has 32. */
function readSigned(cursor: Cursor): number {
  const { octets, at } = cursor;
  const rounded = readVarint(cursor);
  if (rounded <= Number.MAX_SAFE_INTEGER) return rounded;
  // PERF: exact arithmetic for negative numbers alone, which HAProxy sends for none of the arguments.
  let value = BigInt(octets[at]!);
  for (let next = at + 1, shift = 4n; next < cursor.at; next++, shift += 7n) {
    value += BigInt(octets[next]!) << shift;
  }
  return Number(BigInt.asIntN(64, value));
}

/** A length of octets that the frame has; more is a fault. */
function readLength(cursor: Cursor, what: string): number {
  const length = readVarint(cursor);
  if (length > cursor.end - cursor.at) throw cut(what);
  return length;
}

/** A text without a type: names of messages, arguments and headers. One character an octet. */
export function readText(cursor: Cursor): string {
  const length = readLength(cursor, 'a text');
  const from = cursor.at;
  cursor.at = from + length;
  return cursor.octets.toString('latin1', from, cursor.at);
}

/** One octet, such as a count. */
export function readOctet(cursor: Cursor): number {
  if (cursor.at >= cursor.end) throw cut('an octet');
  return cursor.octets[cursor.at++]!;
}

/** Typed data. */
export function readTyped(cursor: Cursor): SpopValue {
  const first = readOctet(cursor);
  switch (first & 0x0f) {
    case TYPE.null:
      return null;
    case TYPE.boolean:
      return (first & TRUE_FLAG) !== 0;
    case TYPE.int32:
    case TYPE.int64:
      return readSigned(cursor);
    case TYPE.uint32:
    case TYPE.uint64:
      return readVarint(cursor);
    case TYPE.ipv4:
      return { address: readAddress(cursor, 1) };
    case TYPE.ipv6:
      return { address: readAddress(cursor, 4) };
    case TYPE.string:
      return readText(cursor);
    case TYPE.binary: {
      const length = readLength(cursor, 'binary data');
      cursor.at += length;
      return cursor.octets.subarray(cursor.at - length, cursor.at);
    }
    default:
      throw new FrameFault('invalid', `data of the unknown type ${first & 0x0f}`);
  }
}

/** The 32 bits before the IPv4 part of a mapped address. */
const MAPPED = 0xffff;

/** An address of so many 32-bit words, as text; a mapped IPv4 address is one of IPv4. */
function readAddress(cursor: Cursor, words: 1 | 4): string {
  const { octets, at, end } = cursor;
  if (end - at < words * 4) throw cut('an address');
  cursor.at = at + words * 4;
  const read = Array.from({ length: words }, (_, index) => octets.readUInt32BE(at + index * 4));
  if (words === 1) return formatIp(4, read);
  const [first, second, third, fourth] = read;
  if (first === 0 && second === 0 && third === MAPPED) return formatIp(4, [fourth!]);
  return formatIp(6, read);
}

function cut(what: string): FrameFault {
  return new FrameFault('invalid', `the frame ends within ${what}`);
}

// Writing.

/** Octets of a writer's first buffer: most frames of an agent are shorter. */
const FIRST_OCTETS = 1_024;

/** Writes one frame after the other into a buffer that grows. */
export interface FrameWriter {
  /** Starts a frame. */
  reset(): void;
  octet(value: number): void;
  uint32(value: number): void;
  /** A non-negative integer of at most 53 bits. */
  varint(value: number): void;
  /** Octets as they are. */
  raw(octets: Uint8Array): void;
  /** Typed data. Strings: one character an octet; a Buffer is binary data. */
  typed(value: null | boolean | number | string | Buffer): void;
  /** An address as typed data: its words, one for IPv4, four for IPv6. */
  address(words: Uint32Array): void;
  /** A copy of the frame with its length in front. */
  take(): Buffer;
}

/** Octets of the length in front of a frame. */
export const LENGTH_OCTETS = 4;

/** Creates a writer. */
export function createFrameWriter(): FrameWriter {
  let octets = Buffer.allocUnsafe(FIRST_OCTETS);
  let at = LENGTH_OCTETS;

  function ensure(more: number): void {
    if (at + more <= octets.length) return;
    const grown = Buffer.allocUnsafe(Math.max(octets.length * 2, at + more));
    octets.copy(grown, 0, 0, at);
    octets = grown;
  }

  function varint(value: number): void {
    ensure(MAX_VARINT);
    if (value < 240) {
      octets[at++] = value;
      return;
    }
    octets[at++] = 0xf0 | (value % 16);
    let rest = Math.floor((value - 240) / 16);
    while (rest >= 128) {
      octets[at++] = 0x80 | (rest % 128);
      rest = Math.floor((rest - 128) / 128);
    }
    octets[at++] = rest;
  }

  function octet(value: number): void {
    ensure(1);
    octets[at++] = value;
  }

  function raw(added: Uint8Array): void {
    ensure(added.length);
    octets.set(added, at);
    at += added.length;
  }

  function uint32(value: number): void {
    ensure(4);
    at = octets.writeUInt32BE(value, at);
  }

  return {
    reset() {
      at = LENGTH_OCTETS;
    },
    octet,
    uint32,
    varint,
    raw,
    typed(value) {
      if (value === null) return octet(TYPE.null);
      if (typeof value === 'boolean') return octet(value ? TYPE.boolean | TRUE_FLAG : TYPE.boolean);
      if (typeof value === 'number') {
        octet(TYPE.uint32);
        return varint(value);
      }
      octet(typeof value === 'string' ? TYPE.string : TYPE.binary);
      varint(value.length);
      if (typeof value !== 'string') return raw(value);
      ensure(value.length);
      at += octets.write(value, at, 'latin1');
    },
    address(words) {
      octet(words.length === 1 ? TYPE.ipv4 : TYPE.ipv6);
      for (const word of words) uint32(word);
    },
    take() {
      octets.writeUInt32BE(at - LENGTH_OCTETS, 0);
      return Buffer.from(octets.subarray(0, at));
    },
  };
}
