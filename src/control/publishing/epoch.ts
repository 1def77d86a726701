/**
 * The epoch of a store's history. Revisions and positions only rise within one; a store that was restored from a backup
 * has lost some of both, so it begins a new epoch, under which nodes accept lower numbers.
 */
import type { ReadTransaction, Store } from '../store/store.ts';

/** Milliseconds since 1970 at which the epoch began; 0: the store was never restored. */
export async function readEpoch(tx: Pick<ReadTransaction, 'secrets'>): Promise<number> {
  return Number((await tx.secrets.get('epoch')) ?? 0);
}

/**
 * Begins a new epoch and returns it: above the one before, and above all that earlier restores of other backups began.
 * Purge epochs rise too: answers that nodes cached before are stale. Zones get new serials, and
 * secondaries transfer them whole.
 */
export function beginEpoch(store: Store, now: number): Promise<number> {
  return store.write(async (tx) => {
    const epoch = Math.max(now, (await readEpoch(tx)) + 1);
    await tx.secrets.put('epoch', String(epoch), now);
    await tx.plans.purgeAll(Math.floor(epoch / 1_000));
    await tx.zones.renumberAll(now);
    return epoch;
  });
}
