/**
 * Chooses and opens the signatures that `waf` rules inspect with, from flags, the environment or the starter set, and
 * the databases of `--countries` and `--asns`.
 */
import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { formatIp, parseIp } from '../base/addresses/ip.ts';
import type { Diagnostic } from '../base/diagnostics/diagnostic.ts';
import type { SealedSignatures } from '../control/compute/job.ts';
import { type AddressDatabase, openAddressDatabase } from '../engine/classification/address-database.ts';
import { PlanFault, phaseStart, typeIndex } from '../engine/plan/layout.ts';
import { openSignatures } from '../engine/plan/open-signatures.ts';
import { openPlan } from '../engine/plan/seal.ts';
import { sealSignatures } from '../engine/plan/seal-signatures.ts';
import type { SignatureProgram } from '../engine/plan/signature-program.ts';
import { loadSignatures } from '../engine/waf/load/load.ts';
import {
  type CompiledSignatures,
  compileSignatures,
  readSignatureDirectory,
  type SignatureOptions,
  type Source,
} from '../engine/waf/seclang/index.ts';
import { starterBytes } from '../engine/waf/signatures/starter.ts';
import type { RuleSet } from '../rules/model/types.ts';
import type { LintSignatures } from '../workbench/proofs/lint/finding.ts';
import { visible } from '../workbench/simulation/render-text.ts';
import type { Signatures } from '../workbench/simulation/simulate.ts';
import { inputFault, reasonOf, usageFault } from './exit.ts';
import { isSealedSignatures, otherKindOf } from './input/open-subject.ts';
import { digestOf, isInside, readBytes } from './input/read-file.ts';
import { type ColourChoice, colourFor } from './output.ts';
import { diagnosticsText, MISTAKES_PRINTED, tally } from './print/diagnostics.ts';
import { barText, createProgressLine } from './print/progress-line.ts';

/** Signatures ready to use. */
interface OpenedSignatures {
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
  const sources = [...directory.sources, ...removals(flags.without ?? [])];
  const { readData, reader } = directory;
  const compiled =
    directory.sources.length === 0
      ? { program: null, diagnostics: [] }
      : compileWithProgress(sources, { readData, reader, name: path, quiet: flags.quiet === true });
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

/** Compiles rules, and draws the progress on a terminal: the Core Rule Set takes seconds. */
function compileWithProgress(
  sources: readonly Source[],
  { quiet, ...options }: SignatureOptions & { readonly name: string; readonly quiet: boolean },
): CompiledSignatures {
  const line = createProgressLine(process.stderr.isTTY === true);
  const what = `compiling ${visible(options.name)}`;
  const remedy = quiet ? '; `edgeplan waf compile -o` writes a program that opens at once' : '';
  const onProgress = (done: number, all: number): void =>
    line.draw(() => `${barText(done, all)}  ${what}${remedy}`);
  try {
    return compileSignatures(sources, { ...options, onProgress });
  } finally {
    line.clear();
  }
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

/** The flags that choose signatures. */
export interface ChoiceFlags {
  readonly color: ColourChoice;
  /** A file, a directory, or `none`. */
  readonly signatures?: string;
  /** The folder of the OWASP Core Rule Set. */
  readonly crs?: string;
  /** Ids of signatures to leave out. */
  readonly without?: readonly string[];
}

/**
 * The path of the signatures, `none`, or `null` for the starter set. Flags take precedence over the environment,
 * and EDGEPLAN_SIGNATURES over EDGEPLAN_CRS.
 * @throws CommandFault with exit code 2 when both flags are given
 */
function chosenPath({ signatures, crs }: ChoiceFlags): string | null {
  if (signatures !== undefined && crs !== undefined)
    throw usageFault('--signatures and --crs name two sets; give one of them');
  const { EDGEPLAN_SIGNATURES = '', EDGEPLAN_CRS = '' } = process.env;
  return signatures ?? crs ?? (EDGEPLAN_SIGNATURES || EDGEPLAN_CRS || null);
}

/** The paths that the chosen signatures are read from. @throws CommandFault as `chosenPath` */
export function signaturePaths(flags: ChoiceFlags): readonly string[] {
  const path = chosenPath(flags);
  return path === null || path === 'none' ? [] : [path];
}

/**
 * Opens the chosen signatures; `null` for `none`.
 * @throws CommandFault with exit code 3 when they cannot be opened, 2 when nothing can be left out of them
 */
async function openChosen(flags: ChoiceFlags): Promise<OpenedSignatures | null> {
  const path = chosenPath(flags);
  const { color, without } = flags;
  if (without !== undefined && (path === null || path === 'none')) {
    const set = path === null ? 'the starter set is sealed' : '--signatures is none';
    throw usageFault(
      `${set}, so no signature can be left out`,
      'give --crs or --signatures with rules in SecLang',
    );
  }
  if (path === 'none') return null;
  if (path === null) return openStarter();
  return openSignatureInput(path, { color, quiet: true, ...(without === undefined ? {} : { without }) });
}

/**
 * Loads the chosen signatures for a sealed plan; `null` for a plan without a `waf` rule, so that it need not load
 * any.
 * @throws CommandFault as `openChosen`
 */
export async function signaturesFor(plan: Uint8Array, flags: ChoiceFlags): Promise<Signatures | null> {
  if (!hasWafRule(plan)) return null;
  const opened = await openChosen(flags);
  if (opened === null) return null;
  const { program } = opened;
  return { waf: loadSignatures(program), name: program.name, digest: digestOf(opened.sealed()) };
}

/**
 * The same as octets, for a thread that loads them itself.
 * @throws CommandFault as `openChosen`
 */
export async function sealedSignaturesFor(
  plan: Uint8Array,
  flags: ChoiceFlags,
): Promise<SealedSignatures | null> {
  const opened = hasWafRule(plan) ? await openChosen(flags) : null;
  if (opened === null) return null;
  const sealed = opened.sealed();
  return { name: opened.program.name, digest: digestOf(sealed), sealed };
}

/**
 * Ids and tags of the chosen signatures; `none` for no signatures, `null` when no enabled waf rule has exclusions.
 * @throws CommandFault as `openChosen`
 */
export async function signatureNames(
  { rules }: RuleSet,
  flags: ChoiceFlags,
): Promise<LintSignatures | 'none' | null> {
  if (chosenPath(flags) === 'none') return 'none';
  const hasExclusions = rules.some(
    (rule) =>
      rule.type === 'waf' && rule.enabled && (rule.rule_excludes.length > 0 || rule.exclusions.length > 0),
  );
  const opened = hasExclusions ? await openChosen(flags) : null;
  if (opened === null) return null;
  const { name, levels } = opened.program;
  const written = levels.flatMap((level) => level.rules);
  const ids = new Set(written.map(({ id }) => id));
  const tags = new Set(written.flatMap((rule) => rule.tags));
  return { name, hasId: (id) => ids.has(id), hasTag: (tag) => tags.has(tag) };
}

/** Whether a sealed plan has an enabled waf rule. */
export function hasWafRule(bytes: Uint8Array): boolean {
  const { plan } = openPlan(bytes);
  const type = typeIndex('waf');
  return phaseStart(plan, type + 1) > phaseStart(plan, type);
}

/**
 * Opens a database of countries or autonomous systems; `null`: no file is given.
 * @param option the option that names the file, `--countries`
 * @throws CommandFault when the file cannot be read or has another format
 */
export async function openAddressFile(
  option: string,
  file: string | undefined,
): Promise<AddressDatabase | null> {
  if (file === undefined) return null;
  try {
    return openAddressDatabase(await readFile(file));
  } catch (error) {
    throw inputFault(`${option}: \`${file}\` cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}

/** What `find` has of an address in any spelling; `null` if it is unknown, and for a host name. */
export function addressFinder<T>(find: (ip: string) => T | null): (address: string) => T | null {
  const words = new Uint32Array(4);
  return (address) => {
    const family = parseIp(address, words);
    return family === 0 ? null : find(formatIp(family, words));
  };
}
