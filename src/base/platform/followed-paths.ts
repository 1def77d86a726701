/**
 * Follows files and folders for changes: a file that is written, replaced, removed or made again, and in folders also new
 * files. Reports of the system cause a comparison at once; polling finds what the system does not report.
 */
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { watchFolder } from './watched-file.ts';

/** Paths that are followed. */
export interface FollowedPaths {
  /**
   * Resolves with the paths that changed since the last call, in order, once there is one; with none after `stop`. One call
   * at a time.
   */
  next(): Promise<readonly string[]>;
  stop(): void;
}

export interface FollowOptions {
  /** The paths of files and folders; asked again after each change. */
  readonly paths: () => readonly string[];
  /** The most files that are followed; further ones in folders are left out. */
  readonly most: number;
  /** Milliseconds between comparisons without a report; default 1,000. */
  readonly pollMs?: number;
}

const POLL_MS = 1_000;
/** Folders below a folder that are followed with it: rule sets have two levels. */
const DEPTH = 3;

/** What was found: files with their state, and folders with their identity. */
interface Snapshot {
  readonly files: ReadonlyMap<string, string>;
  readonly folders: ReadonlyMap<string, string>;
}

/** Follows the paths from now on. */
export function followPaths({ paths, most, pollMs = POLL_MS }: FollowOptions): FollowedPaths {
  let seen = snapshot(paths(), most);
  let stopped = false;
  let wake: (() => void) | null = null;
  const watchers = new Map<string, { readonly identity: string; stop(): void }>();
  const onReport = (): void => wake?.();

  /** Watches the folders that exist now; one that was replaced is watched again. */
  function watchFolders({ folders }: Snapshot): void {
    for (const [folder, watcher] of watchers) {
      if (folders.get(folder) === watcher.identity) continue;
      watcher.stop();
      watchers.delete(folder);
    }
    for (const [folder, identity] of folders)
      if (!watchers.has(folder)) watchers.set(folder, { identity, ...watchFolder(folder, onReport) });
  }

  watchFolders(seen);
  const poll = setInterval(onReport, pollMs);
  return {
    async next() {
      while (!stopped) {
        const now = snapshot(paths(), most);
        const changed = differences(seen.files, now.files);
        seen = now;
        watchFolders(now);
        if (changed.length > 0) return changed;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = null;
      }
      return [];
    },
    stop() {
      stopped = true;
      clearInterval(poll);
      for (const watcher of watchers.values()) watcher.stop();
      wake?.();
    },
  };
}

/** The paths whose state differs. */
function differences(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all].filter((path) => before.get(path) !== after.get(path)).sort();
}

/** The state of all paths. */
function snapshot(paths: readonly string[], most: number): Snapshot {
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  const add = (path: string, depth: number): void => {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (found?.isDirectory() !== true || depth >= DEPTH) {
      if (files.size < most) files.set(path, found === undefined ? 'absent' : stateOf(found));
      return;
    }
    folders.set(path, `${found.dev} ${found.ino}`);
    for (const name of readdirSync(path).sort()) add(join(path, name), depth + 1);
  };
  for (const path of paths) {
    quietly(() => add(path, 0));
    const folder = dirname(path);
    quietly(() => {
      const { dev, ino } = statSync(folder, { bigint: true });
      folders.set(folder, `${dev} ${ino}`);
    });
  }
  return { files, folders };
}

/** What differs after a write: the times, the size, the file itself. */
function stateOf(found: { readonly [name in 'mtimeNs' | 'ctimeNs' | 'size' | 'ino']: bigint }): string {
  return `${found.mtimeNs} ${found.ctimeNs} ${found.size} ${found.ino}`;
}

/** Runs a step; a path that cannot be read, or vanished meanwhile, is compared again later. */
function quietly(step: () => void): void {
  try {
    step();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
  }
}
