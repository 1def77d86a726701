/** The session that statements run in: one transaction (or none) on one database. */
import type { StoreFault } from '../../../base/storage/fault.ts';
import type { StoreChange } from '../store.ts';

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
