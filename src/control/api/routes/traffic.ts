/** Traffic counts of a domain, reported by nodes: requests, octets, and the matches of each rule. */
import { z } from 'zod';
import { RULE_TYPES } from '../../../base/vocabulary/vocabulary.ts';
import type { RuleHits } from '../../../engine/counts/counts.ts';
import { readTotal } from '../../traffic/read-traffic.ts';
import { ok, operation } from '../operation/route.ts';

/** Milliseconds of a minute, the unit of stored counts. */
const MINUTE_MS = 60_000;
/** Minutes that a request can cover, at most: counts are stored a little longer. */
const MOST_MINUTES = 31 * 24 * 60;
/** Rules in the answer, those with the most matches. */
const MOST_RULES = 1_000;

/** `GET /domains/{domain}/traffic`: sums of what nodes have reported, up to a minute old. */
export const traffic = operation({
  summary: 'Traffic of the last minutes, and which rules matched how often; nodes report once a minute',
  query: z.strictObject({ minutes: z.coerce.number().int().min(1).max(MOST_MINUTES).default(60) }),
  response: z.object({
    minutes: z.int(),
    requests: z.int(),
    octets: z.int(),
    /** The most matched first; dry_run matches count too. */
    rules: z.array(z.object({ type: z.enum(RULE_TYPES), id: z.int(), hits: z.int() })),
  }),
  handle: (call) =>
    call.read(async (tx) => {
      const minutes = call.query['minutes'] as number;
      // The present minute is whole.
      const to = call.now + MINUTE_MS;
      const { sums, hits } = await readTotal(tx, call.domain.id, { from: to - minutes * MINUTE_MS, to });
      const rules = hitsByRule(hits.values()).slice(0, MOST_RULES);
      return ok({ minutes, requests: sums.requests, octets: sums.octets_out, rules });
    }),
});

/** Matches of a rule with all modes and effects. */
type Matched = Pick<RuleHits, 'type' | 'id' | 'hits'>;

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The rules with the most matches first. */
function hitsByRule(hits: Iterable<RuleHits>): readonly Matched[] {
  const rules = new Map<string, Matched>();
  for (const { type, id, hits: matches } of hits) {
    const key = `${type}/${id}`;
    rules.set(key, { type, id, hits: matches + (rules.get(key)?.hits ?? 0) });
  }
  return [...rules.values()].sort((a, b) => b.hits - a.hits || compare(a.type, b.type) || a.id - b.id);
}
