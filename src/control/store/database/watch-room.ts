/**
 * Makes `ping` fail while the disk is full: an empty transaction commits even then. After a write that failed for lack of
 * room, or because of the disk, `ping` makes a small write until one succeeds.
 */
import { isStoreFault } from '../../../base/storage/fault.ts';
import type { Store } from '../store.ts';

/** The store with that `ping`; all else is unchanged. */
export function watchDiskSpace(store: Store): Store {
  let failed = false;
  return {
    ...store,
    async write(work, options) {
      try {
        return await store.write(work, options);
      } catch (error) {
        failed ||= isStoreFault(error, 'full') || isStoreFault(error, 'unavailable');
        throw error;
      }
    },
    async ping() {
      await store.ping();
      if (!failed) return;
      await store.write((tx) => tx.plans.rewritePosition());
      failed = false;
    },
  };
}
