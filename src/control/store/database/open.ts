/**
 * Chooses the database. SQLite is the default because it needs no set-up and one process serves a whole installation;
 * PostgreSQL is for several API processes side by side, or for operators who run it already.
 */
import type { Store } from '../store.ts';

/** Where the store is, and what for it is opened. */
export interface OpenStoreOptions {
  /** A `postgres://` or `postgresql://` address, else the path of a data folder, made when it is not there. */
  readonly database: string;
  /** A file with the password of a `postgres://` address, read for each connection, so that it may change. */
  readonly passwordFile?: string;
  /**
   * `server` (default): the one process that serves a data folder; a second one is refused with `in_use`.
   * `tool`: works beside a server (`edgeplan key`, `edgeplan backup`). No difference on PostgreSQL.
   */
  readonly role?: 'server' | 'tool';
}

/** Opens a store; migrates its tables to this version first. Throws `StoreFault`. */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  if (/^postgres(?:ql)?:\/\//.test(options.database)) {
    const { openPostgres } = await import('./postgres/open.ts');
    const { database: address, passwordFile } = options;
    return openPostgres({ address, ...(passwordFile === undefined ? {} : { passwordFile }) });
  }
  const { openSqlite } = await import('./sqlite/open.ts');
  return openSqlite({ folder: options.database, role: options.role ?? 'server' });
}
