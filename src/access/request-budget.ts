/**
 * How many requests a key may make: at most `limit` in any `windowMs`, exactly, held per process. A refused request
 * does not count, so waiting for `Retry-After` always helps.
 */

/** Requests per key. Given (API document, "Limits"). */
export const REQUESTS_PER_WINDOW = 300;
const WINDOW_MS = 60_000;
/** Looks for idle keys whenever this many have come, so that memory follows the keys in use. */
const SWEEP_EVERY = 1_024;

export interface RequestBudget {
  /** 0 when the request is within the budget and now counted, else the whole seconds until one would be. */
  take(keyId: number, now: number): number;
  /** Keys held at the moment. */
  size(): number;
}

/** The moments of one key's last `limit` admitted requests, the oldest at `next`. */
interface Ring {
  readonly times: Float64Array;
  next: number;
  newest: number;
}

/** A budget of `limit` requests a minute for each key. */
export function createRequestBudget(limit: number = REQUESTS_PER_WINDOW): RequestBudget {
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
      times: new Float64Array(limit).fill(Number.NEGATIVE_INFINITY),
      next: 0,
      newest: now,
    };
    rings.set(keyId, ring);
    return ring;
  }

  return {
    take(keyId, clock) {
      const ring = ringOf(keyId, clock);
      // A clock set back must not lock a key out for as long as it was set back.
      const now = Math.max(clock, ring.newest);
      const oldest = ring.times[ring.next]!;
      if (oldest > now - WINDOW_MS) return Math.max(1, Math.ceil((oldest + WINDOW_MS - now) / 1_000));
      ring.times[ring.next] = now;
      ring.next = (ring.next + 1) % limit;
      ring.newest = now;
      return 0;
    },
    size: () => rings.size,
  };
}
