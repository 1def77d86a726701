/** DNS records on the wire, and the shapes of their batches. */
import { z } from 'zod';
import { documentFields } from '../../model/document.ts';
import { pick } from '../../model/form.ts';
import { recordForm } from '../../model/record.ts';
import type { RecordRow } from '../../store/rows.ts';
import { timeText } from '../domain-shape.ts';

const { id: _id, ...WRITTEN } = recordForm.fields;

const WRITTEN_NAMES = Object.keys(WRITTEN) as (keyof typeof WRITTEN)[];

const ANSWER = z.object({
  id: z.int(),
  domain_id: z.int(),
  ...documentFields(WRITTEN, 'answer'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export const recordShape = ANSWER.meta({ id: 'DnsRecord' });
export const recordUpdateShape = z.object(documentFields(WRITTEN, 'update')).meta({ id: 'DnsRecordUpdate' });
export const recordCreateShape = z.object(documentFields(WRITTEN, 'request')).meta({ id: 'DnsRecordCreate' });

export type ShownRecord = z.output<typeof ANSWER>;

/** The object of an answer. */
export function showRecord(row: RecordRow): ShownRecord {
  return {
    id: row.id,
    domain_id: row.domain_id,
    ...pick(row, WRITTEN_NAMES),
    created_at: timeText(row.created_at),
    updated_at: timeText(row.updated_at),
  };
}

const RESULT = z.object({
  id: z.int(),
  ok: z.boolean(),
  error: z.string().optional().describe('only when ok is false'),
});

export const batchShape = z
  .object({ succeeded: z.int(), failed: z.int(), results: z.array(RESULT) })
  .meta({ id: 'BatchResult' });

export type BatchEntry = z.output<typeof RESULT>;

/** The batch result of its entries, in the order they were asked for. */
export function showBatch(results: readonly BatchEntry[]): object {
  const succeeded = results.filter((entry) => entry.ok).length;
  return { succeeded, failed: results.length - succeeded, results };
}
