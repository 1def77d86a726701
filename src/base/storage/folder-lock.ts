/**
 * One process a data folder. Two servers would be safe for the data, SQLite sees to that, but each would publish, check
 * nameservers and count requests as if it were alone; two nodes would overwrite each other's plans and cached responses.
 * The lock is SQLite's own exclusive lock on an empty file: the system releases it when the process ends, also by a crash.
 */
import { chmodSync, closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeFolder } from '../platform/make-folder.ts';
import { isStoreFault, StoreFault } from './fault.ts';
import { faulty, openDatabase } from './sqlite.ts';

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
