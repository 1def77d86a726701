/** From a file to what can be simulated: an edge file is compiled and sealed, a sealed plan is taken as it is. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { type Diagnostic, hasErrors } from '../base/diagnostic.ts';
import { compile } from '../compiler/index.ts';
import { loadPlan } from '../evaluator/index.ts';
import { type EdgeSources, readEdgeBytes } from '../files/edge-file.ts';
import type { RuleSet } from '../model/types.ts';
import { PlanFault } from '../plan/fault.ts';
import { type OpenedPlan, openPlan } from '../plan/open.ts';
import { seal } from '../plan/seal.ts';
import type { RuleSource } from '../simulator/describe.ts';
import type { Subject } from '../simulator/simulate.ts';
import { inputFault, usageFault } from './exit.ts';
import { type ColourChoice, colourFor } from './output.ts';
import { diagnosticsText, tally } from './print-diagnostics.ts';
import { readBytes } from './read-file.ts';

export interface Opened {
  readonly subject: Subject;
  readonly opened: OpenedPlan;
  /** Warnings and notes; an input with errors is not opened. */
  readonly diagnostics: readonly Diagnostic[];
  /** For printing diagnostics with their lines. */
  readonly texts: ReadonlyMap<string, string>;
}

/** `sha256:` and 64 hex digits. */
function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

const MAGIC = 'EPLN';

/** Whether a file is meant to be a plan: by its first octets or its name. */
function isPlan(bytes: Uint8Array, name: string): boolean {
  if (name.endsWith('.edgeplan')) return true;
  return Buffer.from(bytes.subarray(0, MAGIC.length)).toString('latin1') === MAGIC;
}

/** The octets of a file that must be an edge file, for what is told by keys and lines. @throws CommandFault */
export async function readEdgeOctets(file: string): Promise<Uint8Array> {
  const bytes = await readBytes(file);
  if (!isPlan(bytes, file)) return bytes;
  const what = file === '-' ? 'stdin' : `\`${file}\``;
  throw usageFault(`${what} is a sealed plan, which has no lines or keys; give the edge file`);
}

function openSealed(bytes: Uint8Array, name: string): Opened {
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

interface Refused {
  readonly name: string;
  readonly texts: ReadonlyMap<string, string>;
  readonly colour: ColourChoice;
}

function refuse(diagnostics: readonly Diagnostic[], { name, texts, colour }: Refused): never {
  process.stderr.write(diagnosticsText(diagnostics, { colour: colourFor(process.stderr, colour), texts }));
  throw inputFault(`\`${name}\` does not compile: ${tally(diagnostics)}`);
}

/** The compiler knows fields, not lines: each diagnostic gets the place of its field. */
function placed(found: readonly Diagnostic[], sources: EdgeSources): readonly Diagnostic[] {
  return found.map((diagnostic) => ({ ...diagnostic, at: diagnostic.at ?? sources.at(diagnostic.path) }));
}

/** An edge file that compiles. */
export interface CompiledFile {
  readonly ruleSet: RuleSet;
  readonly sources: EdgeSources;
  /** The sealed plan. */
  readonly bytes: Uint8Array;
  readonly diagnostics: readonly Diagnostic[];
  readonly texts: ReadonlyMap<string, string>;
}

/**
 * Reads, compiles and seals an edge file. Its errors are printed on stderr.
 * @throws CommandFault with exit code 3, or 2 where the file is a plan
 */
export async function compileFile(file: string, colour: ColourChoice): Promise<CompiledFile> {
  return compileBytes(await readEdgeOctets(file), file === '-' ? 'stdin' : file, colour);
}

function compileBytes(octets: Uint8Array, name: string, colour: ColourChoice): CompiledFile {
  const texts = new Map([[name, new TextDecoder().decode(octets)]]);
  const read = readEdgeBytes(octets, name);
  if (!read.ok) return refuse(read.diagnostics, { name, texts, colour });
  const { ruleSet, sources } = read;
  const { plan, diagnostics: found } = compile(ruleSet);
  const diagnostics = [...read.diagnostics, ...placed(found, sources)];
  if (hasErrors(diagnostics)) return refuse(diagnostics, { name, texts, colour });
  return { ruleSet, sources, bytes: seal(plan, { revision: 0 }), diagnostics, texts };
}

function subjectOf({ ruleSet, sources, bytes }: CompiledFile): Subject {
  const name = basename(sources.file);
  const places = new Map<number, RuleSource>();
  for (const [id, source] of sources.rules) places.set(id, { key: source.key, at: `${name}:${source.line}` });
  return { bytes, digest: digestOf(bytes), name, sources: places, ruleSet };
}

/**
 * Reads, compiles and seals `file`, or opens it where it is a sealed plan; `-` is stdin. Errors in an edge file are
 * printed on stderr.
 * @throws CommandFault with exit code 3
 */
export async function openSubject(file: string, colour: ColourChoice): Promise<Opened> {
  const bytes = await readBytes(file);
  if (isPlan(bytes, file)) return openSealed(bytes, file);
  const compiled = compileBytes(bytes, file === '-' ? 'stdin' : file, colour);
  const { diagnostics, texts } = compiled;
  return { subject: subjectOf(compiled), opened: openPlan(compiled.bytes), diagnostics, texts };
}
