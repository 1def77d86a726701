/** What is printed of the change of any object: its fields before and after. */

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
