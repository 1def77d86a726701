/**
 * Octets that one peer sends faster than another reads them. In: chunks. Out: the same octets, from any position that was
 * not released yet. The first are in memory; beyond `MEMORY_OCTETS` they are written to a file without a name.
 */
import type { FileHandle } from 'node:fs/promises';
import { MEMORY_OCTETS, READ_OCTETS, WRITE_OCTETS, WRITE_WINDOW } from './limits.ts';
import type { BufferSpace } from './space.ts';

export interface SpoolOptions {
  readonly space: BufferSpace;
  /** The client network that the octets count for. */
  readonly network: string;
  /** Octets of the file at most. */
  readonly most: number;
  /** Called when there is room again after `hasRoom` was false. */
  readonly onRoom: () => void;
}

export interface Spool {
  /** Octets written, ever. */
  readonly length: number;
  /** Stores a chunk in any case; `hasRoom` states whether to send more. */
  write(chunk: Uint8Array): void;
  hasRoom(): boolean;
  /**
   * Octets from a position on, as many as are contiguous, at least one. A promise if they are in the file, which rejects
   * when the file cannot be read.
   * @throws RangeError at or beyond `length`
   */
  read(at: number): Uint8Array | Promise<Uint8Array>;
  /** Octets before this position are not read again. */
  release(before: number): void;
  /** All octets if none were written to a file; else `null`. */
  inMemory(): Uint8Array | null;
  close(): void;
}

/** Chunks of fewer octets are gathered in buffers of `TAIL_OCTETS`. */
const SMALL_OCTETS = 1024;
const TAIL_OCTETS = 8 * 1024;

interface SpoolState {
  readonly options: SpoolOptions;
  /** The octets in memory, those from `memoryFrom` on. */
  chunks: Uint8Array[];
  memoryFrom: number;
  /** The last chunk, where small ones are gathered: an object for each octet would cost a hundred. */
  tail: { readonly buffer: Buffer; used: number } | null;
  length: number;
  /** The file starts with the octets from `fileFrom` up to `memoryFrom`. */
  fileFrom: number;
  file: Promise<FileHandle> | null;
  /** Octets of disk taken from the space. */
  diskOctets: number;
  writing: boolean;
  /** The file cannot be written: everything stays in memory. */
  failed: boolean;
  closed: boolean;
  /** Reads of the file under way. */
  reads: number;
  /** Octets before this position are not read again. */
  released: number;
}

export function createSpool(options: SpoolOptions): Spool {
  const state: SpoolState = {
    options,
    chunks: [],
    memoryFrom: 0,
    tail: null,
    length: 0,
    fileFrom: 0,
    file: null,
    diskOctets: 0,
    writing: false,
    failed: false,
    closed: false,
    reads: 0,
    released: 0,
  };
  return {
    get length() {
      return state.length;
    },
    write: (chunk) => write(state, chunk),
    hasRoom: () => hasRoom(state),
    read: (at) => (at < state.memoryFrom ? readFile(state, at) : readMemory(state, at)),
    release(before) {
      const hadRoom = hasRoom(state);
      state.released = Math.max(state.released, before);
      dropReleased(state);
      if (!hadRoom && hasRoom(state)) options.onRoom();
    },
    inMemory: () => (state.file === null ? Buffer.concat(state.chunks) : null),
    close: () => close(state),
  };
}

function write(state: SpoolState, chunk: Uint8Array): void {
  if (state.closed || chunk.length === 0) return;
  append(state, chunk);
  state.length += chunk.length;
  countMemory(state, chunk.length);
  if (isOverMemory(state)) flush(state);
}

function append(state: SpoolState, chunk: Uint8Array): void {
  const { chunks } = state;
  if (chunk.length >= SMALL_OCTETS) {
    state.tail = null;
    chunks.push(chunk);
    return;
  }
  let { tail } = state;
  if (tail === null || tail.used + chunk.length > tail.buffer.length) {
    tail = { buffer: Buffer.allocUnsafeSlow(TAIL_OCTETS), used: 0 };
    state.tail = tail;
    chunks.push(tail.buffer);
  }
  tail.buffer.set(chunk, tail.used);
  tail.used += chunk.length;
  chunks[chunks.length - 1] = tail.buffer.subarray(0, tail.used);
}

function countMemory({ options }: SpoolState, octets: number): void {
  options.space.memory.octets += octets;
}

function octetsInMemory({ length, memoryFrom }: SpoolState): number {
  return length - memoryFrom;
}

function isOverMemory(state: SpoolState): boolean {
  const octets = octetsInMemory(state);
  return octets >= MEMORY_OCTETS || (state.options.space.isMemoryFull() && octets > 0);
}

function hasRoom(state: SpoolState): boolean {
  return octetsInMemory(state) < (state.writing ? WRITE_WINDOW : MEMORY_OCTETS);
}

/** Writes octets in memory to the file, if there is disk space for them. */
function flush(state: SpoolState): void {
  const { space, network, most } = state.options;
  if (state.writing || state.failed || state.closed) return;
  const { count, octets } = firstChunks(state);
  const size = state.memoryFrom + octets - state.fileFrom;
  const growth = Math.max(0, size - state.diskOctets);
  if (size > most || !space.takeDisk(network, growth)) return;
  state.diskOctets += growth;
  state.writing = true;
  state.tail = null;
  const batch = Buffer.concat(state.chunks.slice(0, count), octets);
  writeAt(state, batch, state.memoryFrom - state.fileFrom)
    .then(
      () => {
        if (!state.closed) dropChunks(state, state.memoryFrom + batch.length);
      },
      (error: unknown) => {
        state.failed = true;
        space.fail(error);
      },
    )
    .finally(() => flushed(state));
}

function flushed(state: SpoolState): void {
  state.writing = false;
  if (state.closed) return void closeFile(state);
  dropReleased(state);
  if (isOverMemory(state)) flush(state);
  if (hasRoom(state)) state.options.onRoom();
}

/** The chunks of one write: few enough that the last of the disk space can be used. */
function firstChunks({ chunks }: SpoolState): { readonly count: number; readonly octets: number } {
  let octets = 0;
  let count = 0;
  while (count < chunks.length && octets < WRITE_OCTETS) octets += chunks[count++]!.length;
  return { count, octets };
}

async function writeAt(state: SpoolState, batch: Uint8Array, at: number): Promise<void> {
  state.file ??= state.options.space.openFile();
  const handle = await state.file;
  for (let done = 0; done < batch.length; ) {
    const { bytesWritten } = await handle.write(batch, done, batch.length - done, at + done);
    done += bytesWritten;
  }
}

/** Drops the chunks in memory that end before a position. */
function dropChunks(state: SpoolState, before: number): void {
  const { chunks } = state;
  let dropped = 0;
  while (dropped < chunks.length && state.memoryFrom + chunks[dropped]!.length <= before) {
    const { length } = chunks[dropped]!;
    state.memoryFrom += length;
    countMemory(state, -length);
    dropped++;
  }
  if (dropped === 0) return;
  state.chunks = chunks.slice(dropped);
  if (state.chunks.length === 0) state.tail = null;
}

/** Drops what is not read again. A batch being written stays until it is: its place in the file is fixed. */
function dropReleased(state: SpoolState): void {
  if (state.writing || state.released < state.memoryFrom) return;
  dropChunks(state, state.released);
  // No octet of the file is read again, so the next write goes to its start.
  if (state.reads === 0) state.fileFrom = state.memoryFrom;
}

function readMemory({ chunks, memoryFrom }: SpoolState, at: number): Uint8Array {
  let from = memoryFrom;
  for (const chunk of chunks) {
    if (at < from + chunk.length) return at === from ? chunk : chunk.subarray(at - from);
    from += chunk.length;
  }
  throw new RangeError('no octet of a body is there');
}

async function readFile(state: SpoolState, at: number): Promise<Uint8Array> {
  const octets = Math.min(READ_OCTETS, state.memoryFrom - at);
  const buffer = Buffer.allocUnsafeSlow(octets);
  state.reads++;
  try {
    const { bytesRead } = await (await state.file!).read(buffer, 0, octets, at - state.fileFrom);
    if (bytesRead === 0) throw new Error('the file of a body ends too early');
    return buffer.subarray(0, bytesRead);
  } finally {
    state.reads--;
    if (state.closed) closeFile(state);
  }
}

function close(state: SpoolState): void {
  if (state.closed) return;
  state.closed = true;
  countMemory(state, -octetsInMemory(state));
  state.chunks = [];
  state.memoryFrom = state.length;
  closeFile(state);
}

/** Closes the file once no read or write of it is under way, and gives its disk space back. */
function closeFile(state: SpoolState): void {
  const { space, network } = state.options;
  if (state.writing || state.reads > 0) return;
  space.giveDisk(network, state.diskOctets);
  state.diskOctets = 0;
  const handle = state.file;
  state.file = null;
  handle?.then((opened) => opened.close()).catch(space.fail);
}
