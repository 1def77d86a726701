/** Deletes records and removes their ids from every rule that names them (semantics §2). */

import type { RecordRow, RuleRow } from '../../store/rows.ts';
import type { Writing } from '../operation/route.ts';
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
