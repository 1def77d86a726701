/** A draft in the form of the API: what it is based on, and which rules it changes. */
import { z } from 'zod';
import { timeText } from '../../../base/text/time.ts';
import { currentOf } from '../../publishing/current.ts';
import { isRollback } from '../../publishing/republish-content.ts';
import { type ChangedRule, DRAFT_CHANGES } from '../../store/draft-repositories.ts';
import { type DomainRow, type DraftRow, PUBLISH_MODES } from '../../store/rows.ts';
import type { ReadTransaction } from '../../store/store.ts';
import { accountNames } from '../operation/account-names.ts';
import { conflict, type Refusal } from '../operation/refusal.ts';
import { MAX_SEARCHED_ENTRIES } from './limits.ts';

/** A rule that the draft changes. */
const changeShape = z.object({
  rule: z.string().describe('`<type>/<id>`'),
  change: z.enum(DRAFT_CHANGES).describe('`reordered`: its priority alone differs'),
  at: z.iso.datetime().nullable().describe('when it was changed last; `null`: not known any more'),
  account_id: z.int().nullable().describe('who changed it last; `null`: not known any more'),
  account: z.string().nullable(),
});

/** The draft of a domain. */
export const DRAFT = z
  .object({
    publish_mode: z.enum(PUBLISH_MODES).describe('`automatic`: there is no draft, and nothing waits'),
    edit: z
      .int()
      .describe('the number of the draft: it rises with every change, and is in `X-Draft` of each'),
    since: z.iso.datetime().nullable().describe('the first change after the last publication'),
    published_revision: z.int().nullable().describe('what nodes should serve; `null`: nothing is published'),
    rolled_back: z
      .boolean()
      .describe(
        'that revision is a rollback, which the next publication ends; differences are those from the published rules',
      ),
    changed: z.int().describe('rules that differ from the published ones, on all pages'),
    changes: z.array(changeShape).describe('by id of the rule'),
  })
  .meta({ id: 'Draft' });

/**
 * What the entity tag of a draft is made of: the draft alone, so that a publication of a record does not invalidate it. The tag of
 * the answer of a GET and that of the comparison are the same.
 */
export function taggedDraft({ id }: Pick<DomainRow, 'id'>, edit: number): object {
  return { draft_of: id, edit };
}

/** `1 rule`, `3 rules`. */
export function amountOfRules(count: number): string {
  return count === 1 ? '1 rule' : `${count} rules`;
}

/** The refusal where a domain has no draft. */
export function noDraft({ name }: Pick<DomainRow, 'name'>): Refusal {
  return conflict(
    `the domain publishes every change at once and has no draft; PUT /domains/${name}/publishing with ` +
      '`{ "publish_mode": "manual" }` makes it collect them',
  );
}

/** The part of the changes that a request asks for. */
interface ChangesPage {
  readonly after: number;
  readonly limit: number;
}

/** A draft in the form of the API, read in one snapshot. */
export async function showDraft(
  tx: ReadTransaction,
  domain: DomainRow,
  page: ChangesPage,
): Promise<z.infer<typeof DRAFT>> {
  const draft = await tx.drafts.get(domain.id);
  const current = await currentOf(tx, domain);
  const revision = current === null ? null : await tx.plans.get(domain.id, current.revision);
  const isManual = domain.publish_mode === 'manual';
  const changes = isManual ? await tx.drafts.changes(domain.id, page) : [];
  return {
    publish_mode: domain.publish_mode,
    edit: draft?.edit ?? 0,
    since: draft?.since == null ? null : timeText(draft.since),
    published_revision: current?.revision ?? null,
    rolled_back: revision !== null && isRollback(revision),
    changed: isManual ? await tx.drafts.count(domain.id) : 0,
    changes: await showChanges(tx, { domain, draft, changes }),
  };
}

interface Shown {
  readonly domain: DomainRow;
  readonly draft: DraftRow | null;
  readonly changes: readonly ChangedRule[];
}

/** The changes with their authors, by the audit log. */
async function showChanges(
  tx: ReadTransaction,
  { domain, draft, changes }: Shown,
): Promise<z.infer<typeof changeShape>[]> {
  if (changes.length === 0) return [];
  const since = draft?.since ?? 0;
  const entries = await tx.audit.authors(domain.id, { since, limit: MAX_SEARCHED_ENTRIES });
  const authors = new Map<string, (typeof entries)[number]>();
  for (const entry of entries) if (!authors.has(entry.subject)) authors.set(entry.subject, entry);
  const names = await accountNames(tx, [...authors.values()]);
  return changes.map(({ type, id, change, updated_at }) => {
    const rule = `${type}/${id}`;
    // The entry of a reorder names the type.
    const author = authors.get(rule) ?? (change === 'reordered' ? authors.get(type) : undefined);
    const account_id = author?.account_id ?? null;
    const at = updated_at ?? author?.at ?? null;
    return {
      rule,
      change,
      at: at === null ? null : timeText(at),
      account_id,
      account: account_id === null ? null : (names.get(account_id) ?? null),
    };
  });
}
