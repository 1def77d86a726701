/**
 * The index of the cache files of one domain under one purge epoch: their sizes, and the order of eviction (least recently
 * used first). Plain data and functions on it; `disk.ts` removes the files themselves.
 */
import { join } from 'node:path';
import { sha256Hex } from '../../base/platform/cryptography.ts';

export interface PartitionFile {
  /** Octets. */
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
  /** Octets of all files. */
  used: number;
  /** By name, the least recently used first. */
  readonly files: Map<string, PartitionFile>;
}

/** The location of a key's file. */
export interface FilePlace {
  readonly partition: DiskPartition;
  readonly name: string;
  readonly path: string;
}

/** A partition without files. */
export function createDiskPartition(
  path: string,
  { maxOctets, maxAgeMs }: Pick<DiskPartition, 'maxOctets' | 'maxAgeMs'>,
): DiskPartition {
  return { path, maxOctets, maxAgeMs, used: 0, files: new Map() };
}

/** Adds a file as the most recently used; replaces one of the same name. */
export function putFile(partition: DiskPartition, name: string, file: PartitionFile): void {
  dropFile(partition, name);
  partition.files.set(name, file);
  partition.used += file.size;
}

/** Removes a file from the index, if it is in it. */
export function dropFile(partition: DiskPartition, name: string): void {
  const file = partition.files.get(name);
  if (file === undefined) return;
  partition.files.delete(name);
  partition.used -= file.size;
}

/** Marks a file as most recently used. */
export function touchFile(partition: DiskPartition, name: string): void {
  const file = partition.files.get(name);
  if (file === undefined) return;
  partition.files.delete(name);
  partition.files.set(name, file);
}

/** Removes from the partition the least recently used files beyond its limits, and returns them. */
export function takeOverflow(partition: DiskPartition, mostFiles: number): readonly string[] {
  const taken: string[] = [];
  for (const name of partition.files.keys()) {
    if (partition.used <= partition.maxOctets && partition.files.size <= mostFiles) break;
    dropFile(partition, name);
    taken.push(name);
  }
  return taken;
}

/**
 * The number of files of one partition beyond which files are evicted, so that all have `mostFiles` together: those with few
 * files lose none.
 */
export function fileShare(partitions: Iterable<DiskPartition>, mostFiles: number): number {
  const sizes = Array.from(partitions, ({ files }) => files.size).sort((a, b) => a - b);
  let left = mostFiles;
  for (const [index, size] of sizes.entries()) {
    const share = Math.floor(left / (sizes.length - index));
    if (size > share) return share;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

/** Removes from the partition the files that have expired, and returns them. */
export function takeExpired(partition: DiskPartition, now: number): readonly string[] {
  const taken: string[] = [];
  for (const [name, { at }] of partition.files) {
    if (now - at <= partition.maxAgeMs) continue;
    dropFile(partition, name);
    taken.push(name);
  }
  return taken;
}

/** The path of a file by its name, 64 hex digits. */
export function pathOf({ path }: DiskPartition, name: string): string {
  return join(path, name.slice(0, 2), name.slice(2));
}

/** The location of the file of a key. */
export function placeIn(partition: DiskPartition, key: string): FilePlace {
  const name = sha256Hex(key);
  return { partition, name, path: pathOf(partition, name) };
}
