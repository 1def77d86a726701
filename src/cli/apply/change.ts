/** What is printed of the change of any object: its fields before and after. */
import { same } from '../../rules/files/print-edge.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A field that changes. */
export interface FieldChange {
  readonly name: string;
  /** The value before; absent for a new object, and where there was no such field. */
  readonly before?: unknown;
  /** The value after; absent for a deleted object, and where there is no such field. */
  readonly after?: unknown;
}

/** What is printed of a change. */
export interface ChangeSummary {
  readonly verb: 'create' | 'update' | 'delete';
  /** The object, for messages: `record shop A`, `rule drop/41`. */
  readonly title: string;
  readonly fields: readonly FieldChange[];
}

/** The fields that differ, of those with these names. */
export function differences(before: Fields, after: Fields, names: readonly string[]): readonly FieldChange[] {
  return names
    .filter((name) => !same(before[name], after[name]))
    .map((name) => ({
      name,
      // A rule without conditions has no such field.
      ...(before[name] === undefined ? {} : { before: before[name] }),
      ...(after[name] === undefined ? {} : { after: after[name] }),
    }));
}

/** All fields of a new object. */
export function created(fields: Fields): readonly FieldChange[] {
  return Object.entries(fields).map(([name, after]) => ({ name, after }));
}

/** All fields of a deleted object. */
export function removed(fields: Fields): readonly FieldChange[] {
  return Object.entries(fields).map(([name, before]) => ({ name, before }));
}
