/** Copies a database in use: one consistent snapshot, which is complete and durable or does not exist at all. */
import { constants, existsSync, promises as files, statSync } from 'node:fs';
import { link, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { StoreFault } from '../../../../base/storage/fault.ts';
import { faulty, openDatabase } from '../../../../base/storage/sqlite.ts';
import { openChannel } from './channel.ts';

/**
 * Copies `from` into the new file `to`. VACUUM INTO reads one snapshot, without blocking writers, in a thread of its own.
 * SQLite does not flush what it writes that way, so this function does, and only then gives the copy its name.
 */
export async function backupDatabase(from: string, to: string): Promise<void> {
  const target = resolve(to);
  const draft = `${target}.${process.pid}.part`;
  try {
    await refuseExisting(target);
    const channel = await openChannel(from);
    try {
      await channel.send('VACUUM INTO ?', [draft]);
    } finally {
      await channel.close();
    }
    await flush(draft);
    // `link` fails where `rename` would replace a file made meanwhile.
    await files.link(draft, target);
    await flush(dirname(target));
  } catch (error) {
    if (error instanceof StoreFault) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreFault('unavailable', `the copy \`${target}\` cannot be written: ${reason}`, {
      cause: error,
    });
  } finally {
    await files.rm(draft, { force: true });
  }
}

/** Throws if the target exists: a backup never replaces a file. */
async function refuseExisting(target: string): Promise<void> {
  const exists = await files.access(target, constants.F_OK).then(
    () => true,
    () => false,
  );
  if (exists) throw new StoreFault('conflict', `\`${target}\` exists already`, { subject: 'file' });
}

/** Waits until a file, or a folder's list of files, is on the disk. */
export async function flush(path: string): Promise<void> {
  const handle = await files.open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

// Replaces the database of a folder by another; the old one stays beside it with its log. A replacement that was killed is
// undone before the database is opened again.
//
// INVARIANT: no log of the old database remains beside the new one, since SQLite would apply it. The log therefore leaves
// before the file is replaced, and in between the database lacks what only its log has. In that time, and no other, both
// names are links to one file, which `undoReplacement` recognises.

/** The name of the old database. */
function replacedName(target: string): string {
  return `${target}.replaced`;
}

/** The steps that replace `target` by `copy`, in order; the last one replaces it. The folder must be locked. */
export function replacementSteps(copy: string, target: string): readonly (() => Promise<void>)[] {
  const old = replacedName(target);
  const folder = dirname(target);
  return [
    // The file of an earlier replacement first: its log alone is nothing that could be taken for a whole store.
    () => rm(old, { force: true }),
    () => rm(`${old}-wal`, { force: true }),
    () => rm(`${old}-shm`, { force: true }),
    // Flushed, so that after a power cut too the log has not left a file without its second name.
    () => link(target, old).then(() => flush(folder)),
    () => movePart('-wal', { from: target, to: old }),
    () => movePart('-shm', { from: target, to: old }).then(() => flush(folder)),
    () => rename(copy, target),
  ];
}

/** Undoes a replacement that was killed before its last step; does nothing otherwise. The folder must be locked. */
export async function undoReplacement(target: string): Promise<void> {
  if (!isReplacing(target)) return;
  const old = replacedName(target);
  for (const part of ['-wal', '-shm'] as const) await movePart(part, { from: old, to: target });
  await flush(dirname(target));
  await rm(old);
}

/** Whether a replacement of the database is under way, or was killed. */
export function isReplacing(target: string): boolean {
  const [now, old] = [target, replacedName(target)].map((file) => statSync(file, { throwIfNoEntry: false }));
  return now !== undefined && old !== undefined && now.ino === old.ino && now.dev === old.dev;
}

/**
 * Renames the log of a database, or the index of its log, if there is one. The index is the same file afterwards, so that
 * a command that reads the database meanwhile shares its locks.
 */
async function movePart(
  part: '-wal' | '-shm',
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  if (existsSync(`${from}${part}`)) await rename(`${from}${part}`, `${to}${part}`);
}

// Checks a copy of the database, and reports what is in it.

/** What a checked copy contains. */
export interface CopyReport {
  /** The size of the file. */
  readonly octets: number;
  readonly domains: number;
  readonly revisions: number;
  /** When the newest revision was made, milliseconds since the epoch; `null` without any. */
  readonly newest: number | null;
}

/** Reads every page of a copy that no other process has open. Throws `unreadable` when SQLite finds damage. */
export function inspectCopy(file: string): CopyReport {
  const database = openDatabase(file);
  try {
    const ask = (sql: string): Record<string, unknown> =>
      faulty(() => database.prepare(sql).all())[0] as Record<string, unknown>;
    const { integrity_check: verdict } = ask('PRAGMA integrity_check(1)');
    if (verdict !== 'ok') throw new StoreFault('unreadable', `the copy \`${file}\` is damaged: ${verdict}`);
    const stranger = faulty(() => database.prepare('PRAGMA foreign_key_check').all())[0];
    if (stranger !== undefined)
      throw new StoreFault(
        'unreadable',
        `the copy \`${file}\` has a row that refers to one that is not there`,
      );
    const { domains } = ask('SELECT count(*) AS domains FROM domains');
    const { revisions, newest } = ask('SELECT count(*) AS revisions, max(at) AS newest FROM plan_revisions');
    return {
      octets: statSync(file).size,
      domains: Number(domains),
      revisions: Number(revisions),
      newest: newest === null ? null : Number(newest),
    };
  } finally {
    database.close();
  }
}

// Writes the log of a database back into its file.

/**
 * Makes the file of a database complete without its log, before the file is copied or renamed. `Store.close` does not: the driver's connections end when their prepared statements are collected, and SQLite writes the log back after
 * the last of them. Throws `contended` if another process reads or writes.
 */
export function foldLog(file: string): void {
  const database = openDatabase(file);
  try {
    const [row] = faulty(() => database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all());
    if ((row as { readonly busy: number }).busy === 0) return;
    throw new StoreFault('contended', `\`${file}\` is in use: its log cannot be written back`);
  } finally {
    database.close();
  }
}
