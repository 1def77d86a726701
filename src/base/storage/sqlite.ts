/**
 * The SQLite of `@photostructure/sqlite`, which has the API of Node's own. Node's own is missing in Node 20, prints a
 * warning up to 24.14, and has the version of SQLite that Node was built with; before 3.51.3 one may damage a database in WAL
 * mode that two connections write to. It is synchronous, so writes, which wait for the disk, run in a thread of their own
 * (`worker.ts`).
 */
import { createRequire } from 'node:module';
import { StoreFault, type StoreFaultCode } from './fault.ts';

/** The part of the driver's API that the store uses. */
export interface Database {
  prepare(sql: string): PreparedStatement;
  exec(sql: string): void;
  close(): void;
}

/** A statement of one connection. All methods run synchronously and throw the driver's errors. */
export interface PreparedStatement {
  all(...values: readonly unknown[]): object[];
  /** The first row. */
  get(...values: readonly unknown[]): object | undefined;
}

/** The module of the driver. */
interface Driver {
  readonly DatabaseSync: new (file: string) => Database;
}

const require = createRequire(import.meta.url);

/** Where the driver can be required from, in this thread or another. */
export const DRIVER: string = require.resolve('@photostructure/sqlite');

/** Opens a database file; creates it if it does not exist. Throws `StoreFault`. */
export function openDatabase(file: string): Database {
  const { DatabaseSync } = loadDriver();
  return faulty(() => new DatabaseSync(file));
}

/** Loads the driver at its first use: it is native code, which PostgreSQL installations do not need. */
function loadDriver(): Driver {
  try {
    return require(DRIVER) as Driver;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `SQLite cannot be loaded here (${reason}); a PostgreSQL database needs none: \`--database postgres://…\``;
    throw new StoreFault('unavailable', message, { cause });
  }
}

/** Runs `work` on SQLite and converts what it throws to a fault. */
export function faulty<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw sqliteFault(error);
  }
}

/** Sentences of SQLite (`sqlite3_errstr`, and the constraint ones): statements report no code on Node 20. */
const SENTENCES: readonly (readonly [RegExp, StoreFaultCode])[] = [
  [/^UNIQUE constraint failed: /, 'conflict'],
  [/^FOREIGN KEY constraint failed/, 'missing'],
  [/database or disk is full/, 'full'],
  [/database (table )?is locked/, 'contended'],
  [/is not a database|malformed/, 'unreadable'],
  [/disk I\/O error|unable to open|readonly database|locking protocol/, 'unavailable'],
];

/** An error of SQLite as a fault; anything else as it is. */
export function sqliteFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreFault) return error;
  const found = SENTENCES.find(([sentence]) => sentence.test(error.message));
  if (found === undefined) return error;
  const [, code] = found;
  const subject = code === 'conflict' ? /: ([\w.]+)/.exec(error.message)?.[1] : undefined;
  const options = subject === undefined ? { cause: error } : { cause: error, subject };
  return new StoreFault(code, explain(code, error.message), options);
}

/** The sentence of a fault: what happened, and what an operator can do about it. */
function explain(code: StoreFaultCode, sentence: string): string {
  if (code === 'full') return 'the disk that holds the data folder is full';
  if (code === 'conflict') return `${sentence.replace(/^.*: /, '')} exists already`;
  if (code === 'missing') return 'a row refers to one that is not there';
  if (code === 'contended') return 'another process is writing to the database';
  return `sqlite: ${sentence}`;
}
