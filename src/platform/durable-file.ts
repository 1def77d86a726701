/** Files that are there whole or not at all, whatever happens while they are written. */
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The ending of files that are still being written; what a crash leaves behind of them is removed at the next start. */
const UNFINISHED = '.tmp';

/**
 * Writes a file in one step: tmp, fsync, rename. The rename lasts once the folder is synced too, see `syncFolder`.
 * Only the owner may read it.
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

/** Removes what a crash left unfinished in a folder, of the files whose names pass. */
export async function removeUnfinished(
  folder: string,
  isOurs: (name: string) => boolean = () => true,
): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.endsWith(UNFINISHED) && isOurs(name)) await rm(join(folder, name), { force: true });
  }
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** As `putFile` for content at hand, and lasting when it resolves. */
export async function writeDurably(file: string, content: Uint8Array | string): Promise<void> {
  await writeAtomically(file, (handle) => handle.writeFile(content));
  await syncFolder(dirname(file));
}
