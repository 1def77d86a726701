/** DNS records. */
import { sql } from 'kysely';
import { lockDomain } from '../database/lock-domain.ts';
import {
  flags,
  freeStatement,
  idsIn,
  type ListedColumns,
  listed,
  listedRows,
  one,
  raw,
  type Session,
  statement,
} from '../database/statement.ts';
import type { StoredRow } from '../tables/describe.ts';
import type { RecordRow } from '../tables/rules.ts';
import { markDomains } from './zone-marks.ts';

/** A record to insert. */
export type NewRecord = Omit<RecordRow, 'id'>;

/** Records of one INSERT: below every database's limit on parameters (PostgreSQL 65,535, SQLite 32,766) by far. */
const INSERTED_AT_ONCE = 250;

const decode = flags<RecordRow>('proxied', 'captcha', 'monitor');

const get = statement((builder, p: { domain_id: number; id: number }) =>
  builder.selectFrom('dns_records').selectAll().where('domain_id', '=', p.domain_id).where('id', '=', p.id),
);

const list = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('dns_records').selectAll().where('domain_id', '=', p.domain_id).orderBy('id'),
);

// A name that is not printable ASCII may be another spelling of any name, so all such names are returned.
const spelled = statement((builder, p: { domain_id: number; names: string }, { database }) => {
  const names =
    database === 'sqlite'
      ? sql`(select value from json_each(${p.names}))`
      : sql`(select json_array_elements_text(${p.names}::json))`;
  const foreign = database === 'sqlite' ? sql`name glob '*[^ -~]*'` : sql`name ~ '[^ -~]'`;
  return raw<StoredRow<RecordRow>>(
    sql`select * from dns_records where domain_id = ${p.domain_id} and (lower(name) in ${names} or ${foreign}) order by id`,
    builder,
  );
});

/** For the quota of records; in a write the domain is locked. */
const count = statement((builder, p: { domain_id: number }) =>
  builder
    .selectFrom('dns_records')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('domain_id', '=', p.domain_id),
);

/** Its text depends on the number of records. */
const insert = freeStatement((builder, p: { records: readonly NewRecord[] }) =>
  builder
    .insertInto('dns_records')
    .values(
      p.records.map((record) => ({
        ...fields(record),
        domain_id: record.domain_id,
        created_at: record.created_at,
      })),
    )
    .returning('id'),
);

/** The columns that an update replaces, with their types for PostgreSQL. */
const CHANGED = {
  name: 'text',
  type: 'text',
  destination: 'text',
  mx_priority: 'bigint',
  proxied: 'bigint',
  captcha: 'bigint',
  scheme: 'text',
  port: 'bigint',
  host_header: 'text',
  monitor: 'bigint',
  timeout: 'bigint',
  comment: 'text',
  updated_at: 'bigint',
} as const satisfies ListedColumns & Record<keyof ReturnType<typeof fields>, unknown>;
const UPDATED: ListedColumns = { id: 'bigint', ...CHANGED };

/** All rows in one statement. `records` is a JSON array of whole rows. */
const update = statement((builder, p: { domain_id: number; records: string }, flavour) => {
  const set = Object.keys(CHANGED).map((name) => sql`${sql.ref(name)} = ${sql.ref(`given.${name}`)}`);
  return raw<{ id: number }>(
    sql`update dns_records set ${sql.join(set)} from (${listed(p.records, UPDATED, flavour)}) as given
      where dns_records.id = given.id and dns_records.domain_id = ${p.domain_id} returning dns_records.id`,
    builder,
  );
});

/** The columns of a new record. */
function fields(p: NewRecord) {
  return {
    name: p.name,
    type: p.type,
    destination: p.destination,
    mx_priority: p.mx_priority,
    proxied: p.proxied,
    captcha: p.captcha,
    scheme: p.scheme,
    port: p.port,
    host_header: p.host_header,
    monitor: p.monitor,
    timeout: p.timeout,
    comment: p.comment,
    updated_at: p.updated_at,
  };
}

const remove = statement((builder, p: { domain_id: number; ids: string }, flavour) =>
  builder
    .deleteFrom('dns_records')
    .where('domain_id', '=', p.domain_id)
    .where('id', 'in', idsIn(p.ids, flavour))
    .returning('id'),
);

/** DNS records of a domain. Each access locks the domain in a write. */
export function recordReads(session: Session) {
  return {
    async get(domainId: number, id: number): Promise<RecordRow | null> {
      await lockDomain(session, domainId);
      const row = await one(session, get, { domain_id: domainId, id });
      return row && decode(row);
    },
    /** By id. */
    async list(domainId: number): Promise<readonly RecordRow[]> {
      await lockDomain(session, domainId);
      return (await list(session, { domain_id: domainId })).map(decode);
    },
    /**
     * Records whose name is one of `names` (lower case) but for the case of its letters, and every record whose name is
     * not plain ASCII, by id: among them are all other spellings of the same name.
     */
    async spelled(domainId: number, names: readonly string[]): Promise<readonly RecordRow[]> {
      await lockDomain(session, domainId);
      return (await spelled(session, { domain_id: domainId, names: JSON.stringify(names) })).map(decode);
    },
    async count(domainId: number): Promise<number> {
      await lockDomain(session, domainId);
      const [row] = await count(session, { domain_id: domainId });
      return row!.count;
    },
  };
}

/** Changes of a domain's DNS records. Each access locks the domain in a write. */
export function recordWrites(session: Session) {
  return {
    /** Inserts all of one domain's records and returns them in the same order, with ascending ids. */
    async insert(records: readonly NewRecord[]): Promise<readonly RecordRow[]> {
      const inserted: RecordRow[] = [];
      for (let from = 0; from < records.length; from += INSERTED_AT_ONCE) {
        const batch = records.slice(from, from + INSERTED_AT_ONCE);
        await lockDomain(session, batch[0]!.domain_id);
        // Ids are assigned in the order of the list; the order of RETURNING's rows is not guaranteed.
        const ids = (await insert(session, { records: batch })).map((row) => row.id).sort((a, b) => a - b);
        inserted.push(...batch.map((record, index) => ({ ...record, id: ids[index]! })));
      }
      if (records.length > 0)
        await markDomains(session, [...new Set(records.map((record) => record.domain_id))]);
      return inserted;
    },
    /**
     * Replaces every field but `id`, `domain_id`, `created_at` of the domain's records, one statement for all of them; no
     * id may be listed twice. Returns the ids that existed.
     */
    async update(domainId: number, records: readonly RecordRow[]): Promise<readonly number[]> {
      await lockDomain(session, domainId);
      if (records.length === 0) return [];
      const rows = await update(session, { domain_id: domainId, records: listedRows(records, UPDATED) });
      if (rows.length > 0) await markDomains(session, [domainId]);
      return rows.map((row) => row.id).sort((a, b) => a - b);
    },
    /** Returns the ids that existed. The caller changes the rules that name a record (`rules.naming`). */
    async remove(domainId: number, ids: readonly number[]): Promise<readonly number[]> {
      await lockDomain(session, domainId);
      const rows = await remove(session, { domain_id: domainId, ids: JSON.stringify(ids) });
      if (rows.length > 0) await markDomains(session, [domainId]);
      return rows.map((row) => row.id).sort((a, b) => a - b);
    },
  };
}
