/** Counts in a worker what its domains were asked, for the primary to report: a node has one count. */
import type { RequestLog } from '../proxy/log/request-log.ts';
import {
  addTrafficCounts,
  countRequest,
  createTrafficCounts,
  type ReportedCounts,
  type TrafficCounts,
} from '../sync/traffic-counts.ts';
import { COUNT_MS } from './limits.ts';

export interface Counts extends RequestLog {
  /** Tells what is counted, and no more. */
  stop(): Promise<void>;
}

/** @param tell hands tallies on; resolves when they are on their way */
export function createCounts(tell: (tallies: readonly ReportedCounts[]) => Promise<void>): Counts {
  let tallies = new Map<string, TrafficCounts>();
  let telling: Promise<void> | null = null;

  /** One telling at a time: what is counted meanwhile adds up here and not in the channel. */
  function flush(): Promise<void> {
    if (telling !== null || tallies.size === 0) return telling ?? Promise.resolve();
    const counted = tallies;
    tallies = new Map();
    const told = [...counted].map(([domain, { hits, ...sums }]) => ({ domain, ...sums, hits: [...hits] }));
    telling = tell(told)
      .catch(() => putBack(counted))
      .finally(() => {
        telling = null;
      });
    return telling;
  }

  function putBack(counted: ReadonlyMap<string, TrafficCounts>): void {
    for (const [domain, tally] of counted) addTrafficCounts(tallyOf(domain), tally);
  }

  function tallyOf(domain: string): TrafficCounts {
    const known = tallies.get(domain);
    if (known !== undefined) return known;
    const tally = createTrafficCounts();
    tallies.set(domain, tally);
    return tally;
  }

  const regularly = setInterval(() => void flush(), COUNT_MS).unref();
  return {
    done({ exchange, octets }) {
      if (exchange !== null) countRequest(tallyOf(exchange.domain.name), exchange, octets);
    },
    async stop() {
      clearInterval(regularly);
      await telling;
      await flush();
    },
  };
}
