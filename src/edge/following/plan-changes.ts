/** Compares what a node serves for a name with an entry of the manifest. Pure functions, no state. */
import type { ManifestEntry } from '../../engine/plan/manifest.ts';
import type { JournaledPlan } from './journal.ts';
import { isSameClearance } from './secrets.ts';

/**
 * The purge epoch after an entry: under one key it never goes back, or purged responses would be served again.
 * @param keyId the history that the entry belongs to, as `JournaledPlan.keyId`
 */
export function purgeEpochAfter(
  entry: ManifestEntry,
  before: JournaledPlan | undefined,
  keyId: string,
): number {
  return before?.keyId === keyId ? Math.max(before.purgeEpoch, entry.purge_epoch) : entry.purge_epoch;
}

/**
 * Whether two journal entries of a name are equal. Two clearances are equal if they sign with the same secret and accept
 * the same proofs from now on.
 */
export function isSamePlan(a: JournaledPlan | undefined, b: JournaledPlan): boolean {
  return (
    a !== undefined &&
    a.revision === b.revision &&
    a.digest === b.digest &&
    a.tombstone === b.tombstone &&
    a.previous?.digest === b.previous?.digest &&
    a.purgeEpoch === b.purgeEpoch &&
    a.purges?.digest === b.purges?.digest &&
    a.keyId === b.keyId &&
    isSameClearance(a.clearance, b.clearance, Date.now())
  );
}

/** The position of the newest purge of single responses that a plan has, in the history of an entry. */
export function purgedThrough(plan: JournaledPlan | undefined, keyId: string): number {
  return plan?.keyId === keyId ? (plan.purges?.through ?? 0) : 0;
}

/** Whether only the clearance or purges of single responses differ: the plan was fetched, tested and acknowledged before. */
export function isServedAlready(
  before: JournaledPlan | undefined,
  { digest, revision, purgeEpoch, keyId }: JournaledPlan,
): boolean {
  if (before === undefined || digest === null || before.digest !== digest) return false;
  return before.revision === revision && before.purgeEpoch === purgeEpoch && before.keyId === keyId;
}

/** Whether an entry leaves the clearance as it is; an entry without one does. */
export function keepsClearance(
  { clearance }: Pick<JournaledPlan, 'clearance'>,
  entry: ManifestEntry,
): boolean {
  return entry.clearance === undefined || isSameClearance(clearance, entry.clearance, Date.now());
}

/** Whether two entries of a name demand the same. */
export function isSameEntry(a: ManifestEntry, b: ManifestEntry): boolean {
  const same = a.revision === b.revision && a.digest === b.digest;
  if (!same || a.tombstone !== b.tombstone || a.purge_epoch !== b.purge_epoch) return false;
  if (a.purges !== b.purges) return false;
  return isSameClearance(a.clearance ?? null, b.clearance ?? null, Date.now());
}

/** Whether an entry would lower the revision of a name, or change the plan of a revision: neither ever happens. */
export function isStepBack(known: JournaledPlan, { revision, digest }: ManifestEntry): boolean {
  return revision < known.revision || (revision === known.revision && known.digest !== digest);
}

/** Why an entry is a step back, as a sentence for the log and the report. */
export function stepBackReason(known: JournaledPlan, revision: number): string {
  if (revision === known.revision) return `this node holds another plan as revision ${revision}`;
  return `this node holds revision ${known.revision} and does not go back to ${revision}`;
}
