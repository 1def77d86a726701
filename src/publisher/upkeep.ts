/** Removes outdated plans, reports, traffic and hits; a publisher runs it every hour. */
import type { Store } from '../store/store.ts';
import { HITS_STORED_MINUTES } from './limits.ts';
import { pruneAll } from './prune.ts';

/** Milliseconds for which answers to superseded revisions are stored. */
const STORED_REPORTS_MS = 7 * 24 * 3_600_000;

/** Minutes for which traffic is stored: longer than any quota period, a year included. */
const STORED_TRAFFIC_MINUTES = 400 * 24 * 60;
const MINUTE_MS = 60_000;

/** Removes what is older than its bound, in short transactions. Throws StoreFault. */
export async function clearAway(store: Store, now: number): Promise<void> {
  await pruneAll(store, now);
  await store.write((tx) => tx.nodes.pruneReports(now - STORED_REPORTS_MS));
  const minute = Math.floor(now / MINUTE_MS);
  await store.write((tx) => tx.usage.prune(minute - STORED_TRAFFIC_MINUTES));
  await store.write((tx) => tx.hits.prune(minute - HITS_STORED_MINUTES));
}
