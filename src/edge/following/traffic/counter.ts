/**
 * Counts the requests of one process. In: every finished request. Out: once a second, what was counted since, sealed: a
 * batch for each minute. One message is under way at a time; meanwhile counts add up here.
 */
import {
  addTopLists,
  addTrafficCounts,
  type CountedRequest,
  TOP_KINDS,
  type TopLists,
  type TrafficCounts,
} from '../../../engine/counts/counts.ts';
import {
  openCounts,
  openTops,
  sealBatch,
  sealCounts,
  sealTops,
  type TrafficBatchEntry,
} from '../../../engine/counts/layout.ts';
import { createRequestCounter, type RequestCounter } from '../../../engine/counts/request-counter.ts';
import { DRAIN_MS, MAX_TOPS_OCTETS, TOP_ENTRY_OCTETS } from '../limits.ts';

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

// The traffic of domains by minute, in memory. In: requests, or the counts of other processes. Out: sealed entries of
// batches. Top lists are bounded over all domains and minutes: the domains with the fewest requests lose theirs first.

/** Traffic of one domain in one span of time. */
export interface DomainTraffic {
  readonly counts: TrafficCounts;
  /** `null`: dropped for the bound of memory. */
  tops: TopLists | null;
}

/** Traffic of one span of time, by domain. */
export type SpanTraffic = Map<string, DomainTraffic>;

/** Traffic by the start of its span, milliseconds since the epoch. */
export interface TrafficSpans {
  readonly spans: Map<number, SpanTraffic>;
  /** Most octets of top lists. */
  readonly maxTopsOctets: number;
  /** Top lists dropped so far, those of a domain and span as one. */
  droppedTops: number;
}

/** Spans without traffic. @param maxTopsOctets most octets of top lists */
export function createTrafficSpans(maxTopsOctets = MAX_TOPS_OCTETS): TrafficSpans {
  return { spans: new Map(), maxTopsOctets, droppedTops: 0 };
}

/** The traffic of a span; none if it is new. */
export function spanAt({ spans }: TrafficSpans, start: number): SpanTraffic {
  let span = spans.get(start);
  if (span === undefined) {
    span = new Map();
    spans.set(start, span);
  }
  return span;
}

/**
 * Adds a sealed entry. Lists that were dropped on one side are dropped on both: the rest would be taken for all of it.
 * @throws CountsFault when it is damaged; nothing is added then
 */
export function addSealed(
  span: SpanTraffic,
  entry: Pick<TrafficBatchEntry, 'domain' | 'counts' | 'tops'>,
): void {
  const counts = openCounts(entry.counts);
  const tops = entry.tops === null ? null : openTops(entry.tops);
  addTraffic(span, entry.domain, { counts, tops });
}

/** Adds the traffic of a domain to that of another span, which takes it over if it has none. */
export function addTraffic(span: SpanTraffic, domain: string, from: DomainTraffic): void {
  const traffic = span.get(domain);
  if (traffic === undefined) {
    span.set(domain, from);
    return;
  }
  addTrafficCounts(traffic.counts, from.counts);
  if (from.tops === null) traffic.tops = null;
  else if (traffic.tops !== null) addTopLists(traffic.tops, from.tops);
}

/** Seals the traffic of a domain. @param minute the start of its span */
export function sealTraffic(minute: number, [domain, { counts, tops }]: readonly [string, DomainTraffic]) {
  return {
    domain,
    minute,
    counts: sealCounts(counts),
    tops: tops === null ? null : sealTops(tops),
  } satisfies TrafficBatchEntry;
}

/**
 * Drops top lists until they are within three quarters of their bound, those of the domains with the fewest requests
 * first. @returns how many were dropped; a domain's lists of one span count as one
 */
export function limitTops(traffic: TrafficSpans): number {
  const sized: { readonly traffic: DomainTraffic; readonly octets: number }[] = [];
  let octets = 0;
  for (const span of traffic.spans.values()) {
    for (const one of span.values()) {
      if (one.tops === null) continue;
      const size = octetsOf(one.tops);
      octets += size;
      sized.push({ traffic: one, octets: size });
    }
  }
  if (octets <= traffic.maxTopsOctets) return 0;
  sized.sort((a, b) => a.traffic.counts.sums.requests - b.traffic.counts.sums.requests);
  let dropped = 0;
  for (const { traffic: one, octets: size } of sized) {
    if (octets <= traffic.maxTopsOctets * 0.75) break;
    one.tops = null;
    octets -= size;
    dropped++;
  }
  traffic.droppedTops += dropped;
  return dropped;
}

/** Octets of memory that lists take, about. */
function octetsOf(tops: TopLists): number {
  let octets = 0;
  for (const kind of TOP_KINDS) {
    const { entries, length } = tops[kind];
    octets += entries.size * TOP_ENTRY_OCTETS + length;
  }
  return octets;
}
