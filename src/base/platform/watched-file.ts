/**
 * Follows a file: polls it, and reads it at once if the system reports a change. The caller's `take` accepts or refuses
 * the content; a refusal is reported once. A refusal that may pass is tried again with backoff.
 */
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { retryMs } from './tasks.ts';

/** A file that is followed. */
export interface WatchedFile {
  /** Reads the file now, also content that was refused before; resolves once it is accepted or refused. */
  check(): Promise<void>;
  /** Stops following; a running `take` is not interrupted. */
  stop(): void;
}

export interface WatchFileOptions<T> {
  readonly file: string;
  /** Reads the whole file; rejects when it cannot. */
  readonly read: () => Promise<T>;
  /** Differs once the content does. */
  readonly digestOf: (content: T) => string;
  /** Called with changed content; rejects when it is refused. */
  readonly take: (content: T) => Promise<void>;
  /** Called with the reason of a refusal. */
  readonly onRefused: (error: unknown) => void;
  /** Whether the same content may be accepted later after this error; absent: never. */
  readonly mayPass?: (error: unknown) => boolean;
  /** Milliseconds between polls; default 2,000. */
  readonly pollMs?: number | undefined;
}

const POLL_MS = 2_000;
/** Milliseconds before refused octets are tried again: the first delay, and the longest. */
const RETRY_MS = { first: 2_000, last: 60_000 } as const;
/** Milliseconds between a change report and the read: editors write in several steps. */
const SETTLE_MS = 50;

/**
 * Reads the file and starts to follow it.
 * @throws what `read` or `take` rejects with at first
 */
export async function watchFile<T>({
  file,
  read,
  digestOf,
  take,
  onRefused,
  mayPass = () => false,
  pollMs = POLL_MS,
}: WatchFileOptions<T>): Promise<WatchedFile> {
  /** The digest of the last octets, or why they could not be read. */
  let seen = '';
  /** The last octets were refused and are tried again; `null`: they were accepted. */
  let refused: Refused | null = null;
  let reading: Promise<void> | null = null;
  /** A check was requested during the running one. */
  let again = false;
  let stopped = false;

  /** Reads once and passes changed content on. @throws an error when it occurs first */
  async function readOnce(): Promise<void> {
    let content: T;
    try {
      content = await read();
    } catch (error) {
      const reason = reasonOf(error);
      if (seen === reason) return;
      seen = reason;
      throw error;
    }
    // Stopped during the read: the receiver may be closed.
    if (stopped) return;
    const digest = digestOf(content);
    const before = digest === seen ? refused : null;
    if (digest === seen && (before === null || performance.now() < before.tryAt)) return;
    seen = digest;
    refused = null;
    try {
      await take(content);
    } catch (error) {
      if (!mayPass(error)) throw error;
      const times = (before?.times ?? 0) + 1;
      refused = { times, tryAt: performance.now() + retryMs(times - 1, RETRY_MS), reason: reasonOf(error) };
      if (before?.reason !== refused.reason) throw error;
    }
  }

  /** Checks the file; one check at a time, and a call during one causes another. */
  function check(): Promise<void> {
    again = true;
    reading ??= (async () => {
      while (again) {
        again = false;
        await readOnce().catch(onRefused);
      }
    })().finally(() => {
      reading = null;
    });
    return reading;
  }

  await readOnce();
  const poll = setInterval(() => void check(), pollMs);
  const reports = watchFolder(dirname(file), () => void check());
  return {
    check() {
      if (refused !== null) refused = { ...refused, tryAt: performance.now() };
      return check();
    },
    stop() {
      stopped = true;
      clearInterval(poll);
      reports.stop();
    },
  };
}

interface Refused {
  readonly times: number;
  /** By the clock of `performance`. */
  readonly tryAt: number;
  readonly reason: string;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Calls `onChange` shortly after a change in a folder. The folder and not the file, since editors and deployments replace
 * the file. If the system cannot report changes, polling remains.
 */
export function watchFolder(folder: string, onChange: () => void): { stop(): void } {
  let settle: NodeJS.Timeout | null = null;
  let watcher: FSWatcher | null = null;
  const stop = (): void => {
    if (settle !== null) clearTimeout(settle);
    watcher?.close();
  };
  try {
    watcher = watch(folder, () => {
      settle ??= setTimeout(() => {
        settle = null;
        onChange();
      }, SETTLE_MS);
    });
    watcher.on('error', stop);
  } catch {
    // Too many watches, or a file system without any.
  }
  return { stop };
}

// Detects changes of a file without reading it.

/** A text that changes when the file is written or replaced (times, size, inode); for a missing file, the system's code. */
export async function fileMark(path: string): Promise<string> {
  return stat(path).then(
    ({ mtimeMs, ctimeMs, size, ino }) => `${mtimeMs}/${ctimeMs}/${size}/${ino}`,
    (error: NodeJS.ErrnoException) => `${error.code}`,
  );
}
