/** PostgreSQL: several processes side by side on one database. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { StoreFault } from '../../../../base/storage/fault.ts';
import { type PostgresAccess, withoutPassword } from '../../place.ts';
import type { Shares, Store } from '../../store.ts';
import { type Migration, migrationsOf } from '../../tables/steps.ts';
import type { Session, StoreChange } from '../statement.ts';
import { createListeners, readTransaction, watchDiskSpace } from '../transaction.ts';
import { inspect, migrate } from './migrate.ts';
import { admitted, clientConfig, createPool, postgresFault, runOn } from './pool.ts';
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
    await migrate(client, options.migrations ?? migrationsOf('postgres'));
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

// The division of a key's requests per minute among processes on one PostgreSQL.

/** Milliseconds since the epoch, of the moment and not of the statement's beginning: it may have waited for a lock. */
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** The share of a process to which the others leave `room`, by what it requests. `/ 2` rounds down. */
const SLOTS = `greatest(asked.held, least(asked.wanted, room,
  asked.used + greatest(0, (room - asked.used + 1) / 2)))`;

/**
 * A key has one row, so its lock puts processes in order; what follows ON CONFLICT sees the row as it is under the lock.
 * Rows are locked in the order of keys, so that two statements cannot wait for each other.
 */
const DIVIDE = `
INSERT INTO request_shares AS known (key_id, holders)
SELECT key_id, jsonb_build_object($2::text, jsonb_build_object(
    'slots', ${SLOTS}, 'until', ${NOW} + $4::bigint, 'used', used, 'held', held, 'wanted', wanted))
  FROM json_to_recordset($1::json) AS asked (key_id bigint, used bigint, held bigint, wanted bigint),
    (SELECT $3::bigint AS room) others
  ORDER BY key_id
ON CONFLICT (key_id) DO UPDATE SET holders = (
  SELECT others.holders || jsonb_build_object($2::text, mine.entry
      || jsonb_build_object('slots', ${SLOTS}, 'until', ${NOW} + $4::bigint))
    FROM (SELECT excluded.holders -> $2::text AS entry) mine,
      jsonb_to_record(mine.entry) AS asked (used bigint, held bigint, wanted bigint),
      (SELECT coalesce(jsonb_object_agg(key, value), '{}') AS holders,
          $3::bigint - coalesce(sum((value ->> 'slots')::bigint), 0)::bigint AS room
        FROM jsonb_each(known.holders)
        WHERE key <> $2::text AND (value ->> 'until')::bigint > ${NOW}) others)
RETURNING key_id, (holders -> $2::text ->> 'slots')::bigint AS slots`;

/** The shares of the process called `holder`. */
function postgresShares(holder: string, run: Session['run']): Shares {
  return {
    async divide(asks, { limit, countedMs }) {
      const rows = await run(DIVIDE, [JSON.stringify(asks), holder, limit, countedMs]);
      return new Map((rows as { key_id: number; slots: number }[]).map((row) => [row.key_id, row.slots]));
    },
  };
}

// Hints between processes: LISTEN on a connection of its own, which is reopened whenever it is lost.

/** Milliseconds before a lost connection is tried again; doubles up to the second. */
const RETRY_MS = 100;
/** Milliseconds of the longest wait. */
const MAX_RETRY_MS = 5_000;

/** The listening connection. */
export interface Notices {
  start(): void;
  stop(): Promise<void>;
}

/** Where to listen. */
export interface NoticeOptions {
  readonly access: PostgresAccess;
  readonly channel: string;
  /** The sender to ignore: this process notifies its own listeners directly. */
  readonly self: string;
}

/** Emits the changes of other processes, and `unknown` whenever one may have been missed. */
function createNotices(options: NoticeOptions, emit: (change: StoreChange) => void): Notices {
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | undefined;
  let delay = RETRY_MS;
  let wanted = false;

  async function connect(): Promise<void> {
    const own = new pg.Client({ ...clientConfig(options.access), statement_timeout: 0 });
    client = own;
    const lost = (): void => {
      if (client !== own) return;
      client = null;
      own.end().catch(() => undefined);
      if (!wanted) return;
      timer = setTimeout(connect, delay);
      timer.unref();
      delay = Math.min(delay * 2, MAX_RETRY_MS);
    };
    own.on('error', lost);
    own.on('end', lost);
    own.on('notification', ({ payload = '' }) => {
      const [change, teller] = payload.split(' ');
      if (teller !== options.self) emit(isChange(change) ? change : 'unknown');
    });
    try {
      await own.connect();
      await own.query(`LISTEN ${options.channel}`);
      delay = RETRY_MS;
      emit('unknown');
    } catch {
      lost();
    }
  }

  return {
    start() {
      wanted = true;
      if (client === null) void connect();
    },
    async stop() {
      wanted = false;
      clearTimeout(timer);
      const own = client;
      client = null;
      await own?.end().catch(() => undefined);
    },
  };
}

/** The changes that a notice can name. */
const CHANGES: ReadonlySet<StoreChange> = new Set<StoreChange>([
  'outbox',
  'manifest',
  'zones',
  'certificates',
  'keys',
]);

function isChange(word: string | undefined): word is StoreChange {
  return word !== undefined && (CHANGES as ReadonlySet<string>).has(word);
}
