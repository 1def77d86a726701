/**
 * Reads, on the calling thread: with the log in front of the file they never wait for the writer, and one row takes
 * less time than a message to another thread would.
 */
import { StoreFault } from '../fault.ts';
import type { Session, Value } from '../session.ts';
import type { ReadTransaction } from '../store.ts';
import { readTransaction } from '../transaction.ts';
import { type Database, openDatabase, type PreparedStatement, sqliteFault } from './driver.ts';
import { settle } from './settings.ts';

/** Snapshots open at once; more wait their turn. Each costs a connection, some 100 KiB. */
const MAX_SNAPSHOTS = 8;
/** Statements a connection keeps prepared. */
const MAX_STATEMENTS = 500;

export interface Reader {
  readonly latest: ReadTransaction;
  read<T>(work: (tx: ReadTransaction) => Promise<T>): Promise<T>;
  /** Waits for open snapshots. */
  close(): Promise<void>;
}

interface Connection {
  run(sql: string, values: readonly Value[]): object[];
  close(): void;
}

export function createReader(file: string): Reader {
  const idle: Connection[] = [];
  const waiting: (() => void)[] = [];
  let open = 0;
  let closed = false;
  const direct = connect(file);

  async function take(): Promise<Connection> {
    while (!closed) {
      const connection = idle.pop();
      if (connection !== undefined) return connection;
      if (open < MAX_SNAPSHOTS) {
        open += 1;
        return connect(file);
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    throw new StoreFault('closed', 'the store is closed');
  }
  function giveBack(connection: Connection): void {
    if (closed) {
      connection.close();
      open -= 1;
    } else idle.push(connection);
    waiting.shift()?.();
  }

  return {
    latest: readTransaction(readSession(() => (closed ? null : direct))),
    async read(work) {
      const connection = await take();
      let live: Connection | null = connection;
      try {
        connection.run('BEGIN', []);
        return await work(readTransaction(readSession(() => live)));
      } finally {
        live = null;
        connection.run('COMMIT', []);
        giveBack(connection);
      }
    },
    async close() {
      closed = true;
      for (const wake of waiting.splice(0)) wake();
      for (const connection of idle.splice(0)) {
        connection.close();
        open -= 1;
      }
      while (open > 0) await new Promise<void>((resolve) => waiting.push(resolve));
      direct.close();
    },
  };
}

/** A session over a connection, as long as it is there. */
function readSession(connection: () => Connection | null): Session {
  return {
    database: 'sqlite',
    locking: false,
    held: new Set(),
    note() {
      throw new Error('bug: a write in a read transaction');
    },
    async run(sql, values) {
      const live = connection();
      if (live === null) throw new StoreFault('closed', 'the transaction is over');
      return live.run(sql, values);
    },
  };
}

function connect(file: string): Connection {
  const database: Database = openDatabase(file);
  settle(database);
  database.exec('PRAGMA query_only=ON');
  const statements = new Map<string, PreparedStatement>();
  return {
    run(sql, values) {
      try {
        let statement = statements.get(sql);
        if (statement === undefined) {
          statement = database.prepare(sql);
          if (statements.size < MAX_STATEMENTS) statements.set(sql, statement);
        }
        return statement.all(...values);
      } catch (error) {
        throw sqliteFault(error);
      }
    },
    close() {
      statements.clear();
      database.close();
    },
  };
}
