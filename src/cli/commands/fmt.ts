/** `edgeplan fmt`: formats edge files and test files. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Command } from 'commander';
import { assert } from '../../base/diagnostics/assert.ts';
import { type Diagnostic, hasErrors } from '../../base/diagnostics/diagnostic.ts';
import { compileEdge, type EdgeInput, partsOf } from '../../edge/middleware/node/edge-input.ts';
import { seal } from '../../engine/plan/seal.ts';
import { formatFile } from '../../rules/files/format.ts';
import { readTestBytes } from '../../rules/files/test-file.ts';
import { isMapping, readYamlBytes } from '../../rules/files/yaml.ts';
import { quantity } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { EXIT, inputFault, usageFault } from '../exit.ts';
import { domainFiles, isFolder, testsBeside } from '../input/domain-files.ts';
import { readEdge, textsOf } from '../input/open-subject.ts';
import { readBytes, refuseOutside } from '../input/read-file.ts';
import { colourOption, edgeFileOption } from '../options.ts';
import { type ColourChoice, colourFor, note, write } from '../output.ts';
import { diagnosticsText, MISTAKES_PRINTED, tally } from '../print/diagnostics.ts';
import { writeWhole } from '../write-file.ts';

/** The options of the command, as commander parses them. */
interface Flags {
  /** The path of the rules; `-` is stdin. */
  readonly file: string;
  /** When to colour the output. */
  readonly color: ColourChoice;
  /** Names the files that would change, and changes none. */
  readonly check?: boolean;
}

/** What has become of the files so far. */
interface Tally {
  /** Names of files that were not formatted. */
  readonly changed: string[];
  /** Names of files with errors. */
  readonly refused: string[];
}

/** The files of every domain of a path: the edge file, its parts and the tests beside it. @throws CommandFault */
async function filesBelow(path: string): Promise<readonly string[]> {
  const files: string[] = [];
  for (const file of domainFiles(path)) {
    const tests = file === '-' ? null : testsBeside(file);
    files.push(file, ...(await partsOf(file)), ...(tests !== null && existsSync(tests) ? [tests] : []));
  }
  return files;
}

/** The files to format: those named, with the domains of folders, else those of `-f`. @throws CommandFault */
async function filesOf(named: readonly string[], flags: Flags, command: Command): Promise<readonly string[]> {
  if (named.length === 0) return filesBelow(flags.file);
  if (command.getOptionValueSource('file') === 'cli')
    throw usageFault('-f and names of files say the same; give one of the two');
  if (named.includes('-') && named.length > 1)
    throw usageFault('`-` is formatted to stdout and cannot be given with other files');
  const files = await Promise.all(named.map((name) => (isFolder(name) ? filesBelow(name) : [name])));
  return [...new Set(files.flat())];
}

/** Prints the diagnostics of a file that is left as it is. */
function printRefusal(diagnostics: readonly Diagnostic[], source: FormattedSource, flags: Flags): void {
  const { name, octets, domain } = source;
  const texts = new Map([...textsOf(domain), [name, new TextDecoder().decode(octets)]]);
  const options = { colour: colourFor(process.stderr, flags.color), texts, most: MISTAKES_PRINTED };
  process.stderr.write(diagnosticsText(diagnostics, options));
  note(`edgeplan: \`${name}\` is left as it is: ${tally(diagnostics)}`);
}

/** Reads a file, and the domain that it is a part of. @throws CommandFault */
async function readSource(file: string): Promise<FormattedSource> {
  const edge = edgeFileOf(file);
  if (edge === null || !existsSync(edge)) {
    const domain = await readEdge(file);
    return { name: domain.name, octets: domain.octets, domain };
  }
  refuseOutside(file, dirname(edge));
  return { name: file, octets: await readBytes(file), domain: await readEdge(edge) };
}

/** Formats one file. */
async function formatOne(file: string, flags: Flags, { changed, refused }: Tally): Promise<void> {
  const name = file === '-' ? 'stdin' : file;
  if (name.endsWith('.json')) throw usageFault(`\`${name}\` is JSON; fmt formats YAML`);
  const source = await readSource(file);
  const formatted = formatInput(source);
  if (!formatted.ok) {
    printRefusal(formatted.diagnostics, source, flags);
    if (hasErrors(formatted.diagnostics)) refused.push(name);
    return;
  }
  if (formatted.changed) changed.push(name);
  if (flags.check === true) return formatted.changed ? write(`${name}\n`) : undefined;
  if (file === '-') return write(formatted.text);
  if (!formatted.changed) return;
  await writeWhole(file, Buffer.from(formatted.text));
  await write(`formatted ${name}\n`);
}

/** Formats the files one after another; a file with errors does not stop the others. */
async function run(named: readonly string[], flags: Flags, command: Command): Promise<void> {
  const files = await filesOf(named, flags, command);
  const outcome: Tally = { changed: [], refused: [] };
  for (const file of files) await formatOne(file, flags, outcome);
  const { changed, refused } = outcome;
  if (refused.length > 0) throw inputFault(`${quantity(refused.length, 'file')} cannot be formatted`);
  if (flags.check !== true) return;
  if (changed.length === 0) return note(`${quantity(files.length, 'file')} formatted already`);
  note(
    `${quantity(changed.length, 'file')} of ${files.length} not formatted; edgeplan fmt formats ${changed.length === 1 ? 'it' : 'them'}`,
  );
  process.exitCode = EXIT.no;
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  fmt: [
    'edgeplan fmt',
    'edgeplan fmt --check shop/edge.yaml shop/edge.test.yaml',
    'edgeplan fmt - < edge.yaml',
  ],
};

/** Creates the command. */
export function fmtCommand(): Command {
  const command = new Command('fmt')
    .summary('format edge files and test files')
    .description(
      'Writes keys in one order, short lists on one line and quotes of one kind, as export prints them. Comments stay, the ' +
        'compiled plan stays the same, and a file with errors is left as it is.',
    )
    .argument('[files...]', 'the files; - is stdin to stdout (default: the edge file and its tests)')
    .addOption(edgeFileOption())
    .option('--check', 'only name the files that are not formatted; exits with 1 when there are any')
    .addOption(colourOption())
    .action(run);
  return withExamples(command, EXAMPLES);
}

// Formats a file of a domain - the edge file, a part, tests - and checks that the domain means the same afterwards.

/** The formatted text, or the diagnostics of a file that is left as it is. */
export type FormattedInput =
  | { readonly ok: true; readonly text: string; readonly changed: boolean }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** A file, and the domain that it belongs to: its edge file with all parts. */
interface FormattedSource {
  readonly name: string;
  readonly octets: Uint8Array;
  readonly domain: EdgeInput;
}

/** The edge file of a part: `shop/edge.yaml` of `shop/edge.d/office.yaml`; `null`: the file is in no such folder. */
function edgeFileOf(part: string): string | null {
  const folder = dirname(part);
  const [, name] = /^(.+)\.d$/.exec(basename(folder)) ?? [];
  return name === undefined ? null : join(dirname(folder), `${name}.yaml`);
}

/** Formats a file; one with errors, or of a domain with errors, is refused. */
function formatInput(source: FormattedSource): FormattedInput {
  const { name, octets } = source;
  const before = meaningOf(source);
  if (!before.ok) return before;
  // The decoder removes a byte order mark.
  const formatted = formatFile(new TextDecoder().decode(octets), name);
  if (!formatted.ok) return formatted;
  const written = Buffer.from(formatted.text);
  const after = meaningOf({ ...source, octets: written });
  assert(after.ok && after.plan.equals(before.plan), 'formatting does not change the plan');
  return { ok: true, text: formatted.text, changed: !written.equals(octets) };
}

/** What must not change: the plan of the domain; nothing for tests, whose values `formatFile` compares. */
type Meaning =
  | { readonly ok: true; readonly plan: Buffer }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

function meaningOf({ name, octets, domain }: FormattedSource): Meaning {
  const { ok, value } = readYamlBytes(octets, name);
  if (ok && isMapping(value) && Object.hasOwn(value, 'tests') && !Object.hasOwn(value, 'domain')) {
    const { diagnostics } = readTestBytes(octets, name);
    return hasErrors(diagnostics) ? { ok: false, diagnostics } : { ok: true, plan: Buffer.alloc(0) };
  }
  const parts = domain.parts.map((part) => (part.name === name ? { name, octets } : part));
  const main = domain.name === name ? octets : domain.octets;
  const compiled = compileEdge(main, domain.name, parts);
  if (!compiled.ok) return compiled;
  return { ok: true, plan: Buffer.from(seal(compiled.plan, { revision: 0 })) };
}
