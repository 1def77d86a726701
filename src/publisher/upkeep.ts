/** What a publisher clears away now and then. */
import type { Store } from '../store/store.ts';

/** Revisions of each name whose plan is kept, to print, compare and roll back to; the history itself keeps every row. */
export const KEPT_PLANS = 100;
/** Milliseconds for which answers to superseded revisions are kept. */
const KEPT_REPORTS_MS = 7 * 24 * 3_600_000;

/** Forgets old plans and old reports. */
export async function clearAway(store: Store, now: number): Promise<void> {
  await store.write((tx) => tx.plans.pruneBlobs(KEPT_PLANS));
  await store.write((tx) => tx.nodes.pruneReports(now - KEPT_REPORTS_MS));
}
