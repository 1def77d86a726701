/**
 * The language in which tables are described: columns with their types and history, and tables with keys and indexes. A
 * description has the shape of now, and says of each part that came later with which step. From it follow the rows
 * (`RowOf`), the types of queries (`Queried`) and both databases' DDL (`render.ts`).
 */
import type { ColumnType } from 'kysely';

/** SQL in the words of each database. */
export interface Expression {
  readonly sqlite: string;
  readonly postgres: string;
}

/** The time, milliseconds since the epoch. */
export const NOW: Expression = {
  sqlite: 'unixepoch() * 1000',
  postgres: '(extract(epoch FROM now()) * 1000)::bigint',
};

/** The facts of a column that its DDL is rendered from. */
export interface ColumnFacts {
  /** A flag is stored as 0 or 1 on both databases, so that one set of queries serves both. */
  readonly type: 'integer' | 'flag' | 'text' | 'bytes';
  readonly nullable?: boolean;
  /** The database assigns the value, and none twice. `max`: the highest; `unchecked`: SQLite does not check that. */
  readonly assigned?: { readonly max?: number; readonly unchecked?: boolean };
  /** The primary key is this column. `named`: a second row with the value is a conflict on `<table>.<column>`. */
  readonly key?: 'plain' | 'named';
  /** No two rows have the same value. `until`: the step with which that ends. */
  readonly unique?: { readonly until?: number };
  readonly references?: { readonly table: Table; readonly cascade: boolean };
  /** A literal that rows get which are inserted without a value. */
  readonly preset?: string;
  readonly check?: string;
  /** The step with which the column comes; absent: that of its table. */
  readonly since?: number;
  /** What the rows have that were there before, where no literal can say it. */
  readonly backfill?: Expression;
  /** The name that the column had before a step. */
  readonly was?: { readonly name: string; readonly until: number };
}

/**
 * A column. `Value`: what a row has; `Given`: what an insert gives, `undefined` included where the database has a value of
 * its own. Each method returns the column with one more fact.
 */
export interface TableColumn<Value, Given = Value> {
  readonly facts: ColumnFacts;
  /** Never set: they carry the types. */
  readonly value?: Value;
  readonly given?: Given;
  /** The column may be NULL. */
  nullable(): TableColumn<Value | null, Given | null>;
  /** No two rows have the same value; a second one is a conflict on `<table>.<column>`. */
  unique(until?: number): TableColumn<Value, Given>;
  /** The column is the primary key. */
  key(as?: 'plain' | 'named'): TableColumn<Value, Given>;
  /** The value is a row of another table; with `cascade` the row goes when that one does. */
  references(table: Table, onDelete?: 'cascade'): TableColumn<Value, Given>;
  /** Rows that are inserted without a value get this one. */
  preset(value: number | string): TableColumn<Value, Given | undefined>;
  /** A condition on the value, as SQL. */
  check(condition: string): TableColumn<Value, Given>;
  /** The column comes with a step; rows that were there before have `before`, else NULL. */
  since(step: number, before?: number | string | Expression): TableColumn<Value, Given>;
  /** The column had another name before a step. */
  was(name: string, until: number): TableColumn<Value, Given>;
}

function column<Value, Given = Value>(facts: ColumnFacts): TableColumn<Value, Given> {
  const also = <V, G>(more: Partial<ColumnFacts>): TableColumn<V, G> => column<V, G>({ ...facts, ...more });
  return {
    facts,
    nullable: () => also({ nullable: true }),
    unique: (until) => also({ unique: until === undefined ? {} : { until } }),
    key: (as = 'plain') => also({ key: as }),
    references: (table, onDelete) => also({ references: { table, cascade: onDelete === 'cascade' } }),
    preset: (value) => also({ preset: literal(value) }),
    check: (condition) => also({ check: condition }),
    since(step, before) {
      if (before === undefined) return also({ since: step });
      const filled = typeof before === 'object' ? { backfill: before } : { preset: literal(before) };
      return also({ since: step, ...filled });
    },
    was: (name, until) => also({ was: { name, until } }),
  };
}

/** A number or a text as SQL. */
function literal(value: number | string): string {
  return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;
}

/** The primary key of a table whose rows the database numbers. */
export function id(): TableColumn<number, number | undefined> {
  return column({ type: 'integer', assigned: {} });
}

/** The same with ids below 2³², which the API and plans have. `unchecked`: SQLite does not check it. */
export function shortId(as?: 'unchecked'): TableColumn<number, number | undefined> {
  const max = 2 ** 32 - 1;
  return column({ type: 'integer', assigned: as === undefined ? { max } : { max, unchecked: true } });
}

/** A whole number; 64 bits on both databases. */
export function integer<T extends number = number>(): TableColumn<T> {
  return column({ type: 'integer' });
}

/** Milliseconds since the epoch. */
export function time(): TableColumn<number> {
  return column({ type: 'integer' });
}

/** True or false. */
export function flag(): TableColumn<boolean> {
  return column({ type: 'flag' });
}

/** A text, or one of some. Texts are compared by octets. */
export function text<T extends string = string>(): TableColumn<T> {
  return column({ type: 'text' });
}

/** JSON as text, which the store neither reads nor changes. */
export function json(): TableColumn<string> {
  return column({ type: 'text' });
}

/** Octets. */
export function bytes(): TableColumn<Uint8Array> {
  return column({ type: 'bytes' });
}

/** Columns by name, in the order of the table. */
export type Columns = Readonly<Record<string, TableColumn<unknown, unknown>>>;

/** An index of a table. */
export interface Index<Name extends string = string> {
  readonly on: readonly Name[];
  /** Only rows that this condition holds for. */
  readonly where?: string;
  /** No two of these rows have the same values. */
  readonly unique?: boolean;
  /** Its name on PostgreSQL, where a fault has the `<table>.<column>` of a conflict from it; absent: as on SQLite. */
  readonly conflict?: string;
  /** The step with which it comes; absent: that of its table. */
  readonly since?: number;
}

/** What a table has besides its columns. */
export interface Shape<Name extends string = string> {
  /** The primary key, where it is of several columns. */
  readonly key?: readonly Name[];
  /** The column that was the primary key before a step. */
  readonly keyBefore?: { readonly column: Name; readonly until: number };
  /** Columns of which no two rows have the same values together; a conflict on the first of them. */
  readonly unique?: readonly Name[];
  readonly indexes?: Readonly<Record<string, readonly Name[] | Index<Name>>>;
  /** SQLite stores the rows in the index of the primary key, which suits short rows. */
  readonly withoutRowid?: boolean;
  /** PostgreSQL divides the rows by ranges of this column. The indexes are those of the default partition. */
  readonly partitionedBy?: Name;
  /**
   * On PostgreSQL the table references none, since to create or drop a partition would lock that one; a trigger of the step
   * removes its rows.
   */
  readonly byTrigger?: boolean;
  /** The step that drops the table. */
  readonly until?: number;
}

/** A table, as `table` describes it. */
export interface Table<C extends Columns = Columns> {
  readonly name: string;
  /** The step that creates it. */
  readonly since: number;
  readonly columns: C;
  readonly shape: Shape;
}

/** Describes a table: its name, the step that creates it, its columns, and what it has besides. */
export function table<C extends Columns>(
  name: string,
  since: number,
  columns: C,
  shape: Shape<keyof C & string> = {},
): Table<C> {
  return { name, since, columns, shape };
}

/** A row of a table, with its doc comments. */
export type RowOf<T extends Table> = {
  readonly [Name in keyof T['columns']]: T['columns'][Name] extends TableColumn<infer Value, infer _>
    ? Value
    : never;
};

/** A row as the database returns it: flags are 0 or 1. */
export type StoredRow<R> = { [Name in keyof R]: R[Name] extends boolean ? number : R[Name] };

/** A table as Kysely reads and writes it; flags are 0 or 1, and may be given as they are. */
export type Queried<T extends Table> = {
  readonly [Name in keyof T['columns']]: T['columns'][Name] extends TableColumn<infer Value, infer Given>
    ? QueriedColumn<Value, Given>
    : never;
};

/** A column with its types when it is read, inserted and updated. */
type QueriedColumn<Value, Given> = [Value] extends [boolean]
  ? ColumnType<number, number | Given, number | boolean>
  : undefined extends Given
    ? ColumnType<Value, Given, Value>
    : Value;

/** The names of columns. */
export function namesOf<C extends Columns>(columns: C): readonly (keyof C & string)[] {
  return Object.keys(columns);
}

/** The names of the flags of a table. */
export function flagsOf<T extends Table>(table: T): readonly (keyof RowOf<T> & string)[] {
  return Object.keys(table.columns).filter((name) => table.columns[name]!.facts.type === 'flag');
}
