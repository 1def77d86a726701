/**
 * API keys that expire soon. In: the keys of the account that asks, never of another one. Out: a recommendation for each that
 * is neither revoked nor expired. A key can be made by an operator alone, so that there is no change to propose.
 */
import { timeText } from '../../base/text/time-text.ts';
import { KEY_MS } from './limits.ts';
import type { DraftRecommendation } from './shapes.ts';
import type { StoredFacts } from './stored-facts.ts';

/** The family. */
export function expiringKeys({ keys, now }: StoredFacts): readonly DraftRecommendation[] {
  return keys.flatMap(({ id, name, expires_at, revoked_at, last_used_at }): DraftRecommendation[] => {
    if (expires_at === null || revoked_at !== null) return [];
    if (expires_at <= now || expires_at > now + KEY_MS) return [];
    return [
      {
        kind: 'expiring_key',
        subject: `key/${id}`,
        severity: 'warning',
        message: `your API key \`${name}\` expires on ${timeText(expires_at).slice(0, 10)}; the operator makes another one with \`edgeplan key create\``,
        evidence: {
          key: id,
          name,
          expires_at: timeText(expires_at),
          last_used_at: last_used_at === null ? null : timeText(last_used_at),
        },
        change: null,
      },
    ];
  });
}
