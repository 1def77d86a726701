/** Batches of record changes; an item that fails does not affect the others (API document, "DNS records"). */
import { z } from 'zod';
import { id, list as listOf } from '../../../rules/model/fields.ts';
import { form } from '../../../rules/model/form.ts';
import type { RecordRow } from '../../store/tables/rules.ts';
import { MAX_BATCH } from '../operation/limits.ts';
import { formBody, readBody } from '../operation/read-request.ts';
import { notFound, Refusal } from '../operation/refusal.ts';
import { type BodyReader, ok, operation, type Response, type Writing } from '../operation/route.ts';
import {
  type BatchEntry,
  batchShape,
  type JudgedChange,
  judgeChange,
  type Neighbours,
  neighboursOf,
  recordUpdateShape,
  removeRecords,
  showBatch,
  showRecord,
  writeChanges,
} from '../records/write.ts';

/** An item of an update: the id; its other fields are read with the record. */
interface Item {
  readonly id: number;
}

/** The form of a batch of updates; each item is read as far as its id. */
const updateForm = form({
  fields: { updates: listOf(z.looseObject({ id: id() }), MAX_BATCH) },
  ignored: [],
  finish: (values): { readonly updates: readonly Item[] } => values,
});

/** The id of a record to change. */
const RECORD_ID = id()
  .describe('id of the record to change')
  .meta({ examples: [3] });

/** The form reads only the ids; the schema describes the rest for the OpenAPI document. */
const updateBody: BodyReader<{ readonly updates: readonly Item[] }> = {
  kind: 'read',
  schema: z.object({
    updates: z
      .array(z.object({ id: RECORD_ID, ...recordUpdateShape.shape }))
      .max(MAX_BATCH)
      .describe('partial updates, each with the id of its record')
      .meta({ examples: [[{ id: 3, proxied: true }]] }),
  }),
  read: (body) => readBody(updateForm, body),
};

/**
 * `POST /domains/{domain}/records/batch-update`: one transaction and one publication; a refused item leaves the others in
 * effect.
 */
export const batchUpdate = operation({
  summary: 'Change many records; each by itself, and 200 even when some fail',
  body: updateBody,
  response: batchShape,
  async handle({ body: { updates }, write }) {
    return write((w) => updateMany(w, updates));
  },
});

/** Checks all items in order, each against the results of those before it, and then writes all changes at once. */
async function updateMany(w: Writing, updates: readonly Item[]): Promise<Response> {
  const rows = await all(w);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const neighbours = neighboursOf(w.domain.name, rows);
  const results: BatchEntry[] = [];
  const changes: JudgedChange[] = [];
  for (const input of updates) {
    const before = byId.get(input.id);
    const outcome = await judgeItem(w, { before, input, neighbours });
    if ('error' in outcome) {
      results.push({ id: input.id, ok: false, error: outcome.error });
      continue;
    }
    results.push({ id: input.id, ok: true });
    const { after } = outcome;
    if (before !== undefined && after !== before) changes.push({ before, after });
    byId.set(input.id, after);
  }
  const count = changes.length;
  if (count > 0) {
    const reason = count === 1 ? '1 record changed' : `${count} records changed`;
    await Promise.all([writeChanges(w, changes), w.publish(reason)]);
  }
  return ok(showBatch(results));
}

/** One item with its record and the other records; `before` is `undefined` for an unknown id. */
interface ItemContext {
  readonly before: RecordRow | undefined;
  readonly input: Item;
  readonly neighbours: Neighbours;
}

/** Runs one item. A refusal is the item's result; any other error fails the batch. */
async function judgeItem(
  w: Writing,
  { before, input, neighbours }: ItemContext,
): Promise<{ readonly after: RecordRow } | { readonly error: string }> {
  try {
    if (before === undefined) throw notFound();
    return { after: await judgeChange(w, { before, input, neighbours }) };
  } catch (error) {
    if (error instanceof Refusal) return { error: error.message };
    throw error;
  }
}

/** All records of the domain, after `If-Match` was compared with the ETag of their list. @throws Refusal 412 */
async function all(w: Writing): Promise<readonly RecordRow[]> {
  const rows = await w.tx.records.list(w.domain.id);
  if (w.conditional) w.match(rows.map(showRecord));
  return rows;
}

/** The form of a batch of deletions. */
const deleteForm = form({
  fields: {
    ids: listOf(id(), MAX_BATCH)
      .describe('ids of the records to delete')
      .meta({ examples: [[3, 7]] }),
  },
  ignored: [],
  finish: (values): { readonly ids: readonly number[] } => values,
});

/** `POST /domains/{domain}/records/batch-delete`: as `batchUpdate`; an unknown id fails alone. */
export const batchDelete = operation({
  summary: 'Delete many records; 200 even when some are not there',
  body: formBody(deleteForm),
  response: batchShape,
  async handle({ body: { ids }, write }) {
    return write(async (w) => {
      const left = new Map((await all(w)).map((row) => [row.id, row]));
      const found: RecordRow[] = [];
      const results = ids.map((recordId): BatchEntry => {
        const row = left.get(recordId);
        if (row === undefined) return { id: recordId, ok: false, error: notFound().message };
        left.delete(recordId);
        found.push(row);
        return { id: recordId, ok: true };
      });
      await removeRecords(w, found);
      const count = found.length;
      if (count > 0) await w.publish(count === 1 ? '1 record deleted' : `${count} records deleted`);
      return ok(showBatch(results));
    });
  },
});
