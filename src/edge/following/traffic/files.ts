/**
 * Files of traffic counts, which consist of frames: journals of minutes, and batches that the control plane has not
 * accepted.
 */
import { type FileHandle, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { xxhash32 } from '../../../base/octets/xxhash32.ts';
import { removeUnfinished, syncFolder, writeAtomically } from '../../../base/platform/durable-file.ts';
import { MAX_FRAME_OCTETS } from '../limits.ts';

/** Octets of a frame before its content. */
const FRAME_HEAD_OCTETS = 8;

/** The frame of a content. */
export function frameOf(content: Uint8Array): Uint8Array {
  if (content.length > MAX_FRAME_OCTETS) {
    throw new RangeError(`a frame has at most ${MAX_FRAME_OCTETS} octets, found ${content.length}`);
  }
  const frame = new Uint8Array(FRAME_HEAD_OCTETS + content.length);
  const view = new DataView(frame.buffer);
  view.setUint32(0, content.length, true);
  view.setUint32(4, xxhash32(content), true);
  frame.set(content, FRAME_HEAD_OCTETS);
  return frame;
}

/** The octets of the first frame, by its head; 0: the head is not whole, or of a frame that is too long. */
export function frameLength(octets: Uint8Array): number {
  if (octets.length < FRAME_HEAD_OCTETS) return 0;
  const length = new DataView(octets.buffer, octets.byteOffset).getUint32(0, true);
  return length > MAX_FRAME_OCTETS ? 0 : FRAME_HEAD_OCTETS + length;
}

/** The contents of whole frames. */
interface ReadFrames {
  readonly contents: readonly Uint8Array[];
  /** Whether the octets end with a frame that is not whole, or is damaged. */
  readonly isTorn: boolean;
}

/** Reads frames up to the first that is not whole; the contents are views of the octets. */
export function readFrames(octets: Uint8Array): ReadFrames {
  const view = new DataView(octets.buffer, octets.byteOffset, octets.length);
  const contents: Uint8Array[] = [];
  let at = 0;
  while (octets.length - at >= FRAME_HEAD_OCTETS) {
    const length = view.getUint32(at, true);
    if (length > octets.length - at - FRAME_HEAD_OCTETS) break;
    const content = octets.subarray(at + FRAME_HEAD_OCTETS, at + FRAME_HEAD_OCTETS + length);
    if (xxhash32(content) !== view.getUint32(at + 4, true)) break;
    contents.push(content);
    at += FRAME_HEAD_OCTETS + length;
  }
  return { contents, isTorn: at < octets.length };
}

// The journal of one minute: every second that was counted, appended to a file, so that a node that is killed loses no more
// than its last second. In: sealed batches. Out: nothing, until a later start reads what an earlier process has left.
//
// Appends are in the page cache when they resolve, which outlives the process; `sync` makes them durable.

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

// Files of batches that the control plane has not accepted. A file is `<first>-<last>.batch`, by the numbers that its batches
// may have: one for each entry, so that a batch can be divided. Its first frame is JSON; each further frame is the number of
// a batch (a 64-bit float, little-endian) and the batch as it is sent.
//
// INVARIANT: each count is in one file. A file appears whole, by a rename, and names the journals and covers the numbers of
// the files whose counts it contains; those are removed by the next start if a crash has left them.

/** A batch file. */
export interface BatchFile {
  readonly path: string;
  /** Numbers of its batches, both included. */
  readonly first: number;
  readonly last: number;
  /** Octets. */
  readonly size: number;
}

/** A batch with its number. */
export interface NumberedBatch {
  readonly number: number;
  /** As it is sent. */
  readonly body: Uint8Array;
}

/** A batch as it is sent. */
export interface SentBatch extends NumberedBatch {
  readonly isGzipped: boolean;
}

interface Head {
  readonly format: typeof HEAD_FORMAT;
  /** Names of the journals whose counts the file contains. */
  readonly journals: readonly string[];
}

const HEAD_FORMAT = 'edgeplan.traffic-batches/v1';
const NAME = /^(\d{16})-(\d{16})\.batch$/;
const ENDING = '.batch';
/** The first octets of gzip data (RFC 1952 §2.3.1); those of a batch are its version and its kind. */
const GZIP = [0x1f, 0x8b] as const;

function nameOf(first: number, last: number): string {
  return `${String(first).padStart(16, '0')}-${String(last).padStart(16, '0')}${ENDING}`;
}

export interface WriteBatchesOptions {
  /** Numbers of its batches, both included. */
  readonly first: number;
  readonly last: number;
  /** Paths of the journals whose counts the batches contain. */
  readonly journals: readonly string[];
  readonly batches: AsyncIterable<NumberedBatch> | Iterable<NumberedBatch>;
}

/** Writes a file of batches; it is durable when this resolves. @throws the file system's error; there is no file then */
export async function writeBatches(folder: string, options: WriteBatchesOptions): Promise<BatchFile> {
  const { first, last, batches } = options;
  const path = join(folder, nameOf(first, last));
  const head: Head = { format: HEAD_FORMAT, journals: options.journals.map((journal) => basename(journal)) };
  let size = 0;
  await writeAtomically(path, async (handle) => {
    const put = async (content: Uint8Array): Promise<void> => {
      const frame = frameOf(content);
      await handle.writeFile(frame);
      size += frame.length;
    };
    await put(Buffer.from(JSON.stringify(head), 'utf8'));
    for await (const batch of batches) await put(numbered(batch));
  });
  await syncFolder(folder).catch((error: unknown) => discard(path, error));
  return { path, first, last, size };
}

/** Octets of the number before a batch. */
const NUMBER_OCTETS = 8;

function numbered({ number, body }: NumberedBatch): Uint8Array {
  const octets = new Uint8Array(NUMBER_OCTETS + body.length);
  new DataView(octets.buffer).setFloat64(0, number, true);
  octets.set(body, NUMBER_OCTETS);
  return octets;
}

/** Removes a file that may not survive a power cut; one that cannot be removed counts as written, not to be written twice. */
async function discard(path: string, reason: unknown): Promise<void> {
  const isRemoved = await rm(path).then(
    () => true,
    () => false,
  );
  if (isRemoved) throw reason;
}

/** Reads the batches of a file; `isTorn`: some are damaged, or the file is missing. @throws the file system's error */
export async function readBatches({ path }: BatchFile): Promise<{
  readonly batches: readonly SentBatch[];
  readonly isTorn: boolean;
}> {
  const octets = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (octets === null) return { batches: [], isTorn: true };
  const { contents, isTorn } = readFrames(octets);
  return { batches: contents.slice(1).map(batchOf), isTorn: isTorn || contents.length === 0 };
}

function batchOf(content: Uint8Array): SentBatch {
  const body = content.subarray(NUMBER_OCTETS);
  return {
    number: new DataView(content.buffer, content.byteOffset).getFloat64(0, true),
    body,
    isGzipped: body[0] === GZIP[0] && body[1] === GZIP[1],
  };
}

/** Removes files, and makes that durable. @throws the file system's error */
export async function removeDurably(folder: string, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  for (const path of paths) await rm(path, { force: true });
  await syncFolder(folder);
}

/** What an earlier process has left in the folder. */
export interface LeftFiles {
  /** By their numbers, ascending. */
  readonly files: readonly BatchFile[];
  /** Paths of journals whose counts are in no file, the oldest first. */
  readonly journals: readonly string[];
}

/** Finds what an earlier process has left, and removes what a crash has left twice. @throws the file system's error */
export async function findLeft(folder: string): Promise<LeftFiles> {
  await removeUnfinished(folder);
  const names = (await readdir(folder)).sort();
  const found: BatchFile[] = [];
  for (const name of names) {
    const parts = NAME.exec(name);
    if (parts === null) continue;
    const path = join(folder, name);
    const { size } = await stat(path);
    found.push({ path, first: Number(parts[1]), last: Number(parts[2]), size });
  }
  const isCovered = (file: BatchFile): boolean =>
    found.some((other) => other !== file && other.first <= file.first && other.last >= file.last);
  const files = found.filter((file) => !isCovered(file));
  const closed = new Set((await Promise.all(files.map(journalsOf))).flat());
  const journals = names.filter((name) => name.endsWith(JOURNAL_ENDING));
  const twice = [
    ...found.filter(isCovered).map(({ path }) => path),
    ...journals.filter((name) => closed.has(name)).map((name) => join(folder, name)),
  ];
  await removeDurably(folder, twice);
  return { files, journals: journals.filter((name) => !closed.has(name)).map((name) => join(folder, name)) };
}

/** The ending of journals. */
export const JOURNAL_ENDING = '.journal';

async function journalsOf({ path }: BatchFile): Promise<readonly string[]> {
  const handle = await open(path, 'r');
  try {
    const length = frameLength(await readStart(handle, FRAME_HEAD_OCTETS));
    const [head] = readFrames(await readStart(handle, length)).contents;
    if (head === undefined) return [];
    const { journals } = JSON.parse(Buffer.from(head).toString('utf8')) as Head;
    return journals;
  } finally {
    await handle.close();
  }
}

/** The first octets of a file, at most so many. */
async function readStart(handle: FileHandle, length: number): Promise<Uint8Array> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, 0);
  return buffer.subarray(0, bytesRead);
}
