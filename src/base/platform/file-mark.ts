/** Detects changes of a file without reading it. */
import { stat } from 'node:fs/promises';

/** A text that changes when the file is written or replaced (times, size, inode); for a missing file, the system's code. */
export async function fileMark(path: string): Promise<string> {
  return stat(path).then(
    ({ mtimeMs, ctimeMs, size, ino }) => `${mtimeMs}/${ctimeMs}/${size}/${ino}`,
    (error: NodeJS.ErrnoException) => `${error.code}`,
  );
}
