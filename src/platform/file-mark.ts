/** Tells a changed file from an unchanged one without reading it. */
import { stat } from 'node:fs/promises';

/** A text that changes when the file is written or replaced; of a file that is missing, why it cannot be looked at. */
export async function fileMark(path: string): Promise<string> {
  return stat(path).then(
    ({ mtimeMs, ctimeMs, size, ino }) => `${mtimeMs}/${ctimeMs}/${size}/${ino}`,
    (error: NodeJS.ErrnoException) => `${error.code}`,
  );
}
