/** Traffic counts of a domain, reported by nodes: requests, octets, and the matches of each rule. */
import { z } from 'zod';
import { RULE_TYPES } from '../../base/vocabulary.ts';
import { ok, operation } from '../route.ts';

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
      const to = Math.floor(call.now / MINUTE_MS) + 1;
      const from = to - minutes;
      const { requests, octets } = await tx.usage.sum(call.domain.id, from, to);
      const sums = await tx.hits.sums(call.domain.id, { from, to, limit: MOST_RULES });
      const rules = sums.map(({ type, rule_id, hits }) => ({ type, id: rule_id, hits }));
      return ok({ minutes, requests, octets, rules });
    }),
});
