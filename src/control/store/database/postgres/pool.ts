/** Connections to PostgreSQL, and its errors as faults. */
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { StoreFault } from '../../../../base/storage/fault.ts';
import type { PostgresAccess } from '../../place.ts';
import type { SqlValue } from '../statement.ts';
import { WORK_MS } from '../transaction.ts';

/** Connections of one process: PostgreSQL's own default allows 100 for all. */
const MAX_CONNECTIONS = 10;
/** Milliseconds to wait for a connection, and for a lock that another write holds. */
const CONNECT_MS = 5_000;
/** Milliseconds that a write waits for a lock. */
const LOCK_MS = 10_000;
/** Milliseconds that the server runs a statement, and leaves a transaction open in which nothing runs. */
const STATEMENT_MS = 2 * WORK_MS;
/**
 * Milliseconds until the answer to a statement: the server's own limit and the way. A server that hangs, or is cut off, reports
 * neither an error nor an end; the connection is given up.
 */
const ANSWER_MS = STATEMENT_MS + CONNECT_MS;
/** Milliseconds between attempts with a password that the server refuses. */
const PASSWORD_RETRY_MS = 250;
/** `invalid_password` (PostgreSQL, Appendix A). */
const WRONG_PASSWORD = '28P01';

/** `bigint`, which comes as text; ours are ids, counts and milliseconds, all safe integers. */
const INT8 = 20;
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** How every connection is made. */
export function clientConfig({ address, passwordFile }: PostgresAccess): pg.ClientConfig {
  const { password, ...config } = parseAddress(address);
  const opens = passwordFile === undefined ? password : () => readPassword(passwordFile);
  return {
    ...config,
    // Without a password pg reads PGPASSWORD and ~/.pgpass.
    ...(opens === undefined || opens === '' ? {} : { password: opens }),
    types,
    connectionTimeoutMillis: CONNECT_MS,
    lock_timeout: LOCK_MS,
    statement_timeout: STATEMENT_MS,
    idle_in_transaction_session_timeout: STATEMENT_MS,
    query_timeout: ANSWER_MS,
    application_name: 'edgeplan',
    keepAlive: true,
  };
}

/** @throws StoreFault for what is no URL, such as one whose password has a `/` as it is */
function parseAddress(address: string): pg.ClientConfig {
  try {
    return parseIntoClientConfig(address);
  } catch (cause) {
    const message =
      'the address of the database cannot be read; of a password `/`, `#` and `@` are written %2F, %23 and %40';
    throw new StoreFault('unavailable', message, { cause });
  }
}

/** The first line of the file. @throws StoreFault */
async function readPassword(file: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException;
    const message = `the file \`${file}\` of the database's password cannot be read: ${code}`;
    throw new StoreFault('unavailable', message, { cause });
  }
  const [password = ''] = text.split(/\r?\n/, 1);
  if (password !== '') return password;
  throw new StoreFault('unavailable', `the file \`${file}\` begins with no password`);
}

/**
 * Runs work that opens a connection. If the server rejects the password from the file, retries for up to `CONNECT_MS`:
 * during a rotation the server's password changes before the file's.
 */
export async function admitted<T>({ passwordFile }: PostgresAccess, use: () => Promise<T>): Promise<T> {
  if (passwordFile === undefined) return use();
  const until = performance.now() + CONNECT_MS;
  for (;;) {
    try {
      return await use();
    } catch (error) {
      const { cause } = error as { readonly cause?: Partial<pg.DatabaseError> };
      const isRefused = cause?.code === WRONG_PASSWORD;
      if (!isRefused || performance.now() > until) throw error;
      await pause(PASSWORD_RETRY_MS);
    }
  }
}

/** A pool of connections; none is opened before it is needed. */
export function createPool(access: PostgresAccess, { connections = MAX_CONNECTIONS } = {}): pg.Pool {
  const pool = new pg.Pool({
    ...clientConfig(access),
    max: connections,
    async onConnect(client) {
      await client.query(INSIST);
    },
  });
  // A connection that breaks is replaced when one is needed; without listeners Node would exit.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** An operator's `synchronous_commit=off` trades acknowledged writes for speed: not a choice for this store. */
const INSIST = `SELECT set_config('synchronous_commit', 'on', false)
  WHERE current_setting('synchronous_commit') = 'off'`;

/** The names of prepared statements, by text: the server parses and plans each once per connection. */
const names = new Map<string, string>();
/** Statements that get a name; further ones are parsed at each use. */
const MAX_NAMES = 500;

/** Runs one statement on a connection. Throws `StoreFault`. */
export async function runOn(
  client: pg.ClientBase | pg.Pool,
  sql: string,
  values: readonly SqlValue[],
): Promise<readonly unknown[]> {
  let name = names.get(sql);
  if (name === undefined && names.size < MAX_NAMES && values.length > 0) {
    name = `edgeplan_${names.size}`;
    names.set(sql, name);
  }
  try {
    const query = { text: sql, values: values as SqlValue[] };
    const result = await client.query(name === undefined ? query : { ...query, name });
    return result.rows;
  } catch (error) {
    throw postgresFault(error);
  }
}

/** An error of the server or of the connection as a fault; anything else as it is. */
export function postgresFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreFault) return error;
  const { code = '', constraint = '' } = error as Partial<pg.DatabaseError>;
  switch (code) {
    case '23505':
      return new StoreFault('conflict', `${constraint} exists already`, {
        cause: error,
        // As SQLite names it: the first of several columns.
        subject: constraint.split(',', 1)[0]!,
      });
    case '23503':
      return new StoreFault('missing', 'a row refers to one that is not there', { cause: error });
    case '40001': // serialization_failure
    case '40P01': // deadlock_detected
    case '55P03': // lock_not_available
    case '57014': // query_canceled, by statement_timeout
      return new StoreFault('contended', 'other writers were in the way', { cause: error });
    case '53100':
      return new StoreFault('full', 'the disk of the PostgreSQL server is full', { cause: error });
  }
  // Class 08, 57P and 25P03: connection lost, server shutting down, a transaction idle for too long; 53: out of resources.
  // Without a code: the socket, or no answer in time.
  const lost = code === '' || !/^[0-9A-Z]{5}$/.test(code) || /^(08|57P|25P03|53|58|28|3D)/.test(code);
  const reason = error.message === '' ? code : error.message;
  if (lost) return new StoreFault('unavailable', `postgresql: ${reason}`, { cause: error });
  return error;
}

/** Whether a transaction that failed so may go through when it is run again. */
export function isWorthRetrying(error: unknown): boolean {
  if (!(error instanceof StoreFault) || error.code !== 'contended') return false;
  const code = (error.cause as Partial<pg.DatabaseError> | undefined)?.code;
  return code === '40001' || code === '40P01';
}
