/**
 * Counts the requests of one process. In: every finished request. Out: once a second, what was counted since, sealed: a
 * batch for each minute. One message is under way at a time; meanwhile counts add up here.
 */
import type { CountedRequest } from '../../../engine/counts/counts.ts';
import { sealBatch } from '../../../engine/counts/layout.ts';
import { createRequestCounter, type RequestCounter } from '../../../engine/counts/request-counter.ts';
import {
  addTraffic,
  createTrafficSpans,
  limitTops,
  sealTraffic,
  spanAt,
  type TrafficSpans,
} from './domain-traffic.ts';
import { DRAIN_MS } from './limits.ts';

/** Counts of one minute since the last drain. */
export interface CountedSecond {
  /** The start of the minute, milliseconds since the epoch. */
  readonly minute: number;
  /** A sealed batch (`engine/counts/layout.ts`), whose number is the time of the drain in milliseconds since the epoch. */
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

interface CounterState {
  readonly traffic: TrafficSpans;
  /** Counters of the domains with requests since the last collection. */
  readonly counters: Map<string, RequestCounter>;
  /** The minute that they count. */
  minute: number;
  droppedTops: number;
  unsent: readonly CountedSecond[];
}

/** Starts to drain. */
export function createTrafficCounter(options: TrafficCounterOptions): TrafficCounter {
  const { send, clock = Date.now, drainMs = DRAIN_MS, maxTopsOctets } = options;
  const state: CounterState = {
    traffic: createTrafficSpans(maxTopsOctets),
    counters: new Map(),
    minute: 0,
    droppedTops: 0,
    unsent: [],
  };
  let sending: Promise<void> | null = null;

  function flush(): Promise<void> {
    collect(state);
    if (sending !== null) return sending;
    const seconds = [...state.unsent, ...seal(state, Math.floor(clock()))];
    if (seconds.length === 0) return Promise.resolve();
    const { droppedTops } = state;
    state.droppedTops = 0;
    state.unsent = [];
    sending = send({ seconds, droppedTops })
      .catch(() => {
        state.unsent = seconds;
        state.droppedTops += droppedTops;
      })
      .finally(() => {
        sending = null;
      });
    return sending;
  }

  const timer = setInterval(() => void flush(), drainMs).unref();
  return {
    count(domain, request) {
      const minute = Math.floor(request.at / MINUTE_MS) * MINUTE_MS;
      if (minute !== state.minute) {
        collect(state);
        state.minute = minute;
      }
      let counter = state.counters.get(domain);
      if (counter === undefined) {
        counter = createRequestCounter();
        state.counters.set(domain, counter);
      }
      counter.count(request);
    },
    async stop() {
      clearInterval(timer);
      await sending;
      await flush();
    },
  };
}

/** Adds what the counters have to the traffic that waits to be sent. A counter without requests ends. */
function collect(state: CounterState): void {
  const { traffic, counters, minute } = state;
  if (counters.size === 0) return;
  const span = spanAt(traffic, minute);
  for (const [domain, counter] of counters) {
    const counted = counter.drain();
    if (counted === null) counters.delete(domain);
    else addTraffic(span, domain, counted);
  }
  state.droppedTops += limitTops(traffic);
}

/** Seals the traffic that waits, a batch for each minute. */
function seal({ traffic }: CounterState, batch: number): readonly CountedSecond[] {
  const seconds = [...traffic.spans]
    .filter(([, domains]) => domains.size > 0)
    .map(([minute, domains]) => {
      const entries = [...domains].map((one) => sealTraffic(minute, one));
      return { minute, sealed: sealBatch({ batch, entries }) };
    });
  traffic.spans.clear();
  return seconds;
}
