/** What has lately been found out about resources and is forgotten again: bounded, by key, for a while. */
import { LRUCache } from 'lru-cache';
import { FAILING_MS, MAX_RECENT, UNSHARED_MS } from './limits.ts';

/** How an origin fails: with an error of its own, or by not answering. */
export type Failure = 'error' | 'unreached';

export interface Recent {
  /** Whether the answers to a variant are for sharing, as far as is known. */
  isShareable(key: string): boolean;
  setShareable(key: string, shareable: boolean): void;
  /** A moment to compare changes with, later than all before it: a clock's millisecond is too coarse to tell. */
  moment(): number;
  /** A resource was changed after that moment, so that what was asked for then is old. */
  isChangedSince(key: string, moment: number): boolean;
  setChanged(key: string): void;
  /** How the origin failed for a resource just now; `null`: it did not. */
  failureOf(key: string): Failure | null;
  setFailing(key: string, failure: Failure): void;
}

export function createRecent(clock: () => number): Recent {
  const unshared = new LRUCache<string, number>({ max: MAX_RECENT });
  const changes = new LRUCache<string, number>({ max: MAX_RECENT });
  let moments = 0;
  const failures = new LRUCache<string, { readonly failure: Failure; readonly until: number }>({
    max: MAX_RECENT,
  });
  return {
    isShareable: (key) => unshared.size === 0 || !isLasting(unshared.get(key) ?? -1, UNSHARED_MS, clock()),
    setShareable(key, shareable) {
      if (!shareable) unshared.set(key, clock() + UNSHARED_MS);
      else if (unshared.size > 0) unshared.delete(key);
    },
    moment: () => ++moments,
    isChangedSince: (key, moment) => changes.size > 0 && (changes.get(key) ?? 0) > moment,
    setChanged: (key) => void changes.set(key, ++moments),
    failureOf(key) {
      const last = failures.size === 0 ? undefined : failures.get(key);
      return last === undefined || !isLasting(last.until, FAILING_MS, clock()) ? null : last.failure;
    },
    setFailing: (key, failure) => void failures.set(key, { failure, until: clock() + FAILING_MS }),
  };
}

/** Whether what was to last for `ms` still does. What lasts longer than that began before the clock was set back. */
export function isLasting(until: number, ms: number, now: number): boolean {
  return now <= until && until - now <= ms;
}
