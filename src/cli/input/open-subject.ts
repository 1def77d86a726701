/** Opens the rules that a command works on: an edge file is compiled and sealed, a sealed plan is opened. */
import { basename, dirname, relative } from 'node:path';
import type { Diagnostic } from '../../base/diagnostics/diagnostic.ts';
import { APPLICATION_HOST } from '../../base/vocabulary/vocabulary.ts';
import {
  compileEdge,
  type EdgeInput,
  isPlan,
  partsFolder,
  readEdgeInput,
} from '../../edge/middleware/node/edge-input.ts';
import { loadPlan } from '../../engine/evaluator/index.ts';
import { PlanFault } from '../../engine/plan/layout.ts';
import { type OpenedPlan, openPlan, seal } from '../../engine/plan/seal.ts';
import type { EdgeSources } from '../../rules/files/edge-file.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import type { DescribedSource } from '../../workbench/simulation/describe.ts';
import type { SimulationSubject } from '../../workbench/simulation/simulate.ts';
import { CommandFault, DiagnosedFault, inputFault, readFault, usageFault } from '../exit.ts';
import { type ColourChoice, colourFor } from '../output.ts';
import { diagnosticsText, MISTAKES_PRINTED, tally } from '../print/diagnostics.ts';
import { digestOf, readBytes, refuseOutside } from './read-file.ts';

/** An input that can be simulated. */
export interface OpenedSubject {
  readonly subject: SimulationSubject;
  readonly opened: OpenedPlan;
  /** Warnings and notes; an input with errors causes a fault. */
  readonly diagnostics: readonly Diagnostic[];
  /** Texts of files by name, to print diagnostics with source lines. */
  readonly texts: ReadonlyMap<string, string>;
}

/** Refuses a signature program in place of an edge file or a plan. @throws CommandFault with exit code 2 */
function refuseSignatures(bytes: Uint8Array, file: string): void {
  if (!isSealedSignatures(bytes)) return;
  const what = file === '-' ? 'stdin' : `\`${file}\``;
  throw usageFault(`${what} is a sealed signature program, not an edge file`, 'give it with --signatures');
}

/** Reads an edge file with its parts, or a sealed plan. @throws CommandFault */
async function readInput(file: string): Promise<EdgeInput> {
  try {
    const read = (name: string): Promise<Uint8Array> => {
      refuseOutside(name, dirname(file));
      return readBytes(name);
    };
    const input = await readEdgeInput(file, read, file === '-' ? 'stdin' : file);
    refuseSignatures(input.octets, file);
    return input;
  } catch (error) {
    if (error instanceof CommandFault) throw error;
    // The folder of its parts.
    throw readFault(partsFolder(file) ?? file, error);
  }
}

/**
 * Reads a file that must be an edge file, because the command needs its keys and lines, and its parts.
 * @throws CommandFault
 */
export async function readEdge(file: string): Promise<EdgeInput> {
  const input = await readInput(file);
  if (!isPlan(input.octets, file)) return input;
  const what = file === '-' ? 'stdin' : `\`${file}\``;
  throw usageFault(`${what} is a sealed plan, which has no lines or keys; give the edge file`);
}

/** Opens a sealed plan. @throws CommandFault with exit code 3 */
function openSealed(bytes: Uint8Array, name: string): OpenedSubject {
  try {
    const opened = openPlan(bytes);
    loadPlan(bytes);
    const source = { name: basename(name), sources: new Map(), ruleSet: null };
    const subject = { bytes, digest: digestOf(bytes), ...source };
    return { subject, opened, diagnostics: [], texts: new Map() };
  } catch (error) {
    if (!(error instanceof PlanFault)) throw error;
    throw inputFault(`\`${name}\` cannot be opened as a plan: ${error.message}`, { cause: error });
  }
}

/** How an invalid file is reported. */
interface Refused {
  readonly name: string;
  readonly texts: ReadonlyMap<string, string>;
  readonly colour: ColourChoice;
}

/** Prints the diagnostics of a file with errors, and throws. */
function refuse(diagnostics: readonly Diagnostic[], { name, texts, colour }: Refused): never {
  const options = { colour: colourFor(process.stderr, colour), texts, most: MISTAKES_PRINTED };
  process.stderr.write(diagnosticsText(diagnostics, options));
  throw new DiagnosedFault(`\`${name}\` does not compile: ${tally(diagnostics)}`, diagnostics);
}

/** An edge file that compiles. */
interface CompiledFile {
  readonly ruleSet: RuleSet;
  readonly sources: EdgeSources;
  /** The sealed plan. */
  readonly bytes: Uint8Array;
  readonly diagnostics: readonly Diagnostic[];
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Reads, compiles and seals an edge file; prints its errors on stderr.
 * @throws CommandFault with exit code 3, or 2 when the file is a plan
 */
export async function compileFile(file: string, colour: ColourChoice): Promise<CompiledFile> {
  return compileInput(await readEdge(file), colour);
}

/** The texts of an input's files by name; invalid octets become U+FFFD. */
export function textsOf({ name, octets, parts }: EdgeInput): Map<string, string> {
  const decoder = new TextDecoder();
  return new Map([{ name, octets }, ...parts].map((one) => [one.name, decoder.decode(one.octets)]));
}

/** Like `compileFile`, for files that were read already. */
export function compileInput(input: EdgeInput, colour: ColourChoice): CompiledFile {
  const { name, octets, parts } = input;
  const texts = textsOf(input);
  const compiled = compileEdge(octets, name, parts);
  if (!compiled.ok) return refuse(compiled.diagnostics, { name, texts, colour });
  const { ruleSet, sources, plan, diagnostics } = compiled;
  return { ruleSet, sources, bytes: seal(plan, { revision: 0 }), diagnostics, texts };
}

/** A compiled file as the subject of a simulation. */
export function compiledSubject({ ruleSet, sources, bytes }: CompiledFile): SimulationSubject {
  const name = basename(sources.file);
  const places = new Map<number, DescribedSource>();
  for (const [id, source] of sources.rules) {
    const file = relative(dirname(sources.file), source.file);
    places.set(id, { key: source.key, at: `${file}:${source.line}` });
  }
  return { bytes, digest: digestOf(bytes), name, sources: places, ruleSet };
}

/**
 * Reads, compiles and seals `file`, or opens it when it is a sealed plan; `-` is stdin. Prints the errors of an
 * edge file on stderr.
 * @throws CommandFault with exit code 3
 */
export async function openSubject(file: string, colour: ColourChoice): Promise<OpenedSubject> {
  const input = await readInput(file);
  if (isPlan(input.octets, file)) return openSealed(input.octets, file);
  const compiled = compileInput(input, colour);
  const { diagnostics, texts } = compiled;
  return { subject: compiledSubject(compiled), opened: openPlan(compiled.bytes), diagnostics, texts };
}

/** The first four octets of a sealed program. */
const SEALED = 'EPSG';

/** Whether octets are a sealed signature program. */
export function isSealedSignatures(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, SEALED.length)).toString('latin1') === SEALED;
}

/** What a file that has no signatures is: by its name or its first octets; `null`: it may have signatures. */
export function otherKindOf(bytes: Uint8Array, path: string): 'an edge file' | 'a sealed plan' | null {
  if (isPlan(bytes, path)) return 'a sealed plan';
  return /\.ya?ml$/i.test(path) ? 'an edge file' : null;
}

/**
 * Checks that every record has a destination. nginx and Envoy refuse a configuration that names no upstream, too, rather
 * than answer 502 to its requests.
 * @throws CommandFault that names the first such record; `why` completes the sentence
 */
export function refuseApplicationRecords(
  { ruleSet, sources }: Pick<CompiledFile, 'ruleSet' | 'sources'>,
  why: string,
): void {
  const record = ruleSet.records.find(({ destination }) => destination === APPLICATION_HOST);
  if (record === undefined) return;
  const source = sources.records.get(record.id);
  const place = source === undefined ? sources.file : `${source.file}:${source.line}`;
  throw inputFault(`${place}: the record \`${record.name}\` has no \`destination\`, and ${why}`, {
    remedy:
      'give the record `type` and `destination`; without them only an edge inside an application (edgeplan/node, ' +
      'edgeplan/fetch) serves it',
  });
}
