/** Sealed plans as people read them, alone or compared. */
import { diffPlans } from '../../analysis/diff.ts';
import { openPlan } from '../../plan/open.ts';
import { diffSealed, printSealed } from '../../publisher/printed.ts';
import type { DiffJob, PrintJob, TextDiffJob } from './job.ts';

/** The answer of `/diff`. @throws PlanFault */
export function compareRevisions({ from, to, before, after }: DiffJob): string {
  return JSON.stringify({ from, to, ...diffPlans(opened(before), opened(after)) });
}

function opened(bytes: Uint8Array | null): Parameters<typeof diffPlans>[0] {
  return { opened: bytes === null ? null : openPlan(bytes) };
}

/** The unified diff of two printed plans. @throws PlanFault */
export function compareTexts({ before, after }: TextDiffJob): string {
  return diffSealed(before, after);
}

/** The printed plan. @throws PlanFault */
export function printRevision({ bytes }: PrintJob): string {
  return JSON.stringify(printSealed(bytes));
}
