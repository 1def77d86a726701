/**
 * The decision log. In: every finished request. Out: a line for each one that is worth reading later (stopped, changed by
 * its shadow, failed), and for a sample of the plain ones.
 */
import { terminalJson } from '../../../base/text/json-object.ts';
import { isChangedByShadow } from '../../../engine/counts/shadow-changes.ts';
import type { Action, Decision } from '../../../engine/evaluator/decision.ts';
import type { Exchange } from '../../decide/exchange.ts';
import type { RequestTable, TableRequest } from '../../following/counted-requests.ts';
import type { LogQueue } from '../../following/log-queue.ts';
import { DEFAULT_RATE, MAX_SHIPPED_DOMAINS, SHIPPED_BURST_SEC } from '../limits.ts';
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
function createSampler(rate: number, random: () => number): () => boolean {
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
type LoggedOutcome = 'block' | 'challenge' | 'refuse' | 'fault' | `would-${Action}`;

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
 * client that leaves early is no failure: visitors do that, and could fill the log with it. A dry_run rule that matches and
 * changes nothing is no outcome either: a waf or rate_limit rule matches every request of its paths.
 */
function outcomeOf(decision: Decision, fault: string | null): LoggedOutcome | null {
  const { action, shadow } = decision;
  if (action === 'block' || action === 'challenge' || action === 'refuse') return action;
  if (fault !== null && fault !== 'aborted') return 'fault';
  return isChangedByShadow(decision) ? WOULD[shadow!.action] : null;
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

// The part of the decision log that is shipped to the control plane. In: every finished request. Out: the same lines as in the
// file of the decision log, with a domain, in the queue of `edge/following/log-queue.ts`. A token bucket for each domain bounds what an
// attack on it costs. Beyond it no line is made: what is always logged is counted by action, rule and network
// (`edge/following/counted-requests.ts`), a plain request is dropped and shipped as a gap. Half of the bucket is for what is always logged.

export interface ShippedLogOptions {
  readonly queue: Pick<LogQueue, 'full' | 'add' | 'drop'>;
  /** Counts what is always logged and exceeds the rate of its domain. */
  readonly counted: Pick<RequestTable, 'add'>;
  /** The share of plain requests that is shipped, 0 to 1. */
  readonly rate: number;
  /** Lines of one domain a second; 0: none, what is always logged is only counted. */
  readonly linesPerSec: number;
  /** The part of the rate of each domain that this process may use, 0 to 1. */
  readonly share: number;
  /** A random number from 0 up to 1. */
  readonly random?: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly clock?: () => number;
}

interface Bucket {
  /** Lines left at `at`. */
  left: number;
  at: number;
}

/** @throws RangeError when the rate is not from 0 to 1 */
export function createShippedLog(options: ShippedLogOptions): RequestLog {
  const { queue, counted, rate, linesPerSec, share } = options;
  const { random = Math.random, clock = () => performance.now() } = options;
  const isSampled = createSampler(rate, random);
  const buckets = new Map<string, Bucket>();
  const perMs = (linesPerSec * share) / 1_000;
  const burst = linesPerSec === 0 ? 0 : Math.max(1, SHIPPED_BURST_SEC * linesPerSec * share);

  /** Takes a token of the domain's bucket, if more than `reserve` are left. */
  function take(domain: string, reserve: number): boolean {
    const now = clock();
    let bucket = buckets.get(domain);
    if (bucket === undefined) {
      bucket = { left: burst, at: now };
      if (buckets.size >= MAX_SHIPPED_DOMAINS) removeFull(now);
      if (buckets.size >= MAX_SHIPPED_DOMAINS) return false;
      buckets.set(domain, bucket);
    }
    bucket.left = Math.min(burst, bucket.left + (now - bucket.at) * perMs);
    bucket.at = now;
    if (bucket.left < 1 + reserve) return false;
    bucket.left--;
    return true;
  }
  /** Removes the buckets that have filled up again, which are like new ones. */
  function removeFull(now: number): void {
    for (const [domain, { left, at }] of buckets)
      if (left + (now - at) * perMs >= burst) buckets.delete(domain);
  }
  /** Ships a line unless at most `reserve` are left of the burst. @returns `false`: it is not shipped */
  function put(entry: RequestLogEntry, sampled: number | null, reserve: number): boolean {
    const { name } = entry.exchange!.domain;
    if (queue.full(name) || !take(name, reserve)) return false;
    return queue.add(name, JSON.stringify(decisionLine(entry, sampled)));
  }

  return {
    done(entry) {
      const { exchange, fault } = entry;
      // Without a domain it is nobody's: the customer of no domain sees it, and the operator has the file.
      if (exchange === null) return;
      const outcome = outcomeOf(exchange.decision, fault);
      if (outcome !== null) {
        if (!put(entry, null, 0)) counted.add(countedRequest(exchange, outcome));
        return;
      }
      if (burst === 0 || !isSampled()) return;
      // What is always logged finds half of the burst unused, however many plain requests there are.
      if (!put(entry, rate === 1 ? null : rate, burst / 2)) queue.drop(exchange.domain.name);
    },
  };
}

function countedRequest(
  { domain, decision, request, startedAt }: Exchange,
  action: LoggedOutcome,
): TableRequest {
  const { rule } = action.startsWith('would-') ? decision.shadow! : decision;
  return { domain: domain.name, action, rule, ip: request.ip, at: startedAt };
}
