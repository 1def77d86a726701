/**
 * The request rate limit of an API key: at most `limit` requests in any 60 seconds, as an exact sliding window. A refused
 * request does not count, so a client that waits for `Retry-After` succeeds. This file has the budget of a process that
 * has its database alone; several processes share one in `shared-budget.ts`.
 */
import { createRequestTimes, type RequestTimes } from './request-times.ts';

/** Maximum number of requests per minute and key, by default. Fixed by the API document, "Limits". */
export const REQUESTS_PER_MINUTE = 300;
/** The highest configurable limit: the times of that many requests take 8 MB a key. */
export const MAX_REQUESTS_PER_MINUTE = 1_000_000;

/** What is left of a key's budget. */
export interface BudgetLeft {
  /** Requests that may still be made in the current window. */
  readonly requests: number;
  /** Whole seconds until more requests may be made. */
  readonly seconds: number;
}

export interface RequestBudget {
  /**
   * Takes one request from the share of this process. Returns 0 when it is admitted and counted, else the whole seconds
   * until one would be, as far as this process can compute it. `now` in milliseconds since the epoch.
   */
  take(keyId: number, now: number): number;
  /** As `take`, after a larger share was requested from the other processes. @throws StoreFault */
  spend(keyId: number, now: number): Promise<number>;
  /** Requests a minute and key. */
  readonly limit: number;
  /** What is left of a key's budget by the requests that this process has counted. */
  left(keyId: number, now: number): BudgetLeft;
  /** Returns the unused share to the other processes. Never rejects. */
  stop(): Promise<void>;
  /** Keys in memory. */
  size(): number;
}

/** A budget of `limit` requests a minute for each key. */
export function createRequestBudget(limit: number = REQUESTS_PER_MINUTE): RequestBudget {
  const times = createRequestTimes(limit);
  const take: RequestBudget['take'] = (keyId, now) => times.take(keyId, now, limit);
  return {
    limit,
    take,
    spend: async (keyId, now) => take(keyId, now),
    left: (keyId, now) => budgetLeft(times, { keyId, now, limit }),
    stop: async () => undefined,
    size: times.size,
  };
}

/** The budget left by the counted requests; times in milliseconds since the epoch. */
export function budgetLeft(
  times: RequestTimes,
  { keyId, now, limit }: { readonly keyId: number; readonly now: number; readonly limit: number },
): BudgetLeft {
  const { used, freesInMs } = times.use(keyId, now);
  return { requests: Math.max(0, limit - used), seconds: Math.ceil(freesInMs / 1_000) };
}
