/** What queries run against: one transaction (or none) on one database. */
import type { StoreFault } from './fault.ts';
import type { StoreChange } from './store.ts';

/** What a parameter may be once flags have become 0 or 1. */
export type SqlValue = string | number | null | Uint8Array;

export interface Session {
  readonly database: 'sqlite' | 'postgres';
  /** Whether reads must lock what they read: a write on PostgreSQL. SQLite has one writer, which locks everything. */
  readonly locking: boolean;
  /** Domains locked so far. */
  readonly lockedDomains: Set<number>;
  /** Runs one statement and answers its rows. Throws `StoreFault`. */
  run(sql: string, values: readonly SqlValue[]): Promise<readonly unknown[]>;
  /** Remembers what to tell listeners after the commit. */
  note(change: StoreChange): void;
  /**
   * Answers a question as it was answered before, as long as nothing has been committed since, by whomever. Absent
   * where that cannot be told for less than asking again costs.
   */
  readonly recall?: Recall;
}

/** `question` names what is asked; what is answered must not be changed by whoever gets it. */
export type Recall = <T>(question: string, ask: () => Promise<T>) => Promise<T>;

/** Asks, or answers from memory where the session has one. */
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
