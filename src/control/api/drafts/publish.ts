/**
 * Publishes the draft of a domain, or throws it away. A draft is checked outside the transaction, since that takes a thread
 * (`control/compute/draft.ts`: the place for everything that may forbid a publication), and published only if it is the one that was checked.
 */
import { z } from 'zod';
import type { CheckedDraft } from '../../compute/job.ts';
import type { DraftRow } from '../../store/rows.ts';
import { MAX_AUDITED_MOVES } from '../operation/limits.ts';
import { conflict } from '../operation/refusal.ts';
import { type Call, ok, operation, type Response, type Writing } from '../operation/route.ts';
import { MAX_CHECKS } from './limits.ts';
import { amountOfRules, noDraft, taggedDraft } from './representation.ts';

/** The answer: what was done, with how many rules. */
const doneShape = z.object({ message: z.string(), changed: z.int() });

/** `POST /domains/{domain}/draft/publish`: 412 where `If-Match` names another draft, 409 where a check forbids it. */
export const publish = operation({
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
async function check({ caller, domain, services }: Call<undefined>): Promise<CheckedDraft> {
  if (domain.publish_mode !== 'manual') return { edit: 0, required: 0, problem: null };
  return services.compute.run({ account: caller.account_id, kind: 'draft_check' }, async () => ({
    kind: 'draft_check',
    domain,
  }));
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
export const discard = operation({
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
