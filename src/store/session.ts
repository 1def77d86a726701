/** What queries run against: one transaction (or none) on one database. */
import type { StoreFault } from './fault.ts';
import type { Change } from './store.ts';

/** What a parameter may be once flags have become 0 or 1. */
export type Value = string | number | null | Uint8Array;

export interface Session {
  readonly database: 'sqlite' | 'postgres';
  /** Whether reads must lock what they read: a write on PostgreSQL. SQLite has one writer, which locks everything. */
  readonly locking: boolean;
  /** Domains locked so far. */
  readonly held: Set<number>;
  /** Runs one statement and answers its rows. Throws `StoreFault`. */
  run(sql: string, values: readonly Value[]): Promise<readonly unknown[]>;
  /** Remembers what to tell listeners after the commit. */
  note(change: Change): void;
}

/** A session whose transaction can be undone in part; `failed` is what has failed it, if anything. */
export interface WriteSession extends Session {
  failed: StoreFault | null;
}
