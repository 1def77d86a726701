/**
 * The journal of one minute: every second that was counted, appended to a file, so that a node that is killed loses no more
 * than its last second. In: sealed batches. Out: nothing, until a later start reads what an earlier process has left.
 *
 * Appends are in the page cache when they resolve, which outlives the process; `sync` makes them durable.
 */
import { type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { frameOf, type ReadFrames, readFrames } from './frames.ts';

/** The journal of a minute. */
export interface Journal {
  readonly path: string;
  /** Appends a sealed batch. Rejects with the file system's error; the file ends with a whole frame then. */
  append(sealed: Uint8Array): Promise<void>;
  /** Makes the file durable and closes it. */
  close(): Promise<void>;
}

/** Creates the file. @throws the file system's error */
export async function createJournal(path: string): Promise<Journal> {
  const handle = await open(path, 'wx', 0o600);
  let length = 0;
  /** An append failed and could not be undone: what followed it could not be read. */
  let isBroken = false;
  return {
    path,
    async append(sealed) {
      if (isBroken) throw new Error(`${path} ends with a frame that is not whole`);
      const frame = frameOf(sealed);
      try {
        await writeWhole(handle, frame, length);
        length += frame.length;
      } catch (error) {
        await handle.truncate(length).catch(() => {
          isBroken = true;
        });
        throw error;
      }
    },
    async close() {
      try {
        await handle.datasync();
      } finally {
        await handle.close();
      }
    },
  };
}

/** A write may take only a part, such as on a disk that is nearly full. */
async function writeWhole(handle: FileHandle, octets: Uint8Array, position: number): Promise<void> {
  let written = 0;
  while (written < octets.length) {
    const { bytesWritten } = await handle.write(octets, written, octets.length - written, position + written);
    written += bytesWritten;
  }
}

/** What an earlier process has left. */
export interface LeftJournal extends ReadFrames {
  /** The last change of the file, milliseconds since the epoch. */
  readonly changedAt: number;
}

/** Reads a journal. @throws the file system's error */
export async function readJournal(path: string): Promise<LeftJournal> {
  const { mtimeMs } = await stat(path);
  return { ...readFrames(await readFile(path)), changedAt: mtimeMs };
}
