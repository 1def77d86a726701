/**
 * The request rate limit of an API key: at most `limit` requests in any 60 seconds, as an exact sliding window. A refused
 * request does not count, so a client that waits for `Retry-After` succeeds. This file has the budget of a process that
 * has its database alone; several processes share one in `shared-budget.ts`.
 */

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

// The times of each key's last admitted requests, for an exact sliding window in bounded memory: 8 octets a request.

/** Milliseconds an admitted request counts. */
export const WINDOW_MS = 60_000;
/** New keys after which idle ones are removed, so that memory follows the keys in use. */
const SWEEP_EVERY = 1_024;

export interface RequestTimes {
  /**
   * Returns 0 when fewer than `granted` requests of the key were admitted within the window, and counts this one; else
   * the whole seconds until one more would be admitted. Times in milliseconds since the epoch.
   */
  take(keyId: number, now: number, granted: number): number;
  /** Requests of the key that count now. */
  used(keyId: number, now: number): number;
  /** As `used`, and the milliseconds until the oldest of them leaves the window; 0 without any. */
  use(keyId: number, now: number): { readonly used: number; readonly freesInMs: number };
  /** Keys in memory. */
  size(): number;
}

/** Ring buffer of the times of one key's last `most` admitted requests, the oldest at `next`. */
interface Ring {
  readonly times: Float64Array;
  next: number;
  newest: number;
}

/** Times of at most `most` requests a key. */
export function createRequestTimes(most: number): RequestTimes {
  const rings = new Map<number, Ring>();
  let sweepAt = SWEEP_EVERY;

  function ringOf(keyId: number, now: number): Ring {
    const known = rings.get(keyId);
    if (known !== undefined) return known;
    if (rings.size >= sweepAt) {
      for (const [id, ring] of rings) if (ring.newest <= now - WINDOW_MS) rings.delete(id);
      sweepAt = rings.size + SWEEP_EVERY;
    }
    const ring: Ring = {
      times: new Float64Array(most).fill(Number.NEGATIVE_INFINITY),
      next: 0,
      newest: now,
    };
    rings.set(keyId, ring);
    return ring;
  }

  /** When the request `back` places before the newest was admitted. */
  const before = ({ times, next }: Ring, back: number): number => times[(next - back + 2 * most) % most]!;

  /** Requests after `since`: a binary search, since the ring is in order of time. */
  function countSince(ring: Ring, since: number): number {
    let low = 0;
    let high = most;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (before(ring, middle) > since) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  return {
    take(keyId, clock, granted) {
      const ring = ringOf(keyId, clock);
      // A clock that was set back must not refuse the key for as long as it was set back.
      const now = Math.max(clock, ring.newest);
      const oldest = granted > 0 ? before(ring, granted) : now;
      if (oldest > now - WINDOW_MS) return Math.max(1, Math.ceil((oldest + WINDOW_MS - now) / 1_000));
      ring.times[ring.next] = now;
      ring.next = (ring.next + 1) % most;
      ring.newest = now;
      return 0;
    },
    used(keyId, clock) {
      const ring = rings.get(keyId);
      return ring === undefined ? 0 : countSince(ring, Math.max(clock, ring.newest) - WINDOW_MS);
    },
    use(keyId, clock) {
      const ring = rings.get(keyId);
      if (ring === undefined) return { used: 0, freesInMs: 0 };
      const since = Math.max(clock, ring.newest) - WINDOW_MS;
      const used = countSince(ring, since);
      return { used, freesInMs: used === 0 ? 0 : before(ring, used) - since };
    },
    size: () => rings.size,
  };
}
