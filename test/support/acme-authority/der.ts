/** The part of DER (X.690) that X.509 certificates and signing requests need: written and read, without limits on depth. */
import { Buffer } from 'node:buffer';

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  sequence: 0x30,
  set: 0x31,
} as const;

/** One value as read. */
export interface DerItem {
  readonly tag: number;
  readonly content: Buffer;
  /** Tag, length and content. */
  readonly whole: Buffer;
}

/** A value of a tag; its content is the parts one after another. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const hex = length.toString(16);
  const size = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 + size.length]), size, content]);
}

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(TAG.sequence, ...parts);
}

/** An object identifier from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [40 * first + second];
  for (const arc of rest) {
    const digits = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return der(TAG.oid, Buffer.from(bytes));
}

/** A positive integer from its bytes, most significant first; a zero byte goes before a leading one bit. */
export function integer(bytes: Uint8Array): Buffer {
  const isHigh = (bytes[0] ?? 0) >= 0x80;
  return der(TAG.integer, isHigh ? Buffer.from([0]) : Buffer.alloc(0), bytes);
}

/** A bit string whose last byte has `unused` bits that do not count. */
export function bitString(bytes: Uint8Array, unused = 0): Buffer {
  return der(TAG.bits, Buffer.from([unused]), bytes);
}

/** A date in milliseconds since the epoch: UTCTime until 2049, then GeneralizedTime (RFC 5280 section 4.1.2.5). */
export function date(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '');
  return text < '2050' ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text));
}

/** The first value of the bytes; throws if they end within it. */
export function readDer(bytes: Buffer): DerItem {
  const tag = bytes[0];
  const short = bytes[1];
  if (tag === undefined || short === undefined) throw new Error('the value ends within its header');
  const sizeBytes = short < 0x80 ? 0 : short - 0x80;
  if (sizeBytes > 3 || short === 0x80) throw new Error('the length of a value is unusual');
  const start = 2 + sizeBytes;
  const length = sizeBytes === 0 ? short : bytes.readUIntBE(2, sizeBytes);
  if (start + length > bytes.length) throw new Error('the value ends within its content');
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(0, start + length) };
}

/** The values that the content of a value consists of. */
export function readParts({ content }: DerItem): readonly DerItem[] {
  const parts: DerItem[] = [];
  for (let at = 0; at < content.length; at += parts.at(-1)?.whole.length ?? 0) {
    parts.push(readDer(content.subarray(at)));
  }
  return parts;
}
