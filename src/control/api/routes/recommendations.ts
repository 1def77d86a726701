/** Recommendations for a domain: what its stored facts say should change, with the change. */
import { z } from 'zod';
import type { Entitlements } from '../../accounts/entitlements.ts';
import { MAX_RECOMMENDATIONS } from '../../recommendations/limits.ts';
import { type ReadEntries, readEntries } from '../../recommendations/read-facts.ts';
import { RECOMMENDATION } from '../../recommendations/shapes.ts';
import { nextPage, queryNumber } from '../operation/read-request.ts';
import { type Call, jsonText, operation } from '../operation/route.ts';

/** `GET /domains/{domain}/recommendations/`: runs in a compute thread, page by page. */
export const recommendations = operation({
  summary:
    'What should be changed, with evidence and the change, the most severe first; `Link` leads to the next page, and `X-Left-Out` names what was not read: `counts`, `logs`',
  query: z.object({
    limit: queryNumber(1, MAX_RECOMMENDATIONS).describe(
      `recommendations, at most; without it ${MAX_RECOMMENDATIONS}`,
    ),
    cursor: queryNumber(0, Number.MAX_SAFE_INTEGER).describe('recommendations before the page, from `Link`'),
  }),
  response: z.array(RECOMMENDATION),
  async handle(call) {
    const { caller, domain, now } = call;
    const { limit = MAX_RECOMMENDATIONS, cursor: from = 0 } = call.query as Page;
    const entitlements = await call.entitlements();
    const counts = entitlements.monitoring_enabled;
    const leftOut = counts ? [] : ['counts=monitoring_enabled'];
    const page = await call.compute('recommend', async () => {
      const entries = await entriesFor(call, entitlements);
      if (entries === null) leftOut.push(`logs=${entitlements.logs_enabled ? 'not_stored' : 'logs_enabled'}`);
      const account = caller.account_id;
      return { kind: 'recommend', domain, account, now, counts, entries, limit, from } as const;
    });
    const next = from + page.shown;
    const path = `/domains/${domain.name}/recommendations/`;
    return jsonText(page.text, {
      'x-total-count': String(page.of),
      ...(next < page.of ? nextPage({ path, query: { limit, cursor: next } }) : {}),
      ...(leftOut.length === 0 ? {} : { 'x-left-out': leftOut.join(', ') }),
    });
  },
});

/** The part of the list that a request asks for. */
interface Page {
  readonly limit?: number;
  readonly cursor?: number;
}

/** Lines of log entries; `null`: the subscription does not include them, or the server stores none. */
async function entriesFor(
  { services, domain, caller, latest }: Call<unknown>,
  { logs_enabled }: Entitlements,
): Promise<ReadEntries | null> {
  const { logs, clock } = services;
  if (!logs_enabled || logs === undefined) return null;
  return readEntries({ logs, tx: latest, domain, account: caller.account_id, clock });
}
