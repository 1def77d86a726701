/** Which signatures `waf` rules inspect with: those that were asked for, else the starter set. */

import type { LintSignatures } from '../../analysis/lint/finding.ts';
import type { SealedSignatures } from '../../api/compute/job.ts';
import type { RuleSet } from '../../model/types.ts';
import { META, typeIndex } from '../../plan/layout.ts';
import { openPlan } from '../../plan/open.ts';
import type { Signatures } from '../../simulator/simulate.ts';
import { loadSignatures } from '../../waf/runtime/load.ts';
import { usageFault } from '../exit.ts';
import { type OpenedSignatures, openSignatureInput, openStarter } from '../open-signatures.ts';
import type { ColourChoice } from '../output.ts';
import { digestOf } from './digest.ts';

export interface ChoiceFlags {
  readonly color: ColourChoice;
  /** A file or directory, or `none`. */
  readonly signatures?: string;
  readonly crs?: string;
}

/**
 * The path of the signatures to use, `none`, or `null` for the starter set. Flags beat the environment, where
 * EDGEPLAN_SIGNATURES beats EDGEPLAN_CRS.
 * @throws CommandFault with exit code 2 where both flags are given
 */
function chosenPath({ signatures, crs }: ChoiceFlags): string | null {
  if (signatures !== undefined && crs !== undefined)
    throw usageFault('--signatures and --crs name two sets; give one of them');
  const { EDGEPLAN_SIGNATURES = '', EDGEPLAN_CRS = '' } = process.env;
  return signatures ?? crs ?? (EDGEPLAN_SIGNATURES || EDGEPLAN_CRS || null);
}

/**
 * Opens the signatures that were chosen; `null` where none are wanted.
 * @throws CommandFault with exit code 3 where they do not open
 */
async function openChosen(flags: ChoiceFlags): Promise<OpenedSignatures | null> {
  const path = chosenPath(flags);
  if (path === 'none') return null;
  return path === null ? openStarter() : openSignatureInput(path, { color: flags.color, quiet: true });
}

/**
 * The chosen signatures, ready to inspect, for a sealed plan; `null` without a `waf` rule in it, so that other plans pay
 * nothing.
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
 * The same as octets, for a thread that loads them.
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
 * Ids and tags of the chosen signatures, where some waf rule names any; else `null`.
 * @throws CommandFault as `openChosen`
 */
export async function signatureNames({ rules }: RuleSet, flags: ChoiceFlags): Promise<LintSignatures | null> {
  const asks = rules.some(
    (rule) =>
      rule.type === 'waf' && rule.enabled && (rule.rule_excludes.length > 0 || rule.exclusions.length > 0),
  );
  const opened = asks ? await openChosen(flags) : null;
  if (opened === null) return null;
  const { name, levels } = opened.program;
  const written = levels.flatMap((level) => level.rules);
  const ids = new Set(written.map(({ id }) => id));
  const tags = new Set(written.flatMap((rule) => rule.tags));
  return { name, hasId: (id) => ids.has(id), hasTag: (tag) => tags.has(tag) };
}

function hasWafRule(bytes: Uint8Array): boolean {
  const { meta } = openPlan(bytes).plan;
  const phase = META.phases + typeIndex('waf');
  return meta[phase + 1]! > meta[phase]!;
}
