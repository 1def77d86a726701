/**
 * The part of the decision log that is shipped to the control plane. In: every finished request. Out: the same lines as in the
 * file of the decision log, with a domain, in the queue of `sync/log-queue.ts`. A token bucket for each domain bounds what an
 * attack on it costs; what is beyond it is dropped before a line is made, counted, and shipped as a gap. Half of the bucket is
 * for what is always logged.
 */
import type { LogQueue } from '../../sync/log-queue.ts';
import { createSampler, isAlwaysLogged } from './decision-log.ts';
import { MAX_SHIPPED_DOMAINS, SHIPPED_BURST, SHIPPED_PER_SEC } from './limits.ts';
import { decisionLine } from './line.ts';
import type { RequestLog, RequestLogEntry } from './request-log.ts';

export interface ShippedLogOptions {
  readonly queue: Pick<LogQueue, 'full' | 'add' | 'drop'>;
  /** The share of plain requests that is shipped, 0 to 1. */
  readonly rate: number;
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
  const { queue, rate, share, random = Math.random, clock = () => performance.now() } = options;
  const isSampled = createSampler(rate, random);
  const buckets = new Map<string, Bucket>();
  const [burst, perMs] = [Math.max(1, SHIPPED_BURST * share), (SHIPPED_PER_SEC * share) / 1_000];

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
  function put(domain: string, entry: RequestLogEntry, sampled: number | null): void {
    // What is always logged finds half of the burst unused, however many plain requests there are.
    const reserve = sampled === null ? 0 : burst / 2;
    if (queue.full(domain) || !take(domain, reserve)) queue.drop(domain);
    else queue.add(domain, JSON.stringify(decisionLine(entry, sampled)));
  }

  return {
    done(entry) {
      // Without a domain it is nobody's: the customer of no domain sees it, and the operator has the file.
      if (entry.exchange === null) return;
      const { name } = entry.exchange.domain;
      if (isAlwaysLogged(entry)) put(name, entry, null);
      else if (isSampled()) put(name, entry, rate === 1 ? null : rate);
    },
  };
}
