/**
 * The format of a cache file: the body, then a JSON head, then a foot of fixed size with the lengths and
 * checksums of both. The head comes last because the length of a body may be unknown until its end; a range
 * of the body is a range of the file. A file that is truncated, damaged or of another version has no valid
 * foot and is ignored.
 */
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { MAX_FILE_HEAD } from './limits.ts';

const MAGIC = 0x45504331;
export const FOOT_OCTETS = 24;

export interface Foot {
  readonly headOctets: number;
  readonly headSum: number;
  readonly bodySum: number;
  readonly bodyOctets: number;
}

export interface FileContent {
  readonly head: unknown;
  readonly foot: Foot;
  /** `null`: larger than requested. */
  readonly body: Uint8Array | null;
}

export interface Ending {
  readonly head: unknown;
  readonly bodyOctets: number;
  readonly bodySum: number;
}

/** The head and foot that follow the body; `null`: the head exceeds its limit. */
export function encodeEnding({ head, bodyOctets, bodySum }: Ending): Buffer | null {
  const text = Buffer.from(JSON.stringify(head), 'utf8');
  if (text.length > MAX_FILE_HEAD) return null;
  const foot = Buffer.alloc(FOOT_OCTETS);
  foot.writeUInt32BE(MAGIC, 0);
  foot.writeUInt32BE(text.length, 4);
  foot.writeUInt32BE(crc32(text), 8);
  foot.writeUInt32BE(bodySum, 12);
  foot.writeBigUInt64BE(BigInt(bodyOctets), 16);
  return Buffer.concat([text, foot]);
}

/** The foot of a file of `size` octets; `null`: the file has another format or is incomplete. */
export function decodeFoot(foot: Buffer, size: number): Foot | null {
  if (foot.length < FOOT_OCTETS || foot.readUInt32BE(0) !== MAGIC) return null;
  const headOctets = foot.readUInt32BE(4);
  const bodyOctets = Number(foot.readBigUInt64BE(16));
  if (headOctets > MAX_FILE_HEAD || bodyOctets + headOctets + FOOT_OCTETS !== size) return null;
  return { headOctets, headSum: foot.readUInt32BE(8), bodySum: foot.readUInt32BE(12), bodyOctets };
}

/**
 * Reads a file, and its body if that has at most `most` octets; `null`: damaged.
 * @throws the error of the file system
 */
export async function readContent(handle: FileHandle, most: number): Promise<FileContent | null> {
  const { size } = await handle.stat();
  const foot = decodeFoot(await readAt(handle, Math.max(0, size - FOOT_OCTETS), FOOT_OCTETS), size);
  if (foot === null) return null;
  const { bodyOctets, headOctets } = foot;
  const whole = bodyOctets <= most;
  const part = await readAt(handle, whole ? 0 : bodyOctets, (whole ? bodyOctets : 0) + headOctets);
  const text = part.subarray(part.length - headOctets);
  const body = whole ? part.subarray(0, bodyOctets) : null;
  if (crc32(text) !== foot.headSum || (body !== null && crc32(body) !== foot.bodySum)) return null;
  try {
    return { head: JSON.parse(text.toString('utf8')), foot, body };
  } catch {
    return null;
  }
}

/** Reads up to `octets` octets at a position, fewer at the end of the file. */
export async function readAt(handle: FileHandle, at: number, octets: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(octets);
  let read = 0;
  while (read < octets) {
    const { bytesRead } = await handle.read(buffer, read, octets - read, at + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return buffer.subarray(0, read);
}

/**
 * Writes all octets. A single write may be partial, as on a disk that is nearly full; the next one then
 * reports the reason.
 */
export async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at, bytes.length - at)).bytesWritten;
}
