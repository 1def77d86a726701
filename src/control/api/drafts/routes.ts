/** The routes of drafts: how a domain publishes its rules, its draft, and what becomes of it. */
import { z } from 'zod';
import { MAX_ID } from '../../../base/vocabulary/limits.ts';
import type { CheckedDraft } from '../../compute/job.ts';
import type { DraftRow } from '../../store/tables/rules.ts';
import { MAX_AUDITED_MOVES, MAX_CHECKS, MAX_PAGE, USUAL_PAGE } from '../operation/limits.ts';
import { nextPage, queryNumber } from '../operation/read-request.ts';
import { badRequest, conflict } from '../operation/refusal.ts';
import {
  type ApiRoute,
  type Call,
  JSON_TYPE,
  ok,
  operation,
  type Response,
  type Writing,
} from '../operation/route.ts';
import * as invariants from './invariants.ts';
import * as publishing from './publishing.ts';
import {
  amountOfRules,
  DIFF,
  DRAFT,
  noDraft,
  PROOF_QUERY,
  showDraft,
  taggedDraft,
} from './representation.ts';

// `GET /domains/{domain}/draft` and `/draft/diff`: which rules a draft changes, and what it would decide differently.

/** `GET /domains/{domain}/draft`: its changes page by page. */
const show = operation({
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
const compare = operation({
  summary:
    'What a draft would change: rules field by field, and proved outcomes, each with a request that shows it; page by page',
  query: z.object({
    proof: PROOF_QUERY.describe('`false`: compare fields alone'),
    limit: queryNumber(1, MAX_PAGE),
    cursor: z.string().optional().describe('`page.next` of the page before'),
  }),
  response: DIFF.extend({ edit: z.int().describe('the number of the draft that was compared') }),
  statuses: [409],
  async handle({ compute, domain, query }) {
    const asked = query as { readonly proof?: string; readonly limit?: number; readonly cursor?: string };
    const { limit = MAX_PAGE, cursor, proof } = asked;
    const start = cursor === undefined ? null : placeOf(cursor);
    if (domain.publish_mode !== 'manual') throw noDraft(domain);
    const page = { limit, from: start?.entries ?? 0 };
    const job = { kind: 'draft_diff', domain, proof: proof !== 'false', page } as const;
    const { edit, text } = await compute('draft_diff', async () => job);
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

// Publishes the draft of a domain, or throws it away. A draft is checked outside the transaction, since that takes a thread
// (`control/compute/draft.ts`: the place for everything that may forbid a publication), and published only if it is the one that was checked.

/** The answer: what was done, with how many rules. */
const doneShape = z.object({ message: z.string(), changed: z.int() });

/** `POST /domains/{domain}/draft/publish`: 412 where `If-Match` names another draft, 409 where a check forbids it. */
const publish = operation({
  summary: 'Publish a draft; with `If-Match`, only the one that was read',
  response: doneShape,
  statuses: [409],
  async handle(call) {
    for (let checks = 0; checks < MAX_CHECKS; checks++) {
      const checked = await check(call);
      const answer = await call.write((w) => publishChecked(w, checked));
      if (answer !== null) return answer;
    }
    throw conflict('the draft has changed while it was checked; read it again, and publish what it is now');
  },
});

/** Checks the draft in a compute thread. A domain that has no draft is refused in the transaction, after its other checks. */
async function check({ compute, domain }: Call<undefined>): Promise<CheckedDraft> {
  if (domain.publish_mode !== 'manual') return { edit: 0, required: 0, problem: null };
  return compute('draft_check', async () => ({ kind: 'draft_check', domain }));
}

/** Publishes the draft if it is the one that was checked; `null`: it is another one. @throws Refusal 409, 412 */
async function publishChecked(w: Writing, checked: CheckedDraft): Promise<Response | null> {
  const { domain, tx } = w;
  const draft = await openDraft(w);
  const required = await tx.invariants.get(domain.id);
  if (draft.edit !== checked.edit || (required?.edit ?? 0) !== checked.required) return null;
  if (checked.problem !== null) throw conflict(checked.problem);
  const changed = await tx.drafts.count(domain.id);
  if (changed === 0) return ok({ message: 'the draft has no changes; nothing was published', changed });
  await w.audit({ action: 'draft.publish', after: await auditedChanges(w, changed) });
  await tx.drafts.publish(domain.id);
  await w.publish(`draft with changes of ${amountOfRules(changed)} published`);
  return ok({ message: `the changes of ${amountOfRules(changed)} are on their way`, changed });
}

/** `DELETE /domains/{domain}/draft`: the rules are again those that are published, with their ids, priorities and times. */
const discard = operation({
  summary: 'Throw a draft away: the rules are again those that are published',
  response: doneShape,
  statuses: [409],
  handle: ({ write }) =>
    write(async (w) => {
      const { domain, tx } = w;
      await openDraft(w);
      const changed = await tx.drafts.count(domain.id);
      if (changed === 0) return ok({ message: 'the draft has no changes', changed });
      await w.audit({ action: 'draft.discard', before: await auditedChanges(w, changed) });
      await tx.drafts.discard(domain.id);
      return ok({ message: `the changes of ${amountOfRules(changed)} were thrown away`, changed });
    }),
});

/** The draft after the comparison with `If-Match`. @throws Refusal 409 where the domain has none, 412 */
async function openDraft(w: Writing): Promise<DraftRow> {
  const { domain, tx } = w;
  const draft = await tx.drafts.get(domain.id);
  w.match(taggedDraft(domain, draft?.edit ?? 0));
  if (domain.publish_mode !== 'manual' || draft === null) throw noDraft(domain);
  return draft;
}

/** The first changes of the draft, as the audit log has them. */
async function auditedChanges({ domain, tx }: Writing, changed: number): Promise<object> {
  const rules = await tx.drafts.changes(domain.id, { after: 0, limit: MAX_AUDITED_MOVES });
  const unlisted = changed > rules.length ? { unlisted: changed - rules.length } : {};
  return { rules: rules.map(({ type, id, change }) => ({ rule: `${type}/${id}`, change })), ...unlisted };
}

// biome-ignore format: a table is read in columns
export const DRAFT_ROUTES: readonly ApiRoute[] = [
  { method: 'GET', path: '/domains/{domain}/publishing', permission: 'domain.view', ...publishing.read },
  { method: 'PUT', path: '/domains/{domain}/publishing', permission: 'domain.settings', ...publishing.change },
  { method: 'GET', path: '/domains/{domain}/draft', permission: 'domain.view', ...show },
  { method: 'DELETE', path: '/domains/{domain}/draft', permission: 'rules.edit', ...discard },
  { method: 'GET', path: '/domains/{domain}/draft/diff', permission: 'domain.view', ...compare },
  { method: 'POST', path: '/domains/{domain}/draft/publish', permission: 'rules.edit', ...publish },
  { method: 'GET', path: '/domains/{domain}/invariants', permission: 'domain.view', ...invariants.read },
  { method: 'PUT', path: '/domains/{domain}/invariants', permission: 'domain.settings', ...invariants.change },
  { method: 'GET', path: '/domains/{domain}/invariants/proof', permission: 'domain.view', ...invariants.prove },
];
