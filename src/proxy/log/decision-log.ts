/**
 * The decision log. Told of every request; writes down those that somebody will ask about (what was stopped, what a rule
 * under trial would have done, what went wrong) and a sample of the plain ones.
 */
import { DEFAULT_RATE } from './limits.ts';
import { decisionLine, GAP_FORMAT, type GapLine } from './line.ts';
import { createLineWriter, type WriterStats } from './line-writer.ts';
import type { RequestLog, RequestLogEntry } from './request-log.ts';

export interface DecisionLog extends RequestLog {
  /** After the file was moved away: goes on in a new one. */
  reopen(): void;
  stats(): WriterStats;
  /** Writes what waits and ends. */
  close(): Promise<void>;
}

export interface DecisionLogOptions {
  /** A path; `null` is stdout. */
  readonly file: string | null;
  /** The share of plain answers that is written down, 0 to 1; absent: one in a hundred. */
  readonly rate?: number;
  /** Told when lines cannot be written, once until it works again. */
  readonly onFault: (error: unknown) => void;
  /** From 0 up to 1. */
  readonly random?: () => number;
  /** Octets that may wait to be written. */
  readonly maxQueued?: number;
  /** Milliseconds until a failed write is tried again. */
  readonly retryMs?: number;
}

/** @throws RangeError when the rate is no share */
export function createDecisionLog(options: DecisionLogOptions): DecisionLog {
  const rate = options.rate ?? DEFAULT_RATE;
  if (!(rate >= 0 && rate <= 1)) throw new RangeError(`a rate is a number from 0 to 1, found ${rate}`);
  const { file, onFault, random = Math.random, maxQueued, retryMs } = options;
  const writer = createLineWriter({
    file,
    gap: gapText,
    onFault,
    ...(maxQueued === undefined ? {} : { maxQueued }),
    ...(retryMs === undefined ? {} : { retryMs }),
  });
  let skip = gapOf(rate, random());

  function put(entry: RequestLogEntry, sampled: number | null): void {
    if (writer.full()) writer.drop();
    else writer.add(JSON.stringify(decisionLine(entry, sampled)));
  }

  return {
    done(entry) {
      if (isTelling(entry)) return put(entry, null);
      // PERF: how many to pass over is drawn once a line, not chance once a request.
      if (skip-- > 0) return;
      skip = gapOf(rate, random());
      put(entry, rate === 1 ? null : rate);
    },
    reopen: writer.reopen,
    stats: writer.stats,
    close: writer.close,
  };
}

/** How many plain requests pass until the next one is taken: geometric, so that each has the same chance. */
function gapOf(rate: number, chance: number): number {
  if (rate === 0) return Number.POSITIVE_INFINITY;
  if (rate === 1) return 0;
  return Math.floor(Math.log(1 - chance) / Math.log(1 - rate));
}

/**
 * Whether a request is written down whatever the rate. A client that leaves early is no fault: that is what visitors do,
 * and they could fill the log by it.
 */
function isTelling({ exchange, fault }: RequestLogEntry): boolean {
  if (exchange === null || (fault !== null && fault !== 'aborted')) return true;
  const { action, shadow } = exchange.decision;
  return shadow !== null || action === 'block' || action === 'challenge' || action === 'refuse';
}

/** The line that says that so many are missing. */
export function gapText(dropped: number): string {
  const line: GapLine = { format: GAP_FORMAT, time: new Date().toISOString(), dropped };
  return JSON.stringify(line);
}

/** Tells several, in this order; one that throws keeps the others from nothing. */
export function combineRequestLogs(
  list: readonly RequestLog[],
  onFault: (error: unknown) => void,
): RequestLog {
  return {
    done(entry) {
      for (const journal of list) {
        try {
          journal.done(entry);
        } catch (error) {
          onFault(error);
        }
      }
    },
  };
}
