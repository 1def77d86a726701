/**
 * Statements: built once with Kysely, run many times. Building a query with Kysely costs more than running it on
 * SQLite, so each is compiled on first use, once per database, with holes where its parameters go.
 */
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresQueryCompiler,
  type RawBuilder,
  SqliteAdapter,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { StoreFault } from '../../../base/storage/fault.ts';
import type { Tables } from '../tables/all.ts';

/** A page of a list from the newest down: those with an id (or revision) below `before`, at most `limit`. */
export interface PageBack {
  readonly before?: number;
  readonly limit: number;
}

/** Runs with these parameters and returns all rows. */
export type Statement<P extends object, Row> = (session: Session, parameters: P) => Promise<readonly Row[]>;

/** What a statement is built for. */
export interface Flavour {
  readonly database: 'sqlite' | 'postgres';
  /** Reads lock what they read. */
  readonly locking: boolean;
}

/** Kysely over the tables, without a connection: it only builds SQL. */
export type Builder = Kysely<Tables>;

/** What Kysely compiles: a query, or raw SQL. */
interface Compilable<Row> {
  compile(): CompiledQuery<Row>;
}

/** A placeholder for a parameter. */
class Hole {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A compiled statement: its text, and its parameters with the holes. */
interface Compiled {
  readonly sql: string;
  readonly slots: readonly unknown[];
}

/** One builder per database, whose dialects differ. */
const builders: Readonly<Record<Session['database'], Builder>> = {
  sqlite: new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: () => introspectsNothing(),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  }),
  postgres: new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: () => introspectsNothing(),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }),
};

/** The part of a Kysely dialect that these builders never use. */
function introspectsNothing(): never {
  throw new Error('bug: the store never introspects');
}

/**
 * A statement whose text does not depend on its parameters. `build` gets a hole in place of each parameter: it may use
 * them wherever SQL takes a value, but must not inspect them.
 */
export function statement<P extends object, Row>(
  build: (builder: Builder, holes: P, flavour: Flavour) => Compilable<Row>,
): Statement<P, Row> {
  const compiled = new Map<string, Compiled>();
  const holes = new Proxy({}, { get: (_, name) => new Hole(String(name)) }) as P;
  return async (session, parameters) => {
    const flavour = session.database === 'sqlite' ? 'sqlite' : session.locking ? 'locking' : 'postgres';
    let found = compiled.get(flavour);
    if (found === undefined) {
      const query = build(builders[session.database], holes, session).compile();
      found = { sql: query.sql, slots: query.parameters };
      compiled.set(flavour, found);
    }
    const given = parameters as Readonly<Record<string, unknown>>;
    const values = found.slots.map((slot) => bind(slot instanceof Hole ? given[slot.name] : slot));
    return (await session.run(found.sql, values)) as readonly Row[];
  };
}

/** A statement whose text depends on its parameters; compiled each time. */
export function freeStatement<P extends object, Row>(
  build: (builder: Builder, parameters: P, flavour: Flavour) => Compilable<Row>,
): Statement<P, Row> {
  return async (session, parameters) => {
    const query = build(builders[session.database], parameters, session).compile();
    return (await session.run(query.sql, query.parameters.map(bind))) as readonly Row[];
  };
}

/** Runs a statement and returns its only row, or `null`. */
export async function one<P extends object, Row>(
  session: Session,
  statement: Statement<P, Row>,
  parameters: P,
): Promise<Row | null> {
  const rows = await statement(session, parameters);
  return rows[0] ?? null;
}

/** Makes a hand-written query a statement's body. */
export function raw<Row>(query: RawBuilder<Row>, builder: Builder): Compilable<Row> {
  return { compile: () => query.compile(builder) };
}

/** A list of ids as one parameter, holding a JSON array, so that the text stays the same whatever their number. */
export function idsIn(json: string, flavour: Flavour): RawBuilder<number> {
  return flavour.database === 'sqlite'
    ? sql<number>`(select value from json_each(${json}))`
    : sql<number>`(select value::bigint from json_array_elements_text(${json}::json))`;
}

/** A list of texts as one parameter, a JSON array. */
export function textsIn(json: string, flavour: Flavour): RawBuilder<string> {
  return flavour.database === 'sqlite'
    ? sql<string>`(select value from json_each(${json}))`
    : sql<string>`(select value from json_array_elements_text(${json}::json))`;
}

/** Columns of rows that one parameter holds. */
export type ListedColumns = Readonly<Record<string, 'bigint' | 'text'>>;

/**
 * Rows as one parameter (`listedRows`), in their order, so that one statement writes any number of them and its text
 * stays the same.
 */
export function listed(rows: string, columns: ListedColumns, { database }: Flavour): RawBuilder<unknown> {
  const names = Object.keys(columns);
  if (database === 'sqlite') {
    const values = names.map((name) => sql`value ->> ${sql.lit(name)} as ${sql.ref(name)}`);
    return sql`select ${sql.join(values)} from json_each(${rows}) order by key`;
  }
  const typed = names.map((name) => sql`${sql.ref(name)} ${sql.raw(columns[name]!)}`);
  const all = sql.join(names.map((name) => sql.ref(name)));
  return sql`select ${all} from rows from (json_to_recordset(${rows}::json) as (${sql.join(typed)}))
    with ordinality as rows_in_order (${all}, place) order by place`;
}

/** The parameter of `listed`: the named columns of rows. */
export function listedRows<Row extends object>(rows: readonly Row[], columns: ListedColumns): string {
  const names = Object.keys(columns);
  return JSON.stringify(
    rows.map((row) => {
      const given = row as Readonly<Record<string, unknown>>;
      return Object.fromEntries(names.map((name) => [name, bind(given[name])]));
    }),
  );
}

/** Converts and checks a parameter; every value that enters a database passes here. */
function bind(value: unknown): SqlValue {
  switch (typeof value) {
    case 'string':
      if (value.includes('\0') || !value.isWellFormed()) {
        const message = 'a text holds NUL or a lone surrogate, which no database keeps';
        throw new StoreFault('text', message);
      }
      return value;
    case 'number':
      if (!Number.isSafeInteger(value)) throw new Error(`bug: ${value} is not a whole number`);
      return value;
    case 'boolean':
      return value ? 1 : 0;
    default:
      if (value === null || value instanceof Uint8Array) return value;
      throw new Error(`bug: a ${typeof value} cannot be stored`);
  }
}

/** Turns the named fields from 0 or 1 into flags. Changes the row in place: it has just come from the database. */
export function flags<Row>(...names: readonly (keyof Row & string)[]): (stored: object) => Row {
  return (stored) => {
    const row = stored as Record<string, unknown>;
    for (const name of names) row[name] = row[name] === 1;
    return stored as Row;
  };
}

/** A whole number in a place whose type PostgreSQL cannot infer, such as a selected value. */
export function int(value: number): RawBuilder<number> {
  return sql<number>`cast(${value} as bigint)`;
}

// The session that statements run in: one transaction (or none) on one database.

/**
 * - `outbox` a publisher has work
 * - `manifest` the manifest has a new position
 * - `zones` a zone must be made again
 * - `certificates` a certificate is to be obtained
 * - `keys` a key, node token or account was made, changed or revoked
 * - `unknown` commits may have been missed: read everything again
 */
export type StoreChange = 'outbox' | 'manifest' | 'zones' | 'certificates' | 'keys' | 'unknown';

/** What a parameter may be once flags have become 0 or 1. */
export type SqlValue = string | number | null | Uint8Array;

/** Runs statements. Repositories are made over one. */
export interface Session {
  readonly database: 'sqlite' | 'postgres';
  /** Whether reads must lock what they read: a write on PostgreSQL. SQLite has one writer, which locks everything. */
  readonly locking: boolean;
  /** Domains locked so far. */
  readonly lockedDomains: Set<number>;
  /** Whether domains that were read publish by hand, so that a write of rules need not ask again. Absent: a reading session. */
  readonly manualDomains?: Map<number, boolean>;
  /** Runs one statement and returns its rows. Throws `StoreFault`. */
  run(sql: string, values: readonly SqlValue[]): Promise<readonly unknown[]>;
  /** Adds a change that listeners are notified of after the commit. */
  note(change: StoreChange): void;
  /**
   * Returns the cached result of a query as long as no process has committed since. Absent if detecting commits costs
   * as much as the query.
   */
  readonly recall?: Recall;
}

/** `question` is the cache key of a query; its result must not be changed by the caller. */
export type Recall = <T>(question: string, ask: () => Promise<T>) => Promise<T>;

/** Runs a query, or returns its cached result if the session caches. */
export function recalled<T>(
  { recall }: Pick<Session, 'recall'>,
  question: string,
  ask: () => Promise<T>,
): Promise<T> {
  return recall === undefined ? ask() : recall(question, ask);
}

/** A session whose transaction can be undone in part; `failed` is what has failed it, if anything. */
export interface WriteSession extends Session {
  failed: StoreFault | null;
}
