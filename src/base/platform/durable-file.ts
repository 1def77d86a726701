/**
 * Creates folders, and writes files atomically: readers see the old content or the whole new content, also after a crash
 * in the middle.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** The ending of temporary files. A crash can leave one; `removeUnfinished` removes them at the next start. */
const UNFINISHED = '.tmp';

export interface AtomicWriteOptions {
  /** Permission bits of the file, less the process's umask; 0o600 (only the owner may read it) when absent. */
  readonly mode?: number;
  /** Path of the temporary file, in the folder of the file; absent: the file's own path with a random ending. */
  readonly draft?: string;
}

/**
 * Writes a file in one step: temporary file, fsync, rename. The rename is durable once the folder is synced too
 * (`syncFolder`).
 * @throws the error of `write` or of the file system, after the temporary file is removed
 */
export async function writeAtomically(
  file: string,
  write: (handle: FileHandle) => Promise<void>,
  { mode = 0o600, draft = `${file}.${randomBytes(6).toString('hex')}${UNFINISHED}` }: AtomicWriteOptions = {},
): Promise<void> {
  const handle = await open(draft, 'wx', mode);
  try {
    await write(handle);
    await handle.sync();
  } catch (error) {
    await handle.close();
    await rm(draft, { force: true });
    throw error;
  }
  await handle.close();
  try {
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Removes the temporary files that a crash left in a folder, of those whose names pass `isOurs`. */
export async function removeUnfinished(
  folder: string,
  isOurs: (name: string) => boolean = () => true,
): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.endsWith(UNFINISHED) && isOurs(name)) await rm(join(folder, name), { force: true });
  }
}

/** Flushes a folder's entries (fsync of the directory), which makes renames in it durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes a file atomically with mode 0o600; file and rename are durable when it resolves. */
export async function writeDurably(file: string, content: Uint8Array | string): Promise<void> {
  await writeAtomically(file, (handle) => handle.writeFile(content));
  await syncFolder(dirname(file));
}

// Creates a folder and those above it, one level at a time. Node's `mkdir` with `recursive` never returns below a folder
// that exists and answers ENOENT to every `mkdir` in it, such as `/proc`.

/**
 * Creates the folder; returns the first folder that was created, `undefined` when all exist.
 * @throws the system's error: ENOTDIR when a file is in the way, ENOTSUP when the file system takes no folder there
 */
export function makeFolder(
  path: string,
  { mode = 0o777 }: { readonly mode?: number } = {},
): string | undefined {
  const folder = resolve(path);
  try {
    mkdirSync(folder, { mode });
    return folder;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // EEXIST, or another code: a read-only file system may refuse an existing folder with EROFS.
    if (isFolder(folder)) return undefined;
    if (code === 'EEXIST') throw fault('ENOTDIR', folder, 'it is no folder', error);
    if (code !== 'ENOENT') throw error;
    const above = dirname(folder);
    if (isFolder(above)) throw fault('ENOTSUP', folder, `\`${above}\` takes no new folder`, error);
    const first = makeFolder(above, { mode });
    return makeFolder(folder, { mode }) === undefined ? first : (first ?? folder);
  }
}

/** Whether the path is an existing folder. If `stat` fails, the caller reports the error of its own `mkdir`. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** An error in the form of the system's. */
function fault(code: string, path: string, reason: string, cause: unknown): NodeJS.ErrnoException {
  return Object.assign(new Error(`\`${path}\` cannot be made: ${reason}`, { cause }), {
    code,
    path,
    syscall: 'mkdir',
  });
}
