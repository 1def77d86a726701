/** What one domain was asked in one span of time: requests, octets, and how often each of its rules matched. */
import { RULE_TYPES } from '../base/vocabulary.ts';
import type { Decision } from '../evaluator/index.ts';

export interface TrafficCounts {
  requests: number;
  octets: number;
  /** Matches by rule, see `ruleKey`. */
  readonly hits: Map<number, number>;
}

/** A tally of a domain as it travels between the processes of a node. */
export interface ReportedCounts {
  readonly domain: string;
  readonly requests: number;
  readonly octets: number;
  /** A rule's key and its matches. */
  readonly hits: readonly (readonly [number, number])[];
}

const ID_SPAN = 2 ** 32;

/** A rule's type and id in one number: ids have 32 bits. */
function ruleKey(type: (typeof RULE_TYPES)[number], id: number): number {
  return RULE_TYPES.indexOf(type) * ID_SPAN + id;
}

/** The rule that a key stands for. */
export function ruleOf(key: number): { readonly type: (typeof RULE_TYPES)[number]; readonly id: number } {
  return { type: RULE_TYPES[Math.floor(key / ID_SPAN)]!, id: key % ID_SPAN };
}

export function createTrafficCounts(): TrafficCounts {
  return { requests: 0, octets: 0, hits: new Map() };
}

/** Counts a request; answers how many rules matched for the first time. */
export function countRequest(
  tally: TrafficCounts,
  { decision }: { readonly decision: Decision },
  octets: number,
): number {
  tally.requests++;
  tally.octets += octets;
  let met = 0;
  for (const { type, id } of decision.matches) met += addHits(tally, ruleKey(type, id), 1);
  return met;
}

/** Adds one tally to another; answers how many rules the other had not met. */
export function addTrafficCounts(
  to: TrafficCounts,
  {
    requests,
    octets,
    hits,
  }: Pick<ReportedCounts, 'requests' | 'octets'> & {
    readonly hits: Iterable<readonly [number, number]>;
  },
): number {
  to.requests += requests;
  to.octets += octets;
  let met = 0;
  for (const [key, count] of hits) met += addHits(to, key, count);
  return met;
}

function addHits({ hits }: TrafficCounts, key: number, count: number): number {
  const before = hits.get(key);
  hits.set(key, (before ?? 0) + count);
  return before === undefined ? 1 : 0;
}
