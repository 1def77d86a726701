/** Analytics of a domain: counts of its traffic by step, and the most frequent values. Both run in compute threads. */
import { z } from 'zod';
import { DIMENSIONS, type Dimension, TOP_KINDS, type TopKind } from '../../../engine/counts/counts.ts';
import { USUAL_RETENTION } from '../../traffic/retention.ts';
import { TOP, TRAFFIC } from '../../traffic/shapes.ts';
import { MAX_TOP, USUAL_TOP } from '../operation/limits.ts';
import { queryNumber } from '../operation/query.ts';
import { jsonText, operation } from '../operation/route.ts';
import { type AskedPeriod, ENDS_QUERY, PERIOD_QUERY, readPeriod } from '../traffic/period.ts';

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
  async handle({ caller, domain, now, query, services }) {
    const { by = null, ...asked } = query as AskedPeriod & { readonly by?: Dimension };
    const retention = services.trafficRetention ?? USUAL_RETENTION;
    const period = readPeriod(asked, { now, retention });
    const job = { kind: 'traffic', domainId: domain.id, period, by } as const;
    return jsonText(
      await services.compute.run({ account: caller.account_id, kind: 'traffic' }, async () => job),
    );
  },
});

/** `GET /domains/{domain}/analytics/top/`: the most frequent values of one kind. Top lists are stored by hour and day. */
export const top = operation({
  summary: 'The most frequent paths, addresses, countries, User-Agents, JA4 fingerprints or referrers',
  query: z.object({
    of: z
      .enum(TOP_KINDS)
      .describe('what the list is of')
      .meta({ examples: ['path'] }),
    ...ENDS_QUERY,
    limit: queryNumber(1, MAX_TOP).describe(`values, at most; without it ${USUAL_TOP}`),
  }),
  response: TOP,
  async handle({ caller, domain, now, query, services }) {
    const { limit = USUAL_TOP, ...asked } = query as AskedPeriod & { readonly limit?: number };
    const of = query['of'] as TopKind;
    const retention = services.trafficRetention ?? USUAL_RETENTION;
    const period = readPeriod(asked, { now, retention, steps: ['hour', 'day'] });
    const job = { kind: 'top', domainId: domain.id, period, of, limit } as const;
    return jsonText(await services.compute.run({ account: caller.account_id, kind: 'top' }, async () => job));
  },
});
