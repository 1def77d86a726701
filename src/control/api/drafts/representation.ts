/**
 * Drafts and comparisons of rule sets in the form of the API: what a draft is based on, which rules it changes, and
 * fields and outcomes that differ.
 */
import { z } from 'zod';
import { timeText } from '../../../base/text/time.ts';
import { RULE_CHANGES } from '../../../workbench/proofs/diff.ts';
import { isRollback } from '../../publishing/republish.ts';
import { currentOf } from '../../publishing/revisions.ts';
import type { ChangedRule } from '../../store/repositories/drafts.ts';
import type { ReadTransaction } from '../../store/store.ts';
import { type DomainRow, PUBLISH_MODES } from '../../store/tables/domains.ts';
import { DRAFT_CHANGES, type DraftRow } from '../../store/tables/rules.ts';
import { MAX_SEARCHED_ENTRIES } from '../operation/limits.ts';
import { conflict, type Refusal } from '../operation/refusal.ts';
import { accountNames, pageNote, shortenedList } from '../operation/shapes.ts';

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

// The form of a comparison of two rule sets: fields that differ and, with a proof, outcomes that differ.

/** A field that differs, with both values. */
const field = z.object({
  field: z.string(),
  /** Absent where the older, or the newer, side has no such field. */
  was: z.unknown().optional(),
  now: z.unknown().optional(),
});

/** What decides a request, and how. */
const side = z.object({
  /** `<type>/<id>`; `null`: no rule. */
  rule: z.string().nullable(),
  action: z.string(),
  status: z.int().nullable(),
  location: z.string().nullable(),
});

/** Requests that are decided differently. */
const outcome = z.object({
  /** The step in which they differ, such as `end`, `cache` or `origin`. */
  component: z.string(),
  kind: z
    .enum(['outcome', 'other_rule', 'order'])
    .describe(
      '`other_rule`: the outcome is the same, by another rule. `order`: both rules act, and now the one of `after` is the first',
    ),
  before: side,
  after: side,
  request: z
    .record(z.string(), z.unknown())
    .describe('a request that gets the one before and the other after'),
  was: z.string().describe('the outcome before, for people'),
  now: z.string().describe('the outcome after, for people'),
  command: z.string().describe('the request as arguments of `edgeplan simulate`'),
});

/** What the proof of outcomes comes to. */
const proof = z.object({
  equivalent: z.boolean().describe('proved: hosts and rules decide every request alike'),
  complete: z
    .boolean()
    .describe('false: some pairs of rules are proved neither way, so there may be more outcomes'),
  outcomes: z.int().describe('changed outcomes of all pages'),
  open: z.array(
    z.object({ component: z.string(), before: z.string().nullable(), after: z.string().nullable() }),
  ),
});

/** The parameter that turns the proof on or off. */
export const PROOF_QUERY = z.enum(['true', 'false']).optional();

/** The answer, without the fields that name its two sides. */
export const DIFF = z.object({
  same: z.boolean(),
  domain: z.array(field),
  hosts: z.array(
    z.object({ change: z.enum(['added', 'removed', 'changed']), host: z.string(), fields: z.array(field) }),
  ),
  rules: z.array(
    z.object({
      change: z.enum(RULE_CHANGES),
      /** `<type>/<id>`. */
      rule: z.string(),
      /** Its id on the older side, where that is another one. */
      before: z.string().optional(),
      fields: z.array(field),
    }),
  ),
  /** Of two revisions, lists whose content differs: what a plan names by digest; absent: none does. */
  lists: z
    .array(
      z.object({
        name: z.string(),
        /** SHA-256 of the sealed list; `null`: that side does not name it. */
        before: z.string().nullable(),
        after: z.string().nullable(),
      }),
    )
    .optional(),
  /** With a proof only; `null`: one of the sides serves nothing. */
  proof: proof.nullable().optional(),
  /** With a proof only. */
  outcomes: z.array(outcome).optional(),
  /** Changes of all pages. */
  counts: z.object({
    hosts: z.int(),
    added: z.int(),
    removed: z.int(),
    changed: z.int(),
    moved: z.int(),
  }),
  /** Its entries are changes of hosts, then of rules, then of outcomes. */
  page: pageNote.extend({
    /** The `cursor` of the next page; `null` on the last one. */
    next: z.string().nullable(),
  }),
  shortened: shortenedList,
});
