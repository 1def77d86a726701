/** The audit log of a domain: author, time, action, and the object before and after. */
import { z } from 'zod';
import { timeText } from '../../../base/text/time.ts';
import { MAX_PAGE, USUAL_PAGE } from '../operation/limits.ts';
import { queryNumber } from '../operation/read-request.ts';
import { ok, operation } from '../operation/route.ts';
import { accountNames } from '../operation/shapes.ts';

/** An entry in the form of the API; `before` and `after` are the audited fields as JSON values, `null` where absent. */
const ENTRY = z
  .object({
    id: z.int().describe('the id of the entry; later entries have higher ones'),
    at: z.iso.datetime().describe('when it happened'),
    user_id: z.int().nullable().describe('the account that acted; `null`: the service, or its operator'),
    user: z.string().nullable().describe('the name of that account'),
    key_id: z.int().nullable().describe('the API key that was used; `null`: none'),
    action: z.string().describe('what was done, such as `rule.update`'),
    subject: z.string().describe('what it was done to, such as `drop/7`; empty: the domain'),
    before: z.unknown().nullable().describe('the fields before; `null`: there was no object'),
    after: z.unknown().nullable().describe('the fields after; `null`: there is no object any more'),
  })
  .meta({ id: 'AuditEntry' });

/**
 * `GET /domains/{domain}/audit/`: the newest entries first, page by page. Members with `domain.view` see all entries,
 * those of other members included.
 */
export const list = operation({
  summary: 'The audit log of a domain, newest first; `before` an entry id goes on from there',
  query: z.object({
    before: queryNumber(1, Number.MAX_SAFE_INTEGER).describe('only entries with a lower id'),
    limit: queryNumber(1, MAX_PAGE).describe(`entries, at most; without it ${USUAL_PAGE}`),
  }),
  response: z.array(ENTRY),
  async handle({ domain, query, read }) {
    const { before, limit } = query as { readonly before?: number; readonly limit?: number };
    return read(async (tx) => {
      const page = { limit: limit ?? USUAL_PAGE, ...(before === undefined ? {} : { before }) };
      const rows = await tx.audit.list(domain.id, page);
      const names = await accountNames(tx, rows);
      const body = rows.map((row) => ({
        id: row.id,
        at: timeText(row.at),
        user_id: row.account_id,
        user: row.account_id === null ? null : (names.get(row.account_id) ?? null),
        key_id: row.key_id,
        action: row.action,
        subject: row.subject,
        before: row.before_json === null ? null : (JSON.parse(row.before_json) as unknown),
        after: row.after_json === null ? null : (JSON.parse(row.after_json) as unknown),
      }));
      return ok(body);
    });
  },
});
