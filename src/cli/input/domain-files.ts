/**
 * Finds the files of domains that the command line names, and reads their tests. Of a folder, `-f` means the `edge.yaml`
 * in it and in every folder below. So one tree has several domains, a folder for each.
 */
import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { type Diagnostic, hasErrors } from '../../base/diagnostics/diagnostic.ts';
import { MAX_EDGE_PARTS } from '../../base/vocabulary/limits.ts';
import { documentPaths, listsFolder, partsFolder } from '../../edge/middleware/node/edge-input.ts';
import { type RuleTest, readTestBytes, type WrittenInvariant } from '../../rules/files/test-file.ts';
import { DiagnosedFault, inputFault, readFault, usageFault } from '../exit.ts';
import { type ColourChoice, colourFor } from '../output.ts';
import { diagnosticsText, tally } from '../print/diagnostics.ts';
import { readBytes, refuseOutside } from './read-file.ts';

/** The most domains that one command goes over: enough for an agency, and each is compiled in memory. */
const MAX_DOMAIN_FILES = 1_000;
/** The deepest folder below `-f` that is searched for edge files: a customer, an environment, a domain, and two more. */
const MAX_FOLDER_DEPTH = 5;

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

/** What a command reads for `-f`: the edge files, the folders of their parts and lists, and their documents. @throws CommandFault */
export function edgePaths(path: string): readonly string[] {
  return domainFiles(path).flatMap((file) => {
    const parts = partsFolder(file);
    return [file, parts ?? [], listsFolder(file) ?? [], documentsBeside(file, parts)].flat();
  });
}

/** The OpenAPI documents that an edge file and its parts name. A file that cannot be read names none: its reader reports why. */
function documentsBeside(file: string, parts: string | null): readonly string[] {
  if (file === '-') return [];
  const names = parts === null || !isFolder(parts) ? [] : readdirSync(parts).slice(0, MAX_EDGE_PARTS);
  const texts = [file, ...names.map((name) => join(parts!, name))].map((name) => {
    try {
      return readFileSync(name, 'utf8');
    } catch {
      return '';
    }
  });
  return [...new Set(texts.flatMap((text) => [...documentPaths(file, text).values()]))];
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

/** The default test file: `shop/edge.yaml` is tested by `shop/edge.test.yaml`. */
export function testsBeside(file: string): string {
  return `${file.replace(/\.(ya?ml|json)$/, '')}.test.yaml`;
}

// Reads test files: their tests and invariants, with every mistake printed at its line.

/** What test files have. */
export interface TestsOfFiles {
  readonly tests: readonly RuleTest[];
  readonly invariants: readonly WrittenInvariant[];
}

/** Texts of the files read so far by name, to print diagnostics with source lines. */
export type Texts = Map<string, string>;

/** How diagnostics are printed. */
interface DiagnosticStyle {
  readonly texts: Texts;
  readonly colour: ColourChoice;
}

/** Decodes source lines; invalid octets become U+FFFD. */
const LENIENT = new TextDecoder('utf-8');

/** Prints diagnostics on stderr. */
export function printDiagnostics(
  diagnostics: readonly Diagnostic[],
  { texts, colour }: DiagnosticStyle,
): void {
  if (diagnostics.length === 0) return;
  process.stderr.write(diagnosticsText(diagnostics, { colour: colourFor(process.stderr, colour), texts }));
}

/** Reads test files and adds their texts. @throws CommandFault with exit code 3 */
export async function readTests(names: readonly string[], style: DiagnosticStyle): Promise<TestsOfFiles> {
  const { texts } = style;
  const tests: RuleTest[] = [];
  const invariants: WrittenInvariant[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const name of names) {
    refuseOutside(name);
    const octets = await readBytes(name);
    texts.set(name, LENIENT.decode(octets));
    const read = readTestBytes(octets, name);
    tests.push(...read.tests);
    invariants.push(...read.invariants);
    diagnostics.push(...read.diagnostics);
  }
  printDiagnostics(diagnostics, style);
  if (hasErrors(diagnostics)) {
    const edge = names.find((name) => isEdgeFile(texts.get(name) ?? ''));
    const remedy = `\`${edge}\` is an edge file; write: edgeplan test -f ${edge}`;
    throw new DiagnosedFault(
      `the tests cannot be read: ${tally(diagnostics)}`,
      diagnostics,
      edge === undefined ? {} : { remedy },
    );
  }
  return { tests, invariants };
}

/** Whether a text is an edge file in place of tests. */
function isEdgeFile(text: string): boolean {
  return /^domain:/m.test(text) && !/^tests:/m.test(text);
}

/** The test files: those named, else the one beside the edge file. @throws CommandFault for stdin */
export function testFiles(named: readonly string[], file: string): readonly string[] {
  if (named.length > 0) return named;
  if (file === '-') throw usageFault('an edge file from stdin has no tests beside it', 'name the test files');
  return [testsBeside(file)];
}
