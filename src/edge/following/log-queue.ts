/**
 * The queue of log entries on a node's disk: a folder of files, each a batch in gzip as the control plane takes it. In: lines by
 * domain, from one process of the node. Out: files that `ship-logs.ts` sends in the order of their names; they outlive a restart
 * and a cut control plane. Its size is bounded, and no domain takes more than its share of it: what is beyond is counted by the
 * caller, or dropped, and the number is shipped as a gap.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import {
  LOG_BATCH_CHARACTERS,
  LOG_BATCH_DOMAINS,
  LOG_BATCH_LINES,
  LOG_DOMAIN_SHARE,
  LOG_MANY_FILES,
  LOG_MANY_TURNS,
  LOG_WRITE_MS,
  MAX_GAP_DOMAINS,
  MAX_LOG_LINE_OCTETS,
  MAX_LOG_QUEUE_OCTETS,
  MAX_LOG_WAITING_CHARACTERS,
} from './limits.ts';
import { errorMessage, type SyncLog } from './log.ts';

/** The folder of the queue in the node's own folder. */
export const LOG_QUEUE_FOLDER = 'log-queue';
/** The ending of a whole file. */
export const LOG_QUEUE_ENDING = '.jsonl.gz';
/** The ending of a file that is being written. */
const DRAFT_ENDING = `${LOG_QUEUE_ENDING}.tmp`;

const BATCH_FORMAT = 'edgeplan.log-batch/v1';
/** The format of a line in place of dropped ones (`edge/proxy/log/line.ts`). */
export const GAP_FORMAT = 'edgeplan.gap/v1';

/** The writing end of the queue in one process. */
export interface LogQueue {
  /** Whether a line of the domain would be dropped. The caller then makes none, and calls `drop`. */
  full(domain: string): boolean;
  /** Queues a line, given without its line break. @returns `false`: there is no room for it, or it is too long */
  add(domain: string, line: string): boolean;
  /** Counts a line that is not queued. */
  drop(domain: string): void;
  /** Lines dropped since the start. */
  dropped(): number;
  /** Writes what is in memory, and ends. */
  close(): Promise<void>;
}

/** A line that states a number of requests or of lines. */
export interface StatedLine {
  readonly domain: string;
  readonly line: string;
  /** Counts again what the line states, since it could not be written. */
  readonly undo: () => void;
}

/** Counts that become lines at each write. */
export interface CountedSource {
  /** The lines of all domains that are not full, which then start to count again. */
  take(isFull: (domain: string) => boolean): readonly StatedLine[];
}

export interface LogQueueOptions {
  /** The folder of the queue, which exists. */
  readonly folder: string;
  /** The number of this process among those of the node. */
  readonly process: number;
  /** The part of the bounds that this process may use, 0 to 1. */
  readonly share: number;
  readonly log: SyncLog;
  /** Counts that are written with the lines; absent: none. */
  readonly counted?: CountedSource;
  /** Milliseconds between writes. Default: `LOG_WRITE_MS`. */
  readonly everyMs?: number;
  /** Octets of all files. Default: `MAX_LOG_QUEUE_OCTETS`. */
  readonly maxOctets?: number;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

const pack = promisify(gzip);

/** A file that is not shipped yet, and the octets of each domain in it. */
interface QueuedFile {
  readonly name: string;
  readonly octets: ReadonlyMap<string, number>;
}

/** A line with its domain. */
type Waiting = Pick<StatedLine, 'domain' | 'line'> & Partial<Pick<StatedLine, 'undo'>>;

interface QueueState extends Pick<LogQueueOptions, 'folder' | 'process' | 'log'> {
  readonly counted: CountedSource | null;
  readonly clock: () => number;
  readonly maxOctets: number;
  readonly maxWaiting: number;
  readonly files: QueuedFile[];
  /** Octets on disk, and those of each domain. */
  total: number;
  readonly byDomain: Map<string, number>;
  waiting: Waiting[];
  characters: number;
  /** Characters of `waiting` by domain. */
  waitingOf: Map<string, number>;
  /** Lines dropped by domain that no gap states yet. */
  readonly unreported: Map<string, number>;
  dropped: number;
  number: number;
  busy: Promise<void> | null;
  failing: boolean;
  /** Turns of the timer since the last write. */
  turns: number;
  closing: boolean;
}

/** Opens the writing end. Files of an earlier run are shipped, and count as of no domain in the share of this process. */
export function openLogQueue(options: LogQueueOptions): LogQueue {
  const { folder, process, share, log, everyMs = LOG_WRITE_MS, clock = Date.now } = options;
  const state: QueueState = {
    folder,
    process,
    log,
    counted: options.counted ?? null,
    clock,
    maxOctets: (options.maxOctets ?? MAX_LOG_QUEUE_OCTETS) * share,
    maxWaiting: MAX_LOG_WAITING_CHARACTERS * share,
    files: [],
    total: 0,
    byDomain: new Map(),
    waiting: [],
    characters: 0,
    waitingOf: new Map(),
    unreported: new Map(),
    dropped: 0,
    number: 0,
    busy: null,
    failing: false,
    turns: 0,
    closing: false,
  };
  for (const file of filesOf(folder, process)) count(state, file);
  const timer = setInterval(() => {
    // A queue that is not shipped for long has few large files instead of many small ones.
    const turns = state.files.length < LOG_MANY_FILES ? 1 : LOG_MANY_TURNS;
    if (++state.turns >= turns) flush(state);
  }, everyMs).unref();
  return {
    full: (domain) => isFull(state, domain),
    add: (domain, line) => addLine(state, { domain, line }),
    drop: (domain) => drop(state, domain, 1),
    dropped: () => state.dropped,
    async close() {
      clearInterval(timer);
      await state.busy;
      state.closing = true;
      await flush(state);
    },
  };
}

/** The files that an earlier run of this process has left; those that it was writing when it was killed are removed. */
function filesOf(folder: string, process: number): readonly QueuedFile[] {
  const own = readdirSync(folder).filter((name) => Number(name.split('-')[1]) === process);
  for (const name of own) if (name.endsWith(DRAFT_ENDING)) rmSync(join(folder, name), { force: true });
  return own
    .filter((name) => name.endsWith(LOG_QUEUE_ENDING))
    .map((name) => {
      const size = statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
      return { name, octets: new Map([['', size]]) };
    });
}

/** Whether the domain has used its share, or all domains together the bound, in memory or on the disk. */
function isFull(state: QueueState, domain: string): boolean {
  const { total, maxOctets, characters, maxWaiting, byDomain, waitingOf } = state;
  if (total >= maxOctets || characters >= maxWaiting) return true;
  if ((byDomain.get(domain) ?? 0) >= maxOctets * LOG_DOMAIN_SHARE) return true;
  return (waitingOf.get(domain) ?? 0) >= maxWaiting * LOG_DOMAIN_SHARE;
}

function addLine(state: QueueState, one: Waiting): boolean {
  if (isFull(state, one.domain) || Buffer.byteLength(one.line) > MAX_LOG_LINE_OCTETS) return false;
  state.waiting.push(one);
  state.characters += one.line.length;
  state.waitingOf.set(one.domain, (state.waitingOf.get(one.domain) ?? 0) + one.line.length);
  return true;
}

function drop(state: QueueState, domain: string, lines: number): void {
  state.dropped += lines;
  reportLater(state, domain, lines);
}

/** Counts dropped lines for the next gap of their domain. */
function reportLater({ unreported }: QueueState, domain: string, lines: number): void {
  // A flood of names has no gap of its own beyond the bound; the counter has every line.
  if (unreported.has(domain) || unreported.size < MAX_GAP_DOMAINS)
    unreported.set(domain, (unreported.get(domain) ?? 0) + lines);
}

/** Writes what is in memory, unless a write is under way. */
function flush(state: QueueState): Promise<void> {
  state.turns = 0;
  state.busy ??= writeWaiting(state).finally(() => {
    state.busy = null;
  });
  return state.busy;
}

async function writeWaiting(state: QueueState): Promise<void> {
  const unwritten: (readonly Waiting[])[] = [];
  try {
    await forgetShipped(state);
    unwritten.push(...batchesOf(takeWaiting(state)));
    for (let [batch] = unwritten; batch !== undefined; [batch] = unwritten) {
      await writeBatch(state, batch);
      unwritten.shift();
    }
    state.failing = false;
  } catch (error) {
    // All of them: a disk that is full for one is full for the next.
    for (const { domain, undo } of unwritten.flat()) {
      if (undo === undefined) drop(state, domain, 1);
      else undo();
    }
    if (!state.failing)
      state.log.warn({ err: errorMessage(error) }, 'log entries cannot be queued; they are dropped');
    state.failing = true;
  }
}

/** Everything in memory, after the gaps of what was dropped and the counts. */
function takeWaiting(state: QueueState): readonly Waiting[] {
  const { waiting, unreported } = state;
  state.waiting = [];
  state.characters = 0;
  state.waitingOf = new Map();
  const time = new Date(state.clock()).toISOString();
  // A gap every second would fill the queue that has no room for lines; the last write states them all.
  const isWaiting = (domain: string): boolean => !state.closing && isFull(state, domain);
  const gaps: Waiting[] = [];
  for (const [domain, dropped] of unreported) {
    if (isWaiting(domain)) continue;
    unreported.delete(domain);
    const line = JSON.stringify({ format: GAP_FORMAT, time, id: randomUUID(), domain, dropped });
    gaps.push({ domain, line, undo: () => reportLater(state, domain, dropped) });
  }
  return [...gaps, ...(state.counted?.take(isWaiting) ?? []), ...waiting];
}

/** Lines in batches that the control plane takes. */
function batchesOf(lines: readonly Waiting[]): readonly (readonly Waiting[])[] {
  const batches: Waiting[][] = [];
  let [characters, domains] = [0, new Set<string>()];
  for (const one of lines) {
    const last = batches.at(-1);
    const fits =
      last !== undefined &&
      last.length < LOG_BATCH_LINES &&
      characters + one.line.length <= LOG_BATCH_CHARACTERS &&
      (domains.has(one.domain) || domains.size < LOG_BATCH_DOMAINS);
    if (fits) last.push(one);
    else {
      batches.push([one]);
      [characters, domains] = [0, new Set()];
    }
    characters += one.line.length;
    domains.add(one.domain);
  }
  return batches;
}

/** Writes one file. @throws the system's error */
async function writeBatch(state: QueueState, batch: readonly Waiting[]): Promise<void> {
  const head = { format: BATCH_FORMAT, domains: [...new Set(batch.map(({ domain }) => domain))] };
  const text = `${[JSON.stringify(head), ...batch.map(({ line }) => line)].join('\n')}\n`;
  // The time comes first, so that files of all processes and runs are shipped in their order.
  const order = [state.clock(), state.process, ++state.number].map((part) => String(part).padStart(13, '0'));
  const name = `${order.join('-')}${LOG_QUEUE_ENDING}`;
  const draft = join(state.folder, order.join('-') + DRAFT_ENDING);
  try {
    const bytes = await pack(text);
    await writeFile(draft, bytes, { mode: 0o600 });
    await rename(draft, join(state.folder, name));
    count(state, { name, octets: sharesOf(batch, bytes.length / text.length) });
  } catch (error) {
    await rm(draft, { force: true }).catch((cause: unknown) =>
      state.log.warn({ err: errorMessage(cause) }, 'an unfinished file of log entries cannot be removed'),
    );
    throw error;
  }
}

/** The octets of each domain in a file; `ratio`: octets of the file for each character. */
function sharesOf(batch: readonly Waiting[], ratio: number): ReadonlyMap<string, number> {
  const octets = new Map<string, number>();
  for (const { domain, line } of batch) octets.set(domain, (octets.get(domain) ?? 0) + line.length * ratio);
  return octets;
}

function count(state: QueueState, file: QueuedFile): void {
  state.files.push(file);
  for (const [domain, octets] of file.octets) {
    state.total += octets;
    state.byDomain.set(domain, (state.byDomain.get(domain) ?? 0) + octets);
  }
}

/** Subtracts the files that were shipped since the last write. */
async function forgetShipped(state: QueueState): Promise<void> {
  if (state.files.length === 0) return;
  const there = new Set(await readdir(state.folder));
  const gone = state.files.filter(({ name }) => !there.has(name));
  if (gone.length === 0) return;
  state.files.splice(0, state.files.length, ...state.files.filter(({ name }) => there.has(name)));
  for (const { octets } of gone) {
    for (const [domain, own] of octets) {
      state.total -= own;
      const left = (state.byDomain.get(domain) ?? 0) - own;
      // Sums of fractions: what is left of them is no file.
      if (left < 1) state.byDomain.delete(domain);
      else state.byDomain.set(domain, left);
    }
  }
  if (state.files.length === 0) state.total = 0;
}
