/**
 * Chooses the database. SQLite is the default because it needs no set-up and one process serves a whole installation;
 * PostgreSQL is for several API processes side by side, or for operators who run it already.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { missingPackages } from '../../../base/platform/optional-packages.ts';
import { StoreFault } from '../../../base/storage/fault.ts';
import type { PostgresAccess, StorePlace, StoreReport } from '../place.ts';
import type { ReadTransaction, Store } from '../store.ts';

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
    requirePostgres();
    const { openPostgres } = await import('./postgres/open.ts');
    const { database: address, passwordFile } = options;
    return openPostgres({ address, ...(passwordFile === undefined ? {} : { passwordFile }) });
  }
  const { openSqlite } = await import('./sqlite/open.ts');
  return openSqlite({ folder: options.database, role: options.role ?? 'server' });
}

/** @throws StoreFault without the packages of PostgreSQL, which are optional */
function requirePostgres(): void {
  const missing = missingPackages('postgres');
  if (missing === null) return;
  throw new StoreFault('unavailable', `a PostgreSQL database ${missing.needs}: ${missing.remedy}`);
}

// Reads which version the tables of a store have, and changes nothing: the file of an embedded store must exist, and no
// step to newer tables is taken.

/** Inspects the embedded store in a folder; `null`: absent. @throws StoreFault */
export async function inspectFolder(folder: string): Promise<StoreReport | null> {
  const file = join(folder, 'edgeplan.db');
  if (!existsSync(file)) return null;
  const { readVersion } = await import('./sqlite/read-version.ts');
  return readVersion(file);
}

/** Inspects a PostgreSQL database. @throws StoreFault */
export async function inspectPostgres(access: PostgresAccess): Promise<StoreReport> {
  requirePostgres();
  const { readVersion } = await import('./postgres/read-version.ts');
  return readVersion(access);
}

// Snapshots of a store that is open already, through connections of their own. For threads: rows are read where they are
// used and do not pass through the thread that answers requests.

/** Reads snapshots in a thread of its own. */
export interface Snapshots {
  /** See `Store.read`; the first call connects. @throws StoreFault */
  read<T>(work: (tx: ReadTransaction) => Promise<T>): Promise<T>;
}

/** Connects when the first snapshot is read. The connections end with their thread. */
export function openSnapshots(place: StorePlace): Snapshots {
  let opened: Promise<Snapshots> | null = null;
  return {
    async read(work) {
      opened ??= connect(place).catch((error: unknown) => {
        opened = null;
        throw error;
      });
      return (await opened).read(work);
    },
  };
}

/** Opens connections for snapshots alone: no lock, no migration. */
async function connect(place: StorePlace): Promise<Snapshots> {
  if (place.database === 'sqlite') {
    const { createReader } = await import('./sqlite/reader.ts');
    return createReader(place.file);
  }
  const { admitted, createPool } = await import('./postgres/pool.ts');
  const { readOn } = await import('./postgres/transactions.ts');
  const { access } = place;
  const pool = createPool(access, { connections: 1 });
  return { read: (work) => admitted(access, () => readOn(pool, work)) };
}
