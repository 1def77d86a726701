/**
 * Named lists: their rows, entries, sealed forms, and the rules that name them. A name in a rule means the list of its domain, else
 * that of the account that owns the domain.
 */
import { sql } from 'kysely';
import type { ListEntry } from '../../../rules/model/lists.ts';
import { lockDomain, lockDomains } from '../database/lock-domain.ts';
import {
  int,
  type ListedColumns,
  listed,
  listedRows,
  one,
  raw,
  type Session,
  statement,
  textsIn,
} from '../database/statement.ts';
import type { ListEntryRow, ListRow, ListUse } from '../tables/lists.ts';
import { putListBlob } from './list-blobs.ts';
import {
  addEntries,
  type EntriesOf,
  type EntryPage,
  type EntryTotals,
  entryOf,
  type PackedEntries,
  pageOfEntries,
  removeEntries,
  replaceEntries,
} from './list-entries.ts';
import {
  domainsReached,
  type NamingRule,
  type ReachedDomain,
  type RulesOf,
  rulesNaming,
  usesOf,
  usesWithout,
} from './list-uses.ts';

/** Who has lists: a domain, or an account for all of its domains. The other is `null`. */
export type ListOwner = Pick<ListRow, 'account_id' | 'domain_id'>;

/** A list to insert; it has no entries. */
export type NewList = Pick<ListRow, 'account_id' | 'domain_id' | 'name' | 'kind' | 'created_at'>;

/** A sealed list to store. */
export interface SealedForm {
  /** The version of the list that was sealed. */
  readonly version: number;
  readonly digest: string;
  readonly bytes: Uint8Array;
  readonly at: number;
}

const byDomain = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('lists').selectAll().where('domain_id', '=', p.domain_id).orderBy('name'),
);

const byAccount = statement((builder, p: { account_id: number }) =>
  builder.selectFrom('lists').selectAll().where('account_id', '=', p.account_id).orderBy('name'),
);

const ofDomain = statement((builder, p: { domain_id: number; name: string }) =>
  builder.selectFrom('lists').selectAll().where('domain_id', '=', p.domain_id).where('name', '=', p.name),
);

const ofAccount = statement((builder, p: { account_id: number; name: string }) =>
  builder.selectFrom('lists').selectAll().where('account_id', '=', p.account_id).where('name', '=', p.name),
);

const byId = statement((builder, p: { id: number }) =>
  builder.selectFrom('lists').selectAll().where('id', '=', p.id),
);

const kinds = statement((builder, p: { domain_id: number }) =>
  builder
    .selectFrom('lists')
    .select(['name', 'kind', 'domain_id'])
    .where(({ eb, or, selectFrom }) =>
      or([
        eb('domain_id', '=', p.domain_id),
        eb('account_id', '=', selectFrom('domains').select('user_id').where('id', '=', p.domain_id)),
      ]),
    )
    .orderBy('name'),
);

/** Lists of the names that an account or a domain has; of an account they are locked, so that they are there at the commit. */
const namedOfDomain = statement((builder, p: { domain_id: number; names: string }, flavour) =>
  builder
    .selectFrom('lists')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .where('name', 'in', textsIn(p.names, flavour)),
);

const namedOfAccount = statement((builder, p: { domain_id: number; names: string }, flavour) =>
  builder
    .selectFrom('lists')
    .selectAll()
    .where('account_id', '=', (row) =>
      row.selectFrom('domains').select('user_id').where('id', '=', p.domain_id),
    )
    .where('name', 'in', textsIn(p.names, flavour))
    .orderBy('id')
    .$if(flavour.locking, (query) => query.forShare()),
);

const insert = statement((builder, p: NewList) =>
  builder
    .insertInto('lists')
    .values({
      account_id: p.account_id,
      domain_id: p.domain_id,
      name: p.name,
      kind: p.kind,
      entries: int(0),
      scanned: int(0),
      octets: int(0),
      version: int(1),
      digest: null,
      sealed_version: null,
      feed: null,
      feed_state: null,
      created_at: p.created_at,
      updated_at: p.created_at,
    })
    .returningAll(),
);

/** With its entries (ON DELETE CASCADE). */
const remove = statement((builder, p: { id: number }) =>
  builder.deleteFrom('lists').where('id', '=', p.id).returning('id'),
);

/** Locks the list, too. */
const raise = statement((builder, p: { id: number; at: number }) =>
  builder
    .updateTable('lists')
    .set((row) => ({ version: row('version', '+', int(1)), updated_at: p.at }))
    .where('id', '=', p.id)
    .returning(['id', 'kind']),
);

const setTotals = statement((builder, p: EntryTotals & { id: number }) =>
  builder
    .updateTable('lists')
    .set({ entries: p.entries, scanned: p.scanned, octets: p.octets })
    .where('id', '=', p.id)
    .returningAll(),
);

const addTotals = statement((builder, p: EntryTotals & { id: number }) =>
  builder
    .updateTable('lists')
    .set((row) => ({
      entries: row('entries', '+', int(p.entries)),
      scanned: row('scanned', '+', int(p.scanned)),
      octets: row('octets', '+', int(p.octets)),
    }))
    .where('id', '=', p.id)
    .returningAll(),
);

const blob = statement((builder, p: { digest: string }) =>
  builder.selectFrom('list_blobs').select('bytes').where('digest', '=', p.digest),
);

const markSealed = statement((builder, p: { id: number; version: number; digest: string }) =>
  builder
    .updateTable('lists')
    .set({ digest: p.digest, sealed_version: p.version })
    .where('id', '=', p.id)
    .where('version', '=', p.version)
    .returning('id'),
);

const filePlan = statement((builder, p: { plan: string; lists: string }, flavour) =>
  raw(
    sql`insert into plan_lists (plan_digest, list_digest)
      select cast(${p.plan} as text), list_digest from (${listed(p.lists, FILED, flavour)}) as given
      where true on conflict do nothing`,
    builder,
  ),
);

const FILED = { list_digest: 'text' } as const satisfies ListedColumns;

const ofPlan = statement((builder, p: { plan: string }) =>
  builder
    .selectFrom('plan_lists')
    .select('list_digest')
    .where('plan_digest', '=', p.plan)
    .orderBy('list_digest'),
);

const prune = statement((builder, p: { before: number; limit: number }) =>
  raw<{ digest: string }>(
    sql`delete from list_blobs where digest in (
        select digest from list_blobs as old where created_at < ${p.before}
          and not exists (select 1 from lists where lists.digest = old.digest)
          and not exists (select 1 from registries where registries.digest = old.digest)
          and not exists (select 1 from plan_lists where list_digest = old.digest)
        limit ${p.limit}
      ) and created_at < ${p.before} returning digest`,
    builder,
  ),
);

/** The lists of a domain lock it in a write. */
async function lockOwner(session: Session, { domain_id }: ListOwner): Promise<void> {
  if (domain_id !== null) await lockDomain(session, domain_id);
}

/** Named lists. In a write, accesses to those of a domain lock it. */
export function listReads(session: Session) {
  return {
    /** Those of one owner, by name. */
    async list(owner: ListOwner): Promise<readonly ListRow[]> {
      await lockOwner(session, owner);
      return owner.domain_id === null
        ? byAccount(session, { account_id: owner.account_id! })
        : byDomain(session, { domain_id: owner.domain_id });
    },
    /** The owner's own list; in a write it is locked, so that domains that it reaches are locked before (`reached`). */
    async get(owner: ListOwner, name: string): Promise<ListRow | null> {
      await lockOwner(session, owner);
      return owner.domain_id === null
        ? one(session, ofAccount, { account_id: owner.account_id!, name })
        : one(session, ofDomain, { domain_id: owner.domain_id, name });
    },
    async byId(id: number): Promise<ListRow | null> {
      return one(session, byId, { id });
    },
    /** The kinds of all lists that the rules of a domain may name, by name. */
    async kinds(domainId: number): Promise<ReadonlyMap<string, ListRow['kind']>> {
      await lockDomain(session, domainId);
      const rows = await kinds(session, { domain_id: domainId });
      const own = rows.filter(({ domain_id }) => domain_id !== null);
      return new Map([...rows, ...own].map(({ name, kind }) => [name, kind]));
    },
    /** What names in the rules of a domain mean, by name; a name without a list is left out. In a write those lists stay. */
    async named(domainId: number, names: readonly string[]): Promise<ReadonlyMap<string, ListRow>> {
      await lockDomain(session, domainId);
      if (names.length === 0) return new Map();
      const asked = { domain_id: domainId, names: JSON.stringify(names) };
      const [account, own] = await Promise.all([
        namedOfAccount(session, asked),
        namedOfDomain(session, asked),
      ]);
      return new Map([...account, ...own].map((row) => [row.name, row]));
    },
    /** The lists that the rules of a domain name, by name, each once. */
    async uses(domainId: number, rules: RulesOf): Promise<readonly ListUse[]> {
      await lockDomain(session, domainId);
      return usesOf(session, domainId, rules);
    },
    /** How many lists the stored rules of a domain but one name together with these names. */
    async countUses(
      domainId: number,
      { names, without }: { readonly names: readonly string[]; readonly without: number },
    ): Promise<number> {
      await lockDomain(session, domainId);
      const others = await usesWithout(session, domainId, without);
      return new Set([...others.map(({ name }) => name), ...names]).size;
    },
    /** Rules, stored or published, for which the list's name means it; at most `limit`, by domain, phase and id. */
    async naming(list: ListOwner & Pick<ListRow, 'name'>, limit: number): Promise<readonly NamingRule[]> {
      await lockOwner(session, list);
      return rulesNaming(session, list, limit);
    },
    /** The domains with such rules, by id; in a write they are locked. */
    async reached(list: ListOwner & Pick<ListRow, 'name'>): Promise<readonly ReachedDomain[]> {
      await lockOwner(session, list);
      const found = await domainsReached(session, list);
      await lockDomains(
        session,
        found.map(({ id }) => id),
      );
      return found;
    },
    /** Entries of a list by position. */
    async page(listId: number, asked: EntryPage): Promise<readonly ListEntryRow[]> {
      return pageOfEntries(session, listId, asked);
    },
    /** All entries in order, some of them at a time. */
    async *entries(listId: number): AsyncGenerator<readonly ListEntry[]> {
      for (let after = -1; ; ) {
        const rows = await pageOfEntries(session, listId, { after, limit: READ_AT_ONCE });
        if (rows.length > 0) yield rows.map(entryOf);
        if (rows.length < READ_AT_ONCE) return;
        after = rows.at(-1)!.position;
      }
    },
    /** Sealed octets; `null`: they are not stored. */
    async blob(digest: string): Promise<Uint8Array | null> {
      return (await one(session, blob, { digest }))?.bytes ?? null;
    },
    /** The digests of the sealed lists that a stored plan refers to. */
    async ofPlan(planDigest: string): Promise<readonly string[]> {
      return (await ofPlan(session, { plan: planDigest })).map(({ list_digest }) => list_digest);
    },
  };
}

/** Entries that one statement reads: on SQLite it runs on the calling thread. */
const READ_AT_ONCE = 2_000;

/** Changes of lists. The caller checks names, kinds, entries and bounds, and asks before which domains are reached. */
export function listWrites(session: Session) {
  const changed = async (
    id: number,
    at: number,
    change: (list: EntriesOf) => Promise<ListRow | null>,
  ): Promise<ListRow | null> => {
    const list = await one(session, raise, { id, at });
    return list === null ? null : change(list);
  };
  return {
    /** `conflict` on `lists.domain_id` or `lists.account_id`: the owner has a list of that name. */
    async insert(list: NewList): Promise<ListRow> {
      await lockOwner(session, list);
      return (await one(session, insert, list))!;
    },
    /** Removes a list with its entries. */
    async remove(list: ListOwner & Pick<ListRow, 'id'>): Promise<boolean> {
      await lockOwner(session, list);
      return (await one(session, remove, { id: list.id })) !== null;
    },
    /** Replaces all entries; the version rises. `null`: the list is gone. */
    async replaceEntries(listId: number, packed: PackedEntries, at: number): Promise<ListRow | null> {
      return changed(listId, at, async (list) =>
        one(session, setTotals, { ...(await replaceEntries(session, list, packed)), id: listId }),
      );
    },
    /** Adds entries after the others; one of the same key replaces the other in its place. The version rises. */
    async addEntries(listId: number, packed: PackedEntries, at: number): Promise<ListRow | null> {
      return changed(listId, at, async (list) =>
        one(session, addTotals, { ...(await addEntries(session, list, packed)), id: listId }),
      );
    },
    /** Removes entries by key (`packKeys`); those that are not there are no mistake. The version rises. */
    async removeEntries(listId: number, packed: PackedEntries, at: number): Promise<ListRow | null> {
      return changed(listId, at, async (list) =>
        one(session, addTotals, { ...(await removeEntries(session, list, packed)), id: listId }),
      );
    },
    /** Stores the sealed form of a list. False, and the list is as before: it has another version now, or is gone. */
    async putSealed(listId: number, { version, digest, bytes, at }: SealedForm): Promise<boolean> {
      await putListBlob(session, { digest, bytes, at });
      return (await one(session, markSealed, { id: listId, version, digest })) !== null;
    },
    /** Notes which sealed lists a stored plan refers to: they stay as long as the plan. `missing`: one of them is not stored. */
    async filePlan(planDigest: string, listDigests: readonly string[]): Promise<void> {
      if (listDigests.length === 0) return;
      const rows = listDigests.map((digest) => ({ list_digest: digest }));
      await filePlan(session, { plan: planDigest, lists: listedRows(rows, FILED) });
    },
    /**
     * Removes at most `limit` sealed lists that no list has had since `before`, and that neither a list, a registry nor a stored
     * plan refers to. Returns how many.
     */
    async prune(before: number, limit: number): Promise<number> {
      return (await prune(session, { before, limit })).length;
    },
  };
}
