/**
 * Makes `ping` say whether the database takes writes: an empty transaction commits on a full disk. After a write that
 * failed for want of room, or for the disk, `ping` makes a small write until one succeeds.
 */
import { isStoreFault } from './fault.ts';
import type { Store } from './store.ts';

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
