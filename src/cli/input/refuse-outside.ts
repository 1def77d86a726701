/**
 * Refuses links that lead out of a folder. Messages about a file repeat its lines, so that a linked file of a repository
 * would print a file of the machine that checks it.
 */
import { realpathSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { inputFault } from '../exit.ts';

/** Whether a path is a folder or below it, with all links resolved; a path that does not exist is not. */
export function isInside(path: string, folder: string): boolean {
  try {
    const [real, root] = [realpathSync(path), realpathSync(folder)];
    return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);
  } catch {
    return false;
  }
}

/**
 * Refuses a file that links lead out of its folder and of the working directory. A file that does not exist passes: reading
 * it reports why. `folder`: the folder of the file where that is not its own.
 * @throws CommandFault with exit code 3
 */
export function refuseOutside(file: string, folder: string = dirname(file)): void {
  // Stdin and pipes of a shell are no files of a folder.
  if (file === '-' || resolve(file).startsWith('/dev/')) return;
  let real: string;
  try {
    real = realpathSync(file);
  } catch {
    return;
  }
  if (real === resolve(file) || isInside(real, folder) || isInside(real, process.cwd())) return;
  throw inputFault(`\`${file}\` is a link to a file outside \`${folder}\`, and is not read`, {
    remedy: 'put the file itself there',
  });
}
