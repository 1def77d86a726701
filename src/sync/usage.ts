/**
 * Counts the requests of each domain and the matches of each of its rules by the minute, and reports them to the control
 * plane. Batch numbers rise with every batch, also over restarts and clocks that are set back, and a batch is repeated
 * under its number until it is accepted: so the control plane counts it once. Counts that are not reported when a node is
 * killed are lost.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Decision } from '../evaluator/index.ts';
import { pause, retryMs } from '../platform/backoff.ts';
import { writeDurably } from '../platform/durable-file.ts';
import { type ControlPlaneClient, ControlPlaneFault } from './control-plane.ts';
import {
  FIRST_RETRY_MS,
  FLUSH_ON_STOP_MS,
  LAST_RETRY_MS,
  MAX_USAGE_ROWS,
  USAGE_MS,
  USAGE_ROWS,
} from './limits.ts';
import { errorMessage, type SyncLog } from './log.ts';
import { addTrafficCounts, countRequest, type ReportedCounts, ruleOf } from './traffic-counts.ts';
import {
  countsIn,
  createTrafficMinutes,
  type MinuteCounts,
  type TrafficMinutes,
  takeOldest,
} from './traffic-minutes.ts';

/** The data of a finished request that the traffic counts use. */
export interface CountedRequest {
  /** `null`: refused before its domain was known. */
  readonly exchange: { readonly domain: { readonly name: string }; readonly decision: Decision } | null;
  /** Octets of the response body. */
  readonly octets: number;
}

/** Traffic counts of a node and their reports. */
export interface Usage {
  /** Counts a request. */
  done(request: CountedRequest): void;
  /** Adds counts of another process of the node. */
  add(counts: ReportedCounts): void;
  /** Number of rows that the control plane has not accepted. */
  rows(): number;
  /** Reports what is counted within `FLUSH_ON_STOP_MS`, if the control plane is reached, and ends. */
  stop(): Promise<void>;
}

export interface UsageOptions {
  readonly control: Pick<ControlPlaneClient, 'report'>;
  /** Folder of the file with the last batch number. */
  readonly directory: string;
  readonly log: SyncLog;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Milliseconds between reports. */
  readonly everyMs?: number;
  /** Most rows that are buffered while the control plane is away. */
  readonly maxRows?: number;
}

/** A report; the body of `POST /nodes/reports`. */
interface Batch {
  readonly batch: number;
  readonly usage: readonly object[];
  readonly hits: readonly object[];
}

const MINUTE_MS = 60_000;

interface UsageState extends Pick<UsageOptions, 'control' | 'log'> {
  readonly traffic: TrafficMinutes;
  readonly clock: () => number;
  /** The file with the last batch number. */
  readonly file: string;
  /** Aborts when counting ends. */
  readonly signal: AbortSignal;
  /** The batch number on the disk. */
  storedBatch: number;
  lastBatch: number;
  /** Batches of one minute, unchanged until they are accepted. */
  sending: Batch[];
}

export function createUsage(options: UsageOptions): Usage {
  const { control, directory, log, clock = Date.now, everyMs = USAGE_MS } = options;
  const ending = new AbortController();
  const traffic = createTrafficMinutes(options.maxRows ?? MAX_USAGE_ROWS);
  const file = join(directory, 'usage-batch');
  const storedBatch = readBatch(file);
  const state: UsageState = {
    control,
    log,
    traffic,
    clock,
    file,
    signal: ending.signal,
    storedBatch,
    lastBatch: storedBatch,
    sending: [],
  };
  const countsOf = (domain: string) => countsIn(traffic, Math.floor(clock() / MINUTE_MS), domain);
  const reporting = reportRegularly(state, everyMs);

  async function end(): Promise<void> {
    ending.abort();
    const sent = new AbortController();
    const all = reporting.then(() => report(state)).finally(() => sent.abort());
    await Promise.race([all, pause(FLUSH_ON_STOP_MS, sent.signal)]);
  }

  /** INVARIANT: ends once: two final reports at the same time would send the same batch. */
  let stopped: Promise<void> | null = null;
  return {
    done({ exchange, octets }: CountedRequest) {
      if (exchange === null) return;
      // In two statements: `countsOf` changes `rows` too.
      const added = countRequest(countsOf(exchange.domain.name), exchange, octets);
      traffic.rows += added;
    },
    add(counts) {
      const added = addTrafficCounts(countsOf(counts.domain), counts);
      traffic.rows += added;
    },
    rows: () => traffic.rows,
    stop() {
      stopped ??= end();
      return stopped;
    },
  };
}

async function reportRegularly(state: UsageState, everyMs: number): Promise<void> {
  while (!state.signal.aborted) {
    // At another moment on each node.
    await pause(everyMs * (0.75 + Math.random() / 2), state.signal);
    await report(state);
  }
}

/** Sends every complete minute; after the end, every minute, with one attempt. */
async function report(state: UsageState): Promise<void> {
  const { log, signal, traffic } = state;
  let failures = 0;
  for (;;) {
    try {
      if (state.sending.length === 0) takeMinute(state);
      const [batch] = state.sending;
      if (batch === undefined) return;
      await storeBatchNumber(state);
      await state.control.report(batch);
      failures = 0;
      dropBatch(state, batch);
    } catch (error) {
      if (error instanceof ControlPlaneFault && error.code === 'answer') {
        log.error(
          { err: errorMessage(error) },
          'the control plane refuses a batch of traffic counts; it is dropped',
        );
        dropBatch(state, state.sending[0]!);
        continue;
      }
      if (signal.aborted) return;
      if (failures === 0) {
        const fields = { err: errorMessage(error), rows: traffic.rows };
        log.warn(fields, 'traffic cannot be reported; it is reported later');
      }
      await pause(retryMs(failures++, { first: FIRST_RETRY_MS, last: LAST_RETRY_MS }), signal);
    }
  }
}

/**
 * Makes batches of the oldest complete minute; after the end, of the oldest.
 * INVARIANT: synchronous. A minute that is counted or merged while its batches are made would be reported twice or never.
 */
function takeMinute(state: UsageState): void {
  const { signal, clock, traffic } = state;
  const taken = takeOldest(traffic, signal.aborted ? null : Math.floor(clock() / MINUTE_MS));
  if (taken === null) return;
  const first = Math.max(clock(), state.lastBatch + 1);
  state.sending = batchesOf(taken.minute, { counts: taken.counts, first });
  state.lastBatch = first + state.sending.length - 1;
}

/** Stores the number before it is used: a later start must only use numbers that were never used. */
async function storeBatchNumber(state: UsageState): Promise<void> {
  const { lastBatch } = state;
  if (state.storedBatch >= lastBatch) return;
  await writeDurably(state.file, `${lastBatch}\n`);
  state.storedBatch = lastBatch;
}

function dropBatch(state: UsageState, { usage, hits }: Batch): void {
  state.sending = state.sending.slice(1);
  state.traffic.rows -= usage.length + hits.length;
}

interface MinuteBatches {
  readonly counts: MinuteCounts;
  /** Number of the first batch. */
  readonly first: number;
}

/** The batches of a minute. Usage of a domain precedes its hits: the control plane refuses hits without requests. */
function batchesOf(number: number, { counts, first }: MinuteBatches): Batch[] {
  const batches: { batch: number; usage: object[]; hits: object[] }[] = [];
  const add = (kind: 'usage' | 'hits', row: object): void => {
    let last = batches.at(-1);
    if (last === undefined || last[kind].length >= USAGE_ROWS) {
      last = { batch: first + batches.length, usage: [], hits: [] };
      batches.push(last);
    }
    last[kind].push(row);
  };
  for (const [domain, { requests, octets, hits }] of counts) {
    add('usage', { domain, minute: number, requests, octets });
    for (const [key, count] of hits) add('hits', { domain, minute: number, ...ruleOf(key), count });
  }
  return batches;
}

/** The stored batch number; 0: none, or unreadable: numbers start at the clock, which is higher than old ones. */
function readBatch(file: string): number {
  try {
    const number = Number(readFileSync(file, 'utf8'));
    return Number.isSafeInteger(number) && number > 0 ? number : 0;
  } catch {
    return 0;
  }
}
