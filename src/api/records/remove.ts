/** Deletes records and removes their ids from every rule that names them (semantics §2). */
import type { Writing } from '../../operation/route.ts';
import type { RecordRow, RuleRow } from '../../store/rows.ts';
import { bodyOf, showRule } from '../rules/show.ts';
import { showRecord } from './shape.ts';

/** Deletes stored records; appends an audit entry for each record and for each rule that it changes. */
export async function removeRecords(w: Writing, rows: readonly RecordRow[]): Promise<void> {
  if (rows.length === 0) return;
  const { domain, now, tx } = w;
  const ids = rows.map(({ id }) => id);
  const gone = new Set(ids);
  const rules = await tx.rules.naming(domain.id, ids);
  const changes = rules.map((rule) => unscoped(rule, gone)).filter((change) => change !== null);
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
    w.audit(...ruleEntries, ...recordEntries),
  ]);
}

/** A rule whose records change: the stored row, its new body, and the ids that the body lists. */
interface Rescoped {
  readonly before: RuleRow;
  readonly body: string;
  readonly record_ids: readonly number[];
}

/**
 * A rule without the deleted record ids; `null`: it names none of them. A rule that would have no id left is disabled
 * with its list unchanged: a rule limited to records must never become one for the whole zone.
 */
function unscoped(rule: RuleRow, gone: ReadonlySet<number>): Rescoped | null {
  const body = bodyOf(rule);
  const left = body.record_ids.filter((recordId) => !gone.has(recordId));
  const changed = left.length === 0 ? { ...body, enabled: false } : { ...body, record_ids: left };
  const text = JSON.stringify(changed);
  return text === rule.body ? null : { before: rule, body: text, record_ids: changed.record_ids };
}
