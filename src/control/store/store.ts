/**
 * The store has everything that must survive a restart: accounts, keys, domains, records, rules, what was published and how
 * nodes answered. One interface; the room `database/` has it on embedded SQLite and on PostgreSQL.
 * In: transactions of functions that are grouped into repositories (`repositories/all.ts`). Out: rows as read-only data
 * in the API's own field names, as `tables/` describes them. It does not check a customer's input, and throws `StoreFault` alone.
 *
 * Three guarantees, tested on both databases by one contract suite: what `write` has answered survives kill -9 and power
 * loss; a transaction happens whole or not at all; two writes that name one domain run one after the other.
 */
import type { StoreChange } from './database/statement.ts';
import type { StorePlace } from './place.ts';
import type { Repositories, WritingRepositories } from './repositories/all.ts';

/** An open store. */
export interface Store {
  readonly about: StoreAbout;

  /** Where other threads of this process open snapshots of their own. */
  readonly place: StorePlace;

  /**
   * Reads without a transaction: each call sees the newest commit, two calls may see different ones. The cheapest
   * way to one row (SQLite: some microseconds, on the calling thread).
   */
  readonly latest: ReadTransaction;

  /** Reads from one snapshot: everything `work` sees was true at one moment. */
  read<T>(work: (tx: ReadTransaction) => Promise<T>): Promise<T>;

  /**
   * One transaction. Resolves once everything `work` wrote is durable; when `work` or the commit throws, nothing of
   * it is. `work` may run more than once, so it must touch nothing but `tx`, and it must wait for nothing but `tx`
   * (on SQLite every other writer waits meanwhile). A statement that failed fails the transaction, caught or not,
   * unless it ran inside `tx.attempt`.
   */
  write<T>(work: (tx: WriteTransaction) => Promise<T>, options?: WriteOptions): Promise<T>;

  /**
   * A number that changes with every commit that can be read, of any process: what was read between two equal ones is
   * what would be read now. `null` if detecting commits costs as much as reading again.
   */
  version(): number | null;

  /**
   * As `latest`, but the owner of a key and the role of an account at a domain may be as of the last call of `version`: for
   * reads after one in the same request.
   */
  readonly looked: ReadTransaction;

  /** What processes on this database divide among themselves; `null` if one process has it alone. */
  readonly shares: Shares | null;

  /**
   * Notifies of commits, also those of other processes on the same database, soon after they happened. A hint: it may
   * be late, repeated, or lost, so listeners poll as well. Returns the function that stops it.
   */
  listen(listener: (change: StoreChange) => void): () => void;

  /**
   * Writes a consistent copy of the database to `file`, which must not exist, while reads and writes go on. SQLite
   * only; for PostgreSQL it throws and names `pg_dump`. The copy is a data file: put it into an empty folder as
   * `edgeplan.db` to start from it.
   */
  backup(file: string): Promise<void>;

  /** Resolves when the database answers and can be written to; used by `/readyz`. */
  ping(): Promise<void>;

  /** Waits for running transactions, then closes the database. Later calls throw `closed`. */
  close(): Promise<void>;
}

/**
 * How the requests a key may make in a minute are divided among processes. Nothing of it is an acknowledged write: a
 * database that crashes loses it, and until each process has asked again a share may be given out twice.
 */
export interface Shares {
  /**
   * Settles this process's share of each key, one statement for all of them, and answers it by key. A share is counted
   * for `countedMs` from now on; it is never more than what the others leave of `limit`.
   */
  divide(
    asks: readonly BudgetRequest[],
    terms: { readonly limit: number; readonly countedMs: number },
  ): Promise<ReadonlyMap<number, number>>;
}

/** What one process requests of one key's budget. */
export interface BudgetRequest {
  readonly key_id: number;
  /** Requests of this process that count at the moment. */
  readonly used: number;
  /** The share that it has, used requests included; it does not shrink by the answer. */
  readonly held: number;
  /** The share that it requests; of what is free beyond `used` it gets half. */
  readonly wanted: number;
}

/** Which database it is, for logs and operators. */
export interface StoreAbout {
  readonly database: 'sqlite' | 'postgres';
  /** For people: the data folder, or the connection without its password. */
  readonly where: string;
  /** Warnings for the operator, such as of a PostgreSQL server that does not fsync; usually empty. */
  readonly warnings: readonly string[];
}

/** How a write ends. */
export interface WriteOptions {
  /** Runs all of `work` and returns its result, but commits nothing (`?validate_only=true`). */
  readonly discard?: boolean;
}

/** The repositories of a reading transaction. Lists are in the order that each method names. */
export interface ReadTransaction extends Repositories {}

/**
 * The repositories of a writing transaction. Every method that names one domain locks it and the others of its name until
 * the commit, reads included: what was read about it is still true when the transaction commits. (Exceptions: lists over several
 * domains, the manifest, traffic, nodes' reports, claims.) In the same way `keys.byHash` and `accounts.get` lock the key
 * and the account, so a key found unrevoked stays so until the commit, and a revocation is answered only after it.
 * PostgreSQL locks rows; SQLite has one writer at a time.
 */
export interface WriteTransaction extends WritingRepositories {
  /**
   * Runs `work` so that its failure undoes `work` alone and leaves the transaction usable (a savepoint): what a
   * best-effort batch wraps around each item. The error is thrown on to the caller. Attempts nest, one at a time.
   */
  attempt<T>(work: () => Promise<T>): Promise<T>;
}
