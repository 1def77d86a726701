/** From a path to a signature program: a rule set in SecLang is compiled, a sealed program is opened. No path: ours. */
import { statSync } from 'node:fs';
import type { Diagnostic } from '../base/diagnostic.ts';
import { PlanFault } from '../plan/fault.ts';
import { openSignatures } from '../plan/open-signatures.ts';
import { sealSignatures } from '../plan/seal-signatures.ts';
import type { SignatureProgram } from '../plan/signature-program.ts';
import { compileSignatures, readSignatureDirectory, type Source } from '../waf/seclang/index.ts';
import { starterBytes } from '../waf/signatures/starter.ts';
import { inputFault } from './exit.ts';
import { readBytes } from './input/read-file.ts';
import { type ColourChoice, colourFor } from './output.ts';
import { diagnosticsText, MISTAKES_PRINTED, tally } from './print/diagnostics.ts';

export interface OpenedSignatures {
  readonly program: SignatureProgram;
  /** The program's octets, made when they are asked for. */
  sealed(): Uint8Array;
  /** Warnings and notes; a rule set with errors is not opened. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface SignatureFlags {
  readonly color: ColourChoice;
  /** Ids of rules that are taken out before anything else is said of them. */
  readonly without?: readonly string[];
  /** Only what keeps a rule set from being opened is printed. */
  readonly quiet?: boolean;
}

const SEALED = 'EPSG';

/**
 * Opens a directory of rules, a configuration file, or a sealed program. What is wrong or left out is printed on stderr.
 * @throws CommandFault with exit code 3
 */
export async function openSignatureInput(path: string, flags: SignatureFlags): Promise<OpenedSignatures> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) {
    const bytes = await readBytes(path);
    if (Buffer.from(bytes.subarray(0, SEALED.length)).toString('latin1') === SEALED)
      return openSealed(bytes, path);
  }
  const directory = readSignatureDirectory(path);
  const sources = [...directory.sources, ...removals(flags.without ?? [])];
  const compiled =
    directory.sources.length === 0
      ? { program: null, diagnostics: [] }
      : compileSignatures(sources, { readData: directory.readData, reader: directory.reader, name: path });
  const diagnostics = [...directory.diagnostics, ...compiled.diagnostics];
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  const { program } = compiled;
  if (flags.quiet !== true || program === null) {
    const options = { colour: colourFor(process.stderr, flags.color), texts };
    const told = program === null ? { ...options, most: MISTAKES_PRINTED } : options;
    process.stderr.write(diagnosticsText(diagnostics, told));
  }
  if (program === null) throw inputFault(`\`${path}\` does not compile: ${tally(diagnostics)}`);
  return { program, diagnostics, sealed: () => sealSignatures(program) };
}

/** The starter signatures. */
export function openStarter(): OpenedSignatures {
  const bytes = starterBytes();
  return { program: openSignatures(bytes), diagnostics: [], sealed: () => bytes };
}

function openSealed(bytes: Uint8Array, path: string): OpenedSignatures {
  try {
    return { program: openSignatures(bytes), diagnostics: [], sealed: () => bytes };
  } catch (error) {
    if (!(error instanceof PlanFault)) throw error;
    throw inputFault(`\`${path}\` cannot be opened: ${error.message}`, { cause: error });
  }
}

/** `--without` as one more configuration file. */
function removals(ids: readonly string[]): readonly Source[] {
  return ids.length === 0 ? [] : [{ file: '--without', text: `SecRuleRemoveById ${ids.join(' ')}` }];
}
