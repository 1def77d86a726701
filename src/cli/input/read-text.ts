/** Reads whole text files and stdin. */
import { inputFault } from '../exit.ts';
import { readBytes } from './read-file.ts';

/** Reads a file, or stdin for `-`, as UTF-8. @throws CommandFault with exit code 3 */
export async function readText(name: string): Promise<string> {
  const bytes = await readBytes(name);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw inputFault(`\`${name}\` is not UTF-8 text`, { cause });
  }
}
