/** Runs one job and returns its result or its failure as plain values, which can be posted from thread to thread. */

import { StoreFault, type StoreFaultCode } from '../../base/storage/fault.ts';
import { PlanFault } from '../../engine/plan/fault.ts';
import type { Snapshots } from '../store/database/snapshots.ts';
import { analyse } from './analyse.ts';
import { compareRevisions, compareTexts, printRevision } from './compare.ts';
import { checkDraft, compareDraft } from './draft.ts';
import { provedText } from './invariants.ts';
import type { Job, JobKind, JobResults } from './job.ts';
import { recommendPage } from './recommend.ts';
import { simulatePage } from './simulate-page.ts';
import { hitsPage, topText, trafficText } from './traffic.ts';
import { readZoneFile } from './zone-file.ts';

/** What a thread answers to a job. */
export type JobDelivery =
  | { readonly kind: 'done'; readonly result: JobResults[JobKind] }
  /** The sealed plan was published by an earlier version that this build cannot read. */
  | { readonly kind: 'plan'; readonly message: string }
  /** The store failed. */
  | { readonly kind: 'store'; readonly code: StoreFaultCode; readonly message: string }
  /** A bug of ours; the stack is for the log. */
  | { readonly kind: 'failed'; readonly stack: string };

/** Runs the job. Never rejects. */
export async function deliver(job: Job, snapshots: Snapshots): Promise<JobDelivery> {
  try {
    return { kind: 'done', result: await resultOf(job, snapshots) };
  } catch (error) {
    if (error instanceof PlanFault) return { kind: 'plan', message: error.message };
    if (error instanceof StoreFault) return { kind: 'store', code: error.code, message: error.message };
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
    case 'draft_diff':
      return compareDraft(job, snapshots);
    case 'draft_check':
      return checkDraft(job, snapshots);
    case 'invariants':
      return provedText(job, snapshots);
    case 'text_diff':
      return compareTexts(job);
    case 'print':
      return printRevision(job);
    case 'zone':
      return readZoneFile(job);
    case 'hits':
      return hitsPage(job, snapshots);
    case 'traffic':
      return trafficText(job, snapshots);
    case 'top':
      return topText(job, snapshots);
    case 'recommend':
      return recommendPage(job, snapshots);
    default:
      return job satisfies never;
  }
}
