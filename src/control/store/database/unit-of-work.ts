/** The rules of a write on either database: what makes it fail, and when it is over. */
import { StoreFault } from '../../../base/storage/fault.ts';
import type { StoreChange, WriteTransaction } from '../store.ts';
import type { Session, SqlValue, WriteSession } from './session.ts';
import { writeTransaction } from './transaction.ts';

/** Milliseconds that a write's work may take: on SQLite every other writer waits, on PostgreSQL those of its domain. */
export const WORK_MS = 15_000;

/** The result of a write's work, and the changes to notify listeners of. */
export interface UnitOfWork<T> {
  readonly result: T;
  readonly changes: ReadonlySet<StoreChange>;
}

/** The database's part of a write. */
interface Connection {
  readonly database: Session['database'];
  readonly locking: boolean;
  /** Runs one statement inside the transaction. */
  readonly run: (sql: string, values: readonly SqlValue[]) => Promise<readonly unknown[]>;
}

/**
 * Runs `work` in the transaction that `connection` has open, and waits for every statement it began. Throws what
 * `work` threw, or the fault of the first statement that failed; then the caller rolls back.
 */
export async function runWork<T>(
  connection: Connection,
  work: (tx: WriteTransaction) => Promise<T>,
): Promise<UnitOfWork<T>> {
  const changes = new Set<StoreChange>();
  const running = new Set<Promise<unknown>>();
  let over = false;
  const session: WriteSession = {
    database: connection.database,
    locking: connection.locking,
    lockedDomains: new Set(),
    manualDomains: new Map(),
    failed: null,
    note: (change) => changes.add(change),
    async run(sql, values) {
      if (over) throw new StoreFault('closed', 'the transaction is over');
      if (session.failed !== null) throw session.failed;
      const statement = connection.run(sql, values);
      running.add(statement);
      try {
        return await statement;
      } catch (error) {
        if (error instanceof StoreFault) session.failed ??= error;
        else session.failed ??= new StoreFault('unavailable', 'a statement has failed', { cause: error });
        throw error;
      } finally {
        running.delete(statement);
      }
    },
  };
  try {
    const result = await withinTime(work(writeTransaction(session)));
    await settled(running);
    if (session.failed !== null) throw session.failed;
    return { result, changes };
  } finally {
    over = true;
    await settled(running);
  }
}

/** Waits for statements that `work` began and did not wait for, and for those they are followed by. */
async function settled(running: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (running.size > 0) {
    await Promise.allSettled(running);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Rejects with `contended` when `work` takes longer than WORK_MS. */
async function withinTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new StoreFault('contended', `a write took longer than ${WORK_MS / 1_000} seconds`));
    }, WORK_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
