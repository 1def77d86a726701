/**
 * The negative cache: for a limited time and a limited number of keys, which resources are not shareable
 * (hit-for-miss), which have been invalidated, and which origins have failed.
 */
import { LRUCache } from 'lru-cache';
import { sha256Hex } from '../../base/platform/cryptography.ts';
import { FAILING_MS, MAX_RECENT, MAX_RECENT_KEY, UNSHARED_MS } from './limits.ts';

/** How an origin failed: with an error response, or without a response. */
export type RecentFailure = 'error' | 'unreached';

export interface NegativeCache {
  /** Whether responses for a variant are shareable, as far as known. */
  isShareable(key: string): boolean;
  setShareable(key: string, shareable: boolean): void;
  /**
   * A logical time for comparison with invalidations, later than all before it; the clock's milliseconds are
   * too coarse.
   */
  moment(): number;
  /** Whether a resource was invalidated after that time, so that a response requested then is outdated. */
  isChangedSince(key: string, moment: number): boolean;
  setChanged(key: string): void;
  /** How the origin failed for a resource most recently; `null`: it has not failed. */
  failureOf(key: string): RecentFailure | null;
  setFailing(key: string, failure: RecentFailure): void;
}

export function createNegativeCache(clock: () => number): NegativeCache {
  const unshared = new LRUCache<string, number>({ max: MAX_RECENT });
  const changes = new LRUCache<string, number>({ max: MAX_RECENT });
  let moments = 0;
  const failures = new LRUCache<string, { readonly failure: RecentFailure; readonly until: number }>({
    max: MAX_RECENT,
  });
  return {
    isShareable: (key) =>
      unshared.size === 0 || !isStillFailing(unshared.get(shortened(key)) ?? -1, UNSHARED_MS, clock()),
    setShareable(key, shareable) {
      if (!shareable) unshared.set(shortened(key), clock() + UNSHARED_MS);
      else if (unshared.size > 0) unshared.delete(shortened(key));
    },
    moment: () => ++moments,
    isChangedSince: (key, moment) => changes.size > 0 && (changes.get(shortened(key)) ?? 0) > moment,
    setChanged: (key) => void changes.set(shortened(key), ++moments),
    failureOf(key) {
      const last = failures.size === 0 ? undefined : failures.get(shortened(key));
      return last === undefined || !isStillFailing(last.until, FAILING_MS, clock()) ? null : last.failure;
    },
    setFailing: (key, failure) => void failures.set(shortened(key), { failure, until: clock() + FAILING_MS }),
  };
}

function shortened(key: string): string {
  return key.length <= MAX_RECENT_KEY ? key : sha256Hex(key);
}

/** Whether a period of `ms` has not ended. A longer remainder means that the clock was set back since. */
export function isStillFailing(until: number, ms: number, now: number): boolean {
  return now <= until && until - now <= ms;
}
