/** Which rules name which lists: written with the rules, searched by domain and name. */
import { type RawBuilder, sql } from 'kysely';
import { RULE_TYPES, type RuleType } from '../../../base/vocabulary/vocabulary.ts';
import {
  idsIn,
  type ListedColumns,
  listed,
  listedRows,
  raw,
  type Session,
  statement,
} from '../database/statement.ts';
import type { ListRow, ListUse } from '../tables/lists.ts';
import type { RuleRow } from '../tables/rules.ts';

const NAMED = { name: 'text', kind: 'text' } as const satisfies ListedColumns;

/** A name that a rule has twice is stored once. */
const fileUses = statement((builder, p: { domain_id: number; rule_id: number; lists: string }, flavour) =>
  raw(
    sql`insert into list_uses (domain_id, name, rule_id, kind)
      select cast(${p.domain_id} as bigint), given.name, cast(${p.rule_id} as bigint), given.kind
      from (${listed(p.lists, NAMED, flavour)}) as given where true on conflict do nothing`,
    builder,
  ),
);

const forgetUses = statement((builder, p: { rule_id: number }) =>
  builder.deleteFrom('list_uses').where('rule_id', '=', p.rule_id),
);

/** Before the rules change: those that nodes run name these lists. */
const saveUses = statement((builder, p: { ids: string }, flavour) =>
  raw(
    sql`insert into published_list_uses (domain_id, name, rule_id, kind)
      select domain_id, name, rule_id, kind from list_uses where rule_id in ${idsIn(p.ids, flavour)}`,
    builder,
  ),
);

/** After the published rules have become the stored ones. */
const restoreUses = statement((builder, p: { domain_id: number }) =>
  raw(
    sql`insert into list_uses (domain_id, name, rule_id, kind)
      select domain_id, name, rule_id, kind from published_list_uses where domain_id = ${p.domain_id}`,
    builder,
  ),
);

/** Replaces what a rule names. */
export async function putUses(
  session: Session,
  { id, domain_id }: Pick<RuleRow, 'id' | 'domain_id'>,
  lists: readonly ListUse[],
): Promise<void> {
  const writes: Promise<unknown>[] = [forgetUses(session, { rule_id: id })];
  if (lists.length > 0) {
    writes.push(fileUses(session, { domain_id, rule_id: id, lists: listedRows(lists, NAMED) }));
  }
  await Promise.all(writes);
}

/** Stores the names of rules beside the draft. `ids`: a JSON array. */
export async function savePublishedUses(session: Session, ids: string): Promise<void> {
  await saveUses(session, { ids });
}

/** Makes the names of published rules those of the stored ones. */
export async function restorePublishedUses(session: Session, domainId: number): Promise<void> {
  await restoreUses(session, { domain_id: domainId });
}

/** Whose rules: those that are stored, or those that nodes run, which differ where a domain has a draft. */
export type RulesOf = 'stored' | 'published';

/**
 * The names in the rules of a domain, each once: a step of the index for each, however many rules name it. The rows of `table`
 * that `left` holds for.
 */
function namesIn(
  table: 'list_uses' | 'published_list_uses',
  domainId: number,
  left: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const next = (above: RawBuilder<unknown>) => sql`(select min(used.name) from ${sql.table(table)} as used
    where used.domain_id = ${domainId} ${above} and ${left})`;
  return sql`with recursive names (name) as (
      select ${next(sql``)} union all
      select ${next(sql`and used.name > names.name`)} from names where names.name is not null
    ) select name from names where name is not null`;
}

const isStored = sql`true`;
/** Rules that a draft changes are published as they are stored beside it. */
const isUnchanged = sql`not exists (select 1 from published_rules where published_rules.rule_id = used.rule_id)`;

/** Any of the rules that name it has the kind: they all ask for that of the list. */
const storedUses = statement((builder, p: { domain_id: number }) =>
  raw<ListUse>(
    sql`select used.name, (select kind from list_uses where domain_id = ${p.domain_id} and name = used.name limit 1) as kind
      from (${namesIn('list_uses', p.domain_id, isStored)}) as used order by used.name`,
    builder,
  ),
);

const publishedUses = statement((builder, p: { domain_id: number }) =>
  raw<ListUse>(
    sql`select used.name, coalesce(
        (select kind from published_list_uses where domain_id = ${p.domain_id} and name = used.name limit 1),
        (select kind from list_uses where domain_id = ${p.domain_id} and name = used.name limit 1)) as kind
      from (select name from (${namesIn('list_uses', p.domain_id, isUnchanged)}) as one
        union select name from (${namesIn('published_list_uses', p.domain_id, isStored)}) as other) as used
      order by used.name`,
    builder,
  ),
);

/** The lists that the rules of a domain name, by name. */
export function usesOf(session: Session, domainId: number, rules: RulesOf): Promise<readonly ListUse[]> {
  const of = { domain_id: domainId };
  return rules === 'stored' ? storedUses(session, of) : publishedUses(session, of);
}

/** A rule that names a list. */
export interface NamingRule extends Pick<RuleRow, 'id' | 'type' | 'domain_id'> {
  readonly domain: string;
}

/** The domains whose rules mean an account's list by its name: those of the account without a list of that name. */
const meanIt = (accountId: number, name: string) => sql`select domains.id, domains.name from domains
  where domains.user_id = ${accountId}
  and not exists (select 1 from lists where lists.domain_id = domains.id and lists.name = ${name})`;

/** Rules that are stored, and those that nodes run. */
const naming = (
  domains: RawBuilder<unknown>,
  name: string,
) => sql`select rules.id, rules.type, means.id as domain_id,
    means.name as domain from (${domains}) as means
    join list_uses on list_uses.domain_id = means.id and list_uses.name = ${name}
    join rules on rules.id = list_uses.rule_id
  union select published_rules.rule_id, published_rules.type, means.id, means.name from (${domains}) as means
    join published_list_uses on published_list_uses.domain_id = means.id and published_list_uses.name = ${name}
    join published_rules on published_rules.rule_id = published_list_uses.rule_id`;

const itself = (domainId: number) => sql`select id, name from domains where id = ${domainId}`;

const namingOfDomain = statement((builder, p: { domain_id: number; name: string; limit: number }) =>
  raw<NamingRule>(sql`${naming(itself(p.domain_id), p.name)} limit ${p.limit}`, builder),
);

const namingOfAccount = statement((builder, p: { account_id: number; name: string; limit: number }) =>
  raw<NamingRule>(sql`${naming(meanIt(p.account_id, p.name), p.name)} limit ${p.limit}`, builder),
);

/**
 * Rules that name a list, of the domain or of all domains of the account for which the name means this list; at most `limit`, by
 * domain, phase and id.
 */
export async function rulesNaming(
  session: Session,
  { account_id, domain_id, name }: Pick<ListRow, 'account_id' | 'domain_id' | 'name'>,
  limit: number,
): Promise<readonly NamingRule[]> {
  const found =
    domain_id === null
      ? await namingOfAccount(session, { account_id: account_id!, name, limit })
      : await namingOfDomain(session, { domain_id, name, limit });
  const phase = (type: RuleType): number => RULE_TYPES.indexOf(type);
  return [...found].sort((a, b) => a.domain_id - b.domain_id || phase(a.type) - phase(b.type) || a.id - b.id);
}

/** A domain that a change of a list reaches. */
export interface ReachedDomain {
  readonly id: number;
  readonly name: string;
}

const reached = (
  domains: RawBuilder<unknown>,
  name: string,
) => sql<ReachedDomain>`select means.id, means.name from (${domains}) as means
  where exists (select 1 from list_uses where domain_id = means.id and list_uses.name = ${name})
    or exists (select 1 from published_list_uses where domain_id = means.id and published_list_uses.name = ${name})
  order by means.id`;

const reachedByDomain = statement((builder, p: { domain_id: number; name: string }) =>
  raw<ReachedDomain>(reached(itself(p.domain_id), p.name), builder),
);

const reachedByAccount = statement((builder, p: { account_id: number; name: string }) =>
  raw<ReachedDomain>(reached(meanIt(p.account_id, p.name), p.name), builder),
);

/** The domains whose rules name the list, by id. */
export function domainsReached(
  session: Session,
  { account_id, domain_id, name }: Pick<ListRow, 'account_id' | 'domain_id' | 'name'>,
): Promise<readonly ReachedDomain[]> {
  return domain_id === null
    ? reachedByAccount(session, { account_id: account_id!, name })
    : reachedByDomain(session, { domain_id, name });
}
