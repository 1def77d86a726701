/** DNS records. */
import { hold } from '../hold.ts';
import type { RecordRow } from '../rows.ts';
import type { Session } from '../session.ts';
import { flags, freeStatement, idsIn, one, statement } from '../statement.ts';
import type { NewRecord, RecordReads, RecordWrites } from '../store.ts';

/** Records of one INSERT: below every database's limit on parameters (PostgreSQL 65,535, SQLite 32,766) by far. */
const INSERTED_AT_ONCE = 250;

const decode = flags<RecordRow>('proxied', 'captcha', 'monitor');

const get = statement((builder, p: { domain_id: number; id: number }) =>
  builder.selectFrom('dns_records').selectAll().where('domain_id', '=', p.domain_id).where('id', '=', p.id),
);

const list = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('dns_records').selectAll().where('domain_id', '=', p.domain_id).orderBy('id'),
);

const count = statement((builder, p: { domain_id: number }) =>
  builder
    .selectFrom('dns_records')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('domain_id', '=', p.domain_id),
);

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

const update = statement((builder, p: RecordRow) =>
  builder
    .updateTable('dns_records')
    .set(fields(p))
    .where('domain_id', '=', p.domain_id)
    .where('id', '=', p.id)
    .returning('id'),
);

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

export function records(session: Session): RecordReads & RecordWrites {
  return {
    async get(domainId, id) {
      await hold(session, domainId);
      const row = await one(session, get, { domain_id: domainId, id });
      return row && decode(row);
    },
    async list(domainId) {
      await hold(session, domainId);
      return (await list(session, { domain_id: domainId })).map(decode);
    },
    async count(domainId) {
      await hold(session, domainId);
      const [row] = await count(session, { domain_id: domainId });
      return row!.count;
    },
    async insert(records) {
      const inserted: RecordRow[] = [];
      for (let from = 0; from < records.length; from += INSERTED_AT_ONCE) {
        const batch = records.slice(from, from + INSERTED_AT_ONCE);
        await hold(session, batch[0]!.domain_id);
        // Ids are given in the order of the list; the order in which RETURNING tells them is not promised.
        const ids = (await insert(session, { records: batch })).map((row) => row.id).sort((a, b) => a - b);
        inserted.push(...batch.map((record, index) => ({ ...record, id: ids[index]! })));
      }
      return inserted;
    },
    async update(record) {
      await hold(session, record.domain_id);
      return (await one(session, update, record)) !== null;
    },
    async remove(domainId, ids) {
      await hold(session, domainId);
      const rows = await remove(session, { domain_id: domainId, ids: JSON.stringify(ids) });
      return rows.map((row) => row.id).sort((a, b) => a - b);
    },
  };
}
