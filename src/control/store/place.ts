/** Where a store is, its name for messages, and what an inspection of it returns. */
import { withoutCredentials } from '../../base/text/credentials.ts';

/** Where a store is, as it crosses to another thread. It may have the database's password: it is not for logs. */
export type StorePlace =
  | { readonly database: 'sqlite'; readonly file: string }
  | { readonly database: 'postgres'; readonly access: PostgresAccess };

/** Where a PostgreSQL database is, and what opens it. */
export interface PostgresAccess {
  /** `postgres://user:password@host:port/database`. */
  readonly address: string;
  /** A file with the password, read for each connection; absent: the address has it, or none is needed. */
  readonly passwordFile?: string;
}

/** The address of a PostgreSQL database for logs and messages. */
export function withoutPassword(address: string): string {
  try {
    const url = new URL(address);
    if (url.password !== '') url.password = '***';
    return withoutCredentials(url.href);
  } catch {
    return 'postgresql';
  }
}

/** What is found in a database. */
export interface StoreReport {
  /** The version of its tables; 0: it has none yet. */
  readonly version: number;
  /** The version that this edgeplan makes. */
  readonly known: number;
  /** Settings of the database that its operator should know about. */
  readonly warnings: readonly string[];
  /** The clock of the database's server, milliseconds since the epoch; `null`: it is this machine's. */
  readonly clock: number | null;
}
