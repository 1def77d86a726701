/** Prints an entry of the audit log: who did what and when, then each changed field. */
import { same } from '../../rules/files/print-edge.ts';
import { isMapping } from '../../rules/files/yaml.ts';
import { type RenderedLine, span } from '../../workbench/simulation/render-text.ts';
import { fieldLines } from '../apply/print-changes.ts';

/** An entry of the audit log, as the API returns it. */
export interface AuditLogEntry {
  readonly id: number;
  readonly at: string;
  readonly user_id: number | null;
  readonly user: string | null;
  readonly key_id: number | null;
  readonly action: string;
  readonly subject: string;
  /** The object before the action, or the fields of it that the action concerns; `null`: none. */
  readonly before: unknown;
  /** The same after the action; it may have fields that `before` lacks, and the reverse. */
  readonly after: unknown;
}

/** The lines of one entry: time, author, action and subject, then each changed field. */
export function auditLines(entry: AuditLogEntry): readonly RenderedLine[] {
  const { at, action, subject, before, after } = entry;
  const heading = [
    span(at, 'dim'),
    span(`  ${whoOf(entry)}`),
    span(`  ${action}`, 'strong'),
    span(`  ${subject}`),
  ];
  return [heading, ...changedFields(before, after).flatMap(fieldLines)];
}

/** The author of an entry. */
function whoOf({ user, user_id, key_id }: AuditLogEntry): string {
  if (user_id === null) return 'operator or service';
  const name = user ?? `account ${user_id}`;
  return key_id === null ? name : `${name} (key ${key_id})`;
}

/** Fields that every object has and that the server sets. */
const OWN = ['id', 'domain_id', 'created_at', 'updated_at', 'record_id'];

/** The fields that differ. A list, such as imported records, is one field. */
function changedFields(before: unknown, after: unknown): readonly Parameters<typeof fieldLines>[0][] {
  if (!isMapping(before) && !isMapping(after)) {
    if (before === null && after === null) return [];
    return [{ name: 'entries', before: listOf(before), after: listOf(after) }];
  }
  const [had, has] = [ownFields(before), ownFields(after)];
  const names = [...new Set([...Object.keys(had), ...Object.keys(has)])].filter(
    (name) => !OWN.includes(name),
  );
  const both = isMapping(before) && isMapping(after);
  return (
    names
      .filter((name) => !same(had[name], has[name]))
      // Empty fields of a created or deleted object are left out.
      .filter((name) => both || !isEmpty(had[name] ?? has[name]))
      .map((name) => ({
        name,
        ...(had[name] === undefined ? {} : { before: had[name] }),
        ...(has[name] === undefined ? {} : { after: has[name] }),
      }))
  );
}

/** The fields of an object without those that every object inherits, such as `valueOf`. */
function ownFields(value: unknown): Readonly<Record<string, unknown>> {
  return Object.assign(Object.create(null), isMapping(value) ? value : {});
}

/** The entries of a list, such as imported records, without empty and generated fields. */
function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) return value === null ? [] : [value];
  return value.map((entry) => {
    if (!isMapping(entry)) return entry;
    const shown = Object.entries(entry).filter(([name, own]) => !DATED.includes(name) && !isEmpty(own));
    return shown
      .map(([name, own]) => `${name} ${typeof own === 'string' ? own : JSON.stringify(own)}`)
      .join(', ');
  });
}

/** Generated fields of list entries. */
const DATED = ['domain_id', 'created_at', 'updated_at'];

/** Whether a value carries no information. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || ['""', '[]', '{}'].includes(JSON.stringify(value));
}
