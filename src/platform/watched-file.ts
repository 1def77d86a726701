/**
 * A file that is followed as it changes: looked at now and then, and at once where the system hints. What it holds is
 * somebody else's to take; what cannot be taken is told once, and the next change is looked at as any other. What could be
 * taken at another time is tried again, less and less often.
 */
import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { retryMs } from './backoff.ts';
import { sha256Hex } from './sha256.ts';

export interface WatchedFile {
  /** Looks at the file now, what was refused included; resolves once what it says is taken or refused. */
  check(): Promise<void>;
  /** From now on nothing is taken, but for what is being taken already. */
  stop(): void;
}

export interface WatchFileOptions {
  readonly file: string;
  /** Reads the file whole; rejects with why it cannot. */
  readonly read: () => Promise<Uint8Array>;
  /** Given the octets whenever they are others than before; rejects with what is wrong with them. */
  readonly take: (octets: Uint8Array) => Promise<void>;
  /** Told why a changed file was not taken. */
  readonly onRefused: (error: unknown) => void;
  /** Whether what was refused so may be taken as it is at another time; absent: never. */
  readonly mayPass?: (error: unknown) => boolean;
  /** Milliseconds between looks without a hint of the system's; default 2,000. */
  readonly pollMs?: number | undefined;
}

const POLL_MS = 2_000;
/** Milliseconds before octets that were refused are tried again: the first time, and at most. */
const RETRY_MS = { first: 2_000, last: 60_000 } as const;
/** Milliseconds after the system's hint: editors write in several steps. */
const SETTLE_MS = 50;

/**
 * Takes the file as it is and begins to follow it.
 * @throws what `read` or `take` rejects with at the first look
 */
export async function watchFile({
  file,
  read,
  take,
  onRefused,
  mayPass = () => false,
  pollMs = POLL_MS,
}: WatchFileOptions): Promise<WatchedFile> {
  /** What was looked at last: the digest of its octets, or why there were none. */
  let seen = '';
  /** What was seen was refused and is to be tried again. */
  let refused: Refused | null = null;
  let looking: Promise<void> | null = null;
  let again = false;
  let stopped = false;

  /** Takes what is new. @throws the first time that something is wrong */
  async function lookOnce(): Promise<void> {
    let octets: Uint8Array;
    try {
      octets = await read();
    } catch (error) {
      const reason = reasonOf(error);
      if (seen === reason) return;
      seen = reason;
      throw error;
    }
    // Who takes it may be closed by now.
    if (stopped) return;
    const found = sha256Hex(octets);
    const before = found === seen ? refused : null;
    if (found === seen && (before === null || performance.now() < before.tryAt)) return;
    seen = found;
    refused = null;
    try {
      await take(octets);
    } catch (error) {
      if (!mayPass(error)) throw error;
      const times = (before?.times ?? 0) + 1;
      refused = { times, tryAt: performance.now() + retryMs(times - 1, RETRY_MS), reason: reasonOf(error) };
      if (before?.reason !== refused.reason) throw error;
    }
  }

  /** One look at a time; a call during one makes it look once more. */
  function look(): Promise<void> {
    again = true;
    looking ??= (async () => {
      while (again) {
        again = false;
        await lookOnce().catch(onRefused);
      }
    })().finally(() => {
      looking = null;
    });
    return looking;
  }

  await lookOnce();
  const poll = setInterval(() => void look(), pollMs);
  const hints = listen(dirname(file), () => void look());
  return {
    check() {
      if (refused !== null) refused = { ...refused, tryAt: performance.now() };
      return look();
    },
    stop() {
      stopped = true;
      clearInterval(poll);
      hints.stop();
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
 * Hints that something in a folder changed, a little after it did. The folder and not the file, since editors and
 * deployments put another file in its place. Where the system has no hints to give, the poll remains.
 */
function listen(folder: string, onHint: () => void): { stop(): void } {
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
        onHint();
      }, SETTLE_MS);
    });
    watcher.on('error', stop);
  } catch {
    // Too many watches, or a file system without any.
  }
  return { stop };
}
