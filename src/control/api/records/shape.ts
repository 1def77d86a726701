/** The JSON form of DNS records in requests and answers, and of their batches. */
import { z } from 'zod';
import { timeText } from '../../../base/text/time.ts';
import { documentFields } from '../../../rules/model/fields.ts';
import { pick } from '../../../rules/model/form.ts';
import { recordForm } from '../../../rules/model/record.ts';
import type { RecordRow } from '../../store/rows.ts';

/** The fields that a request can write. */
const { id: _id, ...WRITTEN } = recordForm.fields;

/** Their names, in the order of answers. */
const WRITTEN_NAMES = Object.keys(WRITTEN) as (keyof typeof WRITTEN)[];

/** A record in an answer, before it is named for the OpenAPI document. */
const ANSWER = z.object({
  id: z.int(),
  domain_id: z.int(),
  ...documentFields(WRITTEN, 'answer'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** A record in an answer. */
export const recordShape = ANSWER.meta({ id: 'DnsRecord' });
/** The body of a partial update, for the OpenAPI document. */
export const recordUpdateShape = z.object(documentFields(WRITTEN, 'update')).meta({ id: 'DnsRecordUpdate' });
/** The body of a new record, for the OpenAPI document. */
export const recordCreateShape = z.object(documentFields(WRITTEN, 'request')).meta({ id: 'DnsRecordCreate' });

/** A record in the form of the API. */
export type ShownRecord = z.output<typeof ANSWER>;

/** A stored record in the form of the API. */
export function showRecord(row: RecordRow): ShownRecord {
  return {
    id: row.id,
    domain_id: row.domain_id,
    ...pick(row, WRITTEN_NAMES),
    created_at: timeText(row.created_at),
    updated_at: timeText(row.updated_at),
  };
}

/** The result of one item. */
const RESULT = z.object({
  id: z.int(),
  ok: z.boolean(),
  error: z.string().optional().describe('only when ok is false'),
});

/** The answer to a batch. */
export const batchShape = z
  .object({ succeeded: z.int(), failed: z.int(), results: z.array(RESULT) })
  .meta({ id: 'BatchResult' });

/** The result of one item of a batch. */
export type BatchEntry = z.output<typeof RESULT>;

/** The answer to a batch; its entries are in the order of the request. */
export function showBatch(results: readonly BatchEntry[]): object {
  const succeeded = results.filter((entry) => entry.ok).length;
  return { succeeded, failed: results.length - succeeded, results };
}
