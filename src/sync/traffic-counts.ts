/** Traffic counts of one domain in one span of time: requests, octets, and the matches of each rule. */
import { RULE_TYPES } from '../base/vocabulary.ts';
import type { Decision } from '../evaluator/index.ts';

/** Mutable counts. */
export interface TrafficCounts {
  requests: number;
  /** Octets of response bodies. */
  octets: number;
  /** Matches by rule, see `ruleKey`. */
  readonly hits: Map<number, number>;
}

/** The counts of a domain as a worker sends them to the primary; JSON-safe. */
export interface ReportedCounts {
  readonly domain: string;
  readonly requests: number;
  readonly octets: number;
  /** Pairs of a rule's key and its matches. */
  readonly hits: readonly (readonly [number, number])[];
}

const ID_SPAN = 2 ** 32;

/** A rule's type and id in one number, the id in the low 32 bits. */
function ruleKey(type: (typeof RULE_TYPES)[number], id: number): number {
  return RULE_TYPES.indexOf(type) * ID_SPAN + id;
}

/** The rule of a key. */
export function ruleOf(key: number): { readonly type: (typeof RULE_TYPES)[number]; readonly id: number } {
  return { type: RULE_TYPES[Math.floor(key / ID_SPAN)]!, id: key % ID_SPAN };
}

/** Counts of nothing. */
export function createTrafficCounts(): TrafficCounts {
  return { requests: 0, octets: 0, hits: new Map() };
}

/** Counts a request. @returns how many rules matched for the first time, each a new row of a report */
export function countRequest(
  counts: TrafficCounts,
  { decision }: { readonly decision: Decision },
  octets: number,
): number {
  counts.requests++;
  counts.octets += octets;
  let added = 0;
  for (const { type, id } of decision.matches) added += addHits(counts, ruleKey(type, id), 1);
  return added;
}

/** Adds counts to others. @returns how many rules are new to `to` */
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
  let added = 0;
  for (const [key, count] of hits) added += addHits(to, key, count);
  return added;
}

/** @returns 1 when the rule is new, else 0 */
function addHits({ hits }: TrafficCounts, key: number, count: number): number {
  const before = hits.get(key);
  hits.set(key, (before ?? 0) + count);
  return before === undefined ? 1 : 0;
}
