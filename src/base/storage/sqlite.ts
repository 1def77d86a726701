/**
 * The SQLite of `@photostructure/sqlite`, which has the API of Node's own. Node's own is missing in Node 20, prints a
 * warning up to 24.14, and has the version of SQLite that Node was built with; before 3.51.3 one may damage a database in WAL
 * mode that two connections write to. It is synchronous, so writes, which wait for the disk, run in a thread of their own
 * (`control/store/database/sqlite/channel.ts`).
 */
import { chmodSync, closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { makeFolder } from '../platform/durable-file.ts';
import { isStoreFault, StoreFault, type StoreFaultCode } from './fault.ts';

/** The part of the driver's API that the store uses. */
export interface Database {
  prepare(sql: string): PreparedStatement;
  exec(sql: string): void;
  close(): void;
}

/** A statement of one connection. All methods run synchronously and throw the driver's errors. */
export interface PreparedStatement {
  all(...values: readonly unknown[]): object[];
  /** The first row. */
  get(...values: readonly unknown[]): object | undefined;
}

/** The module of the driver. */
interface Driver {
  readonly DatabaseSync: new (file: string) => Database;
}

const require = createRequire(import.meta.url);

/** Where the driver can be required from, in this thread or another. @throws the system's error when it is not installed */
export function driverPath(): string {
  return require.resolve('@photostructure/sqlite');
}

/** Opens a database file; creates it if it does not exist. Throws `StoreFault`. */
export function openDatabase(file: string): Database {
  const { DatabaseSync } = loadDriver();
  return faulty(() => new DatabaseSync(file));
}

/** Loads the driver at its first use: it is native code, which PostgreSQL installations do not need. */
function loadDriver(): Driver {
  try {
    return require(driverPath()) as Driver;
  } catch (cause) {
    // The middleware's package leaves the driver to those who follow a server.
    if ((cause as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') {
      const message =
        'the folder is locked with SQLite, and the package `@photostructure/sqlite` is not installed: npm install @photostructure/sqlite@1';
      throw new StoreFault('unavailable', message, { cause });
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `SQLite cannot be loaded here (${reason}); a PostgreSQL database needs none: \`--database postgres://…\``;
    throw new StoreFault('unavailable', message, { cause });
  }
}

/** Runs `work` on SQLite and converts what it throws to a fault. */
export function faulty<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw sqliteFault(error);
  }
}

/** Sentences of SQLite (`sqlite3_errstr`, and the constraint ones): statements report no code on Node 20. */
const SENTENCES: readonly (readonly [RegExp, StoreFaultCode])[] = [
  [/^UNIQUE constraint failed: /, 'conflict'],
  [/^FOREIGN KEY constraint failed/, 'missing'],
  [/database or disk is full/, 'full'],
  [/database (table )?is locked/, 'contended'],
  [/is not a database|malformed/, 'unreadable'],
  [/disk I\/O error|unable to open|readonly database|locking protocol/, 'unavailable'],
];

/** An error of SQLite as a fault; anything else as it is. */
export function sqliteFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreFault) return error;
  const found = SENTENCES.find(([sentence]) => sentence.test(error.message));
  if (found === undefined) return error;
  const [, code] = found;
  const subject = code === 'conflict' ? /: ([\w.]+)/.exec(error.message)?.[1] : undefined;
  const options = subject === undefined ? { cause: error } : { cause: error, subject };
  return new StoreFault(code, explain(code, error.message), options);
}

/** The sentence of a fault: what happened, and what an operator can do about it. */
function explain(code: StoreFaultCode, sentence: string): string {
  if (code === 'full') return 'the disk that holds the data folder is full';
  if (code === 'conflict') return `${sentence.replace(/^.*: /, '')} exists already`;
  if (code === 'missing') return 'a row refers to one that is not there';
  if (code === 'contended') return 'another process is writing to the database';
  return `sqlite: ${sentence}`;
}

// One process a data folder. Two servers would be safe for the data, SQLite sees to that, but each would publish, check
// nameservers and count requests as if it were alone; two nodes would overwrite each other's plans and cached responses.
// The lock is SQLite's own exclusive lock on an empty file: the system releases it when the process ends, also by a crash.

/** The file in the folder that is locked. */
export const LOCK_FILE = 'edgeplan.lock';

/**
 * Creates a node's folder and locks it; returns the function that releases it.
 * @throws StoreFault `in_use`; the system's error when the folder cannot be made
 */
export function takeFolder(data: string): () => void {
  makeFolder(data, { mode: 0o700 });
  return lockFolder(resolve(data));
}

/** Takes the lock; returns the function that releases it. Throws `in_use`, with the id of the process that has it. */
export function lockFolder(folder: string): () => void {
  const file = join(folder, LOCK_FILE);
  makePrivate(file);
  const database = openDatabase(file);
  try {
    faulty(() => database.exec('BEGIN EXCLUSIVE'));
  } catch (error) {
    database.close();
    if (!isStoreFault(error, 'contended')) throw error;
    const message = `the data folder \`${folder}\` is served by process ${holder(folder)}, which holds \`${file}\`; stop it first, or choose another folder`;
    throw new StoreFault('in_use', message, { cause: error });
  }
  const holding = join(folder, 'edgeplan.pid');
  makePrivate(holding);
  writeFileSync(holding, `${process.pid}\n`);
  return () => database.close();
}

/** Creates a file with mode 0600, or sets that mode, since an earlier version and SQLite itself create it readable for all. */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
  } catch (cause) {
    // Another user's file that this one may write: its rights are not for this process to change.
    if ((cause as NodeJS.ErrnoException).code !== 'EPERM') throw cause;
  }
}

/** The process id in the lock's file, for the message of `in_use`. */
function holder(folder: string): string {
  try {
    return readFileSync(join(folder, 'edgeplan.pid'), 'utf8').trim() || 'unknown';
  } catch {
    return 'unknown';
  }
}
