/** Rules: one table for all types; the HTML of error pages and the record ids that rules name have tables of their own. */
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
import type { ListUse } from '../tables/lists.ts';
import type { PatternRow, RuleContentRow, RuleCosts, RuleRow } from '../tables/rules.ts';
import { putUses } from './list-uses.ts';
import { forgetCreated, saveCreated, savePublished } from './published-rules.ts';
import {
  addRules,
  countPatterns,
  dropPatterns,
  filedPatterns,
  type PatternCosts,
  patternCosts,
  patternsNear,
  putPatterns,
  type RuleKey,
  totalsOf,
} from './rule-costs.ts';
import { pageOfRules, RULE_COLUMNS, type RulePage } from './rules-page.ts';

/** A rule to write. */
export interface RuleWrite {
  readonly priority: number;
  readonly body: string;
  /** The `record_ids` inside `body`, so that `naming` finds the rule. */
  readonly record_ids: readonly number[];
  /** Of an error_page: all its HTML as JSON, `null` for none; omitted leaves it unchanged. */
  readonly content?: string | null;
  /**
   * What the rule adds to its domain's budgets, besides its octets. Omitted: nothing in an insert, unchanged in an update.
   */
  readonly costs?: { readonly addresses: number; readonly patterns: readonly PatternRow[] };
  /** The lists that `body` names. Omitted: none in an insert, unchanged in an update. */
  readonly lists?: readonly ListUse[];
}

/** A rule to insert. */
export type NewRule = RuleWrite & Pick<RuleRow, 'domain_id' | 'type' | 'created_at' | 'updated_at'>;

/** By domain and type too: an id alone may be of another customer's rule. */
const get = statement((builder, p: RuleKey) =>
  builder
    .selectFrom('rules')
    .select(RULE_COLUMNS)
    .where('id', '=', p.id)
    .where('domain_id', '=', p.domain_id)
    .where('type', '=', p.type),
);

const list = statement((builder, p: { domain_id: number; type: RuleType }) =>
  builder
    .selectFrom('rules')
    .select(RULE_COLUMNS)
    .where('domain_id', '=', p.domain_id)
    .where('type', '=', p.type)
    .orderBy('priority')
    .orderBy('id'),
);

/** The order of types is that of their text; the compiler orders by phase. */
const listAll = statement((builder, p: { domain_id: number }) =>
  builder
    .selectFrom('rules')
    .select(RULE_COLUMNS)
    .where('domain_id', '=', p.domain_id)
    .orderBy('type')
    .orderBy('priority')
    .orderBy('id'),
);

/** Ids and priorities alone, from the index: no body is read. */
const order = statement((builder, p: { domain_id: number; type: RuleType }) =>
  builder
    .selectFrom('rules')
    .select(['id', 'priority'])
    .where('domain_id', '=', p.domain_id)
    .where('type', '=', p.type)
    .orderBy('priority')
    .orderBy('id'),
);

const content = statement((builder, p: { id: number }) =>
  builder.selectFrom('rule_contents').select('content').where('rule_id', '=', p.id),
);

const contents = statement((builder, p: { domain_id: number }) =>
  builder
    .selectFrom('rule_contents')
    .innerJoin('rules', 'rules.id', 'rule_contents.rule_id')
    .selectAll('rule_contents')
    .where('rules.domain_id', '=', p.domain_id)
    .orderBy('rule_id'),
);

/** Through `rule_records`: bodies are JSON, which no index covers. */
const naming = statement((builder, p: { domain_id: number; ids: string }, flavour) =>
  builder
    .selectFrom('rules')
    .select(RULE_COLUMNS)
    .where('domain_id', '=', p.domain_id)
    .where('id', 'in', (row) =>
      row.selectFrom('rule_records').select('rule_id').where('record_id', 'in', idsIn(p.ids, flavour)),
    )
    .orderBy('id'),
);

const insert = statement((builder, p: Omit<RuleRow, 'id'> & { addresses: number }) =>
  builder
    .insertInto('rules')
    .values({
      domain_id: p.domain_id,
      type: p.type,
      priority: p.priority,
      body: p.body,
      addresses: p.addresses,
      created_at: p.created_at,
      updated_at: p.updated_at,
    })
    .returning('id'),
);

/** `addresses` `null`: unchanged. */
type Update = RuleKey & Pick<RuleRow, 'priority' | 'body' | 'updated_at'> & { addresses: number | null };

const update = statement((builder, p: Update) =>
  builder
    .updateTable('rules')
    .set({
      priority: p.priority,
      body: p.body,
      addresses: sql<number>`coalesce(cast(${p.addresses} as bigint), rules.addresses)`,
      updated_at: p.updated_at,
    })
    .where('id', '=', p.id)
    .where('domain_id', '=', p.domain_id)
    .where('type', '=', p.type)
    .returning(RULE_COLUMNS),
);

// PERF: the plus stops SQLite from using the index over the domain, with which every rule of the domain was compared with
// every one of the list.
const prioritise = statement((builder, p: { domain_id: number; order: string; at: number }, flavour) => {
  const order =
    flavour.database === 'sqlite'
      ? sql`select value ->> 'id' as id, value ->> 'priority' as priority from json_each(${p.order})`
      : sql`select id, priority from json_to_recordset(${p.order}::json) as listed(id bigint, priority bigint)`;
  return raw(
    sql`update rules set priority = wanted.priority, updated_at = ${p.at}
      from (${order}) as wanted where rules.id = wanted.id and ${ofDomain(p.domain_id, flavour)}`,
    builder,
  );
});

const RESCOPED = { id: 'bigint', body: 'text' } as const satisfies ListedColumns;

/** The bodies with their new `record_ids`, all in one statement; `rule_records` is written apart. */
const rescope = statement((builder, p: { domain_id: number; rules: string; at: number }, flavour) =>
  raw(
    sql`update rules set body = given.body, updated_at = ${p.at}
      from (${listed(p.rules, RESCOPED, flavour)}) as given
      where rules.id = given.id and ${ofDomain(p.domain_id, flavour)}`,
    builder,
  ),
);

/** The condition on the domain; see the PERF note above for the plus. */
function ofDomain(domainId: number, { database }: Flavour): RawBuilder<unknown> {
  return database === 'sqlite' ? sql`+rules.domain_id = ${domainId}` : sql`rules.domain_id = ${domainId}`;
}

const remove = statement((builder, p: RuleKey) =>
  builder
    .deleteFrom('rules')
    .where('id', '=', p.id)
    .where('domain_id', '=', p.domain_id)
    .where('type', '=', p.type)
    .returning('id'),
);

/** Removes what the rule names, if it is of that domain and type. */
const forgetRecords = statement((builder, p: RuleKey) =>
  builder
    .deleteFrom('rule_records')
    .where('rule_id', 'in', (row) =>
      row
        .selectFrom('rules')
        .select('id')
        .where('id', '=', p.id)
        .where('domain_id', '=', p.domain_id)
        .where('type', '=', p.type),
    ),
);

/** Ids come as one JSON array; an id that is listed twice is stored once. */
const fileRecords = statement((builder, p: { rule_id: number; ids: string }, { database }) => {
  const each =
    database === 'sqlite'
      ? sql`select cast(${p.rule_id} as integer), value from json_each(${p.ids}) where true`
      : sql`select ${p.rule_id}::bigint, value::bigint from json_array_elements_text(${p.ids}::json)`;
  return raw(sql`insert into rule_records (rule_id, record_id) ${each} on conflict do nothing`, builder);
});

/** Removes what these rules of the domain name. */
const forgetAllRecords = statement((builder, p: { domain_id: number; ids: string }, flavour) =>
  builder
    .deleteFrom('rule_records')
    .where('rule_id', 'in', (row) =>
      row
        .selectFrom('rules')
        .select('id')
        .where('domain_id', '=', p.domain_id)
        .where('id', 'in', idsIn(p.ids, flavour)),
    ),
);

const NAMED = { rule_id: 'bigint', record_id: 'bigint' } as const satisfies ListedColumns;

/** The join skips rules of other domains. */
const fileAllRecords = statement((builder, p: { domain_id: number; named: string }, flavour) =>
  raw(
    sql`insert into rule_records (rule_id, record_id)
      select given.rule_id, given.record_id from (${listed(p.named, NAMED, flavour)}) as given
      join rules on rules.id = given.rule_id where rules.domain_id = ${p.domain_id} on conflict do nothing`,
    builder,
  ),
);

const putContent = statement((builder, p: RuleContentRow) =>
  builder
    .insertInto('rule_contents')
    .values({ rule_id: p.rule_id, content: p.content })
    .onConflict((conflict) =>
      conflict.column('rule_id').doUpdateSet((row) => ({ content: row.ref('excluded.content') })),
    ),
);

const removeContent = statement((builder, p: { rule_id: number }) =>
  builder.deleteFrom('rule_contents').where('rule_id', '=', p.rule_id),
);

/** Rules of a domain, and the totals that its budgets are checked with. */
export function ruleReads(session: Session) {
  return {
    /** The rule of that domain and type, else `null`. */
    async get(key: RuleKey): Promise<RuleRow | null> {
      await lockDomain(session, key.domain_id);
      return one(session, get, key);
    },
    /** Rules of one type by priority, then id. */
    async list(domainId: number, type: RuleType): Promise<readonly RuleRow[]> {
      await lockDomain(session, domainId);
      return list(session, { domain_id: domainId, type });
    },
    async page(domainId: number, asked: RulePage): Promise<readonly RuleRow[]> {
      await lockDomain(session, domainId);
      return pageOfRules(session, { ...asked, domain_id: domainId });
    },
    /** Rules of all types by type (as text), priority, id: what a compile reads. */
    async listAll(domainId: number): Promise<readonly RuleRow[]> {
      await lockDomain(session, domainId);
      return listAll(session, { domain_id: domainId });
    },
    /** Ids and priorities of the rules of one type by priority, then id. */
    async order(domainId: number, type: RuleType): Promise<readonly Pick<RuleRow, 'id' | 'priority'>[]> {
      await lockDomain(session, domainId);
      return order(session, { domain_id: domainId, type });
    },
    /** The totals of each type that has rules, by type. Updated with every write, so no rule is read. */
    async totals(domainId: number): Promise<readonly RuleCosts[]> {
      await lockDomain(session, domainId);
      return totalsOf(session, domainId);
    },
    async count(domainId: number, type: RuleType): Promise<number> {
      await lockDomain(session, domainId);
      return (await totalsOf(session, domainId)).find((row) => row.type === type)?.rules ?? 0;
    },
    /** What the patterns of all rules but `without` (0: of all rules) cost together. */
    async patternCosts(domainId: number, { without }: { readonly without: number }): Promise<PatternCosts> {
      await lockDomain(session, domainId);
      return patternCosts(session, domainId, without);
    },
    /** Those of `digests` that are patterns of rules other than `without`. */
    async filedPatterns(
      domainId: number,
      question: { readonly digests: readonly string[]; readonly without: number },
    ): Promise<ReadonlySet<string>> {
      await lockDomain(session, domainId);
      return filedPatterns(session, domainId, question);
    },
    /**
     * Patterns of rules other than `without` of whose prefix and one of `prefixes` one begins with the other, each once.
     * The result may include others that share 64 code units with one of `prefixes`.
     */
    async patternsNear(
      domainId: number,
      question: { readonly prefixes: readonly string[]; readonly without: number },
    ): Promise<readonly Pick<PatternRow, 'digest' | 'eighths' | 'prefix'>[]> {
      await lockDomain(session, domainId);
      return patternsNear(session, domainId, question);
    },
    /** The HTML of one error_page rule; `null` when it has none. */
    async content(ruleId: number): Promise<string | null> {
      return (await one(session, content, { id: ruleId }))?.content ?? null;
    },
    /** The HTML of all error_page rules of a domain, by rule. */
    async contents(domainId: number): Promise<readonly RuleContentRow[]> {
      await lockDomain(session, domainId);
      return contents(session, { domain_id: domainId });
    },
    /** Rules of any type whose `record_ids` include one of these, by id. */
    async naming(domainId: number, recordIds: readonly number[]): Promise<readonly RuleRow[]> {
      await lockDomain(session, domainId);
      return naming(session, { domain_id: domainId, ids: JSON.stringify(recordIds) });
    },
  };
}

/** Changes of rules. Each updates the totals of the domain by what its own rules cost. Each access locks the domain in a write. */
export function ruleWrites(session: Session) {
  return {
    async insert(rule: NewRule): Promise<RuleRow> {
      await lockDomain(session, rule.domain_id);
      const row = rowOf(rule);
      const [given] = await insert(session, { ...row, addresses: rule.costs?.addresses ?? 0 });
      const inserted = { ...row, id: given!.id };
      await fileBeside(session, inserted.id, rule);
      const patterns = rule.costs?.patterns ?? [];
      if (patterns.length > 0) await putPatterns(session, inserted, patterns);
      if (rule.lists !== undefined && rule.lists.length > 0) await putUses(session, inserted, rule.lists);
      await addRules(session, { domainId: rule.domain_id, ids: [inserted.id], by: 1 });
      await saveCreated(session, inserted);
      return inserted;
    },
    /** Replaces priority, body, record ids, and the content if given. `null` when it is gone. */
    async update(key: RuleKey, change: RuleWrite & { readonly updated_at: number }): Promise<RuleRow | null> {
      await lockDomain(session, key.domain_id);
      const { id, domain_id, type } = key;
      const { priority, body, updated_at, costs, lists } = change;
      const addresses = costs?.addresses ?? null;
      const totals = { domainId: domain_id, ids: [id] };
      await savePublished(session, domain_id, [id]);
      const [, row] = await Promise.all([
        addRules(session, { ...totals, by: -1 }),
        one(session, update, { id, domain_id, type, priority, body, updated_at, addresses }),
        forgetRecords(session, { id, domain_id, type }),
      ]);
      if (row !== null) await fileBeside(session, id, change);
      if (row !== null && costs !== undefined) await putPatterns(session, row, costs.patterns);
      if (row !== null && lists !== undefined) await putUses(session, row, lists);
      await addRules(session, { ...totals, by: 1 });
      return row;
    },
    /** Writes bodies with the `record_ids` inside them, of many rules of a domain at once. */
    async rescope(
      domainId: number,
      changes: readonly (Pick<RuleRow, 'id' | 'body'> & Pick<RuleWrite, 'record_ids'>)[],
      updatedAt: number,
    ): Promise<void> {
      await lockDomain(session, domainId);
      if (changes.length === 0) return;
      const changed = changes.map(({ id }) => id);
      const ids = JSON.stringify(changed);
      const named = changes.flatMap(({ id, record_ids }) =>
        record_ids.map((recordId) => ({ rule_id: id, record_id: recordId })),
      );
      await Promise.all([
        addRules(session, { domainId, ids: changed, by: -1 }),
        rescope(session, { domain_id: domainId, rules: listedRows(changes, RESCOPED), at: updatedAt }),
        forgetAllRecords(session, { domain_id: domainId, ids }),
        fileAllRecords(session, { domain_id: domainId, named: listedRows(named, NAMED) }),
        addRules(session, { domainId, ids: changed, by: 1 }),
      ]);
    },
    /** Stores the patterns of rules that an earlier version wrote without them, by rule, and counts the domain's. */
    async countPatterns(domainId: number, rules: ReadonlyMap<number, readonly PatternRow[]>): Promise<void> {
      await lockDomain(session, domainId);
      await countPatterns(session, domainId, rules);
    },
    /** Writes priorities alone, of many rules at once. */
    async prioritise(
      domainId: number,
      order: readonly Pick<RuleRow, 'id' | 'priority'>[],
      updatedAt: number,
    ): Promise<void> {
      await lockDomain(session, domainId);
      const wanted = order.map(({ id, priority }) => ({ id, priority }));
      const ids = wanted.map(({ id }) => id);
      await savePublished(session, domainId, ids);
      await prioritise(session, { domain_id: domainId, order: JSON.stringify(wanted), at: updatedAt });
    },
    async remove(key: RuleKey): Promise<boolean> {
      await lockDomain(session, key.domain_id);
      const totals = { domainId: key.domain_id, ids: [key.id] };
      if ((await one(session, get, key)) === null) return false;
      await savePublished(session, key.domain_id, [key.id]);
      await Promise.all([
        addRules(session, { ...totals, by: -1 }),
        dropPatterns(session, key.id),
        remove(session, key),
      ]);
      await forgetCreated(session, key.domain_id, key.id);
      return true;
    },
  };
}

/** The row of a new rule, without the parts that have tables of their own. */
function rowOf(rule: NewRule): Omit<RuleRow, 'id'> {
  return {
    domain_id: rule.domain_id,
    type: rule.type,
    priority: rule.priority,
    body: rule.body,
    created_at: rule.created_at,
    updated_at: rule.updated_at,
  };
}

/** Writes the parts of a rule that have tables of their own. */
async function fileBeside(session: Session, ruleId: number, rule: RuleWrite): Promise<void> {
  const writes: Promise<unknown>[] = [];
  if (rule.record_ids.length > 0) {
    writes.push(fileRecords(session, { rule_id: ruleId, ids: JSON.stringify(rule.record_ids) }));
  }
  if (rule.content === null) writes.push(removeContent(session, { rule_id: ruleId }));
  else if (rule.content !== undefined) {
    writes.push(putContent(session, { rule_id: ruleId, content: rule.content }));
  }
  await Promise.all(writes);
}
