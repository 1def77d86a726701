/**
 * The cache's files: `entries/<domain>/<purge epoch>/<two digits>/<the rest of the key's hash>`. They are written under
 * another name and moved into place, so that none is ever seen half; what is there after a start is found in the
 * background. The directory belongs to one process. Whatever the disk does, serving goes on without it.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { ServedDomain } from '../exchange.ts';
import { encodeEnding, type FileContent, readContent, writeAll } from './file.ts';
import { DEFAULT_DISK_DAYS, DISK_REST_MS, MAX_FILES, MAX_WRITE_BACKLOG, SWEEP_MS } from './limits.ts';
import { isLasting } from './recent.ts';
import { createShelf, dropFile, putFile, type Shelf, takeExpired, takeOverflow, touchFile } from './shelf.ts';
import { createSpill, type FileSpill } from './spill.ts';

export interface DiskOptions {
  readonly directory: string;
  /** The part of each domain's room that may be taken. */
  readonly share: number;
  readonly clock: () => number;
  readonly onFault: (error: unknown) => void;
}

/** Where a key's file lies. */
export interface FilePlace {
  readonly shelf: Shelf;
  readonly name: string;
  readonly path: string;
}

export interface Disk {
  /** Where a key's file lies. A domain that comes with another purge epoch than before loses what it had under that. */
  enter(domain: ServedDomain, key: string): FilePlace;
  /** The same for what began under a plan that may have been replaced since; `null`: it has, and what it brings is old. */
  place(domain: ServedDomain, key: string): FilePlace | null;
  /** `false`: there is no such file, surely. */
  mayHave(place: FilePlace): boolean;
  /** `null`: not there, or damaged and now removed. Bodies of at most `most` octets are read. */
  read(place: FilePlace, most: number): Promise<FileContent | null>;
  /** Writes behind; what cannot be written is not kept. */
  write(place: FilePlace, head: unknown, body: Uint8Array): void;
  /** `null`: the disk rests, or the same is being written. */
  spill(place: FilePlace, onRest: () => void): FileSpill | null;
  remove(place: FilePlace): void;
  /** Resolves when what is there from before is known. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const GB = 1024 ** 3;

export function createDisk({ directory, share, clock, onFault }: DiskOptions): Disk {
  const entries = join(directory, 'entries');
  const temporary = join(directory, 'tmp');
  const shelves = new Map<string, Shelf>();
  const epochs = new Map<string, number>();
  /** Paths being written; `false`: what is written has been overtaken. */
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

  /** Removes files or folders; one that is gone already is as good. */
  function discard(path: string): void {
    void background(rm(path, { recursive: true, force: true }).catch(onFault));
  }

  function shelfOf({ name, purgeEpoch, settings }: ServedDomain): Shelf {
    const folder = folderOf(name);
    const path = join(entries, folder, String(purgeEpoch));
    let shelf = shelves.get(path);
    if (shelf === undefined) {
      shelf = createShelf(path, { most: 0, keepMs: 0 });
      shelves.set(path, shelf);
    }
    shelf.most = settings.diskMaxGb * GB * share;
    shelf.keepMs = settings.diskTtlDays * DAY_MS;
    if (epochs.get(folder) !== purgeEpoch) {
      epochs.set(folder, purgeEpoch);
      void background(purge(folder, String(purgeEpoch)));
    }
    return shelf;
  }

  /** Removes what a domain has under other epochs. */
  async function purge(folder: string, epoch: string): Promise<void> {
    const others = (await readdir(join(entries, folder)).catch(() => [])).filter((one) => one !== epoch);
    for (const other of others) {
      const path = join(entries, folder, other);
      shelves.delete(path);
      discard(path);
    }
  }

  /** Enters a file that is in place; `false`: it is of no use any more. */
  function placed({ shelf, name, path }: FilePlace, size: number): boolean {
    putFile(shelf, name, { size, at: clock() });
    for (const over of takeOverflow(shelf, MAX_FILES)) discard(pathOf(shelf, over));
    // A purge that came in between has taken the folder out of the books; an invalidation has overtaken the file.
    if (shelves.get(shelf.path) === shelf && writing.get(path) !== false) return true;
    dropFile(shelf, name);
    discard(path);
    return false;
  }

  /** Runs `fill` on a new file and moves that into place. */
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
    return closed || isLasting(restUntil, DISK_REST_MS, clock());
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
      shelf = createShelf(path, { most: Number.POSITIVE_INFINITY, keepMs: DEFAULT_DISK_DAYS * DAY_MS });
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
    // What a process that was killed left half-written.
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
    mayHave: ({ shelf, name }) => !closed && (!known || shelf.files.has(name)),
    async read({ shelf, name, path }, most) {
      const handle = await open(path, 'r').catch(() => null);
      if (handle === null) {
        dropFile(shelf, name);
        return null;
      }
      try {
        const file = shelf.files.get(name);
        const content = await readContent(handle, most);
        if (content !== null && (file === undefined || clock() - file.at <= shelf.keepMs)) {
          touchFile(shelf, name);
          return content;
        }
      } catch (error) {
        onFault(error);
      } finally {
        await handle.close().catch(onFault);
      }
      dropFile(shelf, name);
      discard(path);
      return null;
    },
    write(place, head, body) {
      const ending = encodeEnding({ head, bodyOctets: body.length, bodySum: crc32(body) });
      if (writing.has(place.path)) writing.set(place.path, false);
      if (ending === null || isResting() || backlog + body.length > MAX_WRITE_BACKLOG) return;
      if (place.shelf.most < body.length || writing.has(place.path)) return;
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
    spill(place, onRest) {
      if (isResting() || writing.has(place.path)) return null;
      writing.set(place.path, true);
      const path = join(temporary, `${process.pid}-${serial++}`);
      const spill = createSpill(path, {
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
    remove({ shelf, name, path }) {
      if (writing.has(path)) writing.set(path, false);
      if (known && !shelf.files.has(name)) return;
      dropFile(shelf, name);
      discard(path);
    },
    async close() {
      closed = true;
      clearInterval(sweeping);
      while (work.size > 0) await Promise.allSettled([...work]);
    },
  };
}

function pathOf({ path }: Shelf, name: string): string {
  return join(path, name.slice(0, 2), name.slice(2));
}

function placeIn(shelf: Shelf, key: string): FilePlace {
  const name = createHash('sha256').update(key).digest('hex');
  return { shelf, name, path: pathOf(shelf, name) };
}

/** A domain's name as the name of a folder; what is not plainly one is hashed. */
function folderOf(name: string): string {
  const plain = name !== '' && name.length < 250 && !name.startsWith('.') && !name.startsWith('#');
  if (plain && !name.includes('/') && !name.includes('\0')) return name;
  return `#${createHash('sha256').update(name).digest('hex')}`;
}
