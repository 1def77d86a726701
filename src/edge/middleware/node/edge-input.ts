/**
 * Reads the files of a domain, the edge file, the parts and the lists in the folders beside it, compiles them to a plan, and
 * distinguishes edge files from sealed plans.
 */
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Diagnostic, hasErrors } from '../../../base/diagnostics/diagnostic.ts';
import { sha256Hex } from '../../../base/platform/cryptography.ts';
import { MAX_EDGE_PARTS, MAX_LISTS } from '../../../base/vocabulary/limits.ts';
import { compile } from '../../../engine/compiler/compile.ts';
import type { Plan } from '../../../engine/plan/layout.ts';
import { type EdgeSources, readEdgeBytes } from '../../../rules/files/edge-file.ts';
import { schemaNames } from '../../../rules/files/edge-gateways.ts';
import type { EdgePart } from '../../../rules/files/edge-parts.ts';
import type { RuleSet } from '../../../rules/model/types.ts';

/** The files of a domain, or a sealed plan. */
export interface EdgeInput {
  /** The edge file's name in places. */
  readonly name: string;
  readonly octets: Uint8Array;
  /** The parts in the order of their names, then the files of lists, then OpenAPI documents. */
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
  const parts = (await namesIn(folder)).filter((name) => /^[^.].*\.ya?ml$/.test(name));
  return parts.slice(0, MAX_EDGE_PARTS + 1).map((name) => join(folder, name));
}

/** The folder with the files of lists: `shop/lists` of `shop/edge.yaml`; `null`: stdin has none. */
export function listsFolder(file: string): string | null {
  return file === '-' ? null : join(dirname(file), 'lists');
}

/** The files of the lists that an edge file has; a list may have its entries in the edge file, and then it has no file. */
async function listFilesOf(file: string, octets: Uint8Array): Promise<readonly string[]> {
  const folder = listsFolder(file);
  const text = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString('latin1');
  if (folder === null || !/^lists:/m.test(text)) return [];
  const names = await namesIn(folder);
  const named = names.filter((name) => name.endsWith('.txt') && text.includes(name.slice(0, -'.txt'.length)));
  return named.slice(0, MAX_LISTS).map((name) => join(folder, name));
}

/** The OpenAPI documents beside an edge file that its gateways, or those of its parts, may name: paths by these names. */
async function documentsOf(file: string, texts: readonly Uint8Array[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  if (file === '-') return found;
  for (const octets of texts) {
    const text = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength).toString();
    for (const [schema, path] of documentPaths(file, text))
      if (!found.has(schema) && (await isFile(path))) found.set(schema, path);
  }
  return found;
}

/** The paths of the documents that a text names, by these names, that of an edge file or of a part of it; some may not exist. */
export function documentPaths(file: string, text: string): ReadonlyMap<string, string> {
  if (!/^["']?gateways|\bgateway\b/m.test(text)) return new Map();
  return new Map(schemaNames(text).map((schema) => [schema, join(dirname(file), schema)]));
}

/** Whether there is a file of this name; one that cannot be read is reported when it is. */
async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw error;
  }
}

/** The names of the files of a folder in order; a folder that does not exist has none. */
async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

/**
 * Reads an edge file, its parts, its lists and its OpenAPI documents with `read`; a sealed plan has none of them. `name` is the
 * file's name in places.
 */
export async function readEdgeInput(
  file: string,
  read: (file: string) => Promise<Uint8Array>,
  name = file,
): Promise<EdgeInput> {
  const octets = await read(file);
  if (isPlan(octets, file)) return { name, octets, parts: [] };
  const parts: EdgePart[] = [];
  for (const part of await partsOf(file)) parts.push({ name: part, octets: await read(part) });
  // Lists, which may be long, name no documents.
  const texts = [octets, ...parts.map((part) => part.octets)];
  for (const list of await listFilesOf(file, octets)) parts.push({ name: list, octets: await read(list) });
  for (const [schema, path] of await documentsOf(file, texts))
    parts.push({ name: path, octets: await read(path), schema });
  return { name, octets, parts };
}

/** A digest of all files with their names, which differs once one of them does. */
export function digestOfInput({ octets, parts }: EdgeInput): string {
  const lines = parts.map((part) => `${sha256Hex(part.octets)} ${part.name}`);
  return sha256Hex(Buffer.from([sha256Hex(octets), ...lines].join('\n')));
}

const MAGIC = 'EPLN';

/** Whether a file is a sealed plan, by its first octets or its name. */
export function isPlan(octets: Uint8Array, name: string): boolean {
  return name.endsWith('.edgeplan') || new TextDecoder().decode(octets.subarray(0, MAGIC.length)) === MAGIC;
}

/** The plan of an edge file, or the diagnostics of its errors. */
export type CompiledEdge =
  | {
      readonly ok: true;
      readonly ruleSet: RuleSet;
      readonly sources: EdgeSources;
      readonly plan: Plan;
      /** Warnings and notes. */
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** Reads and compiles an edge file with its parts; `name` is the file's name in diagnostics. Never throws for its content. */
export function compileEdge(octets: Uint8Array, name: string, parts: readonly EdgePart[] = []): CompiledEdge {
  const read = readEdgeBytes(octets, name, parts);
  if (!read.ok) return { ok: false, diagnostics: read.diagnostics };
  const { ruleSet, sources } = read;
  const { plan, diagnostics: found } = compile(ruleSet);
  const diagnostics = [...read.diagnostics, ...placed(found, sources)];
  if (hasErrors(diagnostics)) return { ok: false, diagnostics };
  return { ok: true, ruleSet, sources, plan, diagnostics };
}

/** Adds the line of its field to each diagnostic; the compiler has field paths only. */
function placed(found: readonly Diagnostic[], sources: EdgeSources): readonly Diagnostic[] {
  return found.map((diagnostic) => ({ ...diagnostic, at: diagnostic.at ?? sources.at(diagnostic.path) }));
}
