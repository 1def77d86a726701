/**
 * Traffic counts of one domain in one span of time, as nodes count them and the control plane sums and stores them
 * (semantics §10). All of it is additive: the counts of two spans, or of two nodes, can be merged.
 */
import type { ActionMode, BotKind, RuleType } from '../../base/vocabulary/vocabulary.ts';
import type { Decision, Effect, Match } from '../evaluator/decision.ts';
import {
  addGatewayCounts,
  createGatewayCounts,
  type GatewayCounts,
  type GatewayRequest,
} from './gateway-counts.ts';
import { createHyperLogLog, type HyperLogLog, mergeHyperLogLog } from './hyperloglog.ts';
import { createLogHistogram, type LogHistogram, mergeLogHistogram } from './log-histogram.ts';
import { createSpaceSaving, mergeSpaceSaving, type SpaceSaving } from './space-saving.ts';

/**
 * Maximum number of rules with one mode and effect in the counts of one span: all 10,000 rules of a domain, most of them
 * with one effect. Further matches are added to the sum `uncounted_hits`.
 */
export const MAX_HITS = 16_384;
/**
 * Maximum number of distinct changes by dry_run rules in the counts of one span: a hundred dry_run rules, each of which
 * changes forty outcomes. Further ones are added to the sum `uncounted_changes`.
 */
export const MAX_CHANGES = 4_096;
/** Maximum number of keys by dimension, `other` included; further keys are counted as `other`. */
export const MAX_KEYS = {
  /** Six actions and `none`. */
  action: 16,
  /** Statuses have three digits, 100 to 599. */
  status: 600,
  /** The code has some twenty words. */
  cache: 32,
  /** ISO 3166-1 assigns 249 codes; databases add some of their own. */
  country: 300,
  /** The kinds of bots, and `none`. */
  bot: 32,
} as const;
/** The key of what a full dimension counts together. */
const OTHER = 'other';
/**
 * Maximum length, in characters, of a key, and of the texts of a change: `origin_pool/4294967295` has 22,
 * `forward with another origin, path, query, cache directive and tags` some 70.
 */
export const MAX_KEY_LENGTH = 128;
/**
 * Maximum length, in characters, of a value in a top list, as of a header in the decision log: the longest User-Agents
 * of browsers with their add-ons have half of it. Longer values with an equal beginning count as one.
 */
export const MAX_VALUE_LENGTH = 512;

/** Plain sums. Octets of messages are those of bodies. */
export const SUMS = [
  'requests',
  /** Octets of request bodies and of response bodies. */
  'octets_in',
  'octets_out',
  /** Requests that went to an origin, and those of them that an origin did not answer or answered with ≥ 500. */
  'origin_requests',
  'origin_errors',
  /** The same of proxied records with `monitor: true`: what uptime is computed from (semantics §11). */
  'monitored',
  'monitored_errors',
  /** Requests that gateways admitted, which a quota counts. */
  'gateway_requests',
  /** Matches, and changes by dry_run rules, beyond MAX_HITS and MAX_CHANGES (`limits.ts`), which no entry counts. */
  'uncounted_hits',
  'uncounted_changes',
] as const;
/** One of SUMS. */
export type Sum = (typeof SUMS)[number];

/**
 * What requests are divided by. `action`: of the decision, `none` where no plan was evaluated. `status`: of the response.
 * `cache`: its result, `none` without one. `country`, `bot`: of the visitor, `unknown` and `none` without one.
 */
export const DIMENSIONS = ['action', 'status', 'cache', 'country', 'bot'] as const;
/** One of DIMENSIONS. */
export type Dimension = (typeof DIMENSIONS)[number];

/** Requests that one rule matched with one effect. */
export interface RuleHits {
  readonly type: RuleType;
  readonly id: number;
  readonly mode: ActionMode;
  /** `null`: reported by a node of an earlier release, which did not report it. */
  readonly effect: Effect | null;
  hits: number;
  /** The last of them, milliseconds since the epoch. */
  lastAt: number;
}

/** Requests whose decision a dry_run rule would have changed in one way. */
export interface ShadowChange {
  /** The dry_run rule. */
  readonly type: RuleType;
  readonly id: number;
  /** The decision, and what it would have been, as `outcomeText` writes it: `forward`, `block 403`, `redirect 301`. */
  readonly from: string;
  readonly to: string;
  /** `<type>/<id>` of the rule that settled the decision and would not have; empty: none. */
  readonly instead: string;
  requests: number;
}

/** Counts of one domain. Keys of `hits` and `changes` are of `hitKey` and `changeKey`. */
export interface TrafficCounts {
  readonly sums: Record<Sum, number>;
  readonly by: Readonly<Record<Dimension, Map<string, number>>>;
  readonly hits: Map<string, RuleHits>;
  readonly changes: Map<string, ShadowChange>;
  /** Milliseconds to the first octet of the response, and of an origin's response. */
  readonly edgeTimes: LogHistogram;
  readonly originTimes: LogHistogram;
  /** Visitors: client address and User-Agent. */
  readonly visitors: HyperLogLog;
  readonly gateways: GatewayCounts;
}

/** What top lists are of. */
export const TOP_KINDS = [
  'path',
  'address',
  'country',
  'user_agent',
  'ja4',
  'referrer',
  /** Requests to gateways without an operation (`unknown-operation.ts`). Not in batches of earlier releases. */
  'unknown_operation',
] as const;
/** One of TOP_KINDS. */
export type TopKind = (typeof TOP_KINDS)[number];

/** The most frequent values of one domain in one span of time. */
export type TopLists = Readonly<Record<TopKind, SpaceSaving>>;

/** Counts of nothing. */
export function createTrafficCounts(): TrafficCounts {
  return {
    sums: fromEach(SUMS, () => 0),
    by: fromEach(DIMENSIONS, () => new Map<string, number>()),
    hits: new Map(),
    changes: new Map(),
    edgeTimes: createLogHistogram(),
    originTimes: createLogHistogram(),
    visitors: createHyperLogLog(),
    gateways: createGatewayCounts(),
  };
}

/** Top lists of nothing. */
export function createTopLists(): TopLists {
  return fromEach(TOP_KINDS, () => createSpaceSaving());
}

/** An object with a value for each name of a list. */
export function fromEach<Name extends string, Value>(
  names: readonly Name[],
  make: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name) => [name, make(name)])) as Record<Name, Value>;
}

/** Adds the counts of `from`, which stay as they are, to those of `to`. */
export function addTrafficCounts(to: TrafficCounts, from: TrafficCounts): void {
  for (const sum of SUMS) to.sums[sum] += from.sums[sum];
  for (const dimension of DIMENSIONS) {
    for (const [key, requests] of from.by[dimension]) addKey(to, dimension, { key, requests });
  }
  for (const hits of from.hits.values()) addHits(to, hits);
  for (const change of from.changes.values()) addChange(to, change);
  mergeLogHistogram(to.edgeTimes, from.edgeTimes);
  mergeLogHistogram(to.originTimes, from.originTimes);
  mergeHyperLogLog(to.visitors, from.visitors);
  addGatewayCounts(to.gateways, from.gateways);
}

/** Adds the lists of `from`, which stay as they are, to those of `to`. */
export function addTopLists(to: TopLists, from: TopLists): void {
  for (const kind of TOP_KINDS) mergeSpaceSaving(to[kind], from[kind]);
}

/** Adds requests under a key of a dimension; a full dimension counts further keys as `other`. */
export function addKey(
  { by }: TrafficCounts,
  dimension: Dimension,
  { key, requests }: { readonly key: string; readonly requests: number },
): void {
  const counts = by[dimension];
  const before = counts.get(key);
  if (before !== undefined) counts.set(key, before + requests);
  else if (isKey(key) && hasPlace(counts, dimension)) counts.set(key, requests);
  else counts.set(OTHER, (counts.get(OTHER) ?? 0) + requests);
}

function isKey(key: string): boolean {
  return key.length <= MAX_KEY_LENGTH && key !== OTHER;
}

/** Whether a dimension has a place for another key, besides that for `other`. */
function hasPlace(counts: ReadonlyMap<string, number>, dimension: Dimension): boolean {
  return counts.size < MAX_KEYS[dimension] - (counts.has(OTHER) ? 0 : 1);
}

/** Adds matches of one rule with one mode and effect. */
export function addHits({ hits, sums }: TrafficCounts, added: RuleHits): void {
  const key = hitKey(added);
  const before = hits.get(key);
  if (before !== undefined) {
    before.hits += added.hits;
    before.lastAt = Math.max(before.lastAt, added.lastAt);
  } else if (hits.size < MAX_HITS) hits.set(key, { ...added });
  else sums.uncounted_hits += added.hits;
}

/** Adds requests whose decision one dry_run rule would have changed in one way. */
export function addChange({ changes, sums }: TrafficCounts, added: ShadowChange): void {
  const key = changeKey(added);
  const before = changes.get(key);
  if (before !== undefined) before.requests += added.requests;
  else if (changes.size < MAX_CHANGES) changes.set(key, { ...added });
  else sums.uncounted_changes += added.requests;
}

/** The key of `TrafficCounts.hits`. */
export function hitKey({
  type,
  id,
  mode,
  effect,
}: Pick<RuleHits, 'type' | 'id' | 'mode' | 'effect'>): string {
  return `${type}/${id} ${mode} ${effect ?? ''}`;
}

/** The key of `TrafficCounts.changes`. */
export function changeKey({ type, id, from, to, instead }: Omit<ShadowChange, 'requests'>): string {
  return `${type}/${id} ${from}|${to}|${instead}`;
}

/** A decision in a few words: `forward`, `block 403`, `redirect 301`. */
export function outcomeText({ action, status }: Pick<Decision, 'action' | 'status'>): string {
  return status === null ? action : `${action} ${status}`;
}

// One finished request, as it is counted: plain values, so that nodes and tests make it alike.

/** A finished request. */
export interface CountedRequest {
  /** The end of the request, milliseconds since the epoch. */
  readonly at: number;
  /** `null`: refused before a plan was evaluated. */
  readonly decision: Decision | null;
  /** Matches of error_page rules on the response. */
  readonly pageMatches: readonly Match[];
  /** The status of the response. */
  readonly status: number;
  /** Octets of the request's body and of the response's. */
  readonly octetsIn: number;
  readonly octetsOut: number;
  /** `hit`, `miss`, …; `null`: the request did not reach the cache. */
  readonly cache: string | null;
  /** ISO 3166-1 alpha-2, upper case; `null`: unknown. */
  readonly country: string | null;
  /** `null`: not a bot. */
  readonly bot: BotKind | null;
  /** The visitor's address; `null`: unknown. */
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly method: string;
  /** In canonical form, without the query (semantics §1.1); `null`: the request has none that is valid. */
  readonly path: string | null;
  /** Host and path of the Referer field: its query may contain secrets. */
  readonly referrer: string | null;
  readonly ja4: string | null;
  /** Milliseconds from the request's arrival to the first octet of the response; `null`: there was none. */
  readonly edgeMs: number | null;
  /** The same of the origin's response; `null`: no origin responded. */
  readonly originMs: number | null;
  /** Whether the request went to an origin. */
  readonly originRequest: boolean;
  /** Whether it did and the origin did not respond, or with a status of 500 or more. */
  readonly originError: boolean;
  /** Whether its record has `monitor: true`. */
  readonly monitored: boolean;
  /** What its gateway has made of it; `null`: no gateway is enforced for it. */
  readonly gateway: GatewayRequest | null;
}

/** The key of dimension `status`. */
export function statusKey(status: number): string {
  return Number.isInteger(status) && status >= 100 && status < 600 ? String(status) : OTHER;
}

/** The same as a number; 0 for others. */
export function statusNumber(status: number): number {
  return statusKey(status) === OTHER ? 0 : status;
}

/** An operation as counts have it: its id, or a method and the template of its path, such as `GET /orders/{id}`. */
export function operationText(idOrTemplate: string, method: string): string {
  return topValue(idOrTemplate.startsWith('/') ? `${method} ${idOrTemplate}` : idOrTemplate);
}

/** A value as top lists have it: its first 512 characters, and no half of a surrogate pair. */
export function topValue(value: string): string {
  if (value.length <= MAX_VALUE_LENGTH) return value;
  const last = value.charCodeAt(MAX_VALUE_LENGTH - 1);
  const isHalf = last >= 0xd800 && last < 0xdc00;
  return value.slice(0, isHalf ? MAX_VALUE_LENGTH - 1 : MAX_VALUE_LENGTH);
}
