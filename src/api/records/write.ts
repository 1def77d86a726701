/** Reads what a customer wrote about a record, judges the change, and writes it. */
import { refuseFeature } from '../../access/entitlement-checks.ts';
import type { Entitlements } from '../../access/entitlements.ts';
import { assert } from '../../base/assert.ts';
import { type Diagnostic, quoteValue } from '../../base/diagnostic.ts';
import { canonicalData } from '../../dns/zone-file/rdata.ts';
import { parseRecord } from '../../model/parse.ts';
import type { DnsRecord } from '../../model/types.ts';
import type { RecordRow } from '../../store/rows.ts';
import { originsOfRecord, refuseSpecial } from '../origins.ts';
import { wrongInput } from '../read-body.ts';
import { conflict, forbidden } from '../refusal.ts';
import type { Writing } from '../route.ts';
import type { Candidate, Neighbours } from './neighbours.ts';
import { showRecord } from './shape.ts';

/**
 * One record as it is to be stored: judged by the model, its data canonical and such that it can be served and
 * exported. Throws the 400.
 */
export function readRecord(domain: string, input: unknown): DnsRecord {
  const parsed = parseRecord(isObject(input) ? { ...input, id: 1 } : input, domain);
  if (!parsed.ok) throw wrongInput(parsed.diagnostics);
  const record = canonical(parsed.record);
  if (record.destination === parsed.record.destination) return record;
  // An escape may have hidden what the model refuses.
  const again = parseRecord(record, domain);
  if (!again.ok) throw wrongInput(again.diagnostics);
  return record;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function canonical(record: DnsRecord): DnsRecord {
  const { type, destination, mx_priority } = record;
  // ALIAS has no form in a zone file; the model has judged it.
  if (type === 'ALIAS') return record;
  const data = canonicalData(type, { destination, mx_priority });
  if ('destination' in data) {
    return {
      ...record,
      destination: data.destination,
      mx_priority: type === 'MX' ? data.mx_priority : mx_priority,
    };
  }
  const diagnostic: Diagnostic = {
    code: data.code,
    severity: 'error',
    path: ['destination'],
    message: data.message,
    found: data.found ?? quoteValue(destination),
  };
  throw wrongInput([diagnostic]);
}

/** Refuses a special address as the origin of a proxied record. Throws the 400. */
export function judgeOrigin(w: Pick<Writing, 'specialOrigin'>, record: Candidate): void {
  const special = refuseSpecial(w.specialOrigin, originsOfRecord(record));
  if (special !== null) throw special;
}

/** A host header that is new needs the feature; one that was there stays. Throws the 403. */
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

/** Those that decide whether a record can stand where it stands. */
const PLACING: readonly string[] = ['name', 'type', 'destination', 'mx_priority', 'proxied'];

export interface RecordChange {
  readonly before: RecordRow;
  /** A partial update. */
  readonly input: unknown;
  readonly neighbours: Neighbours;
}

/**
 * The row as a partial update makes it, filed among its neighbours; `before` itself where nothing changes. Writes
 * nothing. Throws the refusal.
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

/** Writes changes, each with its audit entry. A record may be changed several times; then the last is what it becomes. */
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
