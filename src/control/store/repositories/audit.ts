/** The audit log, and the values of which a store has one each (`SECRET_NAMES`). */
import { sql } from 'kysely';
import { lockDomain } from '../database/lock-domain.ts';
import {
  type ListedColumns,
  listed,
  listedRows,
  one,
  type PageBack,
  raw,
  type Session,
  statement,
} from '../database/statement.ts';
import type { AuditRow, SecretName } from '../tables/accounts.ts';

/** Through the index over domain and id, from the newest down. */
const list = statement((builder, p: { domain_id: number; before: number; limit: number }) =>
  builder
    .selectFrom('audit_entries')
    .selectAll()
    .where('domain_id', '=', p.domain_id)
    .where('id', '<', p.before)
    .orderBy('id', 'desc')
    .limit(p.limit),
);

/** The bound applies to the entries that are read, so that the cost does not grow with the log. */
const authors = statement((builder, p: { domain_id: number; since: number; limit: number }) =>
  builder
    .selectFrom((from) =>
      from
        .selectFrom('audit_entries')
        .select(['id', 'at', 'action', 'subject', 'account_id'])
        .where('domain_id', '=', p.domain_id)
        .orderBy('id', 'desc')
        .limit(p.limit)
        .as('newest'),
    )
    .select(['at', 'action', 'subject', 'account_id'])
    .where('at', '>=', p.since)
    .orderBy('id', 'desc'),
);

/** PERF: one entry, the usual case, needs no list of rows as JSON. */
const append = statement((builder, p: Omit<AuditRow, 'id'>) =>
  builder.insertInto('audit_entries').values({
    domain_id: p.domain_id,
    domain: p.domain,
    account_id: p.account_id,
    key_id: p.key_id,
    at: p.at,
    action: p.action,
    subject: p.subject,
    before_json: p.before_json,
    after_json: p.after_json,
  }),
);

/** The columns of an entry, for a list of rows as one parameter. */
const ENTRY = {
  domain_id: 'bigint',
  domain: 'text',
  account_id: 'bigint',
  key_id: 'bigint',
  at: 'bigint',
  action: 'text',
  subject: 'text',
  before_json: 'text',
  after_json: 'text',
} as const satisfies ListedColumns;

// Ids ascend in the order of the list.
const appendAll = statement((builder, p: { entries: string }, flavour) => {
  const columns = sql.join(Object.keys(ENTRY).map((name) => sql.ref(name)));
  return raw(sql`insert into audit_entries (${columns}) ${listed(p.entries, ENTRY, flavour)}`, builder);
});

/** The audit log of a domain; it outlives the domain. */
export function auditReads(session: Session) {
  return {
    /** Newest first. */
    async list(domainId: number, page: PageBack): Promise<readonly AuditRow[]> {
      await lockDomain(session, domainId);
      const before = page.before ?? Number.MAX_SAFE_INTEGER;
      return list(session, { domain_id: domainId, before, limit: page.limit });
    },
    /** Who changed what since a time, by the newest entries, at most `limit`: newest first, without what the objects were. */
    async authors(
      domainId: number,
      page: { readonly since: number; readonly limit: number },
    ): Promise<readonly Pick<AuditRow, 'at' | 'action' | 'subject' | 'account_id'>[]> {
      await lockDomain(session, domainId);
      return authors(session, { ...page, domain_id: domainId });
    },
  };
}

/** Appends to the audit log; no entry is ever changed. */
export function auditWrites(session: Session) {
  return {
    /** Appends entries in this order, one statement for all of them. */
    async append(...entries: readonly Omit<AuditRow, 'id'>[]): Promise<void> {
      for (const domainId of new Set(entries.map((entry) => entry.domain_id)))
        await lockDomain(session, domainId);
      const [entry] = entries;
      if (entry === undefined) return;
      if (entries.length === 1) await append(session, entry);
      else await appendAll(session, { entries: listedRows(entries, ENTRY) });
    },
  };
}

const getSecret = statement((builder, p: { name: string }) =>
  builder.selectFrom('secrets').select('value').where('name', '=', p.name),
);

/** Inserts the value if the name has none. */
const replaceSecret = statement((builder, p: { name: string; value: string; at: number }) =>
  builder
    .insertInto('secrets')
    .values({ name: p.name, value: p.value, created_at: p.at })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((row) => ({
        value: row.ref('excluded.value'),
        created_at: row.ref('excluded.created_at'),
      })),
    ),
);

/** Inserts nothing if the name already has a value. */
const putSecret = statement((builder, p: { name: string; value: string; at: number }) =>
  builder
    .insertInto('secrets')
    .values({ name: p.name, value: p.value, created_at: p.at })
    .onConflict((conflict) => conflict.column('name').doNothing()),
);

/** Values of which a store has one each, by name (`SECRET_NAMES`). */
export function secretReads(session: Session) {
  return {
    async get(name: SecretName): Promise<string | null> {
      return (await one(session, getSecret, { name }))?.value ?? null;
    },
  };
}

/** Changes of the values of which a store has one each. */
export function secretWrites(session: Session) {
  return {
    /** Stores `value` unless the name has one, and returns the stored one: of several processes the first one's. */
    async putOnce(name: SecretName, value: string, at: number): Promise<string> {
      await putSecret(session, { name, value, at });
      return (await one(session, getSecret, { name }))!.value;
    },
    /** Replaces the value of a name. */
    async put(name: SecretName, value: string, at: number): Promise<void> {
      await replaceSecret(session, { name, value, at });
    },
  };
}
