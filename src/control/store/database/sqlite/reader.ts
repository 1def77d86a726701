/**
 * Reads, on the calling thread: in WAL mode they never wait for the writer, and one row takes less time than a message to
 * another thread.
 */
import { StoreFault } from '../../../../base/storage/fault.ts';
import {
  type Database,
  openDatabase,
  type PreparedStatement,
  sqliteFault,
} from '../../../../base/storage/sqlite.ts';
import type { ReadTransaction } from '../../store.ts';
import type { Recall, Session, SqlValue } from '../statement.ts';
import { readTransaction } from '../transaction.ts';
import { settle } from './settings.ts';

/** Snapshots open at once; further ones are queued. Each costs a connection, some 100 KiB. */
const MAX_SNAPSHOTS = 8;
/** Prepared statements that are cached per connection. */
const MAX_STATEMENTS = 500;
/** Results that are cached between two commits, about a KiB each. */
const MAX_RECALLED = 4_096;

/** The reading half of a store. */
export interface SqliteReader {
  readonly latest: ReadTransaction;
  /** See `Store`. */
  readonly looked: ReadTransaction;
  read<T>(work: (tx: ReadTransaction) => Promise<T>): Promise<T>;
  /** See `Store`. */
  version(): number | null;
  /** Waits for open snapshots. */
  close(): Promise<void>;
}

/** A reading connection with its prepared statements. */
interface Connection {
  run(sql: string, values: readonly SqlValue[]): object[];
  /** Changes with every commit that is not this connection's own, whichever thread or process made it. */
  version(): number;
  close(): void;
}

/** Opens the connection of `latest`; those of snapshots are opened at need. Throws `StoreFault`. */
export function createReader(file: string): SqliteReader {
  const idle: Connection[] = [];
  const waiting: (() => void)[] = [];
  let open = 0;
  let closed = false;
  const direct = connect(file);
  const live = (): Connection | null => (closed ? null : direct);
  const memory = createMemory();
  const session = readSession(live);

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
    latest: readTransaction({
      ...session,
      recall(question, ask) {
        const connection = live();
        if (connection === null) return ask();
        memory.look(connection);
        return memory.recall(question, ask);
      },
    }),
    looked: readTransaction({
      ...session,
      recall: (question, ask) => (closed ? ask() : memory.recall(question, ask)),
    }),
    version() {
      const connection = live();
      try {
        return connection === null ? null : memory.look(connection);
      } catch {
        // A read that follows throws the fault.
        return null;
      }
    },
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

/** A session over a connection, until it is closed. */
function readSession(connection: () => Connection | null): Session {
  return {
    database: 'sqlite',
    locking: false,
    lockedDomains: new Set(),
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

/** The cache of results between commits. */
interface Memory {
  /**
   * Clears the cache if there was a commit since the last call, and returns the version. If the version cannot be
   * read, clears the cache as well and throws.
   */
  look(connection: Connection): number;
  /** Returns results as of the last `look`, or later ones. */
  readonly recall: Recall;
}

/**
 * Caches results until the next commit. Checking for a commit takes 2.5 µs, reading a key 6 µs, a domain and a role there
 * 18 µs, and every request reads all of them.
 */
function createMemory(): Memory {
  const answers = new Map<string, Promise<unknown>>();
  let version: number | undefined;
  return {
    look(connection) {
      const before = version;
      version = undefined;
      try {
        // Reading connections commit nothing, so no commit is missed.
        version = connection.version();
        return version;
      } finally {
        if (version !== before) answers.clear();
      }
    },
    // INVARIANT: the version is read before the rows, so a result is never older than the version it is cached under.
    recall<T>(question: string, ask: () => Promise<T>): Promise<T> {
      const known = answers.get(question);
      if (known !== undefined) return known as Promise<T>;
      if (answers.size >= MAX_RECALLED) answers.clear();
      const answer = ask();
      answers.set(question, answer);
      answer.catch(() => answers.delete(question));
      return answer;
    },
  };
}

function connect(file: string): Connection {
  const database: Database = openDatabase(file);
  settle(database);
  database.exec('PRAGMA query_only=ON');
  const statements = new Map<string, PreparedStatement>();
  const version = database.prepare('PRAGMA data_version');
  return {
    version() {
      try {
        return (version.get() as { readonly data_version: number }).data_version;
      } catch (error) {
        throw sqliteFault(error);
      }
    },
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
