/** Purges of single responses for a node, read in one snapshot with the epoch and the entry of the manifest. */
import { shareGroup } from '../../base/vocabulary/node-groups.ts';
import { PURGES_FORMAT, type PurgeAnswer } from '../../engine/plan/purges.ts';
import type { ReadTransaction } from '../store/store.ts';
import { readEpoch } from './epoch.ts';

/**
 * The purges of a name above `since` for a node of these groups; `null`: no domain of the groups has the name. A node that
 * knows less than the floor, or comes from a later history, gets all of them.
 */
export async function readPurges(
  tx: ReadTransaction,
  { domain, since, groups }: { readonly domain: string; readonly since: number; readonly groups: string },
): Promise<PurgeAnswer | null> {
  const row = await tx.plans.current(domain);
  if (row === null || !shareGroup(row.node_groups, groups)) return null;
  const { purge_through: through, purge_floor: floor } = row;
  const above = since > through ? 0 : since;
  const purges = await tx.caches.purges(row.domain_id, Math.max(above, floor));
  const epoch = await readEpoch(tx);
  return { format: PURGES_FORMAT, epoch, domain, since: above, through, floor, purges };
}
