/**
 * The cache files: `entries/<domain>/<purge epoch>/<two digits>/<the rest of the key's hash>`. A file is
 * written under a temporary name and then renamed, so that an incomplete file is never visible. Files of an
 * earlier run are indexed in the background after a start. The folder belongs to one process. A failing disk
 * never stops serving.
 */
import { readdirSync, rmSync } from 'node:fs';
import { open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { makeFolder } from '../../base/platform/durable-file.ts';
import { createSemaphore, type Semaphore } from '../../base/platform/tasks.ts';
import {
  type CommittableBodyFile,
  createBodyFile,
  encodeEnding,
  type FileContent,
  readContent,
  writeAll,
} from './body-file.ts';
import {
  createDiskPartition,
  type DiskPartition,
  dropFile,
  type FilePlace,
  fileShare,
  type PartitionFile,
  pathOf,
  placeIn,
  putFile,
  takeExpired,
  takeOverflow,
  touchFile,
} from './disk-partition.ts';
import {
  DEFAULT_DISK_DAYS,
  DISK_REST_MS,
  FILES_BETWEEN_COUNTS,
  MAX_WRITE_BACKLOG,
  REMOVALS_AT_ONCE,
  SWEEP_MS,
  WRITE_OVERHEAD,
  WRITES_AT_ONCE,
} from './limits.ts';
import { isStillFailing } from './negative-cache.ts';
import type { CachedDomain } from './request.ts';

export interface DiskOptions {
  readonly directory: string;
  /** The part of each domain's disk space that this process may use. */
  readonly share: number;
  /** The number of files in the index of all domains. */
  readonly maxFiles: number;
  readonly clock: () => number;
  readonly onFault: (error: unknown) => void;
}

export interface Disk {
  /** The location of a key's file. A new purge epoch of the domain removes the files of the earlier one. */
  enter(domain: CachedDomain, key: string): FilePlace;
  /**
   * The location for a response whose fetch began under a purge epoch that may have ended; `null`: it has
   * ended, and the response is outdated.
   */
  place(domain: CachedDomain, key: string): FilePlace | null;
  /** `false`: the file certainly does not exist. */
  mayHave(place: FilePlace): boolean;
  /**
   * `null`: the file does not exist, or was damaged and has been removed. Bodies of at most `most` octets are
   * read.
   */
  read(place: FilePlace, most: number): Promise<FileContent | null>;
  /** Writes in the background; a failed write stores nothing. */
  write(place: FilePlace, head: unknown, body: Uint8Array): void;
  /** `null`: writing is paused after a failure, or the same file is being written. */
  openBodyFile(place: FilePlace, onRest: () => void): CommittableBodyFile | null;
  remove(place: FilePlace): void;
  /** The location of a key's file, without effect on the partition; `null`: there is no partition. */
  find(domain: Pick<CachedDomain, 'name' | 'purgeEpoch'>, key: string): FilePlace | null;
  /** Files of a domain under its purge epoch, and their octets. */
  usage(domain: Pick<CachedDomain, 'name' | 'purgeEpoch'>): {
    readonly files: number;
    readonly octets: number;
  };
  /** Domains with a partition, except for those whose folder has another name. */
  domains(): readonly string[];
  /** Resolves when the files of an earlier run are indexed. */
  readonly ready: Promise<void>;
  /** Reads and writes no more files: another process has the folder. Writes under way end, those that wait are dropped. */
  release(): void;
  /** Reads and writes files again, of which the other process may have made and removed any. */
  reclaim(): void;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const GB = 1024 ** 3;

interface DiskState {
  readonly options: DiskOptions;
  /** The folder of the cache files, and the folder of files being written. */
  readonly entries: string;
  readonly temporary: string;
  /** By path. */
  readonly partitions: Map<string, DiskPartition>;
  /** The current purge epoch of each domain's folder. */
  readonly epochs: Map<string, number>;
  /** Paths being written; `false`: the content has been invalidated meanwhile. */
  readonly writing: Map<string, boolean>;
  /** Background work, which `close` waits for. */
  readonly work: Set<Promise<unknown>>;
  /** The writes under way. */
  readonly writes: Semaphore;
  /** Octets queued for writing. */
  backlog: number;
  /** Files written since all were counted. */
  uncounted: number;
  /** On the clock: no writes before this time, after a failed one. */
  pausedUntil: number;
  /** Number of the next temporary file. */
  serial: number;
  /** The files of an earlier run are indexed. */
  indexed: boolean;
  /** No file is read or written, for good or until `reclaim`. */
  closed: boolean;
  /** How often the folder was released: another process has removed the unfinished files of writes from before. */
  releases: number;
}

export function createDisk(options: DiskOptions): Disk {
  const { directory } = options;
  const state: DiskState = {
    options,
    entries: join(directory, 'entries'),
    temporary: join(directory, 'tmp'),
    partitions: new Map(),
    epochs: new Map(),
    writing: new Map(),
    work: new Set(),
    writes: createSemaphore(WRITES_AT_ONCE),
    backlog: 0,
    uncounted: 0,
    pausedUntil: 0,
    serial: 0,
    indexed: false,
    closed: false,
    releases: 0,
  };
  resetTemporary(state);
  const ready = inBackground(state, indexFiles(state));
  const sweep = (): NodeJS.Timeout => setInterval(() => removeExpired(state), SWEEP_MS).unref();
  let sweeping = sweep();
  const end = (): void => {
    state.closed = true;
    clearInterval(sweeping);
  };
  return {
    ready,
    release() {
      state.releases++;
      end();
    },
    reclaim() {
      state.closed = false;
      state.indexed = false;
      state.partitions.clear();
      state.epochs.clear();
      resetTemporary(state);
      void inBackground(state, indexFiles(state));
      sweeping = sweep();
    },
    enter: (domain, key) => placeIn(partitionOf(state, domain), key),
    place: (domain, key) =>
      state.epochs.get(folderOf(domain.name)) === domain.purgeEpoch
        ? placeIn(partitionOf(state, domain), key)
        : null,
    mayHave: ({ partition, name }) => !state.closed && (!state.indexed || partition.files.has(name)),
    read: (place, most) => readFile(state, place, most),
    write: (place, head, body) => writeFile(state, place, { head, body }),
    openBodyFile: (place, onRest) => openBodyFile(state, place, onRest),
    remove: (place) => removeFile(state, place),
    find(domain, key) {
      const partition = knownPartition(state, domain);
      return partition === null ? null : placeIn(partition, key);
    },
    usage(domain) {
      const partition = knownPartition(state, domain);
      return { files: partition?.files.size ?? 0, octets: partition?.used ?? 0 };
    },
    domains: () => {
      const folders = [...state.partitions.keys()].map((path) => basename(dirname(path)));
      return folders.filter((folder) => !folder.startsWith('#'));
    },
    async close() {
      end();
      while (state.work.size > 0) await Promise.allSettled([...state.work]);
    },
  };
}

/** Removes incomplete files of a process that was killed. */
function resetTemporary(state: DiskState): void {
  try {
    makeFolder(state.temporary, { mode: 0o700 });
    // Not the folder: the process before may still create the file that it was about to write.
    for (const name of readdirSync(state.temporary)) {
      rmSync(join(state.temporary, name), { recursive: true, force: true });
    }
  } catch (error) {
    pauseWrites(state, error);
  }
}

function inBackground<T>({ work }: DiskState, promise: Promise<T>): Promise<T> {
  const tracked = promise.finally(() => work.delete(tracked));
  work.add(tracked);
  return tracked;
}

/** Stops writing for a while after an error of the disk, and reports the error. */
function pauseWrites(state: DiskState, error: unknown): void {
  const { clock, onFault } = state.options;
  // Nothing is written any more.
  if (state.closed) return;
  state.pausedUntil = clock() + DISK_REST_MS;
  onFault(error);
}

/** Handles the failure of a write that begins now. One that the folder was released under has lost its file, which is no fault. */
function failureOf(state: DiskState): (error: unknown) => void {
  const { releases } = state;
  return (error) => {
    if (releases === state.releases) pauseWrites(state, error);
  };
}

function isPaused({ closed, pausedUntil, options }: DiskState): boolean {
  return closed || isStillFailing(pausedUntil, DISK_REST_MS, options.clock());
}

/** Removes a file or folder; a missing one counts as removed. */
function discard(state: DiskState, path: string): void {
  void inBackground(state, rm(path, { recursive: true, force: true }).catch(state.options.onFault));
}

function pathOfPartition(
  { entries }: DiskState,
  { name, purgeEpoch }: Pick<CachedDomain, 'name' | 'purgeEpoch'>,
): string {
  return join(entries, folderOf(name), String(purgeEpoch));
}

function knownPartition(
  state: DiskState,
  domain: Pick<CachedDomain, 'name' | 'purgeEpoch'>,
): DiskPartition | null {
  return state.partitions.get(pathOfPartition(state, domain)) ?? null;
}

/** Removes files that are no longer in the index, except for those written again meanwhile. */
async function removeFiles(
  state: DiskState,
  partition: DiskPartition,
  names: readonly string[],
): Promise<void> {
  for (let from = 0; from < names.length && !state.closed; from += REMOVALS_AT_ONCE) {
    const gone = names.slice(from, from + REMOVALS_AT_ONCE).filter((name) => !partition.files.has(name));
    await Promise.all(
      gone.map((name) => rm(pathOf(partition, name), { force: true }).catch(state.options.onFault)),
    );
  }
}

/** Removes the files of a partition beyond its limits. */
function evict(state: DiskState, partition: DiskPartition, mostFiles: number): void {
  const names = takeOverflow(partition, mostFiles);
  if (names.length > 0) void inBackground(state, removeFiles(state, partition, names));
}

/** Removes the files of all domains beyond the maximum of their index. */
function evictBeyondIndex(state: DiskState): void {
  state.uncounted = 0;
  const share = fileShare(state.partitions.values(), state.options.maxFiles);
  for (const partition of state.partitions.values()) evict(state, partition, share);
}

/** The partition of a domain under its purge epoch, with its current limits. A new epoch removes the files of others. */
function partitionOf(state: DiskState, domain: CachedDomain): DiskPartition {
  const { purgeEpoch, settings } = domain;
  const folder = folderOf(domain.name);
  const path = pathOfPartition(state, domain);
  let partition = state.partitions.get(path);
  if (partition === undefined) {
    partition = createDiskPartition(path, { maxOctets: 0, maxAgeMs: 0 });
    state.partitions.set(path, partition);
  }
  partition.maxOctets = settings.diskMaxGb * GB * state.options.share;
  partition.maxAgeMs = settings.diskTtlDays * DAY_MS;
  const before = state.epochs.get(folder);
  if (before !== purgeEpoch) {
    // `purge` finds the partitions that have a folder, thus files.
    if (before !== undefined) state.partitions.delete(join(state.entries, folder, String(before)));
    state.epochs.set(folder, purgeEpoch);
    void inBackground(state, purge(state, folder, String(purgeEpoch)));
  }
  return partition;
}

/** Removes a domain's files of other purge epochs. */
async function purge(state: DiskState, folder: string, epoch: string): Promise<void> {
  const epochs = await readdir(join(state.entries, folder)).catch(() => []);
  for (const other of epochs.filter((one) => one !== epoch)) {
    const path = join(state.entries, folder, other);
    state.partitions.delete(path);
    discard(state, path);
  }
}

async function readFile(state: DiskState, place: FilePlace, most: number): Promise<FileContent | null> {
  const { partition, name, path } = place;
  const { clock, onFault } = state.options;
  const handle = await open(path, 'r').catch(() => null);
  if (handle === null) {
    dropFile(partition, name);
    return null;
  }
  try {
    const file = partition.files.get(name);
    const content = await readContent(handle, most);
    if (content !== null && (file === undefined || clock() - file.at <= partition.maxAgeMs)) {
      touchFile(partition, name);
      return content;
    }
  } catch (error) {
    onFault(error);
  } finally {
    await handle.close().catch(onFault);
  }
  dropFile(partition, name);
  discard(state, path);
  return null;
}

interface WrittenEntry {
  readonly head: unknown;
  readonly body: Uint8Array;
}

function writeFile(state: DiskState, place: FilePlace, { head, body }: WrittenEntry): void {
  const { writing } = state;
  const ending = encodeEnding({ head, bodyOctets: body.length, bodySum: crc32(body) });
  // A write under way has the content that this one replaces.
  if (writing.has(place.path)) writing.set(place.path, false);
  if (ending === null || isPaused(state)) return;
  const queued = body.length + ending.length + WRITE_OVERHEAD;
  if (state.backlog + queued > MAX_WRITE_BACKLOG) return;
  if (place.partition.maxOctets < body.length || writing.has(place.path)) return;
  state.backlog += queued;
  writing.set(place.path, true);
  const { releases } = state;
  const create = async () => releases === state.releases && createFile(state, place, [body, ending]);
  const written = state.writes.run(create).finally(() => {
    state.backlog -= queued;
    writing.delete(place.path);
  });
  void inBackground(state, written);
}

/** Writes the parts to a temporary file, and moves it into place. */
async function createFile(state: DiskState, place: FilePlace, parts: readonly Uint8Array[]): Promise<void> {
  const path = temporaryPath(state);
  const failed = failureOf(state);
  try {
    const handle = await open(path, 'wx', 0o600);
    try {
      for (const part of parts) await writeAll(handle, part);
    } finally {
      await handle.close();
    }
    await moveIntoPlace(path, place);
    register(
      state,
      place,
      parts.reduce((octets, part) => octets + part.length, 0),
    );
  } catch (error) {
    await unlink(path).catch(() => undefined);
    failed(error);
  }
}

function openBodyFile(state: DiskState, place: FilePlace, onRest: () => void): CommittableBodyFile | null {
  const { writing } = state;
  if (isPaused(state) || writing.has(place.path)) return null;
  writing.set(place.path, true);
  const path = temporaryPath(state);
  const file = createBodyFile(path, {
    failed: failureOf(state),
    onRest,
    move: async (size) => {
      await moveIntoPlace(path, place);
      return register(state, place, size);
    },
    over: () => writing.delete(place.path),
  });
  void inBackground(state, file.finished);
  return file;
}

function temporaryPath(state: DiskState): string {
  return join(state.temporary, `${process.pid}-${state.serial++}`);
}

async function moveIntoPlace(path: string, place: FilePlace): Promise<void> {
  try {
    await rename(path, place.path);
  } catch (error) {
    // The first file of a folder; a purge may also have removed the folder.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    makeFolder(dirname(place.path), { mode: 0o700 });
    await rename(path, place.path);
  }
}

/** Adds a file that is in place to its partition; `false`: it is no longer valid, and has been removed. */
function register(state: DiskState, { partition, name, path }: FilePlace, size: number): boolean {
  putFile(partition, name, { size, at: state.options.clock() });
  evict(state, partition, Number.POSITIVE_INFINITY);
  if (++state.uncounted >= FILES_BETWEEN_COUNTS) evictBeyondIndex(state);
  // A purge has removed the partition meanwhile, or an invalidation the file.
  if (state.partitions.get(partition.path) === partition && state.writing.get(path) !== false) return true;
  dropFile(partition, name);
  discard(state, path);
  return false;
}

function removeFile(state: DiskState, { partition, name, path }: FilePlace): void {
  if (state.writing.has(path)) state.writing.set(path, false);
  if (state.indexed && !partition.files.has(name)) return;
  dropFile(partition, name);
  discard(state, path);
}

/** Indexes the files of an earlier run; those of epochs known to be over are left to `purge`. */
async function indexFiles(state: DiskState): Promise<void> {
  const { entries, epochs } = state;
  try {
    for (const folder of await readdir(entries).catch(() => [])) {
      for (const epoch of await readdir(join(entries, folder)).catch(() => [])) {
        const current = epochs.get(folder);
        if (current !== undefined && String(current) !== epoch) continue;
        await indexPartition(state, join(entries, folder, epoch));
      }
    }
    state.indexed = true;
    evictBeyondIndex(state);
  } catch (error) {
    pauseWrites(state, error);
  }
}

async function indexPartition(state: DiskState, path: string): Promise<void> {
  let partition = state.partitions.get(path);
  if (partition === undefined) {
    partition = createDiskPartition(path, {
      maxOctets: Number.POSITIVE_INFINITY,
      maxAgeMs: DEFAULT_DISK_DAYS * DAY_MS,
    });
    state.partitions.set(path, partition);
  }
  const files: (PartitionFile & { readonly name: string })[] = [];
  for (const part of await readdir(path).catch(() => [])) {
    for (const rest of await readdir(join(path, part)).catch(() => [])) {
      const facts = await stat(join(path, part, rest)).catch(() => null);
      if (facts !== null) files.push({ name: part + rest, size: facts.size, at: facts.mtimeMs });
      if (state.closed) return;
    }
  }
  // The order of writing stands in for the order of use, which is not stored.
  files.sort((a, b) => a.at - b.at);
  for (const { name, size, at } of files) {
    if (!partition.files.has(name)) putFile(partition, name, { size, at });
  }
}

function removeExpired(state: DiskState): void {
  for (const partition of state.partitions.values()) {
    const expired = takeExpired(partition, state.options.clock());
    void inBackground(state, removeFiles(state, partition, expired));
    evict(state, partition, Number.POSITIVE_INFINITY);
  }
}

/** The folder name of a domain: its name, or a hash of it if the name has other characters. */
function folderOf(name: string): string {
  const plain = name !== '' && name.length < 250 && !name.startsWith('.') && !name.startsWith('#');
  if (plain && !name.includes('/') && !name.includes('\0')) return name;
  return `#${sha256Hex(name)}`;
}
