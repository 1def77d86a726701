/**
 * Log entries in PostgreSQL: two tables that are partitioned by day, so that a day is removed by dropping its partitions.
 * Partitions are made ahead, and for earlier days when an entry needs one. The tables are migration 13 of the store; the
 * queries here are not repositories of it, since no transaction of the API reads or writes entries.
 */
import type pg from 'pg';
import { StoreFault } from '../../base/storage/fault.ts';
import { admitted, createPool, postgresFault } from '../store/database/postgres/pool.ts';
import type { PostgresAccess } from '../store/place.ts';
import { LOOK_MS, MAX_DOMAIN_DAY_OCTETS, MAX_TOTAL_OCTETS } from './limits.ts';
import { type Appended, LogFault, type StoredLogEntry } from './log-store.ts';
import type { LogRow } from './read-batch.ts';
import {
  dayName,
  dayOf,
  daysToRemove,
  fitsDay,
  gapRow,
  type LogCandidate,
  type LogTables,
  rowsByDay,
  startOfDay,
  withoutRoom,
} from './tables.ts';

export interface PostgresDaysOptions {
  readonly access: PostgresAccess;
  /** Days that are stored, today included. */
  readonly days: number;
  /** Octets of one domain and day. Default: `MAX_DOMAIN_DAY_OCTETS`. */
  readonly domainOctets?: number;
  /** Octets of all partitions. Default: `MAX_TOTAL_OCTETS`. */
  readonly totalOctets?: number;
}

/** Connections of the thread: one that writes, and one for a search meanwhile. */
const CONNECTIONS = 2;
/** Key of the advisory lock under which partitions are made and dropped: "logs". */
const PARTITION_LOCK = 0x6c6f6773;
/** `check_violation` (PostgreSQL, Appendix A): no partition for the row. */
const NO_PARTITION = '23514';
/** The tables that have a partition for each day. */
const TABLES = ['decision_logs', 'decision_log_rules'] as const;

const COLUMNS = 'e.at, e.id, e.node_id, e.action, e.would, e.fault, e.ip, e.path, e.line';
const INSERT = `INSERT INTO decision_logs (domain_id, at, id, node_id, action, would, fault, ip, path, line)
  SELECT domain_id, at, id, node_id, action, would, fault, ip, path, line FROM jsonb_to_recordset($1::jsonb) AS x(
    domain_id bigint, at bigint, id text, node_id bigint, action text, would text, fault boolean, ip text, path text, line text)
  ON CONFLICT DO NOTHING RETURNING domain_id, at, id`;
const REMOVE_GAPS = `DELETE FROM decision_logs e USING jsonb_to_recordset($1::jsonb) AS x(domain_id bigint, id text)
  WHERE e.domain_id = x.domain_id AND e.id = x.id AND e.at >= $2 AND e.at < $3`;
const INSERT_RULES = `INSERT INTO decision_log_rules (domain_id, rule, at, id)
  SELECT domain_id, rule, at, id FROM jsonb_to_recordset($1::jsonb) AS x(domain_id bigint, rule text, at bigint, id text)
  ON CONFLICT DO NOTHING`;
const SIZES =
  'SELECT domain_id, octets, dropped FROM decision_log_sizes WHERE day = $1 AND domain_id = ANY($2::bigint[]) ORDER BY domain_id FOR UPDATE';
const ADD_SIZES = `INSERT INTO decision_log_sizes (domain_id, day, octets, dropped)
  SELECT id, $1, 0, 0 FROM unnest($2::bigint[]) AS id ORDER BY id ON CONFLICT DO NOTHING`;
const SET_SIZE = 'UPDATE decision_log_sizes SET octets = $3, dropped = $4 WHERE day = $1 AND domain_id = $2';
const STORED = `SELECT e.domain_id, e.at, e.id FROM decision_logs e JOIN jsonb_to_recordset($1::jsonb) AS x(domain_id bigint, at bigint, id text)
  ON e.domain_id = x.domain_id AND e.at = x.at AND e.id = x.id`;
const SCAN = `SELECT ${COLUMNS} FROM decision_logs e
  WHERE e.domain_id = $1 AND e.at >= $2 AND e.at <= $3 AND (e.at, e.id) < ($3, $4) ORDER BY e.at DESC, e.id DESC LIMIT $5`;
const SCAN_RULE = `SELECT ${COLUMNS} FROM (
    SELECT domain_id, at, id FROM decision_log_rules
    WHERE domain_id = $1 AND rule = $6 AND at >= $2 AND at <= $3 AND (at, id) < ($3, $4) ORDER BY at DESC, id DESC LIMIT $5) r
  JOIN decision_logs e ON e.domain_id = r.domain_id AND e.at = r.at AND e.id = r.id ORDER BY e.at DESC, e.id DESC`;
const GET =
  "SELECT node_id, line FROM decision_logs WHERE domain_id = $1 AND id = $2 AND at >= $3 AND action <> 'gap' LIMIT 1";
const PARTITIONS = `SELECT c.relname AS name, pg_total_relation_size(c.oid) AS octets FROM pg_inherits i
  JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
  WHERE p.relname = ANY($1::text[]) AND p.relnamespace = 'public'::regnamespace`;

interface Row {
  readonly at: number;
  readonly id: string;
  readonly node_id: number;
  readonly action: string;
  readonly would: string | null;
  readonly fault: boolean;
  readonly ip: string | null;
  readonly path: string;
  readonly line: string;
}

type Query = (sql: string, values?: readonly unknown[]) => Promise<readonly unknown[]>;

/** Opens connections to the database, whose tables the store has migrated. */
export function openPostgresDays(options: PostgresDaysOptions): LogTables {
  const { access, days, totalOctets = MAX_TOTAL_OCTETS } = options;
  const pool = createPool(access, { connections: CONNECTIONS });
  const query: Query = async (sql, values = []) => (await pool.query(sql, [...values])).rows;
  /** Days whose partitions this process has seen. */
  const made = new Set<number>();
  let looked = Number.NEGATIVE_INFINITY;
  let reason: string | null = null;

  async function guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await admitted(access, work);
    } catch (error) {
      throw logFault(error);
    }
  }
  async function checkRoom(now: number): Promise<void> {
    if (Math.abs(now - looked) >= LOOK_MS) {
      const sizes = await sizesByDay(query);
      const octets = [...sizes.values()].reduce((sum, size) => sum + size, 0);
      // With older days, the next removal makes room.
      reason =
        octets <= totalOctets || [...sizes.keys()].some((day) => day < dayOf(now))
          ? null
          : `the entries of this day take ${octets} octets, more than ${totalOctets}`;
      looked = now;
    }
    if (reason !== null) throw withoutRoom(reason);
  }
  async function makeDays(wanted: readonly number[]): Promise<void> {
    const missing = wanted.filter((day) => !made.has(day));
    if (missing.length === 0) return;
    await inTransaction(pool, async (run) => {
      await run('SELECT pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
      for (const day of missing) for (const table of TABLES) await run(partitionOf(table, day));
    });
    for (const day of missing) made.add(day);
  }
  const domainOctets = options.domainOctets ?? MAX_DOMAIN_DAY_OCTETS;
  async function storeDay(day: number, rows: readonly LogRow[]): Promise<Appended> {
    const work = (run: Query): Promise<Appended> => insertDay(run, rows, { day, domainOctets });
    try {
      return await inTransaction(pool, work);
    } catch (error) {
      if ((error as Partial<pg.DatabaseError>).code !== NO_PARTITION) throw error;
      // Another process has dropped the partition since this one saw it.
      made.delete(day);
      await makeDays([day]);
      return inTransaction(pool, work);
    }
  }

  return {
    insert: (rows, now) =>
      guarded(async () => {
        const sum = { stored: 0, repeated: 0, dropped: 0 };
        if (rows.length === 0) return sum;
        await checkRoom(now);
        const byDay = rowsByDay(rows);
        // Tomorrow's are made ahead, so that midnight waits for no lock.
        await makeDays([...byDay.keys(), dayOf(now), dayOf(now) + 1]);
        for (const [day, own] of byDay) {
          const { stored, repeated, dropped } = await storeDay(day, own);
          sum.stored += stored;
          sum.repeated += repeated;
          sum.dropped += dropped;
        }
        return sum;
      }),
    scan: ({ domainId, from, before, rule, limit }) =>
      guarded(async () => {
        const values = [domainId, from, before.at, before.id, limit];
        const rows = (await (rule === null
          ? query(SCAN, values)
          : query(SCAN_RULE, [...values, rule]))) as Row[];
        return rows.map(({ node_id, ...row }): LogCandidate => ({ ...row, nodeId: node_id }));
      }),
    get: ({ domainId, id, since }) =>
      guarded(async (): Promise<StoredLogEntry | null> => {
        const [row] = (await query(GET, [domainId, id, since])) as Row[];
        return row === undefined ? null : { nodeId: row.node_id, line: row.line };
      }),
    prune: (now) =>
      guarded(async () => {
        const over = daysToRemove(await sizesByDay(query), { now, days, totalOctets });
        for (const day of over) {
          made.delete(day);
          await inTransaction(pool, async (run) => {
            await run('SELECT pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
            for (const table of TABLES) await run(`DROP TABLE IF EXISTS ${partitionName(table, day)}`);
            await run('DELETE FROM decision_log_sizes WHERE day = $1', [day]);
          });
        }
        looked = Number.NEGATIVE_INFINITY;
        return over.length;
      }),
    close: () => pool.end(),
  };
}

/** Stores rows of one day in a transaction. Rows of sizes are locked in the order of domains, so that none deadlock. */
async function insertDay(
  run: Query,
  rows: readonly LogRow[],
  { day, domainOctets }: { readonly day: number; readonly domainOctets: number },
): Promise<Appended> {
  const ids = [...new Set(rows.map(({ domainId }) => domainId))];
  await run(ADD_SIZES, [day, ids]);
  const locked = (await run(SIZES, [day, ids])) as { domain_id: number; octets: number; dropped: number }[];
  const sizes = new Map(locked.map(({ domain_id, octets, dropped }) => [domain_id, { octets, dropped }]));
  const keys = JSON.stringify(rows.map(({ domainId, at, id }) => ({ domain_id: domainId, at, id })));
  const known = new Set(((await run(STORED, [keys])) as Key[]).map(keyOf));
  const fresh = rows.filter(({ domainId, at, id }) => {
    const key = keyOf({ domain_id: domainId, at, id });
    const isFirst = !known.has(key);
    known.add(key);
    return isFirst;
  });
  const gaps = new Map<number, LogRow>();
  const accepted = fresh.filter((row) => {
    const size = sizes.get(row.domainId)!;
    const octets = Buffer.byteLength(row.line);
    if (fitsDay(row, size.octets + octets, domainOctets)) {
      size.octets += octets;
      return true;
    }
    size.dropped += row.entries;
    if (row.at >= (gaps.get(row.domainId)?.at ?? 0)) gaps.set(row.domainId, row);
    return false;
  });
  await run(INSERT, [JSON.stringify(accepted.map(columnsOf))]);
  const rules = accepted.flatMap(({ domainId, at, id, rules: own }) =>
    own.map((rule) => ({ domain_id: domainId, rule, at, id })),
  );
  if (rules.length > 0) await run(INSERT_RULES, [JSON.stringify(rules)]);
  const stated = [...gaps].map(([id, row]) => gapRow(row, sizes.get(id)!.dropped));
  if (stated.length > 0) {
    const text = JSON.stringify(stated.map(columnsOf));
    await run(REMOVE_GAPS, [text, startOfDay(day), startOfDay(day + 1)]);
    await run(INSERT, [text]);
  }
  for (const [id, { octets, dropped }] of sizes) await run(SET_SIZE, [day, id, octets, dropped]);
  return {
    stored: accepted.length,
    repeated: rows.length - fresh.length,
    dropped: fresh.length - accepted.length,
  };
}

interface Key {
  readonly domain_id: number;
  readonly at: number;
  readonly id: string;
}

function keyOf({ domain_id, at, id }: Key): string {
  return `${domain_id} ${at} ${id}`;
}

function columnsOf({ domainId, nodeId, rules: _, entries: __, ...row }: LogRow): object {
  return { domain_id: domainId, node_id: nodeId, ...row };
}

function partitionName(table: string, day: number): string {
  return `${table}_${dayName(day).replaceAll('-', '')}`;
}

function partitionOf(table: string, day: number): string {
  const [from, to] = [startOfDay(day), startOfDay(day + 1)];
  return `CREATE TABLE IF NOT EXISTS ${partitionName(table, day)} PARTITION OF ${table} FOR VALUES FROM (${from}) TO (${to})`;
}

/** Octets of both partitions of each day. */
async function sizesByDay(query: Query): Promise<ReadonlyMap<number, number>> {
  const sizes = new Map<number, number>();
  for (const { name, octets } of (await query(PARTITIONS, [TABLES])) as { name: string; octets: number }[]) {
    const [, year, month, date] = /_(\d{4})(\d\d)(\d\d)$/.exec(name) ?? [];
    if (year === undefined) continue;
    const day = dayOf(Date.parse(`${year}-${month}-${date}`));
    sizes.set(day, (sizes.get(day) ?? 0) + octets);
  }
  return sizes;
}

async function inTransaction<T>(pool: pg.Pool, work: (run: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    const result = await work(async (sql, values = []) => (await client.query(sql, [...values])).rows);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((cause: Error) => {
      broken = cause;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

function logFault(error: unknown): unknown {
  if (error instanceof LogFault) return error;
  const fault = postgresFault(error);
  const message = error instanceof Error ? error.message : String(error);
  if (fault instanceof StoreFault && fault.code === 'full') return withoutRoom(message, error);
  return new LogFault('unavailable', `the log of decisions cannot be used: ${message}`, { cause: error });
}
