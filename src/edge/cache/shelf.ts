/** The files of one domain under one purge epoch, as far as they are known: how large they are, and which to give up first. */

export interface ShelfFile {
  readonly size: number;
  /** When it was written, milliseconds since the epoch. */
  readonly at: number;
}

export interface Shelf {
  /** Below the cache's directory. */
  readonly path: string;
  /** Octets it may take, and milliseconds a file of it is kept. */
  most: number;
  keepMs: number;
  used: number;
  /** By name, the least recently used first. */
  readonly files: Map<string, ShelfFile>;
}

export function createShelf(path: string, { most, keepMs }: Pick<Shelf, 'most' | 'keepMs'>): Shelf {
  return { path, most, keepMs, used: 0, files: new Map() };
}

export function putFile(shelf: Shelf, name: string, file: ShelfFile): void {
  dropFile(shelf, name);
  shelf.files.set(name, file);
  shelf.used += file.size;
}

export function dropFile(shelf: Shelf, name: string): void {
  const file = shelf.files.get(name);
  if (file === undefined) return;
  shelf.files.delete(name);
  shelf.used -= file.size;
}

/** Marks a file as just used. */
export function touchFile(shelf: Shelf, name: string): void {
  const file = shelf.files.get(name);
  if (file === undefined) return;
  shelf.files.delete(name);
  shelf.files.set(name, file);
}

/** Takes the files out that the shelf has no room for, the least recently used first. */
export function takeOverflow(shelf: Shelf, mostFiles: number): readonly string[] {
  const taken: string[] = [];
  for (const name of shelf.files.keys()) {
    if (shelf.used <= shelf.most && shelf.files.size <= mostFiles) break;
    dropFile(shelf, name);
    taken.push(name);
  }
  return taken;
}

/** Takes the files out that are past their time. */
export function takeExpired(shelf: Shelf, now: number): readonly string[] {
  const taken: string[] = [];
  for (const [name, { at }] of shelf.files) {
    if (now - at <= shelf.keepMs) continue;
    dropFile(shelf, name);
    taken.push(name);
  }
  return taken;
}
