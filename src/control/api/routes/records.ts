/** The operations on single DNS records. */
import { z } from 'zod';
import { MAX_RECORDS } from '../../../base/vocabulary/limits.ts';
import type { RecordRow } from '../../store/tables/rules.ts';
import { idOf } from '../operation/read-request.ts';
import { conflict, forbidden, notFound } from '../operation/refusal.ts';
import { message, ok, operation, type Response, type Writing } from '../operation/route.ts';
import { messageShape } from '../operation/shapes.ts';
import {
  judgeChange,
  judgeHostHeader,
  judgeOrigin,
  neighboursOf,
  readRecord,
  recordCreateShape,
  recordShape,
  recordUpdateShape,
  removeRecords,
  showRecord,
  spellingsOf,
  writeChanges,
} from '../records/write.ts';

/** `GET /domains/{domain}/records/`: in the order of their ids. */
export const list = operation({
  summary: 'Records of a domain by id',
  response: z.array(recordShape),
  async handle({ domain, latest }) {
    return ok((await latest.records.list(domain.id)).map(showRecord));
  },
});

/** `GET /domains/{domain}/records/{recordId}`. */
export const read = operation({
  summary: 'One record',
  cacheable: true,
  response: recordShape,
  async handle({ domain, latest, params }) {
    const row = await latest.records.get(domain.id, idOf(params['recordId']));
    if (row === null) throw notFound();
    return ok(showRecord(row));
  },
});

/**
 * `POST /domains/{domain}/records/`: 409 for a record that exists or conflicts with a CNAME, 403 beyond the record
 * limit.
 */
export const create = operation<unknown>({
  summary: 'Add a record',
  body: { kind: 'raw', schema: recordCreateShape },
  response: recordShape,
  async handle({ body, write }) {
    return write((w) => createRecord(w, body));
  },
});

/** Checks and stores a new record; audits and publishes it. @throws Refusal 400, 403, 409 */
async function createRecord(w: Writing, input: unknown): Promise<Response> {
  const { domain, now, tx } = w;
  const { id: _, ...record } = readRecord(domain.name, input);
  judgeOrigin(w, record);
  judgeHostHeader(await w.entitlements(), record.host_header);
  const [count, there] = await Promise.all([
    tx.records.count(domain.id),
    tx.records.spelled(domain.id, spellingsOf(domain.name, [record.name])),
  ]);
  judgeRecordCount(count + 1);
  const clash = neighboursOf(domain.name, there).judge(record);
  if (clash !== null) throw conflict(clash);
  const [row] = await tx.records.insert([
    { ...record, domain_id: domain.id, created_at: now, updated_at: now },
  ]);
  const after = showRecord(row!);
  await w.audit({ action: 'record.create', subject: `record/${row!.id}`, after });
  await w.publish(`record/${row!.id} created`);
  return ok(after);
}

/** Checks the bound on records of a plan, which applies whatever the entitlements allow. @throws Refusal */
export function judgeRecordCount(wanted: number): void {
  if (wanted > MAX_RECORDS) throw forbidden(`a domain holds at most ${MAX_RECORDS} records`);
}

/** The record of the path, after the comparison with `If-Match`. @throws Refusal 404, 412 */
async function present(w: Writing, segment: string | undefined): Promise<RecordRow> {
  const row = await w.tx.records.get(w.domain.id, idOf(segment));
  if (row === null) throw notFound();
  w.match(showRecord(row));
  return row;
}

/** The `name` of a partial update, where it is a text. */
function nameIn(body: unknown): readonly string[] {
  const { name } = (body ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' ? [name] : [];
}

/** `PUT /domains/{domain}/records/{recordId}`: a partial update. */
export const update = operation<unknown>({
  summary: 'Change a record; fields left out keep their value',
  body: { kind: 'raw', schema: recordUpdateShape },
  response: recordShape,
  async handle({ body, params, write }) {
    return write(async (w) => {
      const before = await present(w, params['recordId']);
      const { id, name } = w.domain;
      const names = [before.name, ...nameIn(body)];
      const neighbours = neighboursOf(name, await w.tx.records.spelled(id, spellingsOf(name, names)));
      const after = await judgeChange(w, { before, input: body, neighbours });
      if (after !== before) {
        await Promise.all([writeChanges(w, [{ before, after }]), w.publish(`record/${after.id} changed`)]);
      }
      return ok(showRecord(after));
    });
  },
});

/** `DELETE /domains/{domain}/records/{recordId}`: rules that name the record lose it, see `removeRecords`. */
export const remove = operation({
  summary: 'Delete a record and take it out of every rule that names it',
  response: messageShape,
  async handle({ params, write }) {
    return write(async (w) => {
      const row = await present(w, params['recordId']);
      await removeRecords(w, [row]);
      await w.publish(`record/${row.id} deleted`);
      return message(`record/${row.id} deleted`);
    });
  },
});
