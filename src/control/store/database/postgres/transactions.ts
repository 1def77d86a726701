/**
 * Transactions on PostgreSQL. Reads are snapshots (REPEATABLE READ). Writes are READ COMMITTED and lock what they read
 * (`control/store/database/lock-domain.ts`): every write that names a domain locks its row, so such writes run one after the other, each seeing all
 * that was committed before. SERIALIZABLE was the other choice; it lets a write commit after the revocation of its key
 * was answered, and on small tables it fails writes of different domains against each other.
 */
import type pg from 'pg';
import { isStoreFault, StoreFault } from '../../../../base/storage/fault.ts';
import type { ReadTransaction, WriteOptions, WriteTransaction } from '../../store.ts';
import type { Session, StoreChange } from '../statement.ts';
import { readTransaction, runWork, type UnitOfWork } from '../transaction.ts';
import { isWorthRetrying, postgresFault, runOn } from './pool.ts';

/** How often a write that deadlocks undo is run in all. */
const ATTEMPTS = 6;

/** A session that reads through `run`; closed once that returns `null`. */
export function readSession(run: () => Session['run'] | null): Session {
  return {
    database: 'postgres',
    locking: false,
    lockedDomains: new Set(),
    note() {
      throw new Error('bug: a write in a read transaction');
    },
    async run(sql, values) {
      const live = run();
      if (live === null) throw new StoreFault('closed', 'the transaction is over');
      return live(sql, values);
    },
  };
}

/** Reads from one snapshot (REPEATABLE READ, read only). */
export async function readOn<T>(pool: pg.Pool, work: (tx: ReadTransaction) => Promise<T>): Promise<T> {
  return withClient(pool, async (loan) => {
    let live: Session['run'] | null = inTurn(loan);
    await runOn(loan.client, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', []);
    try {
      return await work(readTransaction(readSession(() => live)));
    } finally {
      live = null;
      await rollback(loan);
    }
  });
}

/** How a write ends, and how other processes are notified. */
export interface WriteOnOptions extends WriteOptions {
  /** The channel of notifications, and this process as their sender. */
  readonly channel: string;
  readonly teller: string;
}

/** Runs a write; runs it again if a deadlock or a serialization failure has undone it, up to ATTEMPTS times. */
export async function writeOn<T>(
  pool: pg.Pool,
  work: (tx: WriteTransaction) => Promise<T>,
  options: WriteOnOptions,
): Promise<UnitOfWork<T>> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await withClient(pool, (loan) => writeOnce(loan, work, options));
    } catch (error) {
      if (attempt >= ATTEMPTS || !isWorthRetrying(error)) throw error;
      // Not all at once again: up to 2, 4, 8 … ms.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** attempt));
    }
  }
}

/** One attempt of a write, in one transaction. */
async function writeOnce<T>(
  loan: Loan,
  work: (tx: WriteTransaction) => Promise<T>,
  { channel, teller, discard }: WriteOnOptions,
): Promise<UnitOfWork<T>> {
  const { client } = loan;
  await runOn(client, 'BEGIN ISOLATION LEVEL READ COMMITTED', []);
  let done: UnitOfWork<T>;
  try {
    const connection = {
      database: 'postgres',
      locking: true,
      run: inTurn(loan),
    } as const;
    done = await runWork(connection, work);
    if (discard === true) throw DISCARDED;
  } catch (error) {
    await rollback(loan);
    if (error === DISCARDED) return { result: done!.result, changes: new Set<StoreChange>() };
    throw error;
  }
  try {
    // One round trip: NOTIFY is part of the transaction. Both words are constants of this program and need no quoting.
    const notify = [...done.changes].map((change) => `NOTIFY ${channel}, '${change} ${teller}';`).join(' ');
    await client.query(`${notify} COMMIT`);
  } catch (error) {
    throw commitFault(error);
  }
  return done;
}

/** Rolls back a write with `discard`; caught before it reaches the caller. */
const DISCARDED = new Error('bug: a discarded write is never thrown to its caller');

/** A connection lost while committing leaves the outcome open; everything else undoes the transaction. */
function commitFault(error: unknown): unknown {
  const fault = postgresFault(error);
  if (!(fault instanceof StoreFault) || fault.code !== 'unavailable') return fault;
  const message = 'postgresql was lost while committing: the write may or may not have happened';
  return new StoreFault('unavailable', message, { cause: error, undone: false });
}

/** A connection for one transaction. */
interface Loan {
  readonly client: pg.PoolClient;
  /** Its state is unknown: it is closed instead of being used again. */
  broken: boolean;
}

/** Runs statements on a connection one after the other, in the order of the calls. */
function inTurn(loan: Loan): Session['run'] {
  let last: Promise<unknown> = Promise.resolve();
  return (sql, values) => {
    const next = last.then(() => runOn(loan.client, sql, values));
    last = next.catch((error: unknown) => {
      if (isStoreFault(error, 'unavailable')) loan.broken = true;
    });
    return next;
  };
}

/** Undoes the transaction. The server does so for a lost connection, which could not answer either. */
async function rollback(loan: Loan): Promise<void> {
  if (loan.broken) return;
  try {
    await loan.client.query('ROLLBACK');
  } catch {
    loan.broken = true;
  }
}

/** Takes a connection from the pool and returns it, or closes it if its state is unknown. */
async function withClient<T>(pool: pg.Pool, use: (loan: Loan) => Promise<T>): Promise<T> {
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    throw postgresFault(error);
  }
  const loan: Loan = { client, broken: false };
  try {
    return await use(loan);
  } catch (error) {
    if (error instanceof StoreFault && error.code === 'unavailable') loan.broken = true;
    throw error;
  } finally {
    client.release(loan.broken);
  }
}
