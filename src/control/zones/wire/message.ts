/**
 * Reads DNS messages of secondaries and builds those of this server (RFC 1035 §4.1, RFC 1995, RFC 1996, RFC 6891). Reading
 * checks every bound and never throws; names may be compressed. What is built is compressed against the question alone.
 */
import { PLAIN_DATAGRAM_OCTETS } from '../limits.ts';
import { CLASSES, decodeName, encodeName, TYPES } from './records.ts';

/** Opcodes (IANA). */
export const OPCODES = { QUERY: 0, NOTIFY: 4 } as const;
/** RCODEs (IANA); those above 15 are errors of a TSIG record. */
export const RCODES = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  NOTAUTH: 9,
  BADSIG: 16,
  BADKEY: 17,
  BADTIME: 18,
} as const;
/** Flags of the header. */
export const FLAGS = { QR: 0x8000, AA: 0x0400, TC: 0x0200, RD: 0x0100 } as const;
/** Octets of the header. */
export const HEADER_OCTETS = 12;

/** The one question of a message. */
export interface ZoneQuestion {
  /** Canonical; `null` if no zone can have that name. */
  readonly name: string | null;
  readonly type: number;
  readonly class: number;
  /** As sent: the case of the name is preserved. */
  readonly octets: Buffer;
}

/** A TSIG record (RFC 8945 §4.2). */
export interface TsigRecord {
  /** The offset at which the record starts. */
  readonly at: number;
  /** Owner and algorithm in wire form, lower case. */
  readonly key: Buffer;
  readonly algorithm: Buffer;
  /** Seconds since the epoch. */
  readonly time: number;
  /** Seconds. */
  readonly fudge: number;
  readonly mac: Buffer;
  readonly originalId: number;
  readonly error: number;
  readonly other: Buffer;
}

/** What every message that has a header has. */
export interface MessageHead {
  readonly id: number;
  readonly opcode: number;
  readonly rcode: number;
  readonly isResponse: boolean;
  readonly recursionDesired: boolean;
}

/** A message that has the form of a query, a NOTIFY or a response to one. */
export interface ZoneMessage extends MessageHead {
  readonly kind: 'message';
  readonly question: ZoneQuestion;
  /** The serial of the first SOA record of the authority section that has the name of the question (RFC 1995 §3). */
  readonly serial: number | null;
  /** The largest datagram the sender accepts, in octets, if the message has an OPT record. */
  readonly payload: number | null;
  readonly tsig: TsigRecord | null;
  /** All octets of the message. */
  readonly octets: Buffer;
}

/** A message whose header can be read, and the rest cannot. */
export interface MalformedMessage extends MessageHead {
  readonly kind: 'malformed';
}

/** Reads a message; `null`: it is shorter than a header. */
export function readMessage(octets: Buffer): ZoneMessage | MalformedMessage | null {
  if (octets.length < HEADER_OCTETS) return null;
  const flags = octets.readUInt16BE(2);
  const head: MessageHead = {
    id: octets.readUInt16BE(0),
    opcode: (flags >> 11) & 15,
    rcode: flags & 15,
    isResponse: (flags & FLAGS.QR) !== 0,
    recursionDesired: (flags & FLAGS.RD) !== 0,
  };
  const malformed: MalformedMessage = { kind: 'malformed', ...head };
  const question = octets.readUInt16BE(4) === 1 ? readQuestion(octets) : null;
  if (question === null) return malformed;
  const rest = readSections(octets, question);
  return rest === null ? malformed : { kind: 'message', ...head, question, ...rest, octets };
}

/** What a message is built from. */
export interface MessageParts {
  readonly id: number;
  /** Flags, opcode and RCODE as the header has them. */
  readonly flags: number;
  /** `null`: no question. */
  readonly question: Buffer | null;
  /** Records of the answer section. */
  readonly answers?: readonly Uint8Array[];
  /** Adds an OPT record (RFC 6891 §6.1.1: if the request has one). */
  readonly edns?: boolean;
}

/** The octets of a message. */
export function writeMessage({ id, flags, question, answers = [], edns = false }: MessageParts): Buffer {
  const header = Buffer.alloc(HEADER_OCTETS);
  const counts = [question === null ? 0 : 1, answers.length, 0, edns ? 1 : 0];
  for (const [at, value] of [id, flags, ...counts].entries()) header.writeUInt16BE(value, at * 2);
  return Buffer.concat([header, question ?? EMPTY, ...answers, edns ? OPT : EMPTY]);
}

/** The flags of a response: opcode and RD are those of the request. */
export function responseFlags(head: MessageHead, rcode: number, flags = 0): number {
  return FLAGS.QR | (head.opcode << 11) | (head.recursionDesired ? FLAGS.RD : 0) | flags | rcode;
}

/** The octets of a question of class IN. */
export function writeQuestion(name: string, type: number): Buffer {
  return Buffer.concat([encodeName(name), Buffer.from([type >> 8, type & 255, 0, CLASSES.IN])]);
}

/** The largest datagram that may answer a message, in octets. */
export function datagramOctets({ payload }: ZoneMessage): number {
  return Math.min(Math.max(payload ?? 0, PLAIN_DATAGRAM_OCTETS), OUR_PAYLOAD);
}

/**
 * Replaces the end of a record's owner by a pointer to the question if it is the question's name.
 * @param zone the name of the question in wire form, lower case
 */
export function compressOwner(record: Uint8Array, zone: Uint8Array): Uint8Array {
  // A pointer has two octets, the root one.
  if (zone.length <= 2) return record;
  let at = 0;
  while (record[at] !== 0) {
    if (startsWith(record, at, zone)) {
      return Buffer.concat([record.subarray(0, at), POINTER, record.subarray(at + zone.length)]);
    }
    at += 1 + record[at]!;
  }
  return record;
}

const EMPTY = Buffer.alloc(0);
/** To offset 12, where the question is (RFC 1035 §4.1.4). */
const POINTER = Buffer.from([0xc0, HEADER_OCTETS]);
/** The largest datagram that is never fragmented (DNS Flag Day 2020). */
const OUR_PAYLOAD = 1_232;
/** Root, type 41, the payload size as class, TTL 0, no options (RFC 6891 §6.1.2). */
const OPT = Buffer.from([0, 0, TYPES.OPT, OUR_PAYLOAD >> 8, OUR_PAYLOAD & 255, 0, 0, 0, 0, 0, 0]);
/** RFC 1035 §2.3.4, the root's octet included. */
const MAX_NAME_OCTETS = 255;
/** Octets of a TSIG record's data beside algorithm, MAC and other data. */
const TSIG_FIXED_OCTETS = 16;
/** Octets of the five numbers of an SOA record. */
const SOA_FIXED_OCTETS = 20;

function startsWith(octets: Uint8Array, at: number, wanted: Uint8Array): boolean {
  if (octets.length - at < wanted.length) return false;
  for (let index = 0; index < wanted.length; index++) {
    if (octets[at + index] !== wanted[index]) return false;
  }
  return true;
}

function readQuestion(octets: Buffer): ZoneQuestion | null {
  const owner = readName(octets, HEADER_OCTETS);
  // Answers point to the question's name, so it must be there in full.
  if (owner === null || owner.wire.length !== owner.end - HEADER_OCTETS || owner.end + 4 > octets.length) {
    return null;
  }
  return {
    name: canonicalName(owner.wire),
    type: octets.readUInt16BE(owner.end),
    class: octets.readUInt16BE(owner.end + 2),
    octets: octets.subarray(HEADER_OCTETS, owner.end + 4),
  };
}

/** The text of a name; `null` if a label has a character that no name of the store has, so that no two names share a text. */
function canonicalName(wire: Buffer): string | null {
  const decoded = decodeName(wire, 0);
  return decoded !== null && wire.equals(encodeName(decoded.name)) ? decoded.name : null;
}

type Sections = Pick<ZoneMessage, 'serial' | 'payload' | 'tsig'>;

/** Reads all records after the question; `null`: malformed. */
function readSections(octets: Buffer, question: ZoneQuestion): Sections | null {
  const [answers, authorities, additionals] = [6, 8, 10].map((at) => octets.readUInt16BE(at));
  const total = answers! + authorities! + additionals!;
  const zone = lowerCase(question.octets.subarray(0, -4));
  let found: Sections = { serial: null, payload: null, tsig: null };
  let at = HEADER_OCTETS + question.octets.length;
  for (let index = 0; index < total; index++) {
    const record = readRecord(octets, at);
    if (record === null) return null;
    at = record.end;
    const additional = index >= answers! + authorities!;
    if (record.type === TYPES.TSIG) {
      // RFC 8945 §5.1: it is the last record of the additional section, and the only one.
      const tsig = additional && index === total - 1 ? readTsig(octets, record) : null;
      if (tsig === null) return null;
      found = { ...found, tsig };
    } else if (additional && record.type === TYPES.OPT) {
      // RFC 6891 §6.1.1: there is at most one, and its owner is the root.
      if (found.payload !== null || record.owner.length !== 1) return null;
      found = { ...found, payload: record.class };
    } else if (!additional && index >= answers! && record.type === TYPES.SOA && found.serial === null) {
      const serial = readSerial(octets, record);
      if (serial === null) return null;
      if (record.class === CLASSES.IN && record.owner.equals(zone)) found = { ...found, serial };
    }
  }
  return at === octets.length ? found : null;
}

interface RecordPlace {
  readonly start: number;
  readonly owner: Buffer;
  readonly type: number;
  readonly class: number;
  readonly ttl: number;
  /** Where the data starts and ends. */
  readonly data: number;
  readonly end: number;
}

function readRecord(octets: Buffer, start: number): RecordPlace | null {
  const owner = readName(octets, start);
  if (owner === null || owner.end + 10 > octets.length) return null;
  const data = owner.end + 10;
  const end = data + octets.readUInt16BE(owner.end + 8);
  if (end > octets.length) return null;
  return {
    start,
    owner: owner.wire,
    type: octets.readUInt16BE(owner.end),
    class: octets.readUInt16BE(owner.end + 2),
    ttl: octets.readUInt32BE(owner.end + 4),
    data,
    end,
  };
}

function readSerial(octets: Buffer, { data, end }: RecordPlace): number | null {
  const primary = readName(octets, data);
  const contact = primary === null ? null : readName(octets, primary.end);
  return contact === null || contact.end + SOA_FIXED_OCTETS !== end ? null : octets.readUInt32BE(contact.end);
}

function readTsig(octets: Buffer, record: RecordPlace): TsigRecord | null {
  const algorithm = readName(octets, record.data);
  if (record.class !== CLASSES.ANY || record.ttl !== 0 || algorithm === null) return null;
  const fields = algorithm.end;
  if (fields + TSIG_FIXED_OCTETS > record.end) return null;
  const afterMac = fields + 10 + octets.readUInt16BE(fields + 8);
  if (afterMac + 6 > record.end) return null;
  if (afterMac + 6 + octets.readUInt16BE(afterMac + 4) !== record.end) return null;
  return {
    at: record.start,
    key: record.owner,
    algorithm: algorithm.wire,
    time: octets.readUIntBE(fields, 6),
    fudge: octets.readUInt16BE(fields + 6),
    mac: octets.subarray(fields + 10, afterMac),
    originalId: octets.readUInt16BE(afterMac),
    error: octets.readUInt16BE(afterMac + 2),
    other: octets.subarray(afterMac + 6, record.end),
  };
}

/** A name in lower case and without compression, and the position after it; `null`: malformed. */
function readName(octets: Buffer, start: number): { readonly wire: Buffer; readonly end: number } | null {
  const wire = Buffer.alloc(MAX_NAME_OCTETS);
  let length = 0;
  let end = -1;
  let at = start;
  for (;;) {
    const size = octets[at];
    if (size === undefined) return null;
    if (size >= 0xc0) {
      const target = ((size & 0x3f) << 8) | (octets[at + 1] ?? 0);
      // A pointer points backwards (RFC 1035 §4.1.4: to a prior occurrence), so there is no loop.
      if (at + 2 > octets.length || target >= at || target < HEADER_OCTETS) return null;
      if (end === -1) end = at + 2;
      at = target;
      continue;
    }
    if (size > 63 || at + 1 + size > octets.length || length + 1 + size > MAX_NAME_OCTETS) return null;
    octets.copy(wire, length, at, at + 1 + size);
    length += 1 + size;
    at += 1 + size;
    if (size === 0) return { wire: lowerCase(wire.subarray(0, length)), end: end === -1 ? at : end };
  }
}

/** Octets of labels in lower case (RFC 4343); the length of a label is below the codes of letters. */
function lowerCase(wire: Uint8Array): Buffer {
  return Buffer.from(wire.map((octet) => (octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet)));
}
