/**
 * The wire format of Protocol Buffers (protobuf.dev, "Encoding"), as much as the messages of this room need. In: octets of a
 * message. Out: its fields one by one; or fields in, octets out. Groups, which proto3 does not have, are refused, so that
 * a field that is not read is skipped without recursion.
 */

/** A message that is malformed: the fault of the sender. */
export class ProtobufError extends Error {}

// Wire types: the lowest three bits of a tag.
const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;
const FIXED32 = 5;

/** The tag of a varint field: integers, booleans, enumerations. */
export function varintTag(field: number): number {
  return (field << 3) | VARINT;
}

/** The tag of a length-delimited field: texts, octets, messages, entries of maps. */
export function delimitedTag(field: number): number {
  return (field << 3) | DELIMITED;
}

/** A position in a message. */
export interface ProtobufReader {
  readonly octets: Buffer;
  at: number;
  /** The end of the innermost message that is being read. */
  end: number;
}

/** Octets of the longest varint: ten times seven bits hold 64. */
const MAX_VARINT_OCTETS = 10;

/** Reads a varint; exact up to 2^53, above that only known to be larger. */
export function readVarint(reader: ProtobufReader): number {
  const { octets, end } = reader;
  let { at } = reader;
  let value = 0;
  let scale = 1;
  for (let read = 0; read < MAX_VARINT_OCTETS; read++) {
    if (at >= end) throw new ProtobufError('the message ends within a varint');
    const octet = octets[at++]!;
    value += (octet & 0x7f) * scale;
    if (octet < 0x80) {
      reader.at = at;
      return value;
    }
    scale *= 0x80;
  }
  throw new ProtobufError(`a varint has more than ${MAX_VARINT_OCTETS} octets`);
}

/** The largest tag: a field number of 29 bits. */
const MAX_TAG = 2 ** 32 - 1;

/** The next tag; 0: the message has ended. */
export function readTag(reader: ProtobufReader): number {
  if (reader.at >= reader.end) return 0;
  const tag = readVarint(reader);
  if (tag < 8 || tag > MAX_TAG)
    throw new ProtobufError(`the field number ${tag >= 8 ? 'is too large' : 'is 0'}`);
  return tag;
}

/** Reads the length of a delimited field; the field begins at `reader.at`. */
function readLength(reader: ProtobufReader): number {
  const length = readVarint(reader);
  if (length > reader.end - reader.at) throw new ProtobufError('a field is longer than its message');
  return length;
}

/** Skips the field of a tag. */
export function skipField(reader: ProtobufReader, tag: number): void {
  switch (tag % 8) {
    case VARINT:
      readVarint(reader);
      return;
    case FIXED64:
      return void skipOctets(reader, 8);
    case DELIMITED:
      return void skipOctets(reader, readLength(reader));
    case FIXED32:
      return void skipOctets(reader, 4);
    default:
      throw new ProtobufError('a field is a group or has an unknown wire type');
  }
}

function skipOctets(reader: ProtobufReader, count: number): void {
  if (count > reader.end - reader.at) throw new ProtobufError('a field is longer than its message');
  reader.at += count;
}

/**
 * Reads a text, one character an octet. Proxies put octets of requests into texts, which need not be UTF-8: proto3 would
 * have such a message refused, and a visitor could have every check fail.
 */
export function readText(reader: ProtobufReader): string {
  const length = readLength(reader);
  const from = reader.at;
  reader.at = from + length;
  return reader.octets.toString('latin1', from, reader.at);
}

/** Reads octets: a view of the message. */
export function readOctets(reader: ProtobufReader): Buffer {
  const length = readLength(reader);
  const from = reader.at;
  reader.at = from + length;
  return reader.octets.subarray(from, reader.at);
}

/** Enters a message within the message; returns the end of the outer one for `leaveMessage`. */
export function enterMessage(reader: ProtobufReader): number {
  const length = readLength(reader);
  const outer = reader.end;
  reader.end = reader.at + length;
  return outer;
}

/** Returns to the outer message. INVARIANT: the inner one is read to its end. */
export function leaveMessage(reader: ProtobufReader, outer: number): void {
  reader.end = outer;
}

// Writing. Messages are written from their end to their start: the length of a message is known once it is written, and its
// length and tag come in front of it.

/** Octets of a message, from `at` to the end of `octets`. */
export interface ProtobufWriter {
  octets: Buffer;
  at: number;
}

/** Octets for most messages. PERF: Node has a pool for buffers below 4 KiB. */
const FIRST_OCTETS = 1024;

/** A writer for one message. */
export function createWriter(): ProtobufWriter {
  const octets = Buffer.allocUnsafe(FIRST_OCTETS);
  return { octets, at: octets.length };
}

/** Makes room in front for so many octets, and moves there. */
function reserve(writer: ProtobufWriter, count: number): number {
  if (count > writer.at) {
    const { octets, at } = writer;
    const written = octets.length - at;
    const larger = Buffer.allocUnsafe(2 * (written + count) + FIRST_OCTETS);
    octets.copy(larger, larger.length - written, at);
    writer.octets = larger;
    writer.at = larger.length - written;
  }
  writer.at -= count;
  return writer.at;
}

function writeVarint(writer: ProtobufWriter, value: number): void {
  let count = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) count++;
  let at = reserve(writer, count);
  const { octets } = writer;
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) octets[at++] = (rest % 0x80) | 0x80;
  octets[at] = rest;
}

/** Writes a number that is not negative. */
export function writeNumber(writer: ProtobufWriter, tag: number, value: number): void {
  writeVarint(writer, value);
  writeVarint(writer, tag);
}

/** Writes a text as UTF-8. */
export function writeText(writer: ProtobufWriter, tag: number, text: string): void {
  const { length } = text;
  // PERF: most texts are short and ASCII: they need no measuring of their octets in UTF-8.
  if (isAscii(text)) {
    const at = reserve(writer, length);
    writer.octets.write(text, at, length, 'latin1');
    writeVarint(writer, length);
    writeVarint(writer, tag);
  } else writeOctets(writer, tag, Buffer.from(text));
}

/** Writes octets: of a text they have to be UTF-8. */
export function writeOctets(writer: ProtobufWriter, tag: number, octets: Uint8Array): void {
  const at = reserve(writer, octets.length);
  writer.octets.set(octets, at);
  writeVarint(writer, octets.length);
  writeVarint(writer, tag);
}

/** The octets written so far: what `closeMessage` needs. */
export function openMessage({ octets, at }: ProtobufWriter): number {
  return octets.length - at;
}

/** Puts length and tag in front of what was written since `opened`. */
export function closeMessage(writer: ProtobufWriter, tag: number, opened: number): void {
  writeVarint(writer, writer.octets.length - writer.at - opened);
  writeVarint(writer, tag);
}

/** What was written: a view. */
export function written({ octets, at }: ProtobufWriter): Buffer {
  return octets.subarray(at);
}

/** Whether a text has no character above 0x7F. */
export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}
