/**
 * The decision log. In: every finished request. Out: a line for each one that is worth reading later (stopped, with a shadow
 * decision, failed), and for a sample of the plain ones.
 */
import { terminalJson } from '../../../base/text/json-object.ts';
import type { Action, Decision } from '../../../engine/evaluator/decision.ts';
import { DEFAULT_RATE } from './limits.ts';
import { decisionLine, GAP_FORMAT, type GapLine } from './line.ts';
import { createLineWriter, type WriterStats } from './line-writer.ts';
import type { RequestLog, RequestLogEntry } from './request-log.ts';

export interface DecisionLog extends RequestLog {
  /** Continues in a new file, after the current one was moved away. */
  reopen(): void;
  stats(): WriterStats;
  /** Writes the queued lines and ends. */
  close(): Promise<void>;
}

export interface DecisionLogOptions {
  /** A path; `null` is stdout. */
  readonly file: string | null;
  /** The share of plain requests that is logged, 0 to 1. Default: `DEFAULT_RATE`. */
  readonly rate?: number;
  /** Called when lines cannot be written, once until writing works again. */
  readonly onFault: (error: unknown) => void;
  /** A random number from 0 up to 1. */
  readonly random?: () => number;
  /** Octets of queued lines at most. */
  readonly maxQueued?: number;
  /** Milliseconds until a failed write is tried again. */
  readonly retryMs?: number;
}

/** @throws RangeError when the rate is not from 0 to 1 */
export function createDecisionLog(options: DecisionLogOptions): DecisionLog {
  const rate = options.rate ?? DEFAULT_RATE;
  const { file, onFault, random = Math.random, maxQueued, retryMs } = options;
  const isSampled = createSampler(rate, random);
  const writer = createLineWriter({
    file,
    gap: gapText,
    onFault,
    ...(maxQueued === undefined ? {} : { maxQueued }),
    ...(retryMs === undefined ? {} : { retryMs }),
  });

  function put(entry: RequestLogEntry, sampled: number | null): void {
    if (writer.full()) writer.drop();
    else writer.add(terminalJson(decisionLine(entry, sampled)));
  }

  return {
    done(entry) {
      if (isAlwaysLogged(entry)) put(entry, null);
      else if (isSampled()) put(entry, rate === 1 ? null : rate);
    },
    reopen: writer.reopen,
    stats: writer.stats,
    close: writer.close,
  };
}

/**
 * Samples plain requests: each call is one of them, and returns whether it is logged.
 * @throws RangeError when the rate is not from 0 to 1
 */
export function createSampler(rate: number, random: () => number): () => boolean {
  if (!(rate >= 0 && rate <= 1)) throw new RangeError(`a rate is a number from 0 to 1, found ${rate}`);
  /** Plain requests until the next one that is logged. */
  let skip = gapOf(rate, random());
  return () => {
    // PERF: one random number a line, which is the length of a gap, instead of one a request.
    if (skip-- > 0) return false;
    skip = gapOf(rate, random());
    return true;
  };
}

/** The number of plain requests before the next one that is logged: geometric, so that each has the same chance. */
function gapOf(rate: number, chance: number): number {
  if (rate === 0) return Number.POSITIVE_INFINITY;
  if (rate === 1) return 0;
  return Math.floor(Math.log(1 - chance) / Math.log(1 - rate));
}

/** The outcome by which a request is always logged. */
export type LoggedOutcome = 'block' | 'challenge' | 'refuse' | 'fault' | `would-${Action}`;

const WOULD: Readonly<Record<Action, LoggedOutcome>> = {
  forward: 'would-forward',
  block: 'would-block',
  challenge: 'would-challenge',
  redirect: 'would-redirect',
  respond: 'would-respond',
  refuse: 'would-refuse',
};

/**
 * The outcome by which a request is always logged; `null`: it is a plain one. Of several, the one that the visitor noticed. A
 * client that leaves early is no failure: visitors do that, and could fill the log with it.
 */
export function outcomeOf({ action, shadow }: Decision, fault: string | null): LoggedOutcome | null {
  if (action === 'block' || action === 'challenge' || action === 'refuse') return action;
  if (fault !== null && fault !== 'aborted') return 'fault';
  return shadow === null ? null : WOULD[shadow.action];
}

/** Whether a request is logged whatever the rate. */
export function isAlwaysLogged({ exchange, fault }: RequestLogEntry): boolean {
  return exchange === null || outcomeOf(exchange.decision, fault) !== null;
}

/** The line that states how many lines are missing at its place. */
export function gapText(dropped: number): string {
  const line: GapLine = { format: GAP_FORMAT, time: new Date().toISOString(), dropped };
  return JSON.stringify(line);
}

/** Combines several request logs, called in this order; an exception of one does not affect the others. */
export function combineRequestLogs(
  list: readonly RequestLog[],
  onFault: (error: unknown) => void,
): RequestLog {
  return {
    done(entry) {
      for (const log of list) {
        try {
          log.done(entry);
        } catch (error) {
          onFault(error);
        }
      }
    },
  };
}
