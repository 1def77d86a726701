/**
 * Counts the requests of one process. In: every finished request. Out: once a second, what was counted since, sealed: a
 * batch for each minute. One message is under way at a time; meanwhile counts add up here.
 */
import type { CountedRequest } from '../../counts/counted-request.ts';
import { sealBatch } from '../../counts/layout.ts';
import {
  addRequest,
  createTrafficSpans,
  limitTops,
  type SpanTraffic,
  sealTraffic,
  spanAt,
  trafficOf,
} from './domain-traffic.ts';
import { DRAIN_MS, MEASURE_REQUESTS } from './limits.ts';

/** Counts of one minute since the last drain. */
export interface CountedSecond {
  /** The start of the minute, milliseconds since the epoch. */
  readonly minute: number;
  /** A sealed batch (`counts/layout.ts`), whose number is the time of the drain in milliseconds since the epoch. */
  readonly sealed: Uint8Array;
}

/** Seconds of a process, with the top lists that it has dropped since the last ones. */
export interface CountedSeconds {
  readonly seconds: readonly CountedSecond[];
  readonly droppedTops: number;
}

/** The traffic counter of a process. */
export interface TrafficCounter {
  /** Counts a request of a domain by the minute of its end. */
  count(domain: string, request: CountedRequest): void;
  /** Sends the last counts and ends. */
  stop(): Promise<void>;
}

export interface TrafficCounterOptions {
  /** Receives what was counted. A rejection: nothing of it has arrived; it is sent again with the next. */
  readonly send: (counted: CountedSeconds) => Promise<void>;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Milliseconds between drains. Default: `DRAIN_MS`. */
  readonly drainMs?: number;
  /** Most octets of top lists. Default: `MAX_TOPS_OCTETS`. */
  readonly maxTopsOctets?: number;
}

const MINUTE_MS = 60_000;

/** Starts to drain. */
export function createTrafficCounter(options: TrafficCounterOptions): TrafficCounter {
  const { send, clock = Date.now, drainMs = DRAIN_MS, maxTopsOctets } = options;
  const traffic = createTrafficSpans(maxTopsOctets);
  /** The minute of the last request. PERF: nearly all requests end in it. */
  let minute = Number.NaN;
  let span: SpanTraffic = new Map();
  let requests = 0;
  let droppedTops = 0;
  let unsent: CountedSecond[] = [];
  let sending: Promise<void> | null = null;

  function flush(): Promise<void> {
    if (sending !== null) return sending;
    const seconds = [...unsent, ...drain()];
    if (seconds.length === 0) return Promise.resolve();
    const dropped = droppedTops;
    droppedTops = 0;
    unsent = [];
    sending = send({ seconds, droppedTops: dropped })
      .catch(() => {
        unsent = seconds;
        droppedTops += dropped;
      })
      .finally(() => {
        sending = null;
      });
    return sending;
  }

  function drain(): readonly CountedSecond[] {
    droppedTops += limitTops(traffic);
    const batch = Math.floor(clock());
    const seconds = [...traffic.spans].map(([start, domains]) => {
      const entries = [...domains].map((one) => sealTraffic(start, one));
      return { minute: start, sealed: sealBatch({ batch, entries }) };
    });
    traffic.spans.clear();
    minute = Number.NaN;
    return seconds;
  }

  const timer = setInterval(() => void flush(), drainMs).unref();
  return {
    count(domain, request) {
      const start = Math.floor(request.at / MINUTE_MS) * MINUTE_MS;
      if (start !== minute) {
        span = spanAt(traffic, start);
        minute = start;
      }
      addRequest(trafficOf(span, domain), request);
      if (++requests % MEASURE_REQUESTS === 0) droppedTops += limitTops(traffic);
    },
    async stop() {
      clearInterval(timer);
      await sending;
      await flush();
    },
  };
}
