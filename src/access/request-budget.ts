/**
 * How many requests a key may make: at most `limit` in any minute, exactly. A refused request does not count, so
 * waiting for `Retry-After` helps. Here the budget of a process that has its database alone; several processes divide
 * one in `shared-budget.ts`.
 */
import { createRequestTimes, type RequestTimes } from './request-times.ts';

/** Requests per key unless an operator says otherwise. Given (API document, "Limits"). */
export const REQUESTS_PER_MINUTE = 300;
/** The most an operator can say: the moments of so many take 8 MB a key. */
export const MAX_REQUESTS_PER_MINUTE = 1_000_000;

export interface BudgetLeft {
  readonly requests: number;
  readonly seconds: number;
}

export interface RequestBudget {
  /**
   * 0 when the request is within what this process may let through, and now counted; else the whole seconds until one
   * would be, as far as that is known without asking anybody.
   */
  take(keyId: number, now: number): number;
  /** What `take` answers, once whoever shares the budget has been asked for more of it. Throws `StoreFault`. */
  spend(keyId: number, now: number): Promise<number>;
  /** Requests a minute and key. */
  readonly limit: number;
  /** What is left of a key's budget, as far as this process knows, and the whole seconds until more is. */
  left(keyId: number, now: number): BudgetLeft;
  /** Gives what is not used back to whoever shares the budget. */
  stop(): Promise<void>;
  /** Keys held at the moment. */
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

/** What is left by the requests that this process has counted. */
export function budgetLeft(
  times: RequestTimes,
  { keyId, now, limit }: { readonly keyId: number; readonly now: number; readonly limit: number },
): BudgetLeft {
  const { used, freesInMs } = times.use(keyId, now);
  return { requests: Math.max(0, limit - used), seconds: Math.ceil(freesInMs / 1_000) };
}
