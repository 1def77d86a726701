/** `GET /domains/{domain}/draft` and `/draft/diff`: which rules a draft changes, and what it would decide differently. */
import { z } from 'zod';
import { MAX_ID } from '../../../base/vocabulary/limits.ts';
import { MAX_PAGE, USUAL_PAGE } from '../operation/limits.ts';
import { nextPage } from '../operation/next-page.ts';
import { queryNumber } from '../operation/query.ts';
import { badRequest, conflict } from '../operation/refusal.ts';
import { JSON_TYPE, operation } from '../operation/route.ts';
import { DIFF, PROOF_QUERY } from './diff-shape.ts';
import { DRAFT, noDraft, showDraft, taggedDraft } from './representation.ts';

/** `GET /domains/{domain}/draft`: its changes page by page. */
export const show = operation({
  summary:
    'Show the draft of a domain: the rules that it changes, with time and author; `Link` leads to the next page',
  query: z.object({
    limit: queryNumber(1, MAX_PAGE).describe(`changes, at most; without it ${USUAL_PAGE}`),
    cursor: queryNumber(0, MAX_ID).describe('from `Link` of the page before'),
  }),
  response: DRAFT,
  async handle({ domain, query, read }) {
    const { limit = USUAL_PAGE, cursor: after = 0 } = query as { limit?: number; cursor?: number };
    // One more than the page, to see whether there is a next one.
    const whole = await read(async (tx) => {
      const now = (await tx.domains.get(domain.id)) ?? domain;
      return showDraft(tx, now, { after, limit: limit + 1 });
    });
    const changes = whole.changes.slice(0, limit);
    const last = changes.at(-1)?.rule.split('/')[1];
    const path = `/domains/${domain.name}/draft`;
    const link = whole.changes.length > limit ? nextPage({ path, query: { limit, cursor: last } }) : {};
    return {
      body: { ...whole, changes },
      tagged: taggedDraft(domain, whole.edit),
      headers: { 'x-total-count': String(whole.changed), ...link },
    };
  },
});

/** `GET /domains/{domain}/draft/diff`: runs in a compute thread. */
export const compare = operation({
  summary:
    'What a draft would change: rules field by field, and proved outcomes, each with a request that shows it; page by page',
  query: z.object({
    proof: PROOF_QUERY.describe('`false`: compare fields alone'),
    limit: queryNumber(1, MAX_PAGE),
    cursor: z.string().optional().describe('`page.next` of the page before'),
  }),
  response: DIFF.extend({ edit: z.int().describe('the number of the draft that was compared') }),
  statuses: [409],
  async handle({ caller, domain, query, services }) {
    const asked = query as { readonly proof?: string; readonly limit?: number; readonly cursor?: string };
    const { limit = MAX_PAGE, cursor, proof } = asked;
    const start = cursor === undefined ? null : placeOf(cursor);
    if (domain.publish_mode !== 'manual') throw noDraft(domain);
    const page = { limit, from: start?.entries ?? 0 };
    const job = { kind: 'draft_diff', domain, proof: proof !== 'false', page } as const;
    const { edit, text } = await services.compute.run(
      { account: caller.account_id, kind: 'draft_diff' },
      async () => job,
    );
    if (start !== null && start.edit !== edit)
      throw conflict('the draft has changed since the page before; start again without `cursor`');
    return { body: text, type: JSON_TYPE, tagged: taggedDraft(domain, edit) };
  },
});

/** Reads a cursor `<edit>-<entries>`. @throws Refusal 400 */
function placeOf(cursor: string): { readonly edit: number; readonly entries: number } {
  const parts = /^(\d{1,15})-(\d{1,9})$/.exec(cursor);
  if (parts === null) throw badRequest('cursor: must be `page.next` of the page before');
  return { edit: Number(parts[1]), entries: Number(parts[2]) };
}
