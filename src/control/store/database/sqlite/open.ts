/** The embedded database: a folder with one file, its log, and a lock. */
import { chmodSync, closeSync, openSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../../../../base/platform/durable-file.ts';
import { StoreFault } from '../../../../base/storage/fault.ts';
import { lockFolder, openDatabase } from '../../../../base/storage/sqlite.ts';
import type { Store } from '../../store.ts';
import { type Migration, migrationsOf } from '../../tables/steps.ts';
import type { StoreChange } from '../statement.ts';
import { createListeners, watchDiskSpace } from '../transaction.ts';
import { backupDatabase, flush, isReplacing, undoReplacement } from './backup.ts';
import { type Channel, openChannel } from './channel.ts';
import { migrate } from './migrate.ts';
import { createReader } from './reader.ts';
import { settle } from './settings.ts';
import { createWriter } from './writer.ts';

/** Milliseconds between two checks for commits of other processes, while there are listeners. */
const LOOK_MS = 250;

/** Octets of room below which `ping` fails: a write of the largest body needs some of them, and so does its log. */
const MIN_ROOM_OCTETS = 1_048_576;

/** The folder, and for what it is opened. */
export interface SqliteOptions {
  readonly folder: string;
  readonly role: 'server' | 'tool';
  /** The steps to this version's tables; tests give others. */
  readonly migrations?: readonly Migration[];
}

/** Opens the store in a folder; creates both if they do not exist. Throws `StoreFault`. */
export async function openSqlite(options: SqliteOptions): Promise<Store> {
  const folder = resolve(options.folder);
  const file = join(folder, 'edgeplan.db');
  await makeFiles(folder, file);
  const unlock = options.role === 'server' ? lockFolder(folder) : () => undefined;
  try {
    await settleReplacement(folder, { file, role: options.role });
    prepare(file, options.migrations ?? migrationsOf('sqlite'));
    await flush(folder);
    const channel = await openChannel(file);
    return overChannel({ folder, file, channel, unlock });
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Creates the folder (mode 0700) and the file (0600), or sets the file's mode. */
async function makeFiles(folder: string, file: string): Promise<void> {
  try {
    // It has the digests of keys and the signing key: only its owner may read it.
    const made = makeFolder(folder, { mode: 0o700 });
    if (made !== undefined) await flush(dirname(made));
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StoreFault('unavailable', `the data folder \`${folder}\` cannot be used: ${reason}`, { cause });
  }
}

/** Undoes a restore that was killed. Throws `in_use` if one is under way: its last step replaces the file. */
async function settleReplacement(
  folder: string,
  { file, role }: { readonly file: string; readonly role: SqliteOptions['role'] },
): Promise<void> {
  if (!isReplacing(file)) return;
  const unlock = role === 'server' ? () => undefined : lockFolder(folder);
  await undoReplacement(file).finally(unlock);
}

/** Sets up and migrates the file, over a connection that is then closed. */
function prepare(file: string, migrations: readonly Migration[]): void {
  const database = openDatabase(file);
  try {
    settle(database);
    migrate(database, migrations);
  } finally {
    database.close();
  }
}

/** The parts of an open store. */
interface Opened {
  readonly folder: string;
  readonly file: string;
  readonly channel: Channel;
  readonly unlock: () => void;
}

/** The store over a channel to the writing thread, and a reader on this one. */
function overChannel({ folder, file, channel, unlock }: Opened): Store {
  const watch = watchOthers(channel, (change) => listeners.emit(change));
  const listeners = createListeners(watch.start, watch.stop);
  const writer = createWriter(channel, listeners.emit);
  const reader = createReader(file);
  let closing: Promise<void> | null = null;
  return watchDiskSpace({
    about: { database: 'sqlite', where: folder, warnings: [] },
    place: { database: 'sqlite', file },
    latest: reader.latest,
    looked: reader.looked,
    version: reader.version,
    shares: null,
    read: reader.read,
    write: writer.write,
    listen: listeners.add,
    backup: (to) => backupDatabase(file, to),
    async ping() {
      await judgeRoom(folder);
      await writer.write(async () => undefined);
    },
    close() {
      closing ??= (async () => {
        watch.stop();
        await writer.close();
        await reader.close();
        await channel.close();
        unlock();
      })();
      return closing;
    },
  });
}

/** @throws StoreFault if the disk has no room for a write of ordinary size */
async function judgeRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const octets = bavail * bsize;
  if (octets >= MIN_ROOM_OCTETS) return;
  const [left, least] = [octets, MIN_ROOM_OCTETS].map((room) => Math.floor(room / 1_024));
  throw new StoreFault(
    'full',
    `the disk that holds the data folder has ${left} KiB left, less than ${least}`,
  );
}

/** Checks for commits of other processes: the writing connection's `data_version` changes with theirs, not with its own. */
function watchOthers(channel: Channel, emit: (change: StoreChange) => void) {
  let timer: NodeJS.Timeout | undefined;
  let seen: unknown;
  const look = async (): Promise<void> => {
    try {
      const [row] = await channel.send('PRAGMA data_version');
      const { data_version: version } = row as { data_version: number };
      if (seen !== undefined && seen !== version) emit('unknown');
      seen = version;
    } catch {
      // The store is closing, or broken: the next write or ping fails with the fault.
    }
  };
  return {
    start(): void {
      void look();
      timer = setInterval(look, LOOK_MS);
      timer.unref();
    },
    stop(): void {
      clearInterval(timer);
      seen = undefined;
    },
  };
}
