/**
 * Counts what each domain was asked and how often each of its rules matched, by the minute, and tells the control plane.
 * A batch has a number that rises with every batch, also over restarts and clocks set back, and comes again under it
 * until it is answered: so the control plane counts it once. What a node holds when it is killed is lost.
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
import {
  addTrafficCounts,
  countRequest,
  createTrafficCounts,
  type ReportedCounts,
  ruleOf,
  type TrafficCounts,
} from './traffic-counts.ts';

/** What traffic is counted from, once a request has ended. */
export interface CountedRequest {
  /** `null`: refused before a domain was known. */
  readonly exchange: { readonly domain: { readonly name: string }; readonly decision: Decision } | null;
  /** Octets of the response body. */
  readonly octets: number;
}

export interface Usage {
  done(request: CountedRequest): void;
  /** Counts what another process of the node was asked. */
  add(told: ReportedCounts): void;
  /** Rows that the control plane has not taken. */
  rows(): number;
  /** Tells what is counted, if the control plane is there, and ends. */
  stop(): Promise<void>;
}

export interface UsageOptions {
  readonly control: Pick<ControlPlaneClient, 'report'>;
  /** Where the last batch's number is kept. */
  readonly directory: string;
  readonly log: SyncLog;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Milliseconds between reports. */
  readonly everyMs?: number;
  /** Rows kept while the control plane is away. */
  readonly maxRows?: number;
}

/** Of one minute, by domain. */
type Minute = Map<string, TrafficCounts>;

interface Batch {
  readonly batch: number;
  readonly usage: readonly object[];
  readonly hits: readonly object[];
}

const MINUTE_MS = 60_000;
export function createUsage(options: UsageOptions): Usage {
  const { control, directory, log } = options;
  const clock = options.clock ?? Date.now;
  const everyMs = options.everyMs ?? USAGE_MS;
  const maxRows = options.maxRows ?? MAX_USAGE_ROWS;
  const file = join(directory, 'usage-batch');
  const ending = new AbortController();
  const { signal } = ending;
  const minutes = new Map<number, Minute>();
  let rows = 0;
  let keptBatch = readBatch(file);
  let lastBatch = keptBatch;
  /** What is being sent; each batch stays as it is until it is answered. */
  let sending: Batch[] = [];

  function tallyOf(domain: string): TrafficCounts {
    const now = Math.floor(clock() / MINUTE_MS);
    const known = minutes.get(now)?.get(domain);
    if (known !== undefined) return known;
    if (rows >= maxRows) mergeOldest();
    let minute = minutes.get(now);
    if (minute === undefined) {
      minute = new Map();
      minutes.set(now, minute);
    }
    const tally = createTrafficCounts();
    minute.set(domain, tally);
    rows++;
    return tally;
  }

  /** Makes one minute of the two oldest, as often as that is needed and gains anything. */
  function mergeOldest(): void {
    while (rows >= maxRows && minutes.size > 2) {
      const [older, next] = [...minutes.keys()].sort((a, b) => a - b) as [number, number];
      const into = minutes.get(next)!;
      for (const [domain, from] of minutes.get(older)!) {
        const tally = into.get(domain);
        if (tally === undefined) into.set(domain, from);
        // The domain's own row, and one for each rule that both had met.
        else rows -= 1 + from.hits.size - addTrafficCounts(tally, from);
      }
      minutes.delete(older);
    }
  }

  /**
   * Takes the oldest minute that is over, or the oldest of all at the end. One later than now is over: the clock was set
   * back since.
   * INVARIANT: at once. A minute that is counted or merged while its batches are made would be told twice, or not at all.
   */
  function takeMinute(): void {
    const present = signal.aborted ? null : Math.floor(clock() / MINUTE_MS);
    const [oldest] = [...minutes.keys()].filter((minute) => minute !== present).sort((a, b) => a - b);
    if (oldest === undefined) return;
    const first = Math.max(clock(), lastBatch + 1);
    sending = batchesOf(oldest, { minute: minutes.get(oldest)!, first });
    lastBatch = first + sending.length - 1;
    minutes.delete(oldest);
  }

  async function report(): Promise<void> {
    let failures = 0;
    for (;;) {
      try {
        if (sending.length === 0) takeMinute();
        const [batch] = sending;
        if (batch === undefined) return;
        // Before one is used: a start after this has to find numbers that were never used.
        if (keptBatch < lastBatch) {
          await writeDurably(file, `${lastBatch}\n`);
          keptBatch = lastBatch;
        }
        await control.report(batch);
        failures = 0;
        drop(batch);
      } catch (error) {
        if (error instanceof ControlPlaneFault && error.code === 'answer') {
          log.error(
            { err: errorMessage(error) },
            'the control plane does not take a batch of traffic; it is not counted',
          );
          drop(sending[0]!);
          continue;
        }
        if (signal.aborted) return;
        if (failures === 0)
          log.warn({ err: errorMessage(error), rows }, 'traffic cannot be reported; it is kept');
        await pause(retryMs(failures++, { first: FIRST_RETRY_MS, last: LAST_RETRY_MS }), signal);
      }
    }
  }

  function drop({ usage, hits }: Batch): void {
    sending = sending.slice(1);
    rows -= usage.length + hits.length;
  }

  async function reportRegularly(): Promise<void> {
    while (!signal.aborted) {
      // At another moment on each node.
      await pause(everyMs * (0.75 + Math.random() / 2), signal);
      await report();
    }
  }

  async function end(): Promise<void> {
    ending.abort();
    const told = new AbortController();
    const all = reporting.then(report).finally(() => told.abort());
    await Promise.race([all, pause(FLUSH_ON_STOP_MS, told.signal)]);
  }

  const reporting = reportRegularly();
  /** INVARIANT: ended once, as two that report would tell the same. */
  let stopped: Promise<void> | null = null;
  return {
    done({ exchange, octets }: CountedRequest) {
      if (exchange === null) return;
      // Before it is added: `tallyOf` changes `rows` too.
      const met = countRequest(tallyOf(exchange.domain.name), exchange, octets);
      rows += met;
    },
    add(told) {
      const met = addTrafficCounts(tallyOf(told.domain), told);
      rows += met;
    },
    rows: () => rows,
    stop() {
      stopped ??= end();
      return stopped;
    },
  };
}

interface MinuteTaken {
  readonly minute: Minute;
  /** The first batch's number. */
  readonly first: number;
}

/** Of each domain its usage first: a control plane takes hits of requests that it has counted. */
function batchesOf(number: number, { minute, first }: MinuteTaken): Batch[] {
  const batches: { batch: number; usage: object[]; hits: object[] }[] = [];
  const add = (kind: 'usage' | 'hits', row: object): void => {
    let last = batches.at(-1);
    if (last === undefined || last[kind].length >= USAGE_ROWS) {
      last = { batch: first + batches.length, usage: [], hits: [] };
      batches.push(last);
    }
    last[kind].push(row);
  };
  for (const [domain, tally] of minute) {
    add('usage', { domain, minute: number, requests: tally.requests, octets: tally.octets });
    for (const [key, count] of tally.hits) add('hits', { domain, minute: number, ...ruleOf(key), count });
  }
  return batches;
}

/** The last batch's number; 0 where there was none, or where it cannot be read: the clock is above it then. */
function readBatch(file: string): number {
  try {
    const number = Number(readFileSync(file, 'utf8'));
    return Number.isSafeInteger(number) && number > 0 ? number : 0;
  } catch {
    return 0;
  }
}
