/**
 * The traffic of domains by minute, in memory. In: requests, or the counts of other processes. Out: sealed entries of
 * batches. Top lists are bounded over all domains and minutes: the domains with the fewest requests lose theirs first.
 */
import {
  addTopLists,
  addTrafficCounts,
  TOP_KINDS,
  type TopLists,
  type TrafficCounts,
} from '../../../engine/counts/counts.ts';
import {
  openCounts,
  openTops,
  sealCounts,
  sealTops,
  type TrafficBatchEntry,
} from '../../../engine/counts/layout.ts';
import { MAX_TOPS_OCTETS, TOP_ENTRY_OCTETS } from './limits.ts';

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
