/** Where a store is, and its name for messages. */
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
