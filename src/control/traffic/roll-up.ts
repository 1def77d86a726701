/**
 * The roll-up: merges what nodes reported into blocks of minutes, hours and days, and removes what is too old. Each chunk is
 * one transaction that replaces blocks and removes the parts that are in them, so that a part counts once whenever a
 * process ends. The counts are merged in a thread (`merge-parts.ts`, `deliver.ts`).
 *
 * Several processes on one database divide the domains in slices. INVARIANT: blocks of a slice are read after its lease
 * was taken, and written in a transaction that has locked the lease and found it unchanged; so no other process has written
 * between.
 *
 * A round follows each ten minutes, which are then complete and whose rows of minutes are written once.
 */
import { randomUUID } from 'node:crypto';
import type { NewBlocks } from '../store/repositories/traffic-writes.ts';
import type { Store, WriteTransaction } from '../store/store.ts';
import type { PartKey } from '../store/tables/traffic.ts';
import { TrafficFault } from './fault.ts';
import {
  BLOCK_MINUTES,
  DAY,
  EXPIRE_MS,
  LEASE_MS,
  MINUTE_MS,
  RETRY_MS,
  SETTLE_MINUTES,
  SLICES,
  TAKEN_MINUTES,
} from './limits.ts';
import { startOf } from './read-traffic.ts';
import { expiredAt, expireTraffic, prepareDays, type Retention, USUAL_RETENTION } from './retention.ts';
import type { TrafficThread } from './thread.ts';

/** The log of the roll-up: fields first, as pino's. */
export interface TrafficLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface RollUpOptions {
  readonly store: Store;
  readonly thread: TrafficThread;
  readonly log: TrafficLog;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly clock?: () => number;
  /** Default: 48 hours, 35 days, 400 days. */
  readonly retention?: Retention;
  /** No other process uses the store: leases that exist at the start are of a process that ended. */
  readonly alone?: boolean;
  /** Receives each round that ended, for metrics. */
  readonly onRound?: (round: RollUpRound) => void;
}

/** What a round did. */
export interface RollUpRound {
  /** Parts that were merged. */
  readonly parts: number;
  /** Blocks of days that were built. */
  readonly days: number;
  /** Slices that another process has. */
  readonly skipped: number;
  readonly seconds: number;
}

/** Rolls up the traffic of one store. */
export interface RollUp {
  /** Starts rounds by the clock, the first at once. */
  start(): void;
  /** Begins nothing further; resolves once the chunk under way is written. */
  stop(): Promise<void>;
  /** A round now, started or not. @throws StoreFault, TrafficFault */
  runNow(): Promise<RollUpRound>;
}

interface State {
  readonly store: Store;
  readonly thread: TrafficThread;
  readonly log: TrafficLog;
  readonly clock: () => number;
  readonly retention: Retention;
  readonly alone: boolean;
  readonly onRound: (round: RollUpRound) => void;
  /** This process in leases. */
  readonly owner: string;
  running: Promise<RollUpRound> | null;
  timer: NodeJS.Timeout | undefined;
  started: boolean;
  stopping: boolean;
  /** When what is too old was removed last. */
  expiredAt: number;
}

/** A slice whose lease this process has. */
interface Slice {
  readonly slice: number;
  /** The start of the last day whose blocks are all built, minutes since the epoch. */
  daysThrough: number;
}

export function createRollUp(options: RollUpOptions): RollUp {
  const state: State = {
    ...{ store: options.store, thread: options.thread, log: options.log },
    clock: options.clock ?? Date.now,
    retention: options.retention ?? USUAL_RETENTION,
    alone: options.alone === true,
    onRound: options.onRound ?? (() => undefined),
    owner: randomUUID(),
    running: null,
    timer: undefined,
    started: false,
    stopping: false,
    expiredAt: Number.NEGATIVE_INFINITY,
  };
  return {
    start() {
      if (state.started) return;
      state.started = true;
      state.stopping = false;
      void begin(state);
    },
    async stop() {
      state.started = false;
      state.stopping = true;
      clearTimeout(state.timer);
      await state.running?.catch(() => undefined);
    },
    runNow: () => runOnce(state),
  };
}

/** The first round, before which a store of one process is freed of leases. */
async function begin(state: State): Promise<void> {
  const { store, alone } = state;
  if (alone) await store.write((tx) => tx.traffic.endLeases()).catch((error) => report(state, error));
  await roundAndNext(state);
}

async function roundAndNext(state: State): Promise<void> {
  let delay = untilNextRound(state.clock());
  try {
    const { skipped } = await runOnce(state);
    // Another process has a slice, and may end.
    if (skipped > 0) delay = Math.min(delay, RETRY_MS);
  } catch (error) {
    report(state, error);
    delay = Math.min(delay, RETRY_MS);
  }
  if (!state.started) return;
  // Spread, so that several processes do not begin at the same moment.
  state.timer = setTimeout(() => void roundAndNext(state), delay * (1 + Math.random() / 10)).unref();
}

/** Milliseconds until the next minutes of a block are complete and have settled. */
function untilNextRound(now: number): number {
  const length = BLOCK_MINUTES * MINUTE_MS;
  return length - ((now - SETTLE_MINUTES * MINUTE_MS) % length);
}

function report({ log, stopping }: State, error: unknown): void {
  if (stopping) return;
  log.warn({ err: error }, 'traffic was not rolled up; will retry');
}

/** One round at a time; a call during a round resolves with it. */
function runOnce(state: State): Promise<RollUpRound> {
  state.running ??= round(state).finally(() => {
    state.running = null;
  });
  return state.running;
}

async function round(state: State): Promise<RollUpRound> {
  const { store, clock, retention, onRound } = state;
  const from = performance.now();
  const begun = clock();
  const isHourly = begun - state.expiredAt >= EXPIRE_MS;
  if (isHourly) await prepareDays(store, begun);
  const done = { parts: 0, days: 0, skipped: 0 };
  for (let slice = 0; slice < SLICES && !state.stopping; slice++) {
    const leased = await lease(state, slice);
    if (leased === null) {
      done.skipped += 1;
      continue;
    }
    done.days += await buildDueDays(state, leased);
    done.parts += await mergeDueParts(state, leased);
    await store.write((tx) => tx.traffic.endLease({ slice, owner: state.owner }));
  }
  if (isHourly && !state.stopping) {
    await expireTraffic(store, { now: begun, retention });
    state.expiredAt = begun;
  }
  const ended = { ...done, seconds: (performance.now() - from) / 1_000 };
  onRound(ended);
  return ended;
}

async function lease({ store, clock, owner }: State, slice: number): Promise<Slice | null> {
  const now = clock();
  const wanted = { slice, owner, now, until: now + LEASE_MS };
  // Days before this one can have no hours that are not built: their traffic is accepted no more.
  const first = startOf(Math.floor(now / MINUTE_MS), DAY) - TAKEN_MINUTES - DAY;
  const daysThrough = await store.write((tx) => tx.traffic.lease({ ...wanted, daysThrough: first }));
  return daysThrough === null ? null : { slice, daysThrough };
}

/** Builds the blocks of days that are over; returns how many. */
async function buildDueDays(state: State, leased: Slice): Promise<number> {
  const { clock } = state;
  let built = 0;
  for (;;) {
    const day = leased.daysThrough + DAY;
    const settled = Math.floor(clock() / MINUTE_MS) - SETTLE_MINUTES;
    if (state.stopping || day + DAY > settled) return built;
    const made = await buildDay(state, leased, day);
    if (made === null) return built;
    built += made;
    await writeFor(state, leased.slice, (tx) => tx.traffic.setDaysThrough(leased.slice, day));
    leased.daysThrough = day;
  }
}

/** Returns the number of blocks; `null`: the roll-up stops before all are built. */
async function buildDay(state: State, { slice }: Slice, day: number): Promise<number | null> {
  const { thread } = state;
  let built = 0;
  for (let after = 0; ; ) {
    if (state.stopping) return null;
    const { days, damaged, last } = await thread.buildDays({ slice, day, after });
    noteDamage(state, damaged);
    if (days.length > 0) await write(state, { slice, parts: [], blocks: { minutes: [], hours: [], days } });
    built += days.length;
    if (last === null) return built;
    after = last;
  }
}

/** Merges the parts of complete minutes; returns how many. */
async function mergeDueParts(state: State, { slice, daysThrough }: Slice): Promise<number> {
  const { thread, clock, retention } = state;
  const now = clock();
  const before = startOf(Math.floor(now / MINUTE_MS) - SETTLE_MINUTES, BLOCK_MINUTES);
  const expired = expiredAt(retention, now);
  let merged = 0;
  let after: PartKey | null = null;
  do {
    if (state.stopping) return merged;
    const chunk = await thread.merge({ slice, before, after, expired, daysThrough });
    noteDamage(state, chunk.damaged);
    if (chunk.parts.length > 0)
      merged += await write(state, { slice, parts: chunk.parts, blocks: chunk.blocks });
    after = chunk.last;
  } while (after !== null);
  return merged;
}

interface Chunk {
  readonly slice: number;
  readonly parts: readonly PartKey[];
  readonly blocks: NewBlocks;
}

/** Writes a chunk in one transaction; returns how many parts were there. A domain may have been removed since it was read. */
function write(state: State, { slice, parts, blocks }: Chunk): Promise<number> {
  return writeFor(state, slice, async (tx) => {
    const removed = parts.length === 0 ? 0 : await tx.traffic.removeParts(parts);
    await tx.traffic.replace(blocks);
    return removed;
  });
}

/** A transaction for a slice. @throws TrafficFault if another process has taken the slice over; nothing is written then */
function writeFor<T>(
  { store, clock, owner }: State,
  slice: number,
  work: (tx: WriteTransaction) => Promise<T>,
): Promise<T> {
  return store.write(async (tx) => {
    if (await tx.traffic.renewLease({ slice, owner, until: clock() + LEASE_MS })) return work(tx);
    throw new TrafficFault(`another process has taken over slice ${slice} of the roll-up`);
  });
}

/** Damage is merged as sums: the rest of the domain's traffic must not wait for it. */
function noteDamage({ log }: State, damaged: readonly string[]): void {
  for (const err of damaged) log.error({ err }, 'counts of traffic are damaged; only their sums are stored');
}
