/**
 * Creates a folder and those above it, one level at a time. Node's `mkdir` with `recursive` never returns below a folder
 * that exists and answers ENOENT to every `mkdir` in it, such as `/proc`.
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

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
