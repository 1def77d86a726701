/** Opens the files that an nginx `include` names: a path or a mask with `*`, `?` and `[…]`, relative to a folder. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve, sep } from 'node:path';
import { MAX_SOURCE_OCTETS } from '../../importers/limits.ts';
import type { OpenIncludes } from '../../importers/nginx/parse-nginx.ts';
import type { SourceFile } from '../../importers/report.ts';
import { reasonOf } from '../file-fault.ts';

/** Whether a segment of a path is a mask. */
const MASK = /[*?[]/;

/** Returns the function that opens includes below a folder; names of files are shown relative to it. */
export function includesOf(folder: string): OpenIncludes {
  return (pattern) => {
    const absolute = isAbsolute(pattern) ? pattern : join(resolve(folder), pattern);
    try {
      return matching(absolute).map((path) => openFile(path, resolve(folder)));
    } catch (error) {
      return { reason: `\`${pattern}\` cannot be included: ${reasonOf(error as NodeJS.ErrnoException)}` };
    }
  };
}

function openFile(path: string, folder: string): SourceFile {
  // A device or a pipe could be endless.
  const { size } = statSync(path);
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
