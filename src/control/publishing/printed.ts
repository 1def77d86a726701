/** A published plan in printed form, and the difference of two. */
import { openPlan } from '../../engine/plan/open.ts';
import { printPlan } from '../../engine/plan/print.ts';
import { diffLines } from './line-diff.ts';

/**
 * The printed plan of sealed bytes.
 * @throws PlanFault when this build does not read the plan's version
 */
export function printSealed(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  return printPlan(openPlan(bytes));
}

/** One side of a comparison; `bytes` is `null` for a tombstone. */
export interface Side {
  readonly domain: string;
  readonly revision: number;
  readonly bytes: Uint8Array | null;
}

/**
 * What differs between two revisions, as a unified diff over their printed plans: domain, hosts, rules in evaluation
 * order. Indexes and sizes follow from these and are left out. Empty when nothing differs.
 * @throws PlanFault as `printSealed`
 */
export function diffSealed(before: Side, after: Side): string {
  const name = ({ domain, revision, bytes }: Side): string =>
    `${domain} revision ${revision}${bytes === null ? ' (tombstone)' : ''}`;
  return diffLines(textOf(before), textOf(after), { from: name(before), to: name(after) });
}

/** The compared part of a plan as text; empty for a tombstone. */
function textOf({ bytes }: Side): string {
  if (bytes === null) return '';
  const { domain, hosts, rules } = printSealed(bytes);
  return JSON.stringify({ domain, hosts, rules }, null, 2);
}
