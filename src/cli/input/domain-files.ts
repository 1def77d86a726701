/**
 * Finds the edge files that `-f` names: of a folder, the `edge.yaml` in it and in every folder below. So one tree has several
 * domains, a folder for each.
 */
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { partsFolder } from '../../edge/middleware/node/edge-input.ts';
import { inputFault } from '../exit.ts';
import { readFault } from '../file-fault.ts';
import { MAX_DOMAIN_FILES, MAX_FOLDER_DEPTH } from '../limits.ts';

const EDGE_FILE = 'edge.yaml';

/** Whether a path is a folder; false for one that cannot be read: reading it as a file reports why. */
export function isFolder(path: string): boolean {
  try {
    return path !== '-' && statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** The edge files of a path: the path itself, or those below a folder in the order of their paths. @throws CommandFault */
export function domainFiles(path: string): readonly string[] {
  if (!isFolder(path)) return [path];
  const found: string[] = [];
  search(normalize(path), 0, found);
  if (found.length === 0)
    throw inputFault(`there is no \`${EDGE_FILE}\` in \`${path}\` or a folder below it`, {
      remedy: `a tree has a folder for each domain, with an ${EDGE_FILE}`,
    });
  return found;
}

/** What a command reads for `-f`: the edge files, and the folders of their parts. @throws CommandFault */
export function edgePaths(path: string): readonly string[] {
  return domainFiles(path).flatMap((file) => [file, partsFolder(file) ?? []].flat());
}

/** Adds the edge files of a folder and those below it. */
function search(folder: string, depth: number, found: string[]): void {
  const entries = entriesOf(folder);
  if (entries.some((entry) => entry.name === EDGE_FILE && !entry.isDirectory())) {
    if (found.length === MAX_DOMAIN_FILES)
      throw inputFault(`there are more than ${MAX_DOMAIN_FILES} edge files; name a folder below`);
    found.push(join(folder, EDGE_FILE));
  }
  if (depth === MAX_FOLDER_DEPTH) return;
  for (const entry of entries) {
    const skipped = entry.name.startsWith('.') || entry.name.endsWith('.d') || entry.name === 'node_modules';
    if (entry.isDirectory() && !skipped) search(join(folder, entry.name), depth + 1, found);
  }
}

/** The entries of a folder in the order of their names. @throws CommandFault */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((one, other) =>
      one.name < other.name ? -1 : 1,
    );
  } catch (error) {
    throw readFault(folder, error);
  }
}
