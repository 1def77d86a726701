/**
 * Domain names and resource records in wire form (RFC 1035 §3.1, §3.2.1), without compression. A record is owner, type,
 * class, TTL, length and data; the content of a zone is the concatenation of its records, sorted by their octets and
 * without duplicates, so two contents are compared by one merge, and a transfer copies records as they are.
 */
import { RECORD_NUMBERS } from '../../../base/vocabulary/record-types.ts';

/** A resource record of class IN. */
export interface ResourceRecord {
  /** Canonical, without a trailing dot; empty is the root. */
  readonly name: string;
  /** The number of the type (IANA, "Resource Record (RR) TYPEs"). */
  readonly type: number;
  /** Seconds. */
  readonly ttl: number;
  /** Names in it are not compressed. */
  readonly rdata: Uint8Array;
}

/** Numbers of types (IANA). */
export const TYPES = {
  ...RECORD_NUMBERS,
  SOA: 6,
  OPT: 41,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
} as const;
/** Numbers of classes (IANA). */
export const CLASSES = { IN: 1, ANY: 255 } as const;

/** The octets of one record. */
export function encodeRecord({ name, type, ttl, rdata }: ResourceRecord): Uint8Array {
  const owner = encodeName(name);
  const octets = Buffer.alloc(owner.length + FIXED_OCTETS + rdata.length);
  octets.set(owner);
  octets.writeUInt16BE(type, owner.length);
  octets.writeUInt16BE(CLASSES.IN, owner.length + 2);
  octets.writeUInt32BE(ttl, owner.length + 4);
  octets.writeUInt16BE(rdata.length, owner.length + 8);
  octets.set(rdata, owner.length + FIXED_OCTETS);
  return octets;
}

/** The content of records: sorted, without duplicates. */
export function packRecords(records: readonly ResourceRecord[]): Uint8Array {
  const encoded = records.map(encodeRecord).sort(Buffer.compare);
  return Buffer.concat(
    encoded.filter((octets, at) => at === 0 || Buffer.compare(octets, encoded[at - 1]!) !== 0),
  );
}

/** The octets of each record of a content. */
export function splitRecords(content: Uint8Array): readonly Uint8Array[] {
  const found: Uint8Array[] = [];
  for (let at = 0; at < content.length; ) {
    const end = recordEnd(content, at);
    found.push(content.subarray(at, end));
    at = end;
  }
  return found;
}

/** The records of a content. */
export function readRecords(content: Uint8Array): readonly ResourceRecord[] {
  return splitRecords(content).map((octets) => {
    const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
    const after = ownerEnd(octets, 0);
    return {
      name: ownerText(octets, after),
      type: view.getUint16(after),
      ttl: view.getUint32(after + 4),
      rdata: octets.subarray(after + FIXED_OCTETS),
    };
  });
}

/** What must be removed from one content and added to it for it to become the other. */
export function diffContents(
  before: Uint8Array,
  after: Uint8Array,
): { readonly removed: Uint8Array; readonly added: Uint8Array } {
  const old = splitRecords(before);
  const fresh = splitRecords(after);
  const removed: Uint8Array[] = [];
  const added: Uint8Array[] = [];
  let left = 0;
  let right = 0;
  while (left < old.length || right < fresh.length) {
    const order =
      left === old.length ? 1 : right === fresh.length ? -1 : Buffer.compare(old[left]!, fresh[right]!);
    if (order < 0) removed.push(old[left]!);
    if (order > 0) added.push(fresh[right]!);
    if (order <= 0) left++;
    if (order >= 0) right++;
  }
  return { removed: Buffer.concat(removed), added: Buffer.concat(added) };
}

/** Octets of type, class, TTL and length. */
const FIXED_OCTETS = 10;

function ownerEnd(octets: Uint8Array, from: number): number {
  let at = from;
  while (octets[at] !== 0) at += 1 + octets[at]!;
  return at + 1;
}

function recordEnd(content: Uint8Array, from: number): number {
  const after = ownerEnd(content, from);
  return after + FIXED_OCTETS + ((content[after + 8]! << 8) | content[after + 9]!);
}

/** The owner that ends before `end`, without a trailing dot. */
function ownerText(octets: Uint8Array, end: number): string {
  const labels: string[] = [];
  for (let at = 0; at < end - 1; at += 1 + octets[at]!) {
    labels.push(Buffer.from(octets.subarray(at + 1, at + 1 + octets[at]!)).toString('latin1'));
  }
  return labels.join('.');
}

// Domain names in wire form (RFC 1035 §3.1), without compression. Names of the store are canonical: lower case, labels of
// `a-z`, `0-9`, `-`, `_`, or `*` alone; no label contains a dot.

/** The octets of a canonical name without a trailing dot; empty is the root. */
export function encodeName(name: string): Uint8Array {
  if (name === '') return ROOT;
  const octets = new Uint8Array(name.length + 2);
  let length = 0;
  for (let at = name.length; at >= 0; at--) {
    const code = at === 0 ? DOT : name.charCodeAt(at - 1);
    octets[at] = code === DOT ? length : code;
    length = code === DOT ? 0 : length + 1;
  }
  return octets;
}

/** The name that starts at `at`, in lower case, and the position after it; `null`: malformed or compressed. */
export function decodeName(
  octets: Uint8Array,
  at: number,
): { readonly name: string; readonly end: number } | null {
  const labels: string[] = [];
  let position = at;
  for (;;) {
    const length = octets[position];
    if (length === undefined || length > 63 || position - at + length > MAX_NAME_OCTETS) return null;
    if (length === 0) return { name: labels.join('.').toLowerCase(), end: position + 1 };
    if (position + 1 + length > octets.length) return null;
    labels.push(String.fromCharCode(...octets.subarray(position + 1, position + 1 + length)));
    position += 1 + length;
  }
}

const ROOT = new Uint8Array(1);
const DOT = 0x2e;
/** RFC 1035 §2.3.4, the root's octet included. */
const MAX_NAME_OCTETS = 255;
