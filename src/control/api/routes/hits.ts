/** Hits of rules: how often each matched, what it did, and what a dry_run rule would have changed. */
import { z } from 'zod';
import { timeText } from '../../../base/text/time.ts';
import { USUAL_RETENTION } from '../../traffic/retention.ts';
import { HITS } from '../../traffic/shapes.ts';
import { MAX_PAGE } from '../operation/limits.ts';
import { nextPage } from '../operation/next-page.ts';
import { queryNumber } from '../operation/query.ts';
import { jsonText, operation } from '../operation/route.ts';
import { type AskedPeriod, PERIOD_QUERY, readPeriod } from '../traffic/period.ts';

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
  async handle({ caller, domain, now, query, services }) {
    const { limit = MAX_PAGE, cursor: from = 0, ...asked } = query as AskedPeriod & Page;
    const retention = services.trafficRetention ?? USUAL_RETENTION;
    const period = readPeriod(asked, { now, retention });
    const series = asked.step !== undefined;
    const job = { kind: 'hits', domainId: domain.id, period, series, limit, from } as const;
    const { text, of, shown } = await services.compute.run(
      { account: caller.account_id, kind: 'hits' },
      async () => job,
    );
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
