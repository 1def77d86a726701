/**
 * Writes files atomically: after a failure such as a full disk the old content is intact and no partial file
 * remains.
 */
import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { access, type FileHandle, open, readlink, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { writeAtomically } from '../base/platform/durable-file.ts';
import { writeFault } from './exit.ts';

/** Whether a system error has a code. */
function hasCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}

/** The file's status; `null` when it does not exist. */
async function statOf(file: string): Promise<Stats | null> {
  try {
    return await stat(file);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Resolves links: the path of the file itself, also of one that does not exist yet. */
async function realTarget(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  try {
    return await realTarget(resolve(dirname(file), await readlink(file)));
  } catch (error) {
    // Not a link, or no such file.
    if (hasCode(error, 'EINVAL') || hasCode(error, 'ENOENT')) return file;
    throw error;
  }
}

/** Writes a file that must not exist and flushes it to disk; a file that cannot be finished is removed. */
async function create(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

/** Writes a temporary file beside the target and renames it; keeps the target's mode. */
async function replace(file: string, bytes: Uint8Array): Promise<void> {
  const before = await statOf(file);
  // A pipe or a device is written to and not replaced; a folder refuses both.
  if (before !== null && !before.isFile()) return writeFile(file, bytes);
  const target = await realTarget(file);
  if (before !== null) await access(target, constants.W_OK);
  const draft = join(dirname(target), `.edgeplan-${randomBytes(6).toString('hex')}.tmp`);
  const write = async (handle: FileHandle): Promise<void> => {
    // Not the mode of `open`, from which the umask is subtracted.
    if (before !== null) await handle.chmod(before.mode & 0o777);
    await handle.writeFile(bytes);
  };
  await writeAtomically(target, write, { mode: 0o666, draft });
}

/**
 * Replaces a file in one step: readers see the old or the new content, and a failure leaves the old. Of a link the
 * target is replaced.
 * @throws CommandFault
 */
export async function writeWhole(file: string, bytes: Uint8Array): Promise<void> {
  try {
    await replace(file, bytes);
  } catch (error) {
    throw writeFault(file, error);
  }
}

/**
 * Writes a new file. Resolves to `false` when the file exists; it is not changed then.
 * @throws CommandFault
 */
export async function writeNew(file: string, text: string): Promise<boolean> {
  try {
    await create(file, text);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw writeFault(file, error);
  }
}
