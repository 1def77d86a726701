/**
 * Checks the folder of --data: rights, free room, and that a file can be written and flushed. A folder that does not exist is
 * not made; then the nearest one above it is checked.
 */
import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, type Stats, statSync } from 'node:fs';
import { rm, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { writeDurably } from '../../base/platform/durable-file.ts';
import { writeFault } from '../file-fault.ts';
import { dataFolder } from '../open-data.ts';
import { type Check, type CheckFinding, gibibytes } from './check.ts';

/** Octets of room below which a server refuses writes soon. */
const NO_ROOM = 64 * 1024 * 1024;
/** Octets of room below which logs, plans and the cache may fill the disk. */
const LITTLE_ROOM = 1024 * 1024 * 1024;

/** The folder itself, or the nearest one above it that exists. */
function nearest(folder: string): string {
  return existsSync(folder) ? folder : nearest(dirname(folder));
}

/** Writes a file, waits until it is on the disk, and removes it. @throws the system's error */
async function tryWrite(folder: string): Promise<void> {
  const file = join(folder, `.edgeplan-doctor-${randomBytes(6).toString('hex')}`);
  try {
    await writeDurably(file, 'written by edgeplan doctor, which removes it\n');
  } finally {
    await rm(file, { force: true });
  }
}

async function roomFinding(folder: string): Promise<CheckFinding> {
  const { bavail, bsize } = await statfs(folder);
  const room = bavail * bsize;
  const found = `${gibibytes(room)} free`;
  if (room >= LITTLE_ROOM) return { state: 'fine', found };
  const remedy = 'free some, or name a folder on another disk with --data';
  return { state: room < NO_ROOM ? 'failure' : 'warning', found, remedy };
}

/** The rights of the data folder: it has the signing key and digests of API keys. */
function rightsFinding(folder: string, { mode }: Stats): CheckFinding {
  const text = (mode & 0o777).toString(8);
  if ((mode & 0o077) === 0)
    return { state: 'fine', found: `only its owner may open \`${folder}\` (${text})` };
  const found = `\`${folder}\` is open to others (${text}); its files are not`;
  return { state: 'warning', found, remedy: `chmod 700 ${folder}` };
}

/** A folder that can be made; one whose parent is missing as well may be mistyped. */
function missingFinding(
  folder: string,
  { found, isGiven }: { readonly found: string; readonly isGiven: boolean },
): CheckFinding {
  const made = `\`${folder}\` does not exist yet and can be made in \`${found}\``;
  if (!isGiven || dirname(folder) === found) return { state: 'fine', found: made };
  const remedy = 'check the path of --data; nothing to do if all of it is to be made';
  return { state: 'warning', found: `${made}, with the folders between`, remedy };
}

export const disk: Check = {
  name: 'disk',
  async run(flags) {
    if (flags.database !== undefined) {
      return [{ state: 'skipped', found: 'the store is in PostgreSQL; no folder is needed' }];
    }
    const folder = resolve(dataFolder(flags));
    const found = nearest(folder);
    const remedy = 'name another folder with --data, or change the rights of this one';
    try {
      const stats = statSync(found);
      if (!stats.isDirectory()) {
        return [{ state: 'failure', found: `\`${found}\` is a file where a folder is needed`, remedy }];
      }
      if (found !== folder) {
        accessSync(found, constants.W_OK | constants.X_OK);
        return [
          missingFinding(folder, { found, isGiven: flags.data !== undefined }),
          await roomFinding(found),
        ];
      }
      await tryWrite(folder);
      const written = `a file in \`${folder}\` can be written and flushed`;
      return [{ state: 'fine', found: written }, await roomFinding(folder), rightsFinding(folder, stats)];
    } catch (error) {
      return [{ state: 'failure', found: writeFault(found, error).message, remedy }];
    }
  },
};
