/**
 * Traffic counts of one domain in one span of time, as nodes count them and the control plane sums and stores them
 * (semantics §10). All of it is additive: the counts of two spans, or of two nodes, can be merged.
 */
import type { ActionMode, RuleType } from '../base/vocabulary.ts';
import type { Effect } from '../evaluator/decision.ts';
import type { HyperLogLog } from './hyperloglog.ts';
import type { LogHistogram } from './log-histogram.ts';
import type { SpaceSaving } from './space-saving.ts';

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
  /** Requests through gateways, which a quota counts. */
  'gateway_requests',
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
}

/** What top lists are of. */
export const TOP_KINDS = ['path', 'address', 'country', 'user_agent', 'ja4', 'referrer'] as const;
/** One of TOP_KINDS. */
export type TopKind = (typeof TOP_KINDS)[number];

/** The most frequent values of one domain in one span of time. */
export type TopLists = Readonly<Record<TopKind, SpaceSaving>>;
