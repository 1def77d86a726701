/** The tables of stored entries in one database, and the log store over them. */
import { createHash } from 'node:crypto';
import { compareIp, type IpInterval, parseIp, parseIpEntry } from '../../base/addresses/ip.ts';
import { LOG_GAP_FORMAT } from './entry-schema.ts';
import { COUNTED_SHARE, EXAMINED_AT_ONCE, MAX_EXAMINED, MAX_PAGE_OCTETS, SEARCH_MS } from './limits.ts';
import {
  type Appended,
  type LogAction,
  LogFault,
  type LogKey,
  type LogPage,
  type LogPlace,
  type LogQuery,
  type LogStore,
  type StoredLogEntry,
} from './log-store.ts';
import { type LogRow, readBatch } from './read-batch.ts';

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

// The entry that states how many entries of a domain and day are not stored since they exceed its bound.

/**
 * A gap at the time of a dropped entry, the newest one, so that a search of the last hour finds it. Its id is a name-based UUID
 * of domain and day (RFC 9562 §5.8): there is one for each, whose number grows.
 */
export function gapRow(row: LogRow, dropped: number): LogRow {
  const day = dayOf(row.at);
  const { at } = row;
  const hex = createHash('sha256').update(`${row.domainId} ${day}`).digest('hex');
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  const { domain } = JSON.parse(row.line) as { readonly domain: string };
  const gap = { format: LOG_GAP_FORMAT, time: new Date(at).toISOString(), id, domain, dropped };
  return {
    domainId: row.domainId,
    nodeId: row.nodeId,
    at,
    id,
    action: 'gap',
    would: null,
    fault: false,
    ip: null,
    path: '',
    rules: [],
    line: JSON.stringify(gap),
    entries: dropped,
  };
}

// Searches the entries of a domain, newest first. In: a query, and a scan of stored entries in their order. Out: a page. The
// filters run here on entries that are read a few hundred at a time, so that a search has the same meaning in every database
// and ends at a bound of its cost; only the rule narrows the scan itself.

/** A stored entry with the columns that filters compare. */
export interface LogCandidate extends LogPlace, StoredLogEntry {
  readonly action: string;
  readonly would: string | null;
  readonly fault: boolean;
  readonly ip: string | null;
  readonly path: string;
}

/** Which entries to read next, newest first. */
export interface LogScan {
  readonly domainId: number;
  /** Milliseconds since the epoch, included. */
  readonly from: number;
  /** Entries before this place in time. */
  readonly before: LogPlace;
  /** Only entries with this rule; `null`: all. */
  readonly rule: string | null;
  readonly limit: number;
}

/** The filters of a query as one test. */
type Filter = (candidate: LogCandidate) => boolean;

/** Searches until the page is full, the time of the query ends, or the bounds of a search are reached. */
async function searchEntries(
  query: LogQuery,
  scan: (part: LogScan) => Promise<readonly LogCandidate[]>,
): Promise<LogPage> {
  const filters = filtersOf(query);
  const passes = (candidate: LogCandidate): boolean => filters.every((filter) => filter(candidate));
  const entries: StoredLogEntry[] = [];
  const until = performance.now() + SEARCH_MS;
  const { domainId, from, to, rule, limit } = query;
  const { action, ip, path } = query;
  const isSelective = action !== null || ip !== null || path !== null;
  // Without a selection nearly every entry counts, so that no more than the page are read.
  const atOnce = isSelective ? EXAMINED_AT_ONCE : Math.min(limit, EXAMINED_AT_ONCE);
  // No id sorts before the empty one: the place before all entries of the millisecond `to`.
  let before: LogPlace = earlier(query.before ?? { at: to, id: '' }, { at: to, id: '' });
  let octets = 0;
  for (let examined = 0; examined < MAX_EXAMINED && performance.now() < until; ) {
    const part = await scan({ domainId, from, before, rule, limit: atOnce });
    for (const candidate of part) {
      examined++;
      if (passes(candidate)) {
        octets += candidate.line.length;
        if (octets > MAX_PAGE_OCTETS && entries.length > 0) return { entries, next: before, complete: true };
        entries.push({ nodeId: candidate.nodeId, line: candidate.line });
      }
      before = { at: candidate.at, id: candidate.id };
      if (entries.length >= limit) return { entries, next: before, complete: true };
    }
    if (part.length < atOnce) return { entries, next: null, complete: true };
  }
  return { entries, next: before, complete: false };
}

/** The earlier one of two places. */
function earlier(a: LogPlace, b: LogPlace): LogPlace {
  return a.at < b.at || (a.at === b.at && a.id < b.id) ? a : b;
}

function filtersOf({ action, ip, path, onlyDecisions = false }: LogQuery): readonly Filter[] {
  const filters: Filter[] = [];
  if (onlyDecisions)
    filters.push((candidate) => candidate.action !== 'counted' && candidate.action !== 'gap');
  if (action !== null) filters.push(actionFilter(action));
  if (ip !== null) filters.push(ipFilter(ip));
  if (path !== null) filters.push(pathFilter(path));
  return filters;
}

function actionFilter(action: LogAction): Filter {
  const isCounted: Filter = (candidate) => candidate.action === 'counted' && candidate.would === action;
  if (action === 'fault') return (candidate) => candidate.fault || isCounted(candidate);
  if (!action.startsWith('would-')) return (candidate) => candidate.action === action || isCounted(candidate);
  const would = action.slice('would-'.length);
  return (candidate) =>
    candidate.action === 'counted' ? candidate.would === action : candidate.would === would;
}

/** An entry that is no address matches nothing; the API has refused it before. */
function ipFilter(text: string): Filter {
  const interval = parseIpEntry(text);
  if (!interval.ok) return () => false;
  const words = new Uint32Array(4);
  return ({ action, ip }) => {
    if (ip === null) return false;
    if (action === 'counted') return overlaps(ip, interval);
    return parseIp(ip, words) === interval.family && isWithin(words, interval);
  };
}

/** Whether a counted line may have requests of the interval. */
function overlaps(network: string, { family, first, last }: IpInterval): boolean {
  const counted = parseIpEntry(network);
  if (!counted.ok || counted.family !== family) return false;
  return compareIp(counted.first, last) <= 0 && compareIp(first, counted.last) <= 0;
}

function isWithin(words: Uint32Array, { first, last }: IpInterval): boolean {
  return compareIp(first, words) <= 0 && compareIp(last, words) >= 0;
}

function pathFilter(pattern: string): Filter {
  if (!pattern.includes('*')) return ({ path }) => path.startsWith(pattern);
  const parts = pattern.split('*');
  return ({ path }) => matchesParts(path, parts);
}

/**
 * Whether a path is the parts in their order with anything between them. Each part is taken where it occurs first, which
 * never has to be undone: the cost is linear in the path for each part.
 */
function matchesParts(path: string, parts: readonly string[]): boolean {
  const first = parts[0]!;
  const last = parts.at(-1)!;
  if (!path.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return path.length - last.length >= at && path.endsWith(last);
}
