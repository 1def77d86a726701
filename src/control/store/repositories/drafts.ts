/** Drafts: the differences of stored and published rules, their publication, and their removal. */
import { type RawBuilder, sql } from 'kysely';
import type { RuleType } from '../../../base/vocabulary/vocabulary.ts';
import { lockDomain } from '../database/lock-domain.ts';
import {
  type Flavour,
  idsIn,
  type ListedColumns,
  listed,
  listedRows,
  one,
  raw,
  type Session,
  statement,
} from '../database/statement.ts';
import type {
  DraftChangeKind,
  DraftRow,
  InvariantsRow,
  PublishedRuleRow,
  RuleContentRow,
  RuleCosts,
  RuleRow,
} from '../tables/rules.ts';
import { restorePublishedUses } from './list-uses.ts';
import { addRules, recountPatterns } from './rule-costs.ts';

/** A rule that a draft changes. */
export interface ChangedRule extends Pick<RuleRow, 'id' | 'type'> {
  readonly change: DraftChangeKind;
  /** When it was changed last; `null`: it is deleted. */
  readonly updated_at: number | null;
}

/** A published rule that is stored beside the draft's. */
export type StoredBeside = Pick<RuleRow, 'id' | 'body'>;

/** A part of the rules that a draft changes, by id. */
export interface ChangedRulePage {
  /** Only rules with higher ids. */
  readonly after: number;
  readonly limit: number;
}

const get = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('drafts').selectAll().where('domain_id', '=', p.domain_id),
);

/** What became of a rule that is stored beside the draft; rules that were changed back have none. */
const change = sql<ChangedRule['change'] | null>`case
  when published_rules.body is null then case when rules.id is null then null else 'created' end
  when rules.id is null then 'deleted'
  when published_rules.body <> rules.body
    or coalesce(published_rules.content, '') <> coalesce(rule_contents.content, '') then 'changed'
  when published_rules.priority <> rules.priority then 'reordered' end`;

/** The published rules that are stored beside the draft, with the rules and the HTML of the draft. */
const compared = sql`from published_rules left join rules on rules.id = published_rules.rule_id
  left join rule_contents on rule_contents.rule_id = published_rules.rule_id`;

const count = statement((builder, p: { domain_id: number }) =>
  raw<{ rules: number }>(
    sql`select count(*) as rules ${compared} where published_rules.domain_id = ${p.domain_id} and ${change} is not null`,
    builder,
  ),
);

const changes = statement((builder, p: ChangedRulePage & { domain_id: number }) =>
  raw<ChangedRule>(
    sql`select published_rules.rule_id as id, published_rules.type, ${change} as change, rules.updated_at ${compared}
      where published_rules.domain_id = ${p.domain_id} and published_rules.rule_id > ${p.after}
        and ${change} is not null order by published_rules.rule_id limit ${p.limit}`,
    builder,
  ),
);

/** The order is that of `listAll` of rules. */
const publishedRules = statement((builder, p: { domain_id: number }) =>
  raw<RuleRow>(
    sql`select id, domain_id, type, priority, body, created_at, updated_at from rules
      where domain_id = ${p.domain_id}
        and not exists (select 1 from published_rules where published_rules.rule_id = rules.id)
      union all select rule_id as id, domain_id, type, priority, body, created_at, updated_at from published_rules
      where domain_id = ${p.domain_id} and body is not null
      order by type, priority, id`,
    builder,
  ),
);

const beside = statement((builder, p: { domain_id: number; type: RuleType }) =>
  raw<StoredBeside>(
    sql`select rule_id as id, body from published_rules
      where domain_id = ${p.domain_id} and type = ${p.type} and body is not null
      order by rule_id`,
    builder,
  ),
);

const publishes = statement((builder, p: { domain_id: number; type: RuleType }) =>
  raw<{ found: number }>(
    sql`select 1 as found from rules where domain_id = ${p.domain_id} and type = ${p.type}
        and not exists (select 1 from published_rules where published_rules.rule_id = rules.id)
      union all select 1 as found from published_rules
      where domain_id = ${p.domain_id} and type = ${p.type} and body is not null
      limit 1`,
    builder,
  ),
);

const publishedContents = statement((builder, p: { domain_id: number }) =>
  raw<RuleContentRow>(
    sql`select rule_id, content from rule_contents join rules on rules.id = rule_contents.rule_id
      where domain_id = ${p.domain_id}
        and not exists (select 1 from published_rules where published_rules.rule_id = rules.id)
      union all select rule_id, content from published_rules
      where domain_id = ${p.domain_id} and content is not null
      order by rule_id`,
    builder,
  ),
);

const storedBeside = statement((builder, p: { domain_id: number }) =>
  raw<{ rules: number; octets: number }>(
    sql`select count(*) as rules,
        cast(coalesce(sum(octet_length(body) + coalesce(octet_length(content), 0)), 0) as bigint) as octets
      from published_rules where domain_id = ${p.domain_id} and body is not null`,
    builder,
  ),
);

/** The record ids in the body of a published rule: rows `named` of one column `value`. */
function recordIds({ database }: Flavour): RawBuilder<unknown> {
  return database === 'sqlite'
    ? sql`json_each(published_rules.body, '$.record_ids') as named`
    : sql`lateral json_array_elements_text(published_rules.body::json -> 'record_ids') as named (value)`;
}

/** One of them. */
const recordId = sql`cast(named.value as bigint)`;

const naming = statement((builder, p: { domain_id: number; ids: string }, flavour) =>
  raw<PublishedRuleRow>(
    sql`select * from published_rules where domain_id = ${p.domain_id} and body is not null
      and exists (select 1 from ${recordIds(flavour)} where ${recordId} in ${idsIn(p.ids, flavour)})
      order by rule_id`,
    builder,
  ),
);

const begin = statement((builder, p: { domain_id: number }) =>
  builder
    .insertInto('drafts')
    .values({ domain_id: p.domain_id, edit: 0, since: null })
    .onConflict((conflict) => conflict.column('domain_id').doNothing()),
);

/** `since`: of the first change. */
const addEdit = statement((builder, p: { domain_id: number; at: number }) =>
  builder
    .updateTable('drafts')
    .set((row) => ({
      edit: sql<number>`edit + 1`,
      since: row.fn.coalesce('since', sql<number>`cast(${p.at} as bigint)`),
    }))
    .where('domain_id', '=', p.domain_id)
    .returning('edit'),
);

/** After a publication or a discard there are no changes. */
const close = statement((builder, p: { domain_id: number }) =>
  builder
    .updateTable('drafts')
    .set({ edit: sql<number>`edit + 1`, since: null })
    .where('domain_id', '=', p.domain_id),
);

/** With their patterns (ON DELETE CASCADE). */
const forgetPublished = statement((builder, p: { domain_id: number }) =>
  builder.deleteFrom('published_rules').where('domain_id', '=', p.domain_id),
);

const besideIds = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('published_rules').select('rule_id').where('domain_id', '=', p.domain_id),
);

/** With their patterns, HTML and records (ON DELETE CASCADE). */
const removeChanged = statement((builder, p: { domain_id: number; ids: string }, flavour) =>
  builder.deleteFrom('rules').where('domain_id', '=', p.domain_id).where('id', 'in', idsIn(p.ids, flavour)),
);

/** Ids are never given twice, so those of deleted rules are free. */
const restoreRules = statement((builder, p: { domain_id: number }, { database }) => {
  const given = database === 'sqlite' ? sql`` : sql`overriding system value`;
  return raw(
    sql`insert into rules (id, domain_id, type, priority, body, addresses, created_at, updated_at) ${given}
      select rule_id, domain_id, type, priority, body, addresses, created_at, updated_at from published_rules
      where domain_id = ${p.domain_id} and body is not null`,
    builder,
  );
});

const restoreContents = statement((builder, p: { domain_id: number }) =>
  raw(
    sql`insert into rule_contents (rule_id, content) select rule_id, content from published_rules
      where domain_id = ${p.domain_id} and content is not null`,
    builder,
  ),
);

const restoreRecords = statement((builder, p: { domain_id: number }, flavour) =>
  raw(
    sql`insert into rule_records (rule_id, record_id)
      select distinct published_rules.rule_id, ${recordId} from published_rules cross join ${recordIds(flavour)}
      where domain_id = ${p.domain_id} and body is not null`,
    builder,
  ),
);

const restorePatterns = statement((builder, p: { domain_id: number }) =>
  raw(
    sql`insert into rule_patterns (domain_id, rule_id, digest, octets, build, eighths, prefix, head)
      select published_rules.domain_id, published_rules.rule_id, digest, octets, build, eighths, prefix, head
      from published_patterns join published_rules on published_rules.rule_id = published_patterns.rule_id
      where published_rules.domain_id = ${p.domain_id}`,
    builder,
  ),
);

const RESCOPED = { rule_id: 'bigint', body: 'text' } as const satisfies ListedColumns;

const rescope = statement((builder, p: { domain_id: number; rules: string }, flavour) =>
  raw(
    sql`update published_rules set body = given.body from (${listed(p.rules, RESCOPED, flavour)}) as given
      where published_rules.rule_id = given.rule_id and published_rules.domain_id = ${p.domain_id}`,
    builder,
  ),
);

/** Puts the published rules in the place of those that the draft changed; the statements run in this order. */
async function restore(session: Session, domainId: number): Promise<void> {
  const of = { domain_id: domainId };
  const ids = (await besideIds(session, of)).map(({ rule_id }) => rule_id);
  await Promise.all([
    addRules(session, { domainId, ids, by: -1 }),
    removeChanged(session, { ...of, ids: JSON.stringify(ids) }),
    restoreRules(session, of),
    restoreContents(session, of),
    restoreRecords(session, of),
    restorePatterns(session, of),
    restorePublishedUses(session, domainId),
    addRules(session, { domainId, ids, by: 1 }),
    recountPatterns(session, domainId),
  ]);
}

/** Drafts, and the rules that nodes run. */
export function draftReads(session: Session) {
  return {
    /** `null`: the domain has never published by hand. */
    async get(domainId: number): Promise<DraftRow | null> {
      await lockDomain(session, domainId);
      return one(session, get, { domain_id: domainId });
    },
    /** How many rules differ from the published ones. */
    async count(domainId: number): Promise<number> {
      await lockDomain(session, domainId);
      return (await one(session, count, { domain_id: domainId }))!.rules;
    },
    /** The rules that differ, by id. A rule that was changed back does not. */
    async changes(domainId: number, page: ChangedRulePage): Promise<readonly ChangedRule[]> {
      await lockDomain(session, domainId);
      return changes(session, { ...page, domain_id: domainId });
    },
    /** The published rules of all types by type (as text), priority, id: what a compile reads. */
    async publishedRules(domainId: number): Promise<readonly RuleRow[]> {
      await lockDomain(session, domainId);
      return publishedRules(session, { domain_id: domainId });
    },
    /** Published rules of the type that are stored beside the draft's, by id. The others are published as they are stored. */
    async beside(domainId: number, type: RuleType): Promise<readonly StoredBeside[]> {
      await lockDomain(session, domainId);
      return beside(session, { domain_id: domainId, type });
    },
    /** Whether a rule of the type is published. */
    async publishes(domainId: number, type: RuleType): Promise<boolean> {
      await lockDomain(session, domainId);
      return (await one(session, publishes, { domain_id: domainId, type })) !== null;
    },
    /** The HTML of all published error_page rules, by rule. */
    async publishedContents(domainId: number): Promise<readonly RuleContentRow[]> {
      await lockDomain(session, domainId);
      return publishedContents(session, { domain_id: domainId });
    },
    /** Published rules that are stored beside the draft's, and their octets: what a compile reads besides. */
    async storedBeside(domainId: number): Promise<Pick<RuleCosts, 'rules' | 'octets'>> {
      await lockDomain(session, domainId);
      return (await one(session, storedBeside, { domain_id: domainId }))!;
    },
    /** Published rules, stored beside the draft's, whose `record_ids` include one of these, by id. */
    async naming(domainId: number, ids: readonly number[]): Promise<readonly PublishedRuleRow[]> {
      await lockDomain(session, domainId);
      return naming(session, { domain_id: domainId, ids: JSON.stringify(ids) });
    },
  };
}

/** Changes of drafts. Each access locks the domain in a write. */
export function draftWrites(session: Session) {
  return {
    /** Begins the draft of a domain that publishes by hand from now on; what it has stays. */
    async begin(domainId: number): Promise<void> {
      await lockDomain(session, domainId);
      await begin(session, { domain_id: domainId });
    },
    /** Counts a change of the draft, and returns its new number. */
    async addEdit(domainId: number, at: number): Promise<number> {
      await lockDomain(session, domainId);
      return (await one(session, addEdit, { domain_id: domainId, at }))!.edit;
    },
    /** Makes the stored rules the published ones. */
    async publish(domainId: number): Promise<void> {
      await lockDomain(session, domainId);
      await Promise.all([
        forgetPublished(session, { domain_id: domainId }),
        close(session, { domain_id: domainId }),
      ]);
    },
    /** Makes the published rules the stored ones, with their ids, priorities, times and costs. */
    async discard(domainId: number): Promise<void> {
      await lockDomain(session, domainId);
      await restore(session, domainId);
      await Promise.all([
        forgetPublished(session, { domain_id: domainId }),
        close(session, { domain_id: domainId }),
      ]);
    },
    /** Writes bodies of published rules that are stored beside the draft's. */
    async rescope(domainId: number, changes: readonly Pick<RuleRow, 'id' | 'body'>[]): Promise<void> {
      await lockDomain(session, domainId);
      if (changes.length === 0) return;
      const rows = changes.map(({ id, body }) => ({ rule_id: id, body }));
      await rescope(session, { domain_id: domainId, rules: listedRows(rows, RESCOPED) });
    },
  };
}

// Invariants that a domain requires of its drafts.

const getInvariants = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('domain_invariants').selectAll().where('domain_id', '=', p.domain_id),
);

const putInvariants = statement((builder, p: { domain_id: number; body: string }) =>
  builder
    .insertInto('domain_invariants')
    .values({ domain_id: p.domain_id, edit: 1, body: p.body })
    .onConflict((conflict) =>
      conflict.column('domain_id').doUpdateSet({
        edit: sql<number>`domain_invariants.edit + 1`,
        body: p.body,
      }),
    ),
);

/** What a domain requires of its rules before a draft is published. Each access locks the domain in a write. */
export function invariantReads(session: Session) {
  return {
    /** `null`: it never required anything. */
    async get(domainId: number): Promise<InvariantsRow | null> {
      await lockDomain(session, domainId);
      return one(session, getInvariants, { domain_id: domainId });
    },
  };
}

/** Changes of them. Each access locks the domain in a write. */
export function invariantWrites(session: Session) {
  return {
    /** Replaces the list, whose number rises. `body`: JSON text. */
    async put(domainId: number, body: string): Promise<void> {
      await lockDomain(session, domainId);
      await putInvariants(session, { domain_id: domainId, body });
    },
  };
}
