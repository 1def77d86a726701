/** The tables of stored entries in one database, and the log store over them. */
import { LogFault } from './fault.ts';
import { COUNTED_SHARE } from './limits.ts';
import type { Appended, LogKey, LogStore, StoredLogEntry } from './log-store.ts';
import { type LogRow, readBatch } from './read-batch.ts';
import { type LogCandidate, type LogScan, searchEntries } from './search.ts';

/** The queries of one database. Every method throws LogFault. */
export interface LogTables {
  /** Stores rows in one transaction for each day; resolves when they are on the disk. */
  insert(rows: readonly LogRow[], now: number): Promise<Appended>;
  scan(part: LogScan): Promise<readonly LogCandidate[]>;
  get(wanted: LogKey): Promise<StoredLogEntry | null>;
  prune(now: number): Promise<number>;
  close(): Promise<void>;
}

/** Milliseconds of a day in UTC, which is the unit of files, partitions and retention. */
const DAY_MS = 86_400_000;

/** The number of a day since the epoch. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** The start of a day, milliseconds since the epoch. */
export function startOfDay(day: number): number {
  return day * DAY_MS;
}

/** `2026-11-25` of a day. */
export function dayName(day: number): string {
  return new Date(startOfDay(day)).toISOString().slice(0, 10);
}

/** What `daysToRemove` goes by; octets are of all days together. */
interface DayBounds {
  readonly now: number;
  /** Days that are stored, today included. */
  readonly days: number;
  readonly totalOctets: number;
}

/**
 * Days before the first one that is stored, and the oldest ones beyond the bound of all, by the octets of each day. Today and
 * what follows stay: for those, entries are refused instead.
 */
export function daysToRemove(
  sizes: ReadonlyMap<number, number>,
  { now, days, totalOctets }: DayBounds,
): readonly number[] {
  const today = dayOf(now);
  let sum = 0;
  return [...sizes.keys()]
    .sort((left, right) => right - left)
    .filter((day) => {
      sum += sizes.get(day)!;
      return day <= today - days || (day < today && sum > totalOctets);
    });
}

/** Rows by their day, each day once. */
export function rowsByDay(rows: readonly LogRow[]): ReadonlyMap<number, readonly LogRow[]> {
  const byDay = new Map<number, LogRow[]>();
  for (const row of rows) {
    const day = dayOf(row.at);
    const there = byDay.get(day);
    if (there === undefined) byDay.set(day, [row]);
    else there.push(row);
  }
  return byDay;
}

/**
 * Whether a row has room among those of its domain and day. @param octets of the rows stored so far, and of the row
 * @param most octets of a domain and day
 */
export function fitsDay({ action }: LogRow, octets: number, most: number): boolean {
  return octets <= (action === 'counted' ? most * (1 + COUNTED_SHARE) : most);
}

/** The log store over tables; `days` is how many days are stored, today included. */
export function storeOver(tables: LogTables, days: number): LogStore {
  return {
    async append(batch) {
      const { rows, foreign } = readBatch(batch, days);
      const { stored, repeated, dropped } = await tables.insert(rows, batch.now);
      return { stored, repeated, dropped: dropped + foreign };
    },
    find: (query) => searchEntries(query, tables.scan),
    get: tables.get,
    prune: tables.prune,
    close: tables.close,
  };
}

/** The fault of a log without room. */
export function withoutRoom(what: string, cause?: unknown): LogFault {
  return new LogFault('full', `no log entry is stored: ${what}`, cause === undefined ? {} : { cause });
}
