/**
 * Log entries in SQLite, a file for each day: `<folder>/2026-11-25.db`. They are files of their own so that a day is removed
 * by removing its file, and so that neither their size nor their writes burden the database of the API. Everything here is
 * synchronous and belongs in a thread (`thread.ts`).
 */
import { join } from 'node:path';
import { makeFolder } from '../../base/platform/durable-file.ts';
import { StoreFault } from '../../base/storage/fault.ts';
import {
  type Database,
  openDatabase,
  type PreparedStatement,
  sqliteFault,
} from '../../base/storage/sqlite.ts';
import { settle } from '../store/database/sqlite/settings.ts';
import { createRoom, daysIn, removeDay, sizesByDay } from './day-files.ts';
import { MAX_DOMAIN_DAY_OCTETS, MAX_TOTAL_OCTETS } from './limits.ts';
import { type Appended, LogFault, type StoredLogEntry } from './log-store.ts';
import type { LogRow } from './read-batch.ts';
import {
  dayName,
  dayOf,
  daysToRemove,
  fitsDay,
  gapRow,
  type LogCandidate,
  type LogScan,
  type LogTables,
  rowsByDay,
  startOfDay,
  withoutRoom,
} from './tables.ts';

export interface SqliteDaysOptions {
  readonly folder: string;
  /** Days that are stored, today included. */
  readonly days: number;
  /** Octets of one domain and day. Default: `MAX_DOMAIN_DAY_OCTETS`. */
  readonly domainOctets?: number;
  /** Octets of all files. Default: `MAX_TOTAL_OCTETS`. */
  readonly totalOctets?: number;
}

const DDL = `
CREATE TABLE IF NOT EXISTS entries (
  domain_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  id TEXT NOT NULL,
  node_id INTEGER NOT NULL,
  action TEXT NOT NULL,
  would TEXT,
  fault INTEGER NOT NULL,
  ip TEXT,
  path TEXT NOT NULL,
  line TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS entries_by_time ON entries (domain_id, at, id);
CREATE INDEX IF NOT EXISTS entries_by_id ON entries (domain_id, id);
CREATE TABLE IF NOT EXISTS entry_rules (
  domain_id INTEGER NOT NULL,
  rule TEXT NOT NULL,
  at INTEGER NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (domain_id, rule, at, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS domain_sizes (
  domain_id INTEGER PRIMARY KEY,
  octets INTEGER NOT NULL,
  dropped INTEGER NOT NULL
) STRICT;
`;

const COLUMNS = 'e.at, e.id, e.node_id, e.action, e.would, e.fault, e.ip, e.path, e.line';
const INSERT =
  'INSERT INTO entries (domain_id, at, id, node_id, action, would, fault, ip, path, line) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1 AS stored';
const INSERT_RULE = 'INSERT INTO entry_rules (domain_id, rule, at, id) VALUES (?, ?, ?, ?)';
const SIZE = 'SELECT octets, dropped FROM domain_sizes WHERE domain_id = ?';
const SET_SIZE =
  'INSERT INTO domain_sizes (domain_id, octets, dropped) VALUES (?, ?, ?) ON CONFLICT (domain_id) DO UPDATE SET octets = excluded.octets, dropped = excluded.dropped';
const REMOVE = 'DELETE FROM entries WHERE domain_id = ? AND id = ?';
const SCAN = `SELECT ${COLUMNS} FROM entries e WHERE e.domain_id = ? AND e.at >= ? AND (e.at, e.id) < (?, ?) ORDER BY e.at DESC, e.id DESC LIMIT ?`;
const SCAN_RULE = `SELECT ${COLUMNS} FROM entry_rules r JOIN entries e ON e.domain_id = r.domain_id AND e.at = r.at AND e.id = r.id WHERE r.domain_id = ? AND r.rule = ? AND r.at >= ? AND (r.at, r.id) < (?, ?) ORDER BY r.at DESC, r.id DESC LIMIT ?`;
const HAS = 'SELECT 1 AS stored FROM entries WHERE domain_id = ? AND at = ? AND id = ?';
const GET =
  "SELECT node_id, line FROM entries WHERE domain_id = ? AND id = ? AND at >= ? AND action <> 'gap'";

/** An open file. */
interface Day {
  readonly database: Database;
  statement(sql: string): PreparedStatement;
}

interface Row {
  readonly at: number;
  readonly id: string;
  readonly node_id: number;
  readonly action: string;
  readonly would: string | null;
  readonly fault: number;
  readonly ip: string | null;
  readonly path: string;
  readonly line: string;
}

/** Opens the folder, and creates it if it does not exist. @throws LogFault */
export function openSqliteDays(options: SqliteDaysOptions): LogTables {
  const { folder, days, totalOctets = MAX_TOTAL_OCTETS } = options;
  guarded(() => makeFolder(folder, { mode: 0o700 }));
  const open = new Map<number, Day>();
  const room = createRoom(folder, totalOctets);

  /** The days with a file, the newest first; files that another process removed are closed. */
  function storedDays(): readonly number[] {
    const found = daysIn(folder);
    for (const day of open.keys()) if (!found.includes(day)) forget(day);
    return found;
  }
  function forget(day: number): void {
    open.get(day)?.database.close();
    open.delete(day);
  }
  function dayAt(day: number): Day {
    const there = open.get(day) ?? openDay(join(folder, `${dayName(day)}.db`));
    open.set(day, there);
    return there;
  }

  return {
    insert: async (rows, now) =>
      guarded(() => {
        const sum = { stored: 0, repeated: 0, dropped: 0 };
        if (rows.length === 0) return sum;
        room.check(now);
        storedDays();
        for (const [day, own] of rowsByDay(rows)) {
          const { stored, repeated, dropped } = insertDay(dayAt(day), own, options);
          sum.stored += stored;
          sum.repeated += repeated;
          sum.dropped += dropped;
        }
        return sum;
      }),
    scan: async (part) =>
      guarded(() => {
        const found: LogCandidate[] = [];
        for (const day of storedDays()) {
          if (day > dayOf(part.before.at) || startOfDay(day + 1) <= part.from) continue;
          const limit = part.limit - found.length;
          found.push(...scanDay(dayAt(day), { ...part, limit }));
          if (found.length >= part.limit) break;
        }
        return found;
      }),
    get: async ({ domainId, id, since }) =>
      guarded(() => {
        for (const day of storedDays()) {
          const [row] = dayAt(day).statement(GET).all(domainId, id, since) as StoredRow[];
          if (row !== undefined) return entryOf(row);
        }
        return null;
      }),
    prune: async (now) =>
      guarded(() => {
        const over = daysToRemove(sizesByDay(folder), { now, days, totalOctets });
        for (const day of over) {
          forget(day);
          removeDay(folder, day);
        }
        room.forget();
        return over.length;
      }),
    async close() {
      for (const day of [...open.keys()]) forget(day);
    },
  };
}

type StoredRow = Pick<Row, 'node_id' | 'line'>;

function entryOf({ node_id, line }: StoredRow): StoredLogEntry {
  return { nodeId: node_id, line };
}

function openDay(file: string): Day {
  const database = openDatabase(file);
  try {
    settle(database);
    database.exec(DDL);
  } catch (error) {
    database.close();
    throw error;
  }
  const statements = new Map<string, PreparedStatement>();
  return {
    database,
    statement(sql) {
      const prepared = statements.get(sql) ?? database.prepare(sql);
      statements.set(sql, prepared);
      return prepared;
    },
  };
}

/** Stores rows of one day in one transaction. */
function insertDay(
  day: Day,
  rows: readonly LogRow[],
  { domainOctets = MAX_DOMAIN_DAY_OCTETS }: SqliteDaysOptions,
): Appended {
  const sizes = new Map<number, { octets: number; dropped: number }>();
  const gaps = new Map<number, LogRow>();
  const sum = { stored: 0, repeated: 0, dropped: 0 };
  day.database.exec('BEGIN IMMEDIATE');
  try {
    for (const row of rows) {
      const size = sizes.get(row.domainId) ?? readSize(day, row.domainId);
      sizes.set(row.domainId, size);
      const octets = Buffer.byteLength(row.line);
      if (!fitsDay(row, size.octets + octets, domainOctets)) {
        // An entry that a repeated batch brings again was stored before its domain had reached the bound.
        if (day.statement(HAS).all(row.domainId, row.at, row.id).length > 0) {
          sum.repeated++;
          continue;
        }
        size.dropped += row.entries;
        sum.dropped++;
        if (row.at >= (gaps.get(row.domainId)?.at ?? 0)) gaps.set(row.domainId, row);
        continue;
      }
      if (day.statement(INSERT).all(...valuesOf(row)).length === 0) {
        sum.repeated++;
        continue;
      }
      sum.stored++;
      size.octets += octets;
      for (const rule of row.rules) day.statement(INSERT_RULE).all(row.domainId, rule, row.at, row.id);
    }
    for (const [id, row] of gaps) {
      const gap = gapRow(row, sizes.get(id)!.dropped);
      day.statement(REMOVE).all(id, gap.id);
      day.statement(INSERT).all(...valuesOf(gap));
    }
    for (const [id, { octets, dropped }] of sizes) day.statement(SET_SIZE).all(id, octets, dropped);
    day.database.exec('COMMIT');
  } catch (error) {
    undo(day);
    throw error;
  }
  return sum;
}

/** After some faults, a full disk among them, SQLite has rolled back already. */
function undo({ database }: Day): void {
  try {
    database.exec('ROLLBACK');
  } catch (error) {
    if (!(error instanceof Error) || !/no transaction is active/.test(error.message)) throw error;
  }
}

function readSize(day: Day, domainId: number): { octets: number; dropped: number } {
  const [row] = day.statement(SIZE).all(domainId) as { octets: number; dropped: number }[];
  return { octets: row?.octets ?? 0, dropped: row?.dropped ?? 0 };
}

function valuesOf(row: LogRow): readonly (string | number | null)[] {
  const { domainId, at, id, nodeId, action, would, fault, ip, path, line } = row;
  return [domainId, at, id, nodeId, action, would, fault ? 1 : 0, ip, path, line];
}

function scanDay(day: Day, { domainId, from, before, rule, limit }: LogScan): readonly LogCandidate[] {
  const place = [from, before.at, before.id, limit];
  const rows = (
    rule === null
      ? day.statement(SCAN).all(domainId, ...place)
      : day.statement(SCAN_RULE).all(domainId, rule, ...place)
  ) as Row[];
  return rows.map(({ node_id, fault, ...row }) => ({ ...row, nodeId: node_id, fault: fault === 1 }));
}

/** Runs work and converts what it throws to a LogFault. */
function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw logFault(error);
  }
}

function logFault(error: unknown): unknown {
  if (error instanceof LogFault) return error;
  const fault = sqliteFault(error);
  const message = error instanceof Error ? error.message : String(error);
  const isFull = fault instanceof StoreFault && fault.code === 'full';
  if (isFull || (error as NodeJS.ErrnoException).code === 'ENOSPC') return withoutRoom(message, error);
  return new LogFault('unavailable', `the log of decisions cannot be used: ${message}`, { cause: error });
}
