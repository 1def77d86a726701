/** Reads the files of a domain: the edge file, and the parts in the folder beside it. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../../base/platform/cryptography.ts';
import { MAX_EDGE_PARTS } from '../../../base/vocabulary/limits.ts';
import type { EdgePart } from '../../../rules/files/edge-parts.ts';
import { isPlan } from '../compile-edge.ts';

/** The files of a domain, or a sealed plan. */
export interface EdgeInput {
  /** The edge file's name in places. */
  readonly name: string;
  readonly octets: Uint8Array;
  /** In the order of their names. */
  readonly parts: readonly EdgePart[];
}

/** The folder with the parts of an edge file: `shop/edge.d` of `shop/edge.yaml`; `null`: stdin has none. */
export function partsFolder(file: string): string | null {
  return file === '-' ? null : `${file.replace(/\.(ya?ml|json)$/, '')}.d`;
}

/** The parts of an edge file in the order of their names; hidden files, and those of other kinds, are none. */
export async function partsOf(file: string): Promise<readonly string[]> {
  const folder = partsFolder(file);
  if (folder === null || folder === `${file}.d`) return [];
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
  const parts = names.filter((name) => /^[^.].*\.ya?ml$/.test(name)).sort();
  return parts.slice(0, MAX_EDGE_PARTS + 1).map((name) => join(folder, name));
}

/** Reads an edge file and its parts with `read`; a sealed plan has no parts. `name` is the file's name in places. */
export async function readEdgeInput(
  file: string,
  read: (file: string) => Promise<Uint8Array>,
  name = file,
): Promise<EdgeInput> {
  const octets = await read(file);
  if (isPlan(octets, file)) return { name, octets, parts: [] };
  const parts: EdgePart[] = [];
  for (const part of await partsOf(file)) parts.push({ name: part, octets: await read(part) });
  return { name, octets, parts };
}

/** A digest of all files with their names, which differs once one of them does. */
export function digestOfInput({ octets, parts }: EdgeInput): string {
  const lines = parts.map((part) => `${sha256Hex(part.octets)} ${part.name}`);
  return sha256Hex(Buffer.from([sha256Hex(octets), ...lines].join('\n')));
}
