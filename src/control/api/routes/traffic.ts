/** The traffic of a domain: counts that nodes reported, hits of rules, and analytics, which run in compute threads. */
import { z } from 'zod';
import { timeText } from '../../../base/text/time.ts';
import { RULE_TYPES } from '../../../base/vocabulary/vocabulary.ts';
import {
  DIMENSIONS,
  type Dimension,
  type RuleHits,
  TOP_KINDS,
  type TopKind,
} from '../../../engine/counts/counts.ts';
import { readTotal } from '../../traffic/read-traffic.ts';
import { USUAL_RETENTION } from '../../traffic/retention.ts';
import { HITS, TOP, TRAFFIC } from '../../traffic/shapes.ts';
import { MAX_PAGE, MAX_TOP, USUAL_TOP } from '../operation/limits.ts';
import { nextPage, queryNumber } from '../operation/read-request.ts';
import { jsonText, ok, operation } from '../operation/route.ts';
import { type AskedPeriod, ENDS_QUERY, PERIOD_QUERY, readPeriod } from '../traffic/period.ts';

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

// Analytics of a domain: counts of its traffic by step, and the most frequent values. Both run in compute threads.

/** `GET /domains/{domain}/analytics/`: totals and points. */
export const analytics = operation({
  summary: 'Traffic of a period: totals, a point for each step, and requests divided by one dimension',
  query: z.object({
    ...PERIOD_QUERY,
    by: z
      .enum(DIMENSIONS)
      .optional()
      .describe('divides requests by action, status, cache result, country or bot')
      .meta({ examples: ['action'] }),
  }),
  response: TRAFFIC,
  async handle({ compute, domain, now, query, services }) {
    const { by = null, ...asked } = query as AskedPeriod & { readonly by?: Dimension };
    const retention = services.trafficRetention ?? USUAL_RETENTION;
    const period = readPeriod(asked, { now, retention });
    const job = { kind: 'traffic', domainId: domain.id, period, by } as const;
    return jsonText(await compute('traffic', async () => job));
  },
});

/** `GET /domains/{domain}/analytics/top/`: the most frequent values of one kind. Top lists are stored by hour and day. */
export const top = operation({
  summary:
    'The most frequent paths, addresses, countries, User-Agents, JA4 fingerprints, referrers or unknown operations',
  query: z.object({
    of: z
      .enum(TOP_KINDS)
      .describe('what the list is of')
      .meta({ examples: ['path'] }),
    ...ENDS_QUERY,
    limit: queryNumber(1, MAX_TOP).describe(`values, at most; without it ${USUAL_TOP}`),
  }),
  response: TOP,
  async handle({ compute, domain, now, query, services }) {
    const { limit = USUAL_TOP, ...asked } = query as AskedPeriod & { readonly limit?: number };
    const of = query['of'] as TopKind;
    const retention = services.trafficRetention ?? USUAL_RETENTION;
    const period = readPeriod(asked, { now, retention, steps: ['hour', 'day'] });
    const job = { kind: 'top', domainId: domain.id, period, of, limit } as const;
    return jsonText(await compute('top', async () => job));
  },
});

// Hits of rules: how often each matched, what it did, and what a dry_run rule would have changed.

/** `GET /domains/{domain}/rules/hits/`: runs in a compute thread, page by page. */
export const hits = operation({
  summary:
    'How often every rule matched, in evaluation order, and what dry_run rules would have changed; `Link` leads to the next page',
  query: z.object({
    ...PERIOD_QUERY,
    limit: queryNumber(1, MAX_PAGE).describe(`rules, at most; without it ${MAX_PAGE}`),
    cursor: queryNumber(0, Number.MAX_SAFE_INTEGER).describe('rules before the page, from `Link`'),
  }),
  response: HITS,
  async handle({ compute, domain, now, query, services }) {
    const { limit = MAX_PAGE, cursor: from = 0, ...asked } = query as AskedPeriod & Page;
    const retention = services.trafficRetention ?? USUAL_RETENTION;
    const period = readPeriod(asked, { now, retention });
    const series = asked.step !== undefined;
    const job = { kind: 'hits', domainId: domain.id, period, series, limit, from } as const;
    const { text, of, shown } = await compute('hits', async () => job);
    const next = from + shown;
    const more = {
      // The same period on every page, whatever the time is.
      from: timeText(period.from),
      to: timeText(period.to),
      step: series ? period.step : undefined,
      ...{ limit, cursor: next },
    };
    const path = `/domains/${domain.name}/rules/hits/`;
    const link = next < of ? nextPage({ path, query: more }) : {};
    return jsonText(text, { 'x-total-count': String(of), ...link });
  },
});

/** The part of the list that a request asks for. */
interface Page {
  readonly limit?: number;
  readonly cursor?: number;
}
