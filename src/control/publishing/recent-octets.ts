/**
 * The octets of plans, lists and registries that nodes have fetched last. The nodes of a domain fetch the same digest within moments of
 * each other: the store is read, and the digest checked, once for all of them. In: a digest, and how to read it. Out: octets.
 */
import { LRUCache } from 'lru-cache';
import { MAX_RECENT_OCTETS } from './limits.ts';

export interface RecentOctets {
  /**
   * The octets of a digest: those of the last read, or of `read`, which requests that come meanwhile share. The caller has checked that
   * the node may have them, and must not change them. `null`: `read` has found none. @throws what `read` throws
   */
  find(digest: string, read: () => Promise<Uint8Array | null>): Promise<Uint8Array | null>;
}

/** Starts empty. */
export function createRecentOctets(maxOctets: number = MAX_RECENT_OCTETS): RecentOctets {
  const recent = new LRUCache<string, Uint8Array>({
    maxSize: maxOctets,
    sizeCalculation: ({ length }) => Math.max(1, length),
  });
  const running = new Map<string, Promise<Uint8Array | null>>();
  return {
    find(digest, read) {
      const stored = recent.get(digest);
      if (stored !== undefined) return Promise.resolve(stored);
      const before = running.get(digest);
      if (before !== undefined) return before;
      const reading = read()
        .then((octets) => {
          if (octets !== null) recent.set(digest, octets);
          return octets;
        })
        .finally(() => running.delete(digest));
      running.set(digest, reading);
      return reading;
    },
  };
}
