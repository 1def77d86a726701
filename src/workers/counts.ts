/** Counts a worker's requests per domain and sends the counts to the primary, which reports for the whole node. */
import type { RequestLog } from '../proxy/log/request-log.ts';
import {
  addTrafficCounts,
  countRequest,
  createTrafficCounts,
  type ReportedCounts,
  type TrafficCounts,
} from '../sync/traffic-counts.ts';
import { COUNT_MS } from './limits.ts';

/** Traffic counts of a worker. */
export interface Counts extends RequestLog {
  /** Sends the last counts and stops. */
  stop(): Promise<void>;
}

/** @param send sends counts to the primary; resolves when they are in the channel, rejects when the primary is gone */
export function createCounts(send: (counts: readonly ReportedCounts[]) => Promise<void>): Counts {
  let counts = new Map<string, TrafficCounts>();
  let sending: Promise<void> | null = null;

  /** Sends one message at a time: what is counted meanwhile adds up here instead of in the channel. */
  function flush(): Promise<void> {
    if (sending !== null || counts.size === 0) return sending ?? Promise.resolve();
    const counted = counts;
    counts = new Map();
    const reported = [...counted].map(([domain, { hits, ...sums }]) => ({
      domain,
      ...sums,
      hits: [...hits],
    }));
    sending = send(reported)
      .catch(() => putBack(counted))
      .finally(() => {
        sending = null;
      });
    return sending;
  }

  function putBack(counted: ReadonlyMap<string, TrafficCounts>): void {
    for (const [domain, one] of counted) addTrafficCounts(countsOf(domain), one);
  }

  function countsOf(domain: string): TrafficCounts {
    const known = counts.get(domain);
    if (known !== undefined) return known;
    const fresh = createTrafficCounts();
    counts.set(domain, fresh);
    return fresh;
  }

  const timer = setInterval(() => void flush(), COUNT_MS).unref();
  return {
    done({ exchange, octets }) {
      if (exchange !== null) countRequest(countsOf(exchange.domain.name), exchange, octets);
    },
    async stop() {
      clearInterval(timer);
      await sending;
      await flush();
    },
  };
}
