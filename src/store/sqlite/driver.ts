/**
 * Which SQLite: Node's own where it exists (22.5 on), else `@photostructure/sqlite`, which is the same API on Node 20.
 * Both are synchronous, so writes, which wait for the disk, run in a thread of their own (`worker.ts`).
 */
import { createRequire } from 'node:module';
import { StoreFault, type StoreFaultCode } from '../fault.ts';

/** As much of the API as the store uses. */
export interface Database {
  prepare(sql: string): PreparedStatement;
  exec(sql: string): void;
  close(): void;
}

export interface PreparedStatement {
  all(...values: readonly unknown[]): object[];
  /** The first row. */
  get(...values: readonly unknown[]): object | undefined;
}

interface Driver {
  readonly DatabaseSync: new (file: string) => Database;
}

const require = createRequire(import.meta.url);

/** Where the driver can be required from, in this thread or another. */
export const DRIVER: string =
  process.getBuiltinModule('node:sqlite') === undefined
    ? require.resolve('@photostructure/sqlite')
    : 'node:sqlite';

/** Opens a database file, making it if need be. Throws `StoreFault`. */
export function openDatabase(file: string): Database {
  const driver = require(DRIVER) as Driver;
  return faulty(() => new driver.DatabaseSync(file));
}

/** Runs something on SQLite and turns what it throws into a fault. */
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

function explain(code: StoreFaultCode, sentence: string): string {
  if (code === 'full') return 'the disk that holds the data folder is full';
  if (code === 'conflict') return `${sentence.replace(/^.*: /, '')} exists already`;
  if (code === 'missing') return 'a row refers to one that is not there';
  if (code === 'contended') return 'another process is writing to the database';
  return `sqlite: ${sentence}`;
}
