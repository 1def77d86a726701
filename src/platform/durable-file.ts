/** Writes files so that after a crash each is whole: the old content or the new one. */
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Suffix of files that are being written; leftovers of a crash are removed at the next start. */
const UNFINISHED = '.tmp';

/**
 * Writes a file atomically: temporary file, fsync, rename. The rename is durable once the folder is synced, see
 * `syncFolder`. Mode 0600. @throws the system's error; the old file is unchanged then
 */
export async function writeAtomically(
  file: string,
  write: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const beside = `${file}.${randomBytes(6).toString('hex')}${UNFINISHED}`;
  const handle = await open(beside, 'wx', 0o600);
  try {
    await write(handle);
    await handle.sync();
  } catch (error) {
    await handle.close();
    await rm(beside, { force: true });
    throw error;
  }
  await handle.close();
  try {
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

/** Removes temporary files that a crash left in a folder. @param isOurs selects by name; default: all */
export async function removeUnfinished(
  folder: string,
  isOurs: (name: string) => boolean = () => true,
): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.endsWith(UNFINISHED) && isOurs(name)) await rm(join(folder, name), { force: true });
  }
}

/** Makes created, renamed and removed entries of a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** As `writeAtomically` for whole content; durable when it resolves. */
export async function writeDurably(file: string, content: Uint8Array | string): Promise<void> {
  await writeAtomically(file, (handle) => handle.writeFile(content));
  await syncFolder(dirname(file));
}
