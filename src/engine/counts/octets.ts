/**
 * Octets of sealed counts, written and read in order: unsigned LEB128 integers (DWARF 5 §7.6) up to 2^53 - 1, and texts as
 * their length and UTF-16 units, each an integer, so that ASCII takes one octet and every text is the same afterwards.
 */
import { assert } from '../../base/diagnostics/assert.ts';
import { xxhash32 } from '../../base/octets/xxhash32.ts';

const FIRST_SIZE = 1_024;
const CHECKSUM_SIZE = 4;
/** Octets of version and kind before, and of the checksum after the content. */
const FRAME_SIZE = 2 + CHECKSUM_SIZE;
/** The values of an octet of an integer; the bit above them marks that another octet follows. */
const LOW_BITS = 0x80;

/** The version and the kind of sealed octets. */
export interface Frame {
  readonly version: number;
  /** One character, such as `c`. */
  readonly kind: string;
}

/** Octets that grow as they are written. */
export interface Writer {
  bytes: Uint8Array;
  size: number;
}

/** A writer whose first two octets are the frame. */
export function createWriter({ version, kind }: Frame): Writer {
  const writer = { bytes: new Uint8Array(FIRST_SIZE), size: 0 };
  writeOctet(writer, version);
  writeOctet(writer, kind.charCodeAt(0));
  return writer;
}

function reserve(writer: Writer, size: number): void {
  const needed = writer.size + size;
  if (needed <= writer.bytes.length) return;
  const larger = new Uint8Array(Math.max(needed, writer.bytes.length * 2));
  larger.set(writer.bytes.subarray(0, writer.size));
  writer.bytes = larger;
}

/** Writes one octet. */
export function writeOctet(writer: Writer, octet: number): void {
  reserve(writer, 1);
  writer.bytes[writer.size++] = octet;
}

/** Writes an integer from 0 to 2^53 - 1. */
export function writeInteger(writer: Writer, integer: number): void {
  assert(Number.isSafeInteger(integer) && integer >= 0, `a count of ${integer}`);
  reserve(writer, 8);
  let rest = integer;
  for (; rest >= LOW_BITS; rest = Math.floor(rest / LOW_BITS)) {
    writer.bytes[writer.size++] = (rest % LOW_BITS) | LOW_BITS;
  }
  writer.bytes[writer.size++] = rest;
}

/** Writes a text. */
export function writeText(writer: Writer, text: string): void {
  writeInteger(writer, text.length);
  for (let at = 0; at < text.length; at++) writeInteger(writer, text.charCodeAt(at));
}

/** Writes a name once, and its number wherever it is repeated. */
export function writeName(writer: Writer, names: Map<string, number>, name: string): void {
  const number = names.get(name);
  writeInteger(writer, number ?? 0);
  if (number !== undefined) return;
  names.set(name, names.size + 1);
  writeText(writer, name);
}

/** Writes octets with their length. */
export function writeOctets(writer: Writer, octets: Uint8Array): void {
  writeInteger(writer, octets.length);
  reserve(writer, octets.length);
  writer.bytes.set(octets, writer.size);
  writer.size += octets.length;
}

/** Appends the checksum of all that is written. @returns the octets, a copy of their size */
export function finish(writer: Writer): Uint8Array {
  const checksum = xxhash32(writer.bytes.subarray(0, writer.size));
  reserve(writer, CHECKSUM_SIZE);
  new DataView(writer.bytes.buffer).setUint32(writer.size, checksum, true);
  return writer.bytes.slice(0, writer.size + CHECKSUM_SIZE);
}

/** Octets that are read in order. */
export interface Reader {
  readonly bytes: Uint8Array;
  at: number;
  /** Where the content ends. */
  readonly end: number;
}

/**
 * A reader of the content of a frame.
 * @throws CountsFault if the version, the kind or the checksum is another
 */
export function openFrame(bytes: Uint8Array, { version, kind }: Frame): Reader {
  const found = bytes[0];
  if (found === undefined) throw new CountsFault('truncated', 'sealed counts of 0 octets');
  if (found !== version) {
    throw new CountsFault(
      'version',
      `sealed counts of version ${found}, this build reads version ${version}`,
    );
  }
  if (bytes.length < FRAME_SIZE) {
    throw new CountsFault('truncated', `sealed counts of ${bytes.length} octets, at least ${FRAME_SIZE}`);
  }
  const end = bytes.length - CHECKSUM_SIZE;
  const stored = new DataView(bytes.buffer, bytes.byteOffset).getUint32(end, true);
  if (xxhash32(bytes.subarray(0, end)) !== stored) {
    throw new CountsFault('checksum', 'the checksum of the sealed counts is another: they are damaged');
  }
  if (bytes[1] !== kind.charCodeAt(0)) {
    throw layoutFault(`octets of kind ${bytes[1]}, expected ${kind.charCodeAt(0)}`);
  }
  return { bytes, at: 2, end };
}

/** A fault of the content. */
export function layoutFault(what: string): CountsFault {
  return new CountsFault('layout', `sealed counts with ${what}`);
}

/** Reads one octet. */
export function readOctet(reader: Reader): number {
  if (reader.at >= reader.end) throw new CountsFault('truncated', 'sealed counts that end within a field');
  return reader.bytes[reader.at++]!;
}

/** Reads an integer; one above `most`, by default 2^53 - 1, is a fault. */
export function readInteger(reader: Reader, most = Number.MAX_SAFE_INTEGER): number {
  let integer = 0;
  for (let scale = 1; ; scale *= LOW_BITS) {
    const octet = readOctet(reader);
    integer += (octet & (LOW_BITS - 1)) * scale;
    if (integer > most) throw layoutFault(`an integer above ${most}`);
    if (octet < LOW_BITS) return integer;
    if (scale > 2 ** 49) throw layoutFault('an integer of more than eight octets');
  }
}

/** Reads the number of items that follow, each of at least one octet, so that it is bounded by the input's size. */
export function readCount(reader: Reader, most: number): number {
  const count = readInteger(reader, most);
  if (count > reader.end - reader.at)
    throw new CountsFault('truncated', `sealed counts without their ${count} items`);
  return count;
}

/** Reads a text of at most so many UTF-16 units. */
export function readText(reader: Reader, most: number): string {
  const length = readCount(reader, most);
  const { bytes, at } = reader;
  // PERF: nearly all texts are ASCII, an octet per unit.
  if (skipAscii(reader, length)) return String.fromCharCode(...bytes.subarray(at, at + length));
  const units = new Uint16Array(length);
  for (let at = 0; at < units.length; at++) units[at] = readInteger(reader, 0xffff);
  return String.fromCharCode(...units);
}

/** Reads a name, of at most so many UTF-16 units where it is new. */
export function readName(reader: Reader, names: string[], most: number): string {
  const number = readInteger(reader, names.length);
  if (number > 0) return names[number - 1]!;
  const name = readText(reader, most);
  names.push(name);
  return name;
}

/** Sets what is read once. @throws CountsFault when the key is there */
export function setOnce<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  if (map.has(key)) throw layoutFault('one key twice');
  map.set(key, value);
}

/** Skips a text of at most so many UTF-16 units. */
export function skipText(reader: Reader, most: number): void {
  const length = readCount(reader, most);
  if (skipAscii(reader, length)) return;
  for (let rest = length; rest > 0; rest--) readInteger(reader, 0xffff);
}

/** Skips octets that are ASCII; false, and skips nothing: not all of them are. */
function skipAscii(reader: Reader, length: number): boolean {
  const { bytes, at } = reader;
  for (let next = at; next < at + length; next++) if (bytes[next]! >= LOW_BITS) return false;
  reader.at += length;
  return true;
}

/** Reads octets with their length; a view of the input. */
export function readOctets(reader: Reader): Uint8Array {
  return readFixed(reader, readInteger(reader));
}

/** Reads so many octets; a view of the input. */
export function readFixed(reader: Reader, size: number): Uint8Array {
  if (size > reader.end - reader.at) {
    throw new CountsFault('truncated', `sealed counts without ${size} octets at ${reader.at}`);
  }
  reader.at += size;
  return reader.bytes.subarray(reader.at - size, reader.at);
}

/** Whether something follows. */
export function hasMore(reader: Reader): boolean {
  return reader.at < reader.end;
}

/** Checks that nothing follows. */
export function finishReading(reader: Reader): void {
  if (reader.at !== reader.end) throw layoutFault(`${reader.end - reader.at} octets after the last field`);
}

// Why bytes are not sealed counts. `truncated`: they end too early. `version`: another build has sealed them. `checksum`:
// they are damaged. `layout`: they contain what no count has, such as a rule twice.

export const COUNTS_FAULTS = ['truncated', 'version', 'checksum', 'layout'] as const;
/** One of COUNTS_FAULTS. */
export type CountsFaultCode = (typeof COUNTS_FAULTS)[number];

/** Bytes that cannot be opened as sealed counts. Never to be taken for no traffic. */
export class CountsFault extends Error {
  readonly code: CountsFaultCode;

  constructor(code: CountsFaultCode, message: string) {
    super(message);
    this.name = 'CountsFault';
    this.code = code;
  }
}
