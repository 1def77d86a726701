/**
 * Octets that one peer sends faster than another takes them. In: chunks. Out: the same octets from any place that was not
 * released yet. The first are in memory; beyond `MEMORY_OCTETS` they are written to a file without a name.
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
  /** Takes a chunk in any case; whether to send more is what `hasRoom` says. */
  write(chunk: Uint8Array): void;
  hasRoom(): boolean;
  /**
   * Octets from a place on, as many as lie together, at least one; there must be one. A promise where they are in the
   * file, which rejects when it cannot be read.
   */
  read(at: number): Uint8Array | Promise<Uint8Array>;
  /** Octets before this place are not read again. */
  release(before: number): void;
  /** All of it where nothing was written to a file; else `null`. */
  inMemory(): Uint8Array | null;
  close(): void;
}

/** Chunks below so many octets are gathered in buffers of so many. */
const SMALL_OCTETS = 1024;
const TAIL_OCTETS = 8 * 1024;

export function createSpool({ space, network, most, onRoom }: SpoolOptions): Spool {
  /** What is in memory: the octets from `memoryFrom` on. */
  let chunks: Uint8Array[] = [];
  let memoryFrom = 0;
  /** The last of them, where small ones are gathered: an object for each octet would cost a hundred. */
  let tail: { readonly buffer: Buffer; used: number } | null = null;
  let length = 0;
  /** The file has the octets from `fileFrom` up to `memoryFrom`, at its start. */
  let fileFrom = 0;
  let file: Promise<FileHandle> | null = null;
  /** Octets of disk that are counted for it. */
  let taken = 0;
  let writing = false;
  let failed = false;
  let closed = false;
  let reads = 0;
  /** Octets before this place are not read again. */
  let released = 0;

  const inMemoryOctets = (): number => length - memoryFrom;

  function account(octets: number): void {
    space.memory.octets += octets;
  }

  function append(chunk: Uint8Array): void {
    if (chunk.length >= SMALL_OCTETS) {
      tail = null;
      chunks.push(chunk);
      return;
    }
    if (tail === null || tail.used + chunk.length > tail.buffer.length) {
      tail = { buffer: Buffer.allocUnsafeSlow(TAIL_OCTETS), used: 0 };
      chunks.push(tail.buffer);
    }
    tail.buffer.set(chunk, tail.used);
    tail.used += chunk.length;
    chunks[chunks.length - 1] = tail.buffer.subarray(0, tail.used);
  }

  /** Writes what is in memory to the file, where there is disk for it. */
  function flush(): void {
    if (writing || failed || closed) return;
    const { count, octets } = firstChunks();
    const size = memoryFrom + octets - fileFrom;
    const more = Math.max(0, size - taken);
    if (size > most || !space.takeDisk(network, more)) return;
    taken += more;
    writing = true;
    tail = null;
    const batch = Buffer.concat(chunks.slice(0, count), octets);
    writeAt(batch, memoryFrom - fileFrom)
      .then(
        () => {
          if (closed) return;
          dropChunks(memoryFrom + batch.length);
        },
        (error: unknown) => {
          failed = true;
          space.fail(error);
        },
      )
      .finally(() => {
        writing = false;
        if (closed) return end();
        dropReleased();
        if (isOverMemory()) flush();
        if (hasRoom()) onRoom();
      });
  }

  /** What is written at once: small enough that the last of the disk can be used. */
  function firstChunks(): { readonly count: number; readonly octets: number } {
    let octets = 0;
    let count = 0;
    while (count < chunks.length && octets < WRITE_OCTETS) octets += chunks[count++]!.length;
    return { count, octets };
  }

  async function writeAt(batch: Uint8Array, at: number): Promise<void> {
    file ??= space.openFile();
    const handle = await file;
    for (let done = 0; done < batch.length; ) {
      const { bytesWritten } = await handle.write(batch, done, batch.length - done, at + done);
      done += bytesWritten;
    }
  }

  function isOverMemory(): boolean {
    return inMemoryOctets() >= MEMORY_OCTETS || (space.isMemoryFull() && inMemoryOctets() > 0);
  }

  function hasRoom(): boolean {
    return inMemoryOctets() < (writing ? WRITE_WINDOW : MEMORY_OCTETS);
  }

  /** Lets go of chunks in memory before a place. */
  function dropChunks(before: number): void {
    let gone = 0;
    while (gone < chunks.length && memoryFrom + chunks[gone]!.length <= before) {
      memoryFrom += chunks[gone]!.length;
      account(-chunks[gone]!.length);
      gone++;
    }
    if (gone === 0) return;
    chunks = chunks.slice(gone);
    if (chunks.length === 0) tail = null;
  }

  /** Lets go of what is not read again. What is being written stays until it is: its place in the file is settled. */
  function dropReleased(): void {
    if (writing || released < memoryFrom) return;
    dropChunks(released);
    // No octet of the file is read again, so the next write goes to its start.
    if (reads === 0) fileFrom = memoryFrom;
  }

  async function readFile(at: number): Promise<Uint8Array> {
    const octets = Math.min(READ_OCTETS, memoryFrom - at);
    const buffer = Buffer.allocUnsafeSlow(octets);
    reads++;
    try {
      const { bytesRead } = await (await file!).read(buffer, 0, octets, at - fileFrom);
      if (bytesRead === 0) throw new Error('the file of a body ends too early');
      return buffer.subarray(0, bytesRead);
    } finally {
      reads--;
      if (closed) end();
    }
  }

  function end(): void {
    if (writing || reads > 0) return;
    space.giveDisk(network, taken);
    taken = 0;
    const handle = file;
    file = null;
    handle?.then((opened) => opened.close()).catch(space.fail);
  }

  return {
    get length() {
      return length;
    },
    write(chunk) {
      if (closed || chunk.length === 0) return;
      append(chunk);
      length += chunk.length;
      account(chunk.length);
      if (isOverMemory()) flush();
    },
    hasRoom,
    read(at) {
      if (at < memoryFrom) return readFile(at);
      let from = memoryFrom;
      for (const chunk of chunks) {
        if (at < from + chunk.length) return at === from ? chunk : chunk.subarray(at - from);
        from += chunk.length;
      }
      throw new RangeError('no octet of a body is there');
    },
    release(before) {
      const hadRoom = hasRoom();
      released = Math.max(released, before);
      dropReleased();
      if (!hadRoom && hasRoom()) onRoom();
    },
    inMemory: () => (file === null ? Buffer.concat(chunks) : null),
    close() {
      if (closed) return;
      closed = true;
      account(-inMemoryOctets());
      chunks = [];
      memoryFrom = length;
      end();
    },
  };
}
