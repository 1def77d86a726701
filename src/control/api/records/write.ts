/**
 * Reads a record from a request, checks a change of it (origin, entitlement, conflicts with other records), and writes
 * and deletes records.
 */
import { z } from 'zod';
import { assert } from '../../../base/diagnostics/assert.ts';
import { isObject } from '../../../base/text/json-object.ts';
import { timeText } from '../../../base/text/time.ts';
import { documentFields } from '../../../rules/model/fields.ts';
import { pick } from '../../../rules/model/form.ts';
import { recordForm } from '../../../rules/model/record.ts';
import { absoluteName } from '../../../rules/model/record-name.ts';
import type { DnsRecord } from '../../../rules/model/types.ts';
import { type Entitlements, refuseFeature } from '../../accounts/entitlements.ts';
import { readRecordInput } from '../../dns/record-data.ts';
import type { RecordRow, RuleRow } from '../../store/tables/rules.ts';
import { wrongInput } from '../operation/read-request.ts';
import { conflict, forbidden } from '../operation/refusal.ts';
import type { Writing } from '../operation/route.ts';
import { originsOfRecord, refuseSpecial } from '../origins.ts';
import { bodyOf, showRule } from '../rules/show.ts';

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

// Checks a record against the other records of its domain: no record exists twice, and an unproxied CNAME is the only
// record of its name (RFC 1034 §3.6.2). The counts make each check constant in the number of records.

/** A record before or after it has an id. */
export type Candidate = Omit<DnsRecord, 'id'> & { readonly id?: number };

/** A domain's records, as counts by name. */
export interface Neighbours {
  /** Why the record conflicts with the others, without the record of its own id; `null`: it does not. */
  judge(record: Candidate): string | null;
  /** Adds a record, in place of the one with its id. */
  put(record: Candidate): void;
}

/** All ASCII spellings of the names of a domain's records, in lower case (the inverse of `absoluteName`). */
export function spellingsOf(domain: string, names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const absolute = absoluteName(name, domain);
    if (absolute === null) return [name.toLowerCase()];
    const relative = absolute === domain ? '@' : absolute.slice(0, -domain.length - 1);
    return [absolute, `${absolute}.`, relative];
  });
}

/** Counts of the records of one name. PERF: a name may have thousands, and each new one is compared with all. */
interface NameCounts {
  records: number;
  /** Unproxied CNAME records, see `isBareAlias`. */
  bareAliases: number;
  /** Records by `dataOf`. */
  readonly byData: Map<string, number>;
}

/** The properties of a record that are counted. */
interface Counted {
  /** The canonical absolute name. */
  readonly name: string;
  readonly data: string;
  readonly bareAlias: boolean;
}

/** Creates the counts of a domain with these records. `domain` is its canonical name. */
export function neighboursOf(domain: string, records: readonly Candidate[]): Neighbours {
  const byName = new Map<string, NameCounts>();
  const byId = new Map<number, Counted>();
  const read = (record: Candidate): Counted => ({
    name: absoluteName(record.name, domain) ?? record.name,
    data: dataOf(record),
    bareAlias: isBareAlias(record),
  });
  function count({ name, data, bareAlias }: Counted, by: 1 | -1): void {
    const there = byName.get(name) ?? { records: 0, bareAliases: 0, byData: new Map<string, number>() };
    byName.set(name, there);
    there.records += by;
    if (bareAlias) there.bareAliases += by;
    there.byData.set(data, (there.byData.get(data) ?? 0) + by);
  }
  const neighbours: Neighbours = {
    judge(record) {
      const { name, data, bareAlias } = read(record);
      const there = byName.get(name);
      const before = record.id === undefined ? undefined : byId.get(record.id);
      const own = before?.name === name ? before : null;
      const equals = (there?.byData.get(data) ?? 0) - (own?.data === data ? 1 : 0);
      if (equals > 0) return SAME_RECORD;
      if (bareAlias && name === domain) return APEX_ALIAS;
      const others = (there?.records ?? 0) - (own === null ? 0 : 1);
      const bareAliases = (there?.bareAliases ?? 0) - (own?.bareAlias === true ? 1 : 0);
      if (others === 0 || (!bareAlias && bareAliases === 0)) return null;
      return 'a CNAME that is not proxied must be the only record of its name (RFC 1034 §3.6.2)';
    },
    put(record) {
      const counted = read(record);
      if (record.id !== undefined) {
        const old = byId.get(record.id);
        if (old !== undefined) count(old, -1);
        byId.set(record.id, counted);
      }
      count(counted, 1);
    },
  };
  for (const record of records) neighbours.put(record);
  return neighbours;
}

/** The data of a record as resolvers see it; only MX has a preference. */
function dataOf({ type, destination, mx_priority }: Candidate): string {
  return JSON.stringify([type, destination, type === 'MX' ? mx_priority : null]);
}

/** The message for a record that is there. */
export const SAME_RECORD = 'the same record exists already';

/** The message for an unproxied CNAME at the apex. */
const APEX_ALIAS =
  'a CNAME that is not proxied must not stand at the apex, where SOA and NS are (RFC 1034 §3.6.2); use ALIAS';

/** Whether resolvers see a CNAME; for a proxied one they get the edge's addresses. */
function isBareAlias({ type, proxied }: Candidate): boolean {
  return type === 'CNAME' && !proxied;
}

// Deletes records and removes their ids from every rule that names them (semantics §2).

/** Deletes stored records; appends an audit entry for each record and for each rule that it changes. */
export async function removeRecords(w: Writing, rows: readonly RecordRow[]): Promise<void> {
  if (rows.length === 0) return;
  const { domain, now, tx } = w;
  const ids = rows.map(({ id }) => id);
  const gone = new Set(ids);
  const rules = await tx.rules.naming(domain.id, ids);
  const changes = rules.map((rule) => unscoped(rule, gone)).filter((change) => change !== null);
  // What a deleted record does to rules is no change of a draft: published rules lose it as well.
  const published = domain.publish_mode === 'manual' ? await tx.drafts.naming(domain.id, ids) : [];
  const others = published.map(({ rule_id: id, body }) => unscoped({ id, body: body! }, gone));
  const ruleEntries = changes.map(({ before, body }) => ({
    action: 'rule.update',
    subject: `${before.type}/${before.id}`,
    before: showRule(before),
    after: showRule({ ...before, body, updated_at: now }),
  }));
  const recordEntries = rows.map((row) => ({
    action: 'record.delete',
    subject: `record/${row.id}`,
    before: showRecord(row),
  }));
  const rescoped = changes.map(({ before: { id }, body, record_ids }) => ({ id, body, record_ids }));
  await Promise.all([
    tx.records.remove(domain.id, ids),
    tx.rules.rescope(domain.id, rescoped, now),
    tx.drafts.rescope(
      domain.id,
      others.flatMap((other) => (other === null ? [] : [{ id: other.before.id, body: other.body }])),
    ),
    w.audit(...ruleEntries, ...recordEntries),
  ]);
}

/** A rule whose records change: the stored row, its new body, and the ids that the body lists. */
interface Rescoped<Row> {
  readonly before: Row;
  readonly body: string;
  readonly record_ids: readonly number[];
}

/**
 * A rule without the deleted record ids; `null`: it names none of them. A rule that would have no id left is disabled
 * with its list unchanged: a rule limited to records must never become one for the whole zone.
 */
function unscoped<Row extends Pick<RuleRow, 'body'>>(
  rule: Row,
  gone: ReadonlySet<number>,
): Rescoped<Row> | null {
  const body = bodyOf(rule);
  const left = body.record_ids.filter((recordId) => !gone.has(recordId));
  const changed = left.length === 0 ? { ...body, enabled: false } : { ...body, record_ids: left };
  const text = JSON.stringify(changed);
  return text === rule.body ? null : { before: rule, body: text, record_ids: changed.record_ids };
}

// The JSON form of DNS records in requests and answers, and of their batches.

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
