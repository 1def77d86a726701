/** Watches folders for changes, collects changes that follow each other closely, and reads again after them. */
import { type FSWatcher, watch } from 'node:fs';
import { MAX_WATCHED_FOLDERS } from '../../proxy/limits.ts';

/** Milliseconds after a change in which more are expected: certificate and key are two files. */
const SETTLE_MS = 100;

/** Returns a function that runs the action; a call during a run makes it run once more after that, however many calls. */
export function oneAtATime(action: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = (): Promise<void> => {
    running = action().finally(() => {
      running = null;
    });
    return running;
  };
  return () => {
    if (running === null) return start();
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        return start();
      });
    return next;
  };
}

/** Runs the action `SETTLE_MS` after the first of several calls. */
export function settling(action: () => void): { readonly call: () => void; readonly cancel: () => void } {
  let timer: NodeJS.Timeout | null = null;
  return {
    call() {
      timer ??= setTimeout(() => {
        timer = null;
        action();
      }, SETTLE_MS).unref();
    },
    cancel() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

export interface FolderWatch {
  /** Replaces the watched folders; those beyond `MAX_WATCHED_FOLDERS` are not watched. */
  readonly follow: (folders: readonly string[]) => void;
  readonly stop: () => void;
}

/** @param failed called with a folder that cannot be watched, or no longer */
export function watchFolders(
  changed: () => void,
  failed: (folder: string, error: NodeJS.ErrnoException) => void,
): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  const end = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  return {
    follow(folders) {
      const wanted = new Set([...new Set(folders)].slice(0, MAX_WATCHED_FOLDERS));
      for (const folder of [...watchers.keys()]) if (!wanted.has(folder)) end(folder);
      for (const folder of wanted) {
        if (watchers.has(folder)) continue;
        try {
          const watcher = watch(folder, { persistent: false }, changed);
          watcher.on('error', (error) => {
            end(folder);
            failed(folder, error);
          });
          watchers.set(folder, watcher);
        } catch (error) {
          failed(folder, error as NodeJS.ErrnoException);
        }
      }
    },
    stop() {
      for (const folder of [...watchers.keys()]) end(folder);
    },
  };
}
