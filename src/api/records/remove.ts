/** Deletes records, and takes them out of every rule that names them (semantics §2). */
import type { RecordRow, RuleRow } from '../../store/rows.ts';
import type { Writing } from '../route.ts';
import { bodyOf, showRule } from '../rules/show.ts';
import { showRecord } from './shape.ts';

/** Deletes records that are there, with one audit entry for each of them and for each rule that loses them. */
export async function removeRecords(w: Writing, rows: readonly RecordRow[]): Promise<void> {
  if (rows.length === 0) return;
  const { domain, tx } = w;
  const ids = rows.map(({ id }) => id);
  const rules = await tx.rules.naming(domain.id, ids);
  await tx.records.remove(domain.id, ids);
  const gone = new Set(ids);
  for (const rule of rules) await unscope(w, rule, gone);
  for (const row of rows) {
    await w.audit({ action: 'record.delete', subject: `record/${row.id}`, before: showRecord(row) });
  }
}

/**
 * Takes record ids off a rule. One that would have none left is disabled instead and keeps its list: a scoped rule
 * never turns zone-wide by itself.
 */
async function unscope(w: Writing, rule: RuleRow, gone: ReadonlySet<number>): Promise<void> {
  const { domain_id, id, priority, type } = rule;
  const body = bodyOf(rule);
  const left = body.record_ids.filter((recordId) => !gone.has(recordId));
  const changed = left.length === 0 ? { ...body, enabled: false } : { ...body, record_ids: left };
  const text = JSON.stringify(changed);
  if (text === rule.body) return;
  const { record_ids } = changed;
  const write = { priority, body: text, record_ids, updated_at: w.now };
  const after = await w.tx.rules.update({ domain_id, type, id }, write);
  if (after === null) return;
  const subject = `${type}/${id}`;
  await w.audit({ action: 'rule.update', subject, before: showRule(rule), after: showRule(after) });
}
