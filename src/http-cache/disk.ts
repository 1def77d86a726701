/**
 * The cache files: `entries/<domain>/<purge epoch>/<two digits>/<the rest of the key's hash>`. A file is
 * written under a temporary name and then renamed, so that an incomplete file is never visible. Files of an
 * earlier run are indexed in the background after a start. The folder belongs to one process. A failing disk
 * never stops serving.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { sha256Hex } from '../platform/sha256.ts';
import { type CommittableBodyFile, createBodyFile } from './body-file.ts';
import {
  createDiskPartition,
  type DiskPartition,
  dropFile,
  putFile,
  takeExpired,
  takeOverflow,
  touchFile,
} from './disk-partition.ts';
import { encodeEnding, type FileContent, readContent, writeAll } from './file-format.ts';
import { DEFAULT_DISK_DAYS, DISK_REST_MS, MAX_FILES, MAX_WRITE_BACKLOG, SWEEP_MS } from './limits.ts';
import { isStillFailing } from './negative-cache.ts';
import type { CachedDomain } from './request.ts';

export interface DiskOptions {
  readonly directory: string;
  /** The part of each domain's disk space that this process may use. */
  readonly share: number;
  readonly clock: () => number;
  readonly onFault: (error: unknown) => void;
}

/** The location of a key's file. */
export interface FilePlace {
  readonly partition: DiskPartition;
  readonly name: string;
  readonly path: string;
}

export interface Disk {
  /** The location of a key's file. A new purge epoch of the domain removes the files of the earlier one. */
  enter(domain: CachedDomain, key: string): FilePlace;
  /**
   * The location for a response whose fetch began under a plan that may have been replaced; `null`: it has
   * been, and the response is outdated.
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
  /** Resolves when the files of an earlier run are indexed. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const GB = 1024 ** 3;

export function createDisk({ directory, share, clock, onFault }: DiskOptions): Disk {
  const entries = join(directory, 'entries');
  const temporary = join(directory, 'tmp');
  const shelves = new Map<string, DiskPartition>();
  const epochs = new Map<string, number>();
  /** Paths being written; `false`: the content has been invalidated meanwhile. */
  const writing = new Map<string, boolean>();
  const work = new Set<Promise<unknown>>();
  let backlog = 0;
  let restUntil = 0;
  let serial = 0;
  let known = false;
  let closed = false;

  function background<T>(promise: Promise<T>): Promise<T> {
    const tracked = promise.finally(() => work.delete(tracked));
    work.add(tracked);
    return tracked;
  }

  function failed(error: unknown): void {
    restUntil = clock() + DISK_REST_MS;
    onFault(error);
  }

  /** Removes files or folders; a missing one counts as removed. */
  function discard(path: string): void {
    void background(rm(path, { recursive: true, force: true }).catch(onFault));
  }

  function shelfOf({ name, purgeEpoch, settings }: CachedDomain): DiskPartition {
    const folder = folderOf(name);
    const path = join(entries, folder, String(purgeEpoch));
    let shelf = shelves.get(path);
    if (shelf === undefined) {
      shelf = createDiskPartition(path, { maxOctets: 0, maxAgeMs: 0 });
      shelves.set(path, shelf);
    }
    shelf.maxOctets = settings.diskMaxGb * GB * share;
    shelf.maxAgeMs = settings.diskTtlDays * DAY_MS;
    if (epochs.get(folder) !== purgeEpoch) {
      epochs.set(folder, purgeEpoch);
      void background(purge(folder, String(purgeEpoch)));
    }
    return shelf;
  }

  /** Removes a domain's files of other purge epochs. */
  async function purge(folder: string, epoch: string): Promise<void> {
    const others = (await readdir(join(entries, folder)).catch(() => [])).filter((one) => one !== epoch);
    for (const other of others) {
      const path = join(entries, folder, other);
      shelves.delete(path);
      discard(path);
    }
  }

  /** Registers a file that is in place; `false`: it is no longer valid. */
  function placed({ partition, name, path }: FilePlace, size: number): boolean {
    putFile(partition, name, { size, at: clock() });
    for (const over of takeOverflow(partition, MAX_FILES)) discard(pathOf(partition, over));
    // A purge has removed the partition meanwhile, or an invalidation the file.
    if (shelves.get(partition.path) === partition && writing.get(path) !== false) return true;
    dropFile(partition, name);
    discard(path);
    return false;
  }

  /** Runs `fill` on a new file and renames the file into place. */
  async function create(place: FilePlace, fill: (path: string) => Promise<number>): Promise<boolean> {
    const path = join(temporary, `${process.pid}-${serial++}`);
    try {
      const size = await fill(path);
      await mkdir(join(place.path, '..'), { recursive: true, mode: 0o700 });
      await rename(path, place.path);
      placed(place, size);
      return true;
    } catch (error) {
      await unlink(path).catch(() => undefined);
      failed(error);
      return false;
    }
  }

  function isResting(): boolean {
    return closed || isStillFailing(restUntil, DISK_REST_MS, clock());
  }

  async function scan(): Promise<void> {
    for (const folder of await readdir(entries).catch(() => [])) {
      for (const epoch of await readdir(join(entries, folder)).catch(() => [])) {
        const current = epochs.get(folder);
        if (current === undefined || String(current) === epoch) await scanShelf(join(entries, folder, epoch));
      }
    }
  }

  async function scanShelf(path: string): Promise<void> {
    let shelf = shelves.get(path);
    if (shelf === undefined) {
      shelf = createDiskPartition(path, {
        maxOctets: Number.POSITIVE_INFINITY,
        maxAgeMs: DEFAULT_DISK_DAYS * DAY_MS,
      });
      shelves.set(path, shelf);
    }
    const found: (readonly [string, { readonly size: number; readonly at: number }])[] = [];
    for (const part of await readdir(path).catch(() => [])) {
      for (const rest of await readdir(join(path, part)).catch(() => [])) {
        const facts = await stat(join(path, part, rest)).catch(() => null);
        if (facts !== null) found.push([part + rest, { size: facts.size, at: facts.mtimeMs }]);
        if (closed) return;
      }
    }
    found.sort((a, b) => a[1].at - b[1].at);
    for (const [name, file] of found) if (!shelf.files.has(name)) putFile(shelf, name, file);
  }

  function sweep(): void {
    for (const shelf of shelves.values()) {
      const gone = [...takeExpired(shelf, clock()), ...takeOverflow(shelf, MAX_FILES)];
      for (const name of gone) discard(pathOf(shelf, name));
    }
  }

  try {
    // Incomplete files of a process that was killed.
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(temporary, { recursive: true, mode: 0o700 });
  } catch (error) {
    failed(error);
  }
  const ready = background(
    scan().then(
      () => {
        known = true;
      },
      (error: unknown) => failed(error),
    ),
  );
  const sweeping = setInterval(sweep, SWEEP_MS).unref();

  return {
    ready,
    enter: (domain, key) => placeIn(shelfOf(domain), key),
    place: (domain, key) =>
      epochs.get(folderOf(domain.name)) === domain.purgeEpoch ? placeIn(shelfOf(domain), key) : null,
    mayHave: ({ partition, name }) => !closed && (!known || partition.files.has(name)),
    async read({ partition, name, path }, most) {
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
      discard(path);
      return null;
    },
    write(place, head, body) {
      const ending = encodeEnding({ head, bodyOctets: body.length, bodySum: crc32(body) });
      if (writing.has(place.path)) writing.set(place.path, false);
      if (ending === null || isResting() || backlog + body.length > MAX_WRITE_BACKLOG) return;
      if (place.partition.maxOctets < body.length || writing.has(place.path)) return;
      backlog += body.length;
      writing.set(place.path, true);
      const written = create(place, async (path) => {
        const handle = await open(path, 'wx', 0o600);
        try {
          await writeAll(handle, body);
          await writeAll(handle, ending);
        } finally {
          await handle.close();
        }
        return body.length + ending.length;
      });
      void background(
        written.finally(() => {
          backlog -= body.length;
          writing.delete(place.path);
        }),
      );
    },
    openBodyFile(place, onRest) {
      if (isResting() || writing.has(place.path)) return null;
      writing.set(place.path, true);
      const path = join(temporary, `${process.pid}-${serial++}`);
      const spill = createBodyFile(path, {
        failed,
        onRest,
        move: async (size) => {
          await mkdir(join(place.path, '..'), { recursive: true, mode: 0o700 });
          await rename(path, place.path);
          return placed(place, size);
        },
        over: () => writing.delete(place.path),
      });
      void background(spill.finished);
      return spill;
    },
    remove({ partition, name, path }) {
      if (writing.has(path)) writing.set(path, false);
      if (known && !partition.files.has(name)) return;
      dropFile(partition, name);
      discard(path);
    },
    async close() {
      closed = true;
      clearInterval(sweeping);
      while (work.size > 0) await Promise.allSettled([...work]);
    },
  };
}

function pathOf({ path }: DiskPartition, name: string): string {
  return join(path, name.slice(0, 2), name.slice(2));
}

function placeIn(shelf: DiskPartition, key: string): FilePlace {
  const name = sha256Hex(key);
  return { partition: shelf, name, path: pathOf(shelf, name) };
}

/** The folder name of a domain: its name, or a hash of it where the name has other characters. */
function folderOf(name: string): string {
  const plain = name !== '' && name.length < 250 && !name.startsWith('.') && !name.startsWith('#');
  if (plain && !name.includes('/') && !name.includes('\0')) return name;
  return `#${sha256Hex(name)}`;
}
