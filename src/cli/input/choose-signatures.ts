/**
 * Chooses and opens the signatures that `waf` rules inspect with: those of the flags or the environment, else the
 * starter set.
 */
import type { SealedSignatures } from '../../control/compute/job.ts';
import { META, typeIndex } from '../../engine/plan/layout.ts';
import { openPlan } from '../../engine/plan/seal.ts';
import { loadSignatures } from '../../engine/waf/load/load.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import type { LintSignatures } from '../../workbench/proofs/lint/finding.ts';
import type { Signatures } from '../../workbench/simulation/simulate.ts';
import { usageFault } from '../exit.ts';
import { type OpenedSignatures, openSignatureInput, openStarter } from '../open-signatures.ts';
import type { ColourChoice } from '../output.ts';
import { digestOf } from './digest.ts';

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
  const { meta } = openPlan(bytes).plan;
  const phase = META.phases + typeIndex('waf');
  return meta[phase + 1]! > meta[phase]!;
}
