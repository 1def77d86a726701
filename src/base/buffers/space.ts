/**
 * The memory and disk space that a process may use: a memory budget that several users share, and the space for the
 * bodies of slow clients, which counts octets by client network and opens the files, which have no names.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../platform/durable-file.ts';
import { ALL_MEMORY_OCTETS, NETWORK_SHARE, REST_MS } from './limits.ts';

export interface BufferSpaceOptions {
  /** The folder of the files; `null`: no files are written. */
  readonly folder: string | null;
  /** Octets of all files at most. */
  readonly diskOctets: number;
  /** Milliseconds, monotonic. Default: `performance.now`. */
  readonly clock?: () => number;
  /** Called when a file cannot be created or written. */
  readonly onFault: (error: unknown) => void;
}

/** The space of one process, shared by its spools. */
export interface BufferSpace {
  /** Octets in memory, counted by the spools. */
  readonly memory: { octets: number };
  /** Whether memory is exhausted, so that even small bodies are written to files. */
  isMemoryFull(): boolean;
  /** Takes octets of files for a client network. @returns `false`: there is no room */
  takeDisk(network: string, octets: number): boolean;
  giveDisk(network: string, octets: number): void;
  /** Opens an unlinked file, which the system removes when its handle or the process ends. */
  openFile(): Promise<FileHandle>;
  /** Stops the use of files for `REST_MS`, after a failure. */
  fail(error: unknown): void;
  /** Octets of all files now. */
  diskOctets(): number;
}

/** An empty space. */
export function createBufferSpace(options: BufferSpaceOptions): BufferSpace {
  const { folder, clock = () => performance.now(), onFault } = options;
  const maxOfNetwork = options.diskOctets * NETWORK_SHARE;
  const byNetwork = new Map<string, number>();
  const memory = { octets: 0 };
  let disk = 0;
  /** On the clock: no files before this time. */
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let folderExists = false;

  return {
    memory,
    isMemoryFull: () => memory.octets >= ALL_MEMORY_OCTETS,
    takeDisk(network, octets) {
      if (folder === null || clock() < pausedUntil) return false;
      const taken = byNetwork.get(network) ?? 0;
      if (disk + octets > options.diskOctets || taken + octets > maxOfNetwork) return false;
      disk += octets;
      byNetwork.set(network, taken + octets);
      return true;
    },
    giveDisk(network, octets) {
      if (octets === 0) return;
      disk -= octets;
      const left = byNetwork.get(network)! - octets;
      if (left === 0) byNetwork.delete(network);
      else byNetwork.set(network, left);
    },
    async openFile() {
      if (folder === null) throw new Error('bodies are not written to files here');
      if (!folderExists) makeFolder(folder, { mode: 0o700 });
      folderExists = true;
      const path = join(folder, randomUUID());
      const handle = await open(path, 'wx+', 0o600);
      try {
        await unlink(path);
      } catch (error) {
        await handle.close();
        throw error;
      }
      return handle;
    },
    fail(error) {
      if (clock() >= pausedUntil) onFault(error);
      pausedUntil = clock() + REST_MS;
    },
    diskOctets: () => disk,
  };
}

// A memory budget that several users of a process share: counts octets, and allocates nothing itself.

/** A bounded number of octets. */
export interface Budget {
  /** Reserves octets. @returns `false`: fewer are left */
  take(octets: number): boolean;
  /** Returns reserved octets. */
  give(octets: number): void;
}

/** @param octets the octets that may be reserved at a time */
export function createBudget(octets: number): Budget {
  let left = octets;
  return {
    take: (wanted) => {
      if (wanted > left) return false;
      left -= wanted;
      return true;
    },
    give: (back) => {
      left += back;
    },
  };
}
