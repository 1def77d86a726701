/**
 * Replaces the database of a folder by another; the old one stays beside it with its log. A replacement that was killed is
 * undone before the database is opened again.
 *
 * INVARIANT: no log of the old database remains beside the new one, since SQLite would apply it. The log therefore leaves
 * before the file is replaced, and in between the database lacks what only its log has. In that time, and no other, both
 * names are links to one file, which `undoReplacement` recognises.
 */
import { existsSync, statSync } from 'node:fs';
import { link, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { flush } from './backup.ts';

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
