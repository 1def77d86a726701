/** How long a domain rests between two of its publications: the longer, the more its last one took. */
import { DOMAIN_REST, LONGEST_DOMAIN_REST_MS, SLOW_MS } from './limits.ts';

export interface Pacing {
  /** Notes a publication that ended at `now` and took so many milliseconds. */
  published(domainId: number, now: number, tookMs: number): void;
  /** Milliseconds until the domain may be published again; 0 when it may be now. */
  restOf(domainId: number, now: number): number;
}

export function createPacing(): Pacing {
  const until = new Map<number, number>();
  return {
    published(domainId, now, tookMs) {
      if (tookMs < SLOW_MS) return;
      // So that what is stored are the domains that rest, not all that ever did.
      for (const [other, end] of until) if (end <= now) until.delete(other);
      until.set(domainId, now + Math.min(DOMAIN_REST * tookMs, LONGEST_DOMAIN_REST_MS));
    },
    restOf: (domainId, now) => Math.max(0, (until.get(domainId) ?? now) - now),
  };
}
