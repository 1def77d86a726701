/**
 * The transactions of a store on either database: the repositories over one session, what makes a write fail, and when
 * it is over.
 */
import { isStoreFault, StoreFault } from '../../../base/storage/fault.ts';
import { READS, WRITES } from '../repositories/all.ts';
import type { ReadTransaction, Store, WriteTransaction } from '../store.ts';
import { attempt } from './lock-domain.ts';
import type { Session, SqlValue, StoreChange, WriteSession } from './statement.ts';

/**
 * The repositories of one session. Each is made at its first use: a transaction uses three or four of them, and
 * most transactions are a few microseconds long.
 */
class Nouns {
  readonly #session: Session;
  constructor(session: Session) {
    this.#session = session;
  }
  /** Gives the instances of a prototype a repository under a name. */
  static add(prototype: Nouns, name: string, make: (session: Session) => object): void {
    Object.defineProperty(prototype, name, {
      get(this: Nouns) {
        const value = make(this.#session);
        Object.defineProperty(this, name, { value });
        return value;
      },
    });
  }
  static {
    for (const [name, reads] of Object.entries(READS)) Nouns.add(Nouns.prototype, name, reads);
  }
}

/** The same for a writing session, with `attempt`. */
class WritingNouns extends Nouns {
  readonly attempt: WriteTransaction['attempt'];
  constructor(session: WriteSession) {
    super(session);
    this.attempt = (work) => attempt(session, work);
  }
  static {
    for (const [name, writes] of Object.entries(WRITES)) {
      const reads = READS[name as keyof typeof READS];
      Nouns.add(WritingNouns.prototype, name, (session) => ({ ...reads(session), ...writes(session) }));
    }
  }
}

/** The repositories of a reading session. */
export function readTransaction(session: Session): ReadTransaction {
  return new Nouns(session) as object as ReadTransaction;
}

/** The repositories of a writing session. */
function writeTransaction(session: WriteSession): WriteTransaction {
  return new WritingNouns(session) as object as WriteTransaction;
}

// The rules of a write on either database: what makes it fail, and when it is over.

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

// Makes `ping` fail while the disk is full: an empty transaction commits even then. After a write that failed for lack of
// room, or because of the disk, `ping` makes a small write until one succeeds.

/** The store with that `ping`; all else is unchanged. */
export function watchDiskSpace(store: Store): Store {
  let failed = false;
  return {
    ...store,
    async write(work, options) {
      try {
        return await store.write(work, options);
      } catch (error) {
        failed ||= isStoreFault(error, 'full') || isStoreFault(error, 'unavailable');
        throw error;
      }
    },
    async ping() {
      await store.ping();
      if (!failed) return;
      await store.write((tx) => tx.plans.rewritePosition());
      failed = false;
    },
  };
}

// The listeners of commits.

/** Adds listeners and calls all of them. */
export interface CommitListeners {
  add(listener: (change: StoreChange) => void): () => void;
  emit(change: StoreChange): void;
  readonly size: number;
}

/** `onFirst` runs when the first listener is added, `onLast` when the last one is removed. */
export function createListeners(onFirst: () => void, onLast: () => void): CommitListeners {
  const listeners = new Set<(change: StoreChange) => void>();
  return {
    get size() {
      return listeners.size;
    },
    add(listener) {
      // Wrapped, so that the same function listens as often as it was given.
      const own = (change: StoreChange): void => listener(change);
      listeners.add(own);
      if (listeners.size === 1) onFirst();
      return () => {
        if (listeners.delete(own) && listeners.size === 0) onLast();
      };
    },
    emit(change) {
      for (const listener of [...listeners]) listener(change);
    },
  };
}
