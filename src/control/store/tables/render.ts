/**
 * DDL: the statements with which a step makes or changes a table, in the words of either database. In: a table as
 * `describe.ts` has it, and the number of a step. Out: SQL. Texts compare by octets on both: PostgreSQL says so
 * (`COLLATE "C"`), and names its unique constraints `<table>.<column>`, which is the subject of a fault.
 */
import type { ColumnFacts, Expression, Index, Table } from './describe.ts';

/** A database, as its DDL is named after it. */
export type Dialect = keyof Expression;

/** A table at a step. */
interface At {
  readonly table: Table;
  readonly step: number;
  readonly database: Dialect;
}

const TYPES: Readonly<Record<Dialect, Readonly<Record<ColumnFacts['type'], string>>>> = {
  sqlite: { integer: 'INTEGER', flag: 'INTEGER', text: 'TEXT', bytes: 'BLOB' },
  postgres: { integer: 'bigint', flag: 'smallint', text: 'text COLLATE "C"', bytes: 'bytea' },
};

/** The statements with which a step creates or changes a table; none if it does neither. */
export function changesOf(table: Table, step: number, database: Dialect): readonly string[] {
  const at = { table, step, database };
  if (table.since === step) return [...creation(at, table.name), ...indexes(at)];
  if (table.since > step || (table.shape.until ?? step) < step) return [];
  if (database === 'sqlite' && (losesUnique(at).length > 0 || changesKey(at))) return rebuilding(at);
  return [...renaming(at), ...adding(at), ...constraining(at), ...indexes(at)];
}

/** The statements with which a step drops a table, after all else. */
export function dropsOf(table: Table, step: number): readonly string[] {
  return table.shape.until === step ? [`DROP TABLE ${table.name}`] : [];
}

/** Creates the table as it is at the step, under a name. */
function creation(at: At, name: string): readonly string[] {
  const { table, database } = at;
  const { unique, withoutRowid, partitionedBy } = table.shape;
  const key = keyAt(at);
  const lines = columnsAt(at).map((column) => definition(at, column));
  if (key !== null) lines.push(`PRIMARY KEY (${key.join(', ')})`);
  if (unique !== undefined) {
    const named = database === 'postgres' ? `CONSTRAINT "${table.name}.${unique[0]}" ` : '';
    lines.push(`${named}UNIQUE (${unique.join(', ')})`);
  }
  const body = `CREATE TABLE ${name} (\n  ${lines.join(',\n  ')}\n)`;
  if (database === 'sqlite') {
    const stored = withoutRowid === true && !hasKeyBefore(at) ? ', WITHOUT ROWID' : '';
    return [`${body} STRICT${stored}`];
  }
  if (partitionedBy === undefined) return [body];
  return [
    `${body} PARTITION BY RANGE (${partitionedBy})`,
    `CREATE TABLE IF NOT EXISTS ${name}_default PARTITION OF ${name} DEFAULT`,
  ];
}

/** The names of the columns at the step, those that came later at the end. */
function columnsAt({ table, step }: At): readonly string[] {
  const since = (name: string): number => table.columns[name]!.facts.since ?? table.since;
  return Object.keys(table.columns)
    .filter((name) => since(name) <= step)
    .sort((one, other) => since(one) - since(other));
}

/** A column's name and definition. */
function definition(at: At, name: string): string {
  const { table, step, database } = at;
  const { facts } = table.columns[name]!;
  const key = hasKeyBefore(at) && table.shape.keyBefore?.column === name ? 'plain' : facts.key;
  const words = [nameAt(at, name), TYPES[database][facts.type]];
  if (facts.assigned !== undefined) return [...words, ...assignment(facts.assigned, at)].join(' ');
  if (facts.nullable !== true && key !== 'plain') words.push('NOT NULL');
  const unique = facts.unique !== undefined && step < (facts.unique.until ?? Number.POSITIVE_INFINITY);
  if (database === 'postgres' && (unique || key === 'named'))
    words.push(`CONSTRAINT "${table.name}.${name}"`);
  if (key !== undefined) words.push('PRIMARY KEY');
  if (unique) words.push('UNIQUE');
  if (facts.preset !== undefined) words.push(`DEFAULT ${facts.preset}`);
  else if (database === 'postgres' && facts.backfill !== undefined && facts.since === step)
    words.push(`DEFAULT ${facts.backfill.postgres}`);
  const free = database === 'postgres' && table.shape.byTrigger === true;
  if (facts.references !== undefined && !free) {
    words.push(`REFERENCES ${facts.references.table.name}`);
    if (facts.references.cascade) words.push('ON DELETE CASCADE');
  }
  if (facts.check !== undefined) words.push(`CHECK (${facts.check})`);
  return words.join(' ');
}

/** The rest of the definition of a column whose values the database assigns. */
function assignment(
  { max, unchecked = false }: NonNullable<ColumnFacts['assigned']>,
  { database }: At,
): readonly string[] {
  if (database === 'postgres') {
    const most = max === undefined ? '' : ` (MAXVALUE ${max})`;
    return [`GENERATED ALWAYS AS IDENTITY${most}`, 'PRIMARY KEY'];
  }
  const check = max === undefined || unchecked ? [] : [`CHECK (id <= ${max})`];
  return ['PRIMARY KEY', 'AUTOINCREMENT', ...check];
}

/** The name of a column at the step. */
function nameAt({ table, step }: At, name: string): string {
  const { was } = table.columns[name]!.facts;
  return was !== undefined && step < was.until ? was.name : name;
}

/** The columns of the primary key at the step; `null`: a column has it in its definition. */
function keyAt(at: At): readonly string[] | null {
  return hasKeyBefore(at) ? null : (at.table.shape.key ?? null);
}

/** Whether the primary key at the step is the column that was it before. */
function hasKeyBefore({ table, step }: At): boolean {
  return step < (table.shape.keyBefore?.until ?? 0);
}

/** The columns whose values may be the same in two rows from the step on. */
function losesUnique({ table, step }: At): readonly string[] {
  return Object.keys(table.columns).filter((name) => table.columns[name]!.facts.unique?.until === step);
}

/** Whether the primary key is another one from the step on. */
function changesKey({ table, step }: At): boolean {
  return table.shape.keyBefore?.until === step;
}

/** The names of the columns that come with the step, into a table that is there. */
function newColumns({ table, step }: At): readonly string[] {
  return Object.keys(table.columns).filter((name) => table.columns[name]!.facts.since === step);
}

function renaming({ table, step }: At): readonly string[] {
  return Object.entries(table.columns).flatMap(
    ([
      name,
      {
        facts: { was },
      },
    ]) => (was?.until === step ? [`ALTER TABLE ${table.name} RENAME COLUMN ${was.name} TO ${name}`] : []),
  );
}

function adding(at: At): readonly string[] {
  const { table } = at;
  return newColumns(at).flatMap((name) => [
    `ALTER TABLE ${table.name} ADD COLUMN ${definition(at, name)}`,
    ...(table.columns[name]!.facts.backfill === undefined
      ? []
      : [`ALTER TABLE ${table.name} ALTER COLUMN ${name} DROP DEFAULT`]),
  ]);
}

/** PostgreSQL: drops and adds constraints. */
function constraining(at: At): readonly string[] {
  const { table } = at;
  const alter = `ALTER TABLE ${table.name}`;
  const dropped = losesUnique(at).map((name) => `${alter} DROP CONSTRAINT "${table.name}.${name}"`);
  if (!changesKey(at)) return dropped;
  return [
    ...dropped,
    `${alter} DROP CONSTRAINT ${table.name}_pkey`,
    `${alter} ADD PRIMARY KEY (${keyAt(at)!.join(', ')})`,
  ];
}

/**
 * SQLite, which cannot drop a constraint: creates the table again, with the rows and the next id of the old one, and all its
 * indexes.
 */
function rebuilding(at: At): readonly string[] {
  const { table } = at;
  const [name, next] = [table.name, `${table.name}_next`];
  const values = columnsAt(at).map((column) => {
    const { since, backfill } = table.columns[column]!.facts;
    return since === at.step ? (backfill?.sqlite ?? 'NULL') : column;
  });
  const assigned = Object.values(table.columns).some(({ facts }) => facts.assigned !== undefined);
  const ids = [
    `DELETE FROM sqlite_sequence WHERE name = '${next}'`,
    `INSERT INTO sqlite_sequence (name, seq) SELECT '${next}', seq FROM sqlite_sequence WHERE name = '${name}'`,
  ];
  return [
    ...creation(at, next),
    `INSERT INTO ${next} SELECT ${values.join(', ')} FROM ${name}`,
    ...(assigned ? ids : []),
    `DROP TABLE ${name}`,
    `ALTER TABLE ${next} RENAME TO ${name}`,
    ...indexesOf(at, ({ since = table.since }) => since <= at.step),
  ];
}

/** The indexes that come with the step. */
function indexes(at: At): readonly string[] {
  return indexesOf(at, ({ since = at.table.since }) => since === at.step);
}

/** The statements that create those indexes which `among` selects. */
function indexesOf(at: At, among: (index: Index) => boolean): readonly string[] {
  const { table, database } = at;
  const split = database === 'postgres' && table.shape.partitionedBy !== undefined;
  const on = split ? `${table.name}_default` : table.name;
  return Object.entries(table.shape.indexes ?? {}).flatMap(([name, given]) => {
    const index: Index = 'on' in given ? given : { on: given };
    if (!among(index)) return [];
    const known = database === 'postgres' ? (index.conflict ?? name.replace(table.name, on)) : name;
    const unique = index.unique === true ? 'UNIQUE ' : '';
    const where = index.where === undefined ? '' : ` WHERE ${index.where}`;
    const columns = index.on.map((column) => nameAt(at, column)).join(', ');
    return [`CREATE ${unique}INDEX ${quoted(known)} ON ${on} (${columns})${where}`];
  });
}

/** A name as SQL: those of constraints have dots. */
function quoted(name: string): string {
  return /^\w+$/.test(name) ? name : `"${name}"`;
}
