/**
 * Writes a large response body to its cache file. In: chunks, and at the end the head. Out: a file in its final place, or
 * none. Chunks that arrive during a write are written together with the next one.
 */
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { encodeEnding, writeAll } from './file-format.ts';
import type { BodyFile } from './fill.ts';
import { SPILL_STALL_MS, SPILL_WINDOW } from './limits.ts';

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
