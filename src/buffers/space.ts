/** The room that bodies of slow clients may take in a process: memory, and files without names. */
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ALL_MEMORY_OCTETS, NETWORK_SHARE, REST_MS } from './limits.ts';

export interface BufferSpaceOptions {
  /** The folder of the files; `null`: none are written. */
  readonly folder: string | null;
  /** Octets of files in all. */
  readonly diskOctets: number;
  /** Milliseconds that never jump. Default: `performance.now`. */
  readonly clock?: () => number;
  /** Called when a file cannot be created or written. */
  readonly onFault: (error: unknown) => void;
}

export interface BufferSpace {
  /** Octets in memory, counted by the spools. */
  readonly memory: { octets: number };
  /** Whether memory is used up, so that even small bodies go to files. */
  isMemoryFull(): boolean;
  /** Takes octets of files for a client network. @returns `false`: there is no room */
  takeDisk(network: string, octets: number): boolean;
  giveDisk(network: string, octets: number): void;
  /** Opens a file that no folder lists: it is gone with its handle, and with the process. */
  openFile(): Promise<FileHandle>;
  /** Stops using files for a while. */
  fail(error: unknown): void;
  /** Octets of files now. */
  diskOctets(): number;
}

export function createBufferSpace(options: BufferSpaceOptions): BufferSpace {
  const { folder, clock = () => performance.now(), onFault } = options;
  const mostOfNetwork = options.diskOctets * NETWORK_SHARE;
  const byNetwork = new Map<string, number>();
  const memory = { octets: 0 };
  let disk = 0;
  let restsUntil = Number.NEGATIVE_INFINITY;
  let isMade = false;

  return {
    memory,
    isMemoryFull: () => memory.octets >= ALL_MEMORY_OCTETS,
    takeDisk(network, octets) {
      if (folder === null || clock() < restsUntil) return false;
      const taken = byNetwork.get(network) ?? 0;
      if (disk + octets > options.diskOctets || taken + octets > mostOfNetwork) return false;
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
      if (!isMade) mkdirSync(folder, { recursive: true, mode: 0o700 });
      isMade = true;
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
      if (clock() >= restsUntil) onFault(error);
      restsUntil = clock() + REST_MS;
    },
    diskOctets: () => disk,
  };
}
