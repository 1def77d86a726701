/**
 * The steps that change what is served for one name: fetch, store, serve, report; fall back if a plan's file is damaged;
 * remove a name. Which name is next is decided in `install-plans.ts`.
 */
import type { ManifestEntry } from '../../engine/plan/manifest.ts';
import { fetchPlan, fetchPurges, readPurgeFile } from './fetch-plan.ts';
import type { InstallState, Task } from './install-state.ts';
import type { JournaledPlan, PlanMark, PurgeMark } from './journal.ts';
import { errorMessage } from './log.ts';
import type { Lists } from './opened-lists.ts';
import { DamageFault } from './plan-store.ts';
import type { Installed, InstalledPurges } from './plan-table.ts';
import { isSameClearance } from './secrets.ts';

/**
 * Fetches, stores and serves an entry. INVARIANT: a plan is on the disk before it is served, and served before it is
 * acknowledged.
 * @throws PlanRefusal, ControlPlaneFault, or the system's error of the disk
 */
export async function install(state: InstallState, { entry, keyId }: Task): Promise<void> {
  const { planStore, damages, replaced, report } = state;
  const { domain, revision, digest, tombstone } = entry;
  const before = planStore.names.get(domain);
  const purgeEpoch = purgeEpochAfter(entry, before, keyId);
  const previous = digest === null ? null : previousOf(state, { digest, before, keyId });
  const clearance = entry.clearance ?? (digest === null ? null : (before?.clearance ?? null));
  const purges = await fetchPurges(state, { entry, keyId });
  const made = { revision, digest, tombstone, previous, purgeEpoch, keyId, clearance };
  const plan: JournaledPlan = { ...made, purges };
  const doubted = damages.has(digest ?? '') || state.refused.has(domain) || replaced.has(domain);
  const served = !doubted && isServedAlready(before, plan);
  if (digest !== null && !served) {
    await fetchPlan(digest, entry, { ...state, isDamaged: damages.has(digest) });
    damages.delete(digest);
  }
  const suspends = tombstone === 'refused';
  // A suspension takes effect before it is stored, so that a full disk cannot prevent it while this node runs.
  if (suspends) await serve(state, domain, plan);
  if (!isSamePlan(before, plan)) await planStore.commit([{ kind: 'name', name: domain, plan }]);
  const old = replaced.get(domain) ?? new Set();
  if (before?.digest != null) old.add(before.digest);
  if (before?.previous != null) old.add(before.previous.digest);
  if (before?.purges != null) old.add(before.purges.digest);
  replaced.set(domain, old);
  if (!suspends) await serve(state, domain, plan);
  replaced.delete(domain);
  state.touched.set(domain, ++state.ticks);
  if (!served) report({ domain, revision, outcome: 'ack', reason: '' });
  for (const one of old) {
    if (one !== digest && one !== previous?.digest && one !== purges?.digest)
      await dropPlan(state, domain, one);
  }
}

async function dropPlan({ damages, planStore, log }: InstallState, domain: string, digest: string) {
  damages.delete(digest);
  await planStore.dropPlan(digest).catch((error: unknown) => {
    log.warn({ domain, err: errorMessage(error) }, 'the file of a plan that was replaced cannot be removed');
  });
}

/** Applies the purge epoch and the clearance of an entry whose plan is refused to the plan that is served instead. */
export async function applyPurge(
  state: InstallState,
  { entry, keyId }: Pick<Task, 'entry' | 'keyId'>,
): Promise<void> {
  const { planStore, log } = state;
  const { domain } = entry;
  const before = planStore.names.get(domain);
  if (before === undefined || before.keyId !== keyId) return;
  const { clearance = before.clearance } = entry;
  try {
    const purges = await fetchPurges(state, { entry, keyId });
    const plan = { ...before, purgeEpoch: purgeEpochAfter(entry, before, keyId), clearance, purges };
    if (isSamePlan(before, plan)) return;
    // In this order: the next comparison repeats a purge that is not stored, not one that is not served.
    await serve(state, domain, plan);
    await planStore.commit([{ kind: 'name', name: domain, plan }]);
    const old = before.purges?.digest ?? null;
    if (old !== null && old !== purges?.digest) await dropPlan(state, domain, old);
  } catch (error) {
    log.error({ domain, err: errorMessage(error) }, 'a purge cannot be stored; it is tried again');
  }
}

export function serve(state: InstallState, name: string, plan: JournaledPlan): void | Promise<void> {
  const { plans } = state;
  if (plan.digest !== null) return plans.set(name, installedOf(state, { name, plan, digest: plan.digest }));
  return plan.tombstone === 'refused' ? plans.set(name, 'refused') : plans.delete(name);
}

interface NamedPlan {
  readonly name: string;
  readonly plan: JournaledPlan;
  /** The plan's digest, which is not `null` here. */
  readonly digest: string;
}

/** The plan as the table reads it; a damaged file is fetched again. */
function installedOf(state: InstallState, { name, plan, digest }: NamedPlan): Installed {
  const { planStore, damages, lists } = state;
  const { revision, purgeEpoch, previous, clearance, purges } = plan;
  function intact<T>(read: (digest: string) => T): (digest: string) => T {
    return (file) => {
      const damage = damages.get(digest);
      if (damage !== undefined) throw damage;
      try {
        return read(file);
      } catch (error) {
        if (error instanceof DamageFault) repair(state, { name, plan, digest }, error);
        throw error;
      }
    };
  }
  const readPlan = intact(planStore.readPlan);
  const own: Lists = { ...lists, get: intact(lists.get), verify: intact(lists.verify) };
  const purged = { purgeEpoch, purges: installedPurges(state, purges) };
  const fallback =
    previous === null
      ? null
      : { ...previous, ...purged, lists, read: () => planStore.readPlan(previous.digest) };
  const read = (): Uint8Array => readPlan(digest);
  return { revision, digest, ...purged, clearance, read, lists: own, previous: fallback };
}

function installedPurges({ planStore }: InstallState, mark: PurgeMark | null): InstalledPurges | null {
  if (mark === null) return null;
  return { ...mark, read: () => readPurgeFile(mark, () => planStore.readPlan(mark.digest)) };
}

interface Replacement {
  /** Of the new plan. */
  readonly digest: string;
  readonly before: JournaledPlan | undefined;
  readonly keyId: string;
}

/**
 * The plan to fall back to when the new one's file is damaged: what was served before under the same key, undamaged.
 * INVARIANT: never a plan from before a tombstone, whose domain had to stop serving.
 */
function previousOf({ damages }: InstallState, { digest, before, keyId }: Replacement): PlanMark | null {
  if (before === undefined || before.keyId !== keyId || before.digest === null) return null;
  if (before.digest === digest || damages.has(before.digest)) return before.previous;
  return { revision: before.revision, digest: before.digest };
}

/**
 * Records a plan that is damaged, or a list of it, and fetches it. Until then its name is served by the plan before it; without one it is refused,
 * and does not fall to the name above it.
 */
export function repair(state: InstallState, { name, plan, digest }: NamedPlan, damage: DamageFault): void {
  const { previous } = plan;
  state.damages.set(digest, damage);
  const meanwhile = previous === null ? 'the name is refused' : `revision ${previous.revision} is served`;
  state.log.error(
    { domain: name, err: damage.message },
    `a plan is damaged; ${meanwhile} until it is fetched`,
  );
  // A wanted entry replaces the damaged plan, unless it is refused.
  if (!state.wanted.has(name)) fetchDamaged(state, name);
}

/** Fetches the plan of a name again, if its file is damaged. */
export function fetchDamaged(state: InstallState, domain: string): void {
  const plan = state.planStore.names.get(domain);
  if (plan === undefined || plan.digest === null || !state.damages.has(plan.digest)) return;
  const { revision, digest, purgeEpoch, keyId, clearance } = plan;
  const entry = { domain, revision, digest, tombstone: null, purge_epoch: purgeEpoch, position: 0 };
  state.want(clearance === null ? entry : { ...entry, clearance }, keyId);
}

/** Removes a name from the journal, the table and the disk. */
export async function forget({ planStore, plans }: InstallState, name: string, plan: JournaledPlan) {
  const { digest, previous, purges } = plan;
  await planStore.commit([{ kind: 'name', name, plan: null }]);
  await plans.delete(name);
  if (digest !== null) await planStore.dropPlan(digest);
  if (previous !== null) await planStore.dropPlan(previous.digest);
  if (purges !== null) await planStore.dropPlan(purges.digest);
}

// Compares what a node serves for a name with an entry of the manifest. Pure functions, no state.

/**
 * The purge epoch after an entry: under one key it never goes back, or purged responses would be served again.
 * @param keyId the history that the entry belongs to, as `JournaledPlan.keyId`
 */
function purgeEpochAfter(entry: ManifestEntry, before: JournaledPlan | undefined, keyId: string): number {
  return before?.keyId === keyId ? Math.max(before.purgeEpoch, entry.purge_epoch) : entry.purge_epoch;
}

/**
 * Whether two journal entries of a name are equal. Two clearances are equal if they sign with the same secret and accept
 * the same proofs from now on.
 */
function isSamePlan(a: JournaledPlan | undefined, b: JournaledPlan): boolean {
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
function isServedAlready(
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
