/** The known cache files of one domain under one purge epoch: their sizes, and the order of eviction. */

export interface PartitionFile {
  readonly size: number;
  /** Time of writing, milliseconds since the epoch. */
  readonly at: number;
}

export interface DiskPartition {
  /** Path below the cache folder. */
  readonly path: string;
  /** Octets the partition may use, and milliseconds after which a file expires. */
  maxOctets: number;
  maxAgeMs: number;
  used: number;
  /** By name, the least recently used first. */
  readonly files: Map<string, PartitionFile>;
}

export function createDiskPartition(
  path: string,
  { maxOctets, maxAgeMs }: Pick<DiskPartition, 'maxOctets' | 'maxAgeMs'>,
): DiskPartition {
  return { path, maxOctets, maxAgeMs, used: 0, files: new Map() };
}

export function putFile(shelf: DiskPartition, name: string, file: PartitionFile): void {
  dropFile(shelf, name);
  shelf.files.set(name, file);
  shelf.used += file.size;
}

export function dropFile(shelf: DiskPartition, name: string): void {
  const file = shelf.files.get(name);
  if (file === undefined) return;
  shelf.files.delete(name);
  shelf.used -= file.size;
}

/** Marks a file as most recently used. */
export function touchFile(shelf: DiskPartition, name: string): void {
  const file = shelf.files.get(name);
  if (file === undefined) return;
  shelf.files.delete(name);
  shelf.files.set(name, file);
}

/** Removes from the partition the least recently used files beyond its limits, and returns them. */
export function takeOverflow(shelf: DiskPartition, mostFiles: number): readonly string[] {
  const taken: string[] = [];
  for (const name of shelf.files.keys()) {
    if (shelf.used <= shelf.maxOctets && shelf.files.size <= mostFiles) break;
    dropFile(shelf, name);
    taken.push(name);
  }
  return taken;
}

/** Removes from the partition the files that have expired, and returns them. */
export function takeExpired(shelf: DiskPartition, now: number): readonly string[] {
  const taken: string[] = [];
  for (const [name, { at }] of shelf.files) {
    if (now - at <= shelf.maxAgeMs) continue;
    dropFile(shelf, name);
    taken.push(name);
  }
  return taken;
}
