/** PostgreSQL: several processes side by side on one database. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { StoreFault } from '../../../../base/storage/fault.ts';
import { type PostgresAccess, withoutPassword } from '../../place.ts';
import type { Migration } from '../../schema/migration.ts';
import { POSTGRES_MIGRATIONS } from '../../schema/postgres.ts';
import type { Store } from '../../store.ts';
import { createListeners } from '../listeners.ts';
import { readTransaction } from '../transaction.ts';
import { watchDiskSpace } from '../watch-room.ts';
import { inspect, migrate } from './migrate.ts';
import { createNotices } from './notices.ts';
import { admitted, clientConfig, createPool, postgresFault, runOn } from './pool.ts';
import { postgresShares } from './shares.ts';
import { readOn, readSession, writeOn } from './transactions.ts';

/** The notification channel. Channels belong to a database, so two installations on one server do not meet. */
const CHANNEL = 'edgeplan';

/** The database, and the steps of its tables. */
export interface PostgresOptions extends PostgresAccess {
  /** The steps to this version's tables; tests give others. */
  readonly migrations?: readonly Migration[];
}

/** Opens the store in a database; creates its tables if they do not exist. Throws `StoreFault`. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const warnings = await prepare(options);
  const pool = createPool(options);
  const self = randomUUID();
  const notices = createNotices({ access: options, channel: CHANNEL, self }, (change) =>
    listeners.emit(change),
  );
  const listeners = createListeners(notices.start, () => void notices.stop());
  let closing: Promise<void> | null = null;
  const running = new Set<Promise<unknown>>();
  /** Counts a use of the pool: `close` waits for all of them, since the pool would never serve those that still wait. */
  async function track<T>(use: () => Promise<T>): Promise<T> {
    if (closing !== null) throw new StoreFault('closed', 'the store is closed');
    const promise = admitted(options, use);
    running.add(promise);
    try {
      return await promise;
    } finally {
      running.delete(promise);
    }
  }
  async function close(): Promise<void> {
    while (running.size > 0) await Promise.allSettled(running);
    await notices.stop();
    await pool.end();
  }
  const latest = readTransaction(readSession(() => (sql, values) => track(() => runOn(pool, sql, values))));
  return watchDiskSpace({
    about: { database: 'postgres', where: withoutPassword(options.address), warnings },
    place: { database: 'postgres', access: accessOf(options) },
    latest,
    looked: latest,
    read: (work) => track(() => readOn(pool, work)),
    async write(work, writeOptions = {}) {
      const { result, changes } = await track(() =>
        writeOn(pool, work, { ...writeOptions, channel: CHANNEL, teller: self }),
      );
      for (const change of changes) listeners.emit(change);
      return result;
    },
    version: () => null,
    shares: postgresShares(self, (sql, values) => track(() => runOn(pool, sql, values))),
    listen: listeners.add,
    async backup() {
      throw new StoreFault('unavailable', 'a PostgreSQL database is backed up with pg_dump');
    },
    async ping() {
      await track(() => writeOn(pool, async () => undefined, { channel: CHANNEL, teller: self }));
    },
    close() {
      closing ??= close();
      return closing;
    },
  });
}

/** Checks the server, migrates the tables, and returns warnings for the operator. */
async function prepare(options: PostgresOptions): Promise<readonly string[]> {
  const client = new pg.Client(clientConfig(options));
  client.on('error', () => undefined);
  try {
    await client.connect();
    const warnings = await inspect(client);
    await migrate(client, options.migrations ?? POSTGRES_MIGRATIONS);
    return warnings;
  } catch (error) {
    throw postgresFault(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** What another thread opens it with. */
function accessOf({ address, passwordFile }: PostgresAccess): PostgresAccess {
  return { address, ...(passwordFile === undefined ? {} : { passwordFile }) };
}
