/**
 * Opens the files that an nginx `include` names: a path or a mask with `*`, `?` and `[…]`, relative to the folder of the
 * configuration. What leaves that folder is not read, through links neither.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import type { OpenIncludes } from '../../workbench/importers/importer.ts';
import { MAX_SOURCE_OCTETS } from '../../workbench/importers/json-source.ts';
import type { SourceFile } from '../../workbench/importers/report.ts';
import { reasonOf } from '../exit.ts';
import { isInside } from './read-file.ts';

/** Whether a segment of a path is a mask. */
const MASK = /[*?[]/;

/** Where packages of nginx have its configuration; absolute includes name it. */
const INSTALLED = '/etc/nginx';

/** The folder of a configuration. */
export interface ConfigurationFolder {
  /** Stands for `/etc/nginx`. */
  readonly root: string;
  /** Reads files outside it as well. */
  readonly outside: boolean;
}

/** The folder of a configuration: the nearest one at or above its first file with an `nginx.conf`, else that of the file. */
export function rootOf(file: string): string {
  const folder = resolve(dirname(file));
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, 'nginx.conf'))) return at;
    if (at === dirname(at)) return folder;
  }
}

/** Returns the function that opens includes of a configuration; names of files are shown relative to its folder. */
export function includesOf({ root, outside }: ConfigurationFolder): OpenIncludes {
  const folder = resolve(root);
  return (pattern) => {
    try {
      const files: SourceFile[] = [];
      const missing = missingFolder(absolutePath(pattern, folder));
      if (missing !== null) return { reason: `\`${pattern}\`: there is no folder \`${missing}\`` };
      for (const path of matching(absolutePath(pattern, folder))) {
        if (!outside && existsSync(path) && !isInside(path, folder)) {
          return {
            reason: `\`${pattern}\` is outside the folder of the configuration; --allow-outside reads it`,
          };
        }
        files.push(openFile(path, folder));
      }
      return files;
    } catch (error) {
      return { reason: `\`${pattern}\` cannot be included: ${reasonOf(error as NodeJS.ErrnoException)}` };
    }
  };
}

/** The path of an include; those below `/etc/nginx` are below the folder of the configuration. */
function absolutePath(pattern: string, folder: string): string {
  if (!isAbsolute(pattern)) return join(folder, pattern);
  return pattern.startsWith(`${INSTALLED}/`) ? join(folder, pattern.slice(INSTALLED.length)) : pattern;
}

/** The folder before the first mask, where it does not exist; `null`: it exists, or the path has no mask. */
function missingFolder(path: string): string | null {
  const mask = path.search(MASK);
  if (mask < 0) return null;
  const folder = path.slice(0, path.lastIndexOf(sep, mask));
  return folder === '' || isFolder(folder) ? null : folder;
}

function openFile(path: string, folder: string): SourceFile {
  // A device or a pipe could be endless.
  const stat = statSync(path);
  if (stat.isDirectory()) throw new Error('it is a folder');
  if (!stat.isFile()) throw new Error('it is no file');
  const { size } = stat;
  if (size > MAX_SOURCE_OCTETS) throw new Error(`it is larger than ${MAX_SOURCE_OCTETS} octets`);
  const name = path.startsWith(folder + sep) ? path.slice(folder.length + 1) : path;
  return { name, text: readFileSync(path, 'utf8') };
}

/** The paths that match a mask, in the order of their names; a path without a mask is itself. */
function matching(pattern: string): readonly string[] {
  if (!MASK.test(pattern)) return [pattern];
  let found: string[] = [sep];
  const segments = pattern.split(sep).filter((segment) => segment !== '');
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    found = found.flatMap((folder) => {
      if (!MASK.test(segment)) return [join(folder, segment)];
      return entriesOf(folder)
        .filter((name) => matchesMask(segment, name))
        .map((name) => join(folder, name));
    });
    if (!isLast) found = found.filter(isFolder);
  }
  return found.filter((path) => !isFolder(path));
}

function entriesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    // A mask below a folder that does not exist matches nothing, as in nginx.
    return [];
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Whether a name matches a mask (glob(7)); a leading dot is matched only by a dot. */
function matchesMask(mask: string, name: string): boolean {
  if (name.startsWith('.') && !mask.startsWith('.')) return false;
  let [at, from, star, mark] = [0, 0, -1, 0];
  while (from < name.length) {
    const step = stepOf(mask, at, name[from]!);
    if (mask[at] === '*') {
      star = at++;
      mark = from;
    } else if (step > 0) {
      at += step;
      from++;
    } else if (star >= 0) {
      at = star + 1;
      from = ++mark;
    } else return false;
  }
  while (mask[at] === '*') at++;
  return at === mask.length;
}

/** Characters of the mask that match one character of the name; 0: it does not match. */
function stepOf(mask: string, at: number, character: string): number {
  const first = mask[at];
  if (first === undefined) return 0;
  if (first === '?') return 1;
  const end = first === '[' ? mask.indexOf(']', at + 2) : -1;
  if (end < 0) return first === character ? 1 : 0;
  const isNegated = mask[at + 1] === '!' || mask[at + 1] === '^';
  const set = mask.slice(at + (isNegated ? 2 : 1), end);
  let isIn = false;
  for (let index = 0; index < set.length; index++) {
    if (set[index + 1] === '-' && index + 2 < set.length) {
      isIn ||= set[index]! <= character && character <= set[index + 2]!;
      index += 2;
    } else isIn ||= set[index] === character;
  }
  return isIn === isNegated ? 0 : end - at + 1;
}
