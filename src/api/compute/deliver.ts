/** Runs one job and packs whatever comes of it, so that it crosses from thread to thread. */
import { PlanFault } from '../../plan/fault.ts';
import { StoreFault, type StoreFaultCode } from '../../store/fault.ts';
import type { Snapshots } from '../../store/snapshots.ts';
import { Refusal, type RefusalStatus } from '../refusal.ts';
import { analyse } from './analyse.ts';
import { compareRevisions, compareTexts, printRevision } from './compare.ts';
import type { Job, JobKind, JobResults } from './job.ts';
import { simulatePage } from './simulate-page.ts';
import { readZoneFile } from './zone-file.ts';

export type JobDelivery =
  | { readonly kind: 'done'; readonly result: JobResults[JobKind] }
  | { readonly kind: 'refused'; readonly status: RefusalStatus; readonly message: string }
  | { readonly kind: 'unread'; readonly code: StoreFaultCode; readonly message: string }
  /** A mistake of ours; the stack is for the log. */
  | { readonly kind: 'failed'; readonly stack: string };

export async function deliver(job: Job, snapshots: Snapshots): Promise<JobDelivery> {
  try {
    return { kind: 'done', result: await resultOf(job, snapshots) };
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'refused', status: error.status, message: error.message };
    // Sealed by an earlier version, and not published again since.
    if (error instanceof PlanFault) return { kind: 'refused', status: 409, message: error.message };
    if (error instanceof StoreFault) return { kind: 'unread', code: error.code, message: error.message };
    return { kind: 'failed', stack: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

function resultOf(job: Job, snapshots: Snapshots): JobResults[JobKind] | Promise<JobResults[JobKind]> {
  switch (job.kind) {
    case 'analysis':
      return analyse(job, snapshots);
    case 'simulate':
      return simulatePage(job);
    case 'diff':
      return compareRevisions(job);
    case 'text_diff':
      return compareTexts(job);
    case 'print':
      return printRevision(job);
    case 'zone':
      return readZoneFile(job);
    default:
      return job satisfies never;
  }
}
