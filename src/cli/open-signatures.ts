/**
 * Opens the signatures at a path: compiles a rule set in SecLang, or opens a sealed program. Without a path, the
 * starter set.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Diagnostic } from '../base/diagnostics/diagnostic.ts';
import { PlanFault } from '../engine/plan/layout.ts';
import { openSignatures } from '../engine/plan/open-signatures.ts';
import { sealSignatures } from '../engine/plan/seal-signatures.ts';
import type { SignatureProgram } from '../engine/plan/signature-program.ts';
import { compileSignatures, readSignatureDirectory, type Source } from '../engine/waf/seclang/index.ts';
import { starterBytes } from '../engine/waf/signatures/starter.ts';
import { visible } from '../workbench/simulation/render-text.ts';
import { inputFault, usageFault } from './exit.ts';
import { readBytes } from './input/read-file.ts';
import { isInside } from './input/refuse-outside.ts';
import { type ColourChoice, colourFor, note } from './output.ts';
import { diagnosticsText, MISTAKES_PRINTED, tally } from './print/diagnostics.ts';
import { isSealedSignatures, otherKindOf } from './signature-file.ts';

/** Signatures ready to use. */
export interface OpenedSignatures {
  readonly program: SignatureProgram;
  /** The octets of the sealed program, computed at each call. */
  sealed(): Uint8Array;
  /** Warnings and notes; a rule set with errors is not opened. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Options of opening signatures. */
export interface SignatureFlags {
  readonly color: ColourChoice;
  /** Ids of rules that are removed before compiling and before anything is reported. */
  readonly without?: readonly string[];
  /** Prints diagnostics only when the rule set has errors. */
  readonly quiet?: boolean;
}

/** A diagnostic of a file outside the folder, which a link or an `Include` names, without the text of the file. */
function withheld({ found: _, remedy: __, ...diagnostic }: Diagnostic, folder: string): Diagnostic {
  return { ...diagnostic, message: `a mistake in a file outside \`${folder}\`, whose text is not shown` };
}

/**
 * Opens a directory of rules, a configuration file, or a sealed program. Prints diagnostics on stderr.
 * @throws CommandFault with exit code 3, or 2 when the file is of another kind
 */
export async function openSignatureInput(path: string, flags: SignatureFlags): Promise<OpenedSignatures> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) {
    const bytes = await readBytes(path);
    if (isSealedSignatures(bytes)) return openSealed(bytes, { path, without: flags.without ?? [] });
    const other = otherKindOf(bytes, path);
    if (other !== null) {
      const remedy = 'give signatures here, and this file with -f';
      throw usageFault(`\`${path}\` is ${other} and has no signatures`, remedy);
    }
  }
  const directory = readSignatureDirectory(path);
  noteProgress(directory.sources.length, path, flags);
  const sources = [...directory.sources, ...removals(flags.without ?? [])];
  const compiled =
    directory.sources.length === 0
      ? { program: null, diagnostics: [] }
      : compileSignatures(sources, { readData: directory.readData, reader: directory.reader, name: path });
  const folder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? path : dirname(path);
  const isShown = (file: string): boolean =>
    !existsSync(file) || isInside(file, folder) || isInside(file, process.cwd());
  const diagnostics = [...directory.diagnostics, ...compiled.diagnostics].map((one) =>
    one.at === undefined || isShown(one.at.file) ? one : withheld(one, folder),
  );
  const texts = new Map(sources.flatMap(({ file, text }) => (isShown(file) ? [[file, text]] : [])));
  const { program } = compiled;
  if (flags.quiet !== true || program === null) {
    const options = { colour: colourFor(process.stderr, flags.color), texts };
    const printing = program === null ? { ...options, most: MISTAKES_PRINTED } : options;
    process.stderr.write(diagnosticsText(diagnostics, printing));
  }
  if (program === null) throw inputFault(`\`${path}\` does not compile: ${tally(diagnostics)}`);
  return { program, diagnostics, sealed: () => sealSignatures(program) };
}

/** Files from which on compiling takes seconds; the Core Rule Set has more, a set of one's own has fewer. */
const MANY_FILES = 10;

/** Notes on a terminal that a large rule set compiles; while it does, nothing else can be printed. */
function noteProgress(files: number, path: string, { quiet }: SignatureFlags): void {
  if (process.stderr.isTTY !== true || files < MANY_FILES) return;
  const remedy = quiet === true ? '; `edgeplan waf compile --out` writes a program that opens at once' : '';
  note(`edgeplan: compiling ${files} files of ${visible(path)} …${remedy}`);
}

/** Opens the starter signatures. */
export function openStarter(): OpenedSignatures {
  const bytes = starterBytes();
  return { program: openSignatures(bytes), diagnostics: [], sealed: () => bytes };
}

/** Opens a sealed program. @throws CommandFault with exit code 3, or 2 when rules should be left out of it */
function openSealed(
  bytes: Uint8Array,
  { path, without }: { readonly path: string; readonly without: readonly string[] },
): OpenedSignatures {
  if (without.length > 0) {
    const remedy =
      'give the rules it was compiled from, or leave rules out with `edgeplan waf compile --without`';
    throw usageFault(`\`${path}\` is a sealed program, so no signature can be left out`, remedy);
  }
  try {
    return { program: openSignatures(bytes), diagnostics: [], sealed: () => bytes };
  } catch (error) {
    if (!(error instanceof PlanFault)) throw error;
    throw inputFault(`\`${path}\` cannot be opened: ${error.message}`, { cause: error });
  }
}

/** The ids of `--without` as an additional configuration file. */
function removals(ids: readonly string[]): readonly Source[] {
  return ids.length === 0 ? [] : [{ file: '--without', text: `SecRuleRemoveById ${ids.join(' ')}` }];
}
