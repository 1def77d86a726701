/**
 * `RateLimit` and `RateLimit-Policy` on every answer to a key (draft-ietf-httpapi-ratelimit-headers-10): the budget, the
 * requests left of it, and the seconds until more are. With several processes on one database, each reports its own
 * count.
 */
import type { RequestBudget } from '../accounts/request-budget.ts';
import { WINDOW_MS } from '../accounts/request-times.ts';

/** The policy's name in both fields. */
const POLICY = '"requests"';

/** The two headers. `now` in milliseconds since the epoch. */
export function rateLimitHeaders(
  budget: RequestBudget,
  keyId: number,
  now: number,
): Readonly<Record<string, string>> {
  const { requests, seconds } = budget.left(keyId, now);
  return {
    'ratelimit-policy': `${POLICY};q=${budget.limit};w=${WINDOW_MS / 1_000}`,
    ratelimit: `${POLICY};r=${requests};t=${seconds}`,
  };
}
