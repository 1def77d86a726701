/** The JSON form of DNS records in requests and answers, and of their batches. */
import { z } from 'zod';
import { RECORD_SCHEMES, RECORD_TYPES } from '../../base/vocabulary.ts';
import type { RecordRow } from '../../store/rows.ts';
import { timeText } from '../domain-shape.ts';

const FIELDS = {
  name: z.string().describe('relative to the domain or absolute; @ is the apex'),
  type: z.enum(RECORD_TYPES),
  destination: z.string(),
  mx_priority: z.int().nullable(),
  proxied: z.boolean(),
  captcha: z.boolean(),
  scheme: z.enum(RECORD_SCHEMES).describe('towards the origin of a proxied record'),
  port: z.int().nullable().describe('null follows the scheme'),
  host_header: z.string(),
  monitor: z.boolean(),
  timeout: z.int().nullable().describe('seconds the edge waits for the origin before 504'),
  comment: z.string(),
};

const ANSWER = z.object({
  id: z.int(),
  domain_id: z.int(),
  ...FIELDS,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

/** A record in an answer. */
export const recordShape = ANSWER.meta({ id: 'DnsRecord' });
/** The body of a partial update, for the OpenAPI document. */
export const recordUpdateShape = z.object(FIELDS).partial().meta({ id: 'DnsRecordUpdate' });
/** The body of a new record, for the OpenAPI document. */
export const recordCreateShape = z
  .object(FIELDS)
  .partial()
  .required({ name: true, type: true, destination: true })
  .meta({ id: 'DnsRecordCreate' });

/** A record in the form of the API. */
export type ShownRecord = z.output<typeof ANSWER>;

/** A stored record in the form of the API. */
export function showRecord(row: RecordRow): ShownRecord {
  return {
    id: row.id,
    domain_id: row.domain_id,
    name: row.name,
    type: row.type,
    destination: row.destination,
    mx_priority: row.mx_priority,
    proxied: row.proxied,
    captcha: row.captcha,
    scheme: row.scheme,
    port: row.port,
    host_header: row.host_header,
    monitor: row.monitor,
    timeout: row.timeout,
    comment: row.comment,
    created_at: timeText(row.created_at),
    updated_at: timeText(row.updated_at),
  };
}

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
