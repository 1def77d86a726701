/** The thread time that accounts have used, which halves every `USED_HALF_MS`: what decides whose job is next. */
import { LRUCache } from 'lru-cache';
import { MAX_USED_ACCOUNTS, USED_HALF_MS } from './limits.ts';

export interface UsedTimes {
  /** Adds milliseconds of a thread. */
  add(account: number, ms: number): void;
  /** Milliseconds, those of before at a lower weight; 0: none. */
  of(account: number): number;
}

interface Used {
  readonly ms: number;
  readonly at: number;
}

/** `clock` in milliseconds, monotonic. */
export function createUsedTimes(clock: () => number): UsedTimes {
  const accounts = new LRUCache<number, Used>({ max: MAX_USED_ACCOUNTS });
  const of: UsedTimes['of'] = (account) => {
    const used = accounts.peek(account);
    return used === undefined ? 0 : used.ms * 2 ** ((used.at - clock()) / USED_HALF_MS);
  };
  return {
    of,
    add(account, ms) {
      accounts.set(account, { ms: of(account) + ms, at: clock() });
    },
  };
}
