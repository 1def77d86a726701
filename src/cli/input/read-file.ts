/** Reads files and stdin as octets or text, with digests, and refuses links that lead out of a folder. */
import { createReadStream, realpathSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { sizeText } from '../../rules/files/size.ts';
import { inputFault, readFault } from '../exit.ts';

/**
 * The largest input file in octets: far larger than any rule set within its limits, and small enough for memory.
 */
const LARGEST_FILE = 256 * 1024 * 1024;

/** Streams a file, or stdin for `-`. @throws CommandFault while reading */
export async function* readChunks(name: string): AsyncGenerator<Uint8Array> {
  const stream = name === '-' ? process.stdin : createReadStream(name);
  try {
    for await (const chunk of stream) yield chunk as Uint8Array;
  } catch (error) {
    throw readFault(name, error);
  }
}

/** Reads a whole file, or stdin for `-`. @throws CommandFault */
export async function readBytes(name: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of readChunks(name)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > LARGEST_FILE) throw inputFault(`\`${name}\` holds more than ${sizeText(LARGEST_FILE)}`);
  }
  return Buffer.concat(chunks);
}

/** Reads a file, or stdin for `-`, as UTF-8. @throws CommandFault with exit code 3 */
export async function readText(name: string): Promise<string> {
  const bytes = await readBytes(name);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw inputFault(`\`${name}\` is not UTF-8 text`, { cause });
  }
}

// Refuses links that lead out of a folder. Messages about a file repeat its lines, so that a linked file of a repository
// would print a file of the machine that checks it.

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

/** The SHA-256 of some octets: `sha256:` and 64 hex digits. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${sha256Hex(bytes)}`;
}
