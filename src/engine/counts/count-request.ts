/** Counts one finished request into traffic counts and into top lists. */
import type { Decision, Match } from '../evaluator/decision.ts';
import { type CountedRequest, statusKey, topValue } from './counted-request.ts';
import {
  addChange,
  addHits,
  addKey,
  DIMENSIONS,
  type Dimension,
  hitKey,
  TOP_KINDS,
  type TopKind,
  type TopLists,
  type TrafficCounts,
} from './counts.ts';
import { hashPair, hashText } from './hash.ts';
import { addHash } from './hyperloglog.ts';
import { record } from './log-histogram.ts';
import { shadowChanges } from './shadow-changes.ts';
import { offer } from './space-saving.ts';

/** Adds one request to counts. */
export function countRequest(counts: TrafficCounts, request: CountedRequest): void {
  const { decision } = request;
  countSums(counts, request);
  for (const dimension of DIMENSIONS)
    addKey(counts, dimension, { key: keyOf(request, dimension), requests: 1 });
  if (request.edgeMs !== null) record(counts.edgeTimes, request.edgeMs);
  if (request.originMs !== null) record(counts.originTimes, request.originMs);
  addHash(counts.visitors, hashPair(hashOf(request.ip), hashOf(request.userAgent)));
  if (decision !== null) countRules(counts, decision, request);
}

function hashOf(value: string | null): number {
  return hashText(value === null ? '' : topValue(value));
}

/** Adds one request to the sums. */
export function countSums({ sums }: TrafficCounts, request: CountedRequest): void {
  sums.requests++;
  sums.octets_in += request.octetsIn;
  sums.octets_out += request.octetsOut;
  if (request.gateway) sums.gateway_requests++;
  if (!request.originRequest) return;
  sums.origin_requests++;
  if (request.originError) sums.origin_errors++;
  if (!request.monitored) return;
  sums.monitored++;
  if (request.originError) sums.monitored_errors++;
}

/** The key of a dimension that a request is counted under. */
export function keyOf(request: CountedRequest, dimension: Dimension): string {
  switch (dimension) {
    case 'action':
      return request.decision === null ? 'none' : request.decision.action;
    case 'status':
      return statusKey(request.status);
    case 'cache':
      return request.cache ?? 'none';
    case 'country':
      return request.country ?? 'unknown';
    case 'bot':
      return request.bot ?? 'none';
  }
}

/** Counts every rule once with each mode and effect, and what dry_run rules would have changed. */
function countRules(counts: TrafficCounts, decision: Decision, { at, pageMatches }: CountedRequest): void {
  const counted = new Set<string>();
  for (const match of [...decision.matches, ...pageMatches]) {
    const { type, id, mode, effect } = match satisfies Match;
    const key = hitKey(match);
    if (counted.has(key)) continue;
    counted.add(key);
    addHits(counts, { type, id, mode, effect, hits: 1, lastAt: at });
  }
  for (const change of shadowChanges(decision)) addChange(counts, change);
}

/** Adds the values of one request to top lists; what it does not have is in no list. */
export function countTops(lists: TopLists, request: CountedRequest): void {
  for (const kind of TOP_KINDS) {
    const value = topValueOf(request, kind);
    if (value !== null) offer(lists[kind], topValue(value));
  }
}

/** The value that a top list counts. */
export function topValueOf(request: CountedRequest, kind: TopKind): string | null {
  switch (kind) {
    case 'path':
      return request.path;
    case 'address':
      return request.ip;
    case 'country':
      return request.country;
    case 'user_agent':
      return request.userAgent;
    case 'ja4':
      return request.ja4;
    case 'referrer':
      return request.referrer;
  }
}
