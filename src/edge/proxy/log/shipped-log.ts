/**
 * The part of the decision log that is shipped to the control plane. In: every finished request. Out: the same lines as in the
 * file of the decision log, with a domain, in the queue of `edge/following/log-queue.ts`. A token bucket for each domain bounds what an
 * attack on it costs. Beyond it no line is made: what is always logged is counted by action, rule and network
 * (`edge/following/counted-requests.ts`), a plain request is dropped and shipped as a gap. Half of the bucket is for what is always logged.
 */
import type { RequestTable, TableRequest } from '../../following/counted-requests.ts';
import type { LogQueue } from '../../following/log-queue.ts';
import type { Exchange } from '../exchange.ts';
import { createSampler, type LoggedOutcome, outcomeOf } from './decision-log.ts';
import { MAX_SHIPPED_DOMAINS, SHIPPED_BURST_SEC } from './limits.ts';
import { decisionLine } from './line.ts';
import type { RequestLog, RequestLogEntry } from './request-log.ts';

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
  /** Milliseconds of a clock that is never set. */
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
