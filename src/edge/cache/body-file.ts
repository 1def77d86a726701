/**
 * The file of a cached response: its format, and the writing of a large body to it. Chunks that arrive during a write
 * are written together with the next one.
 */
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { BodyFile } from './fill.ts';
import { MAX_FILE_HEAD, SPILL_STALL_MS, SPILL_WINDOW } from './limits.ts';

/** A body file that can be put in its final place. */
export interface CommittableBodyFile extends BodyFile {
  /** Ends the file with its head. Resolves to whether the file is in place. */
  commit(head: unknown): Promise<boolean>;
  /** Checksum of the octets written so far. */
  sum(): number;
}

export interface BodyFileOptions {
  /** Called with an error of the disk; the file is then abandoned. */
  readonly failed: (error: unknown) => void;
  /** Called when fewer octets are queued than the window allows. */
  readonly onRest: () => void;
  /**
   * Moves the finished file of `size` octets into place. `false`: the file has been invalidated meanwhile.
   */
  readonly move: (size: number) => Promise<boolean>;
  /** Called when the file is closed, in every case. */
  readonly over: () => void;
}

interface FileState {
  readonly path: string;
  readonly options: BodyFileOptions;
  readonly opening: Promise<FileHandle>;
  /** Chunks that no write has begun for. */
  queue: Uint8Array[];
  /** Octets queued or being written. */
  waiting: number;
  /** Octets and checksum of the body so far. */
  octets: number;
  sum: number;
  /** Failed, abandoned or committed: nothing more is written. */
  stopped: boolean;
  /** The write under way; `null`: none. */
  writing: Promise<void> | null;
  /** Resolves `finished`. */
  finish: () => void;
}

/** Opens a file at a temporary path. `finished` resolves when it is closed. */
export function createBodyFile(
  path: string,
  options: BodyFileOptions,
): CommittableBodyFile & { readonly finished: Promise<void> } {
  const { promise: finished, resolve } = withResolver();
  const state: FileState = {
    path,
    options,
    opening: open(path, 'wx', 0o600),
    queue: [],
    waiting: 0,
    octets: 0,
    sum: 0,
    stopped: false,
    writing: null,
    finish: resolve,
  };
  state.opening.catch((error: unknown) => stop(state, error));
  return {
    finished,
    sum: () => state.sum,
    isBehind: () => !state.stopped && state.waiting >= SPILL_WINDOW,
    write: (chunk) => write(state, chunk),
    abandon() {
      if (state.stopped) return;
      state.stopped = true;
      void close(state, false);
    },
    commit: (head) => commit(state, head),
  };
}

function withResolver(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((resolver) => {
    resolve = resolver;
  });
  return { promise, resolve };
}

function write(state: FileState, chunk: Uint8Array): boolean {
  if (state.stopped) return false;
  state.queue.push(chunk);
  state.waiting += chunk.length;
  state.octets += chunk.length;
  state.sum = crc32(chunk, state.sum);
  if (state.writing === null) {
    state.writing = writeQueue(state);
    state.writing.catch((error: unknown) => stop(state, error));
  }
  return true;
}

async function writeQueue(state: FileState): Promise<void> {
  const handle = await state.opening;
  while (state.queue.length > 0 && !state.stopped) {
    const batch = Buffer.concat(state.queue);
    state.queue = [];
    const stall = new Error('a disk took too long to write');
    const timer = setTimeout(() => stop(state, stall), SPILL_STALL_MS);
    await writeAll(handle, batch).finally(() => clearTimeout(timer));
    state.waiting -= batch.length;
    if (state.waiting < SPILL_WINDOW) state.options.onRest();
  }
  state.writing = null;
}

async function commit(state: FileState, head: unknown): Promise<boolean> {
  if (state.stopped) return false;
  const ending = encodeEnding({ head, bodyOctets: state.octets, bodySum: state.sum });
  try {
    await state.writing;
    if (ending === null) throw new Error('the head of an answer is too large for its file');
    await writeAll(await state.opening, ending);
    // A write that took too long has closed the file meanwhile.
    if (state.stopped) return false;
    const placed = await state.options.move(state.octets + ending.length);
    state.stopped = true;
    await close(state, true);
    return placed;
  } catch (error) {
    stop(state, error);
    return false;
  }
}

/** Abandons the file after an error of the disk. */
function stop(state: FileState, error: unknown): void {
  if (state.stopped) return;
  state.stopped = true;
  state.options.failed(error);
  state.options.onRest();
  void close(state, false);
}

/** Closes the file, and removes it unless it was moved into place. */
async function close(state: FileState, isPlaced: boolean): Promise<void> {
  await state.writing?.catch(() => undefined);
  await state.opening.then((handle) => handle.close()).catch(() => undefined);
  if (!isPlaced) await unlink(state.path).catch(() => undefined);
  state.options.over();
  state.finish();
}

// The format of a cache file: the body, then a JSON head, then a foot of fixed size with the lengths and
// checksums of both. The head comes last because the length of a body may be unknown until its end; a range
// of the body is a range of the file. A file that is truncated, damaged or of another version has no valid
// foot and is ignored.

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
