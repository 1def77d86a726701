/** Removes outdated plans and reports; a publisher runs it every hour. */
import type { Store } from '../store/store.ts';
import { pruneAll } from './prune.ts';

/** Milliseconds for which answers to superseded revisions are stored. */
const STORED_REPORTS_MS = 7 * 24 * 3_600_000;

/** Removes what is older than its bound, in short transactions. Throws StoreFault. */
export async function clearAway(store: Store, now: number): Promise<void> {
  await pruneAll(store, now);
  await store.write((tx) => tx.nodes.pruneReports(now - STORED_REPORTS_MS));
}
