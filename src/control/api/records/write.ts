/** Reads a record from a request, checks a change of it (origin, entitlement, conflicts), and writes changes. */
import { assert } from '../../../base/diagnostics/assert.ts';
import { isObject } from '../../../base/text/json-object.ts';
import type { DnsRecord } from '../../../rules/model/types.ts';
import { refuseFeature } from '../../accounts/entitlement-checks.ts';
import type { Entitlements } from '../../accounts/entitlements.ts';
import { readRecordInput } from '../../dns/read-record.ts';
import type { RecordRow } from '../../store/rows.ts';
import { wrongInput } from '../operation/read-body.ts';
import { conflict, forbidden } from '../operation/refusal.ts';
import type { Writing } from '../operation/route.ts';
import { originsOfRecord, refuseSpecial } from '../origins.ts';
import type { Candidate, Neighbours } from './neighbours.ts';
import { showRecord } from './shape.ts';

/** One record in the form that is stored, see `readRecordInput`. @throws Refusal 400 */
export function readRecord(domain: string, input: unknown): DnsRecord {
  const read = readRecordInput(domain, input);
  if (!read.ok) throw wrongInput(read.diagnostics);
  return read.record;
}

/** Refuses a special address as the origin of a proxied record. @throws Refusal 400 */
export function judgeOrigin(w: Pick<Writing, 'specialOrigin'>, record: Candidate): void {
  const special = refuseSpecial(w.specialOrigin, originsOfRecord(record));
  if (special !== null) throw special;
}

/** Checks the feature that a new host header needs; a stored one may stay. @throws Refusal 403 */
export function judgeHostHeader(entitlements: Entitlements, wanted: string, had = ''): void {
  if (wanted === '' || wanted === had) return;
  const closed = refuseFeature(entitlements, 'host_header_edit_enabled');
  if (closed !== null) throw forbidden(closed);
}

/** The fields in which two versions of a record may differ. */
const CHANGEABLE = [
  'name',
  'type',
  'destination',
  'mx_priority',
  'proxied',
  'captcha',
  'scheme',
  'port',
  'host_header',
  'monitor',
  'timeout',
  'comment',
] as const satisfies readonly (keyof DnsRecord)[];

/** The fields that can make a record conflict with others. */
const PLACING: readonly string[] = ['name', 'type', 'destination', 'mx_priority', 'proxied'];

/** One requested change of a record. */
export interface RecordChange {
  readonly before: RecordRow;
  /** A partial update. */
  readonly input: unknown;
  readonly neighbours: Neighbours;
}

/**
 * The row after a partial update, which it also puts among the neighbours; `before` itself where nothing changes. Writes
 * nothing. @throws Refusal
 */
export async function judgeChange(
  w: Writing,
  { before, input, neighbours }: RecordChange,
): Promise<RecordRow> {
  const { domain_id: _, created_at: __, updated_at: ___, ...stored } = before;
  const record = readRecord(w.domain.name, isObject(input) ? { ...stored, ...input } : input);
  const changed = CHANGEABLE.filter((name) => record[name] !== before[name]);
  judgeOrigin(w, record);
  if (changed.length === 0) return before;
  judgeHostHeader(await w.entitlements(), record.host_header, before.host_header);
  const after: RecordRow = { ...before, ...record, id: before.id, updated_at: w.now };
  const clash = changed.some((name) => PLACING.includes(name)) ? neighbours.judge(after) : null;
  if (clash !== null) throw conflict(clash);
  neighbours.put(after);
  return after;
}

/** A record before and after one change. */
export interface JudgedChange {
  readonly before: RecordRow;
  readonly after: RecordRow;
}

/** Writes changes, each with its audit entry. Of several changes of one record, the last one is stored. */
export async function writeChanges(w: Writing, changes: readonly JudgedChange[]): Promise<void> {
  const last = new Map(changes.map(({ after }) => [after.id, after]));
  const [there] = await Promise.all([
    w.tx.records.update(w.domain.id, [...last.values()]),
    w.audit(
      ...changes.map(({ before, after }) => ({
        action: 'record.update',
        subject: `record/${after.id}`,
        before: showRecord(before),
        after: showRecord(after),
      })),
    ),
  ]);
  assert(there.length === last.size, 'the domain is locked, so a record that was read is still there');
}
