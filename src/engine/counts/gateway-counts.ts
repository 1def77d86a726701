/**
 * Counts of requests to gateways in one span of time (semantics §15), which are additive as other counts are. Requests by
 * gateway, consumer, operation and status are what usage is shown from; requests by consumer are what quotas are compared with,
 * and are exact where the first have no room. A gateway under dry_run admits and refuses nothing, so that it counts nothing.
 */
import { MAX_CONSUMERS, MAX_REGISTRY_KEYS } from '../../base/vocabulary/limits.ts';
import type { Decision } from '../evaluator/decision.ts';

/**
 * Maximum number of gateways with one consumer, operation and status in the counts of one span: a hundred consumers that call
 * forty operations with two statuses each. Further requests are in `uncounted`.
 */
export const MAX_GATEWAY_USES = 8_192;
/** Maximum number of consumers in the counts of one span: all of a domain, and requests without one. */
export const MAX_USE_CONSUMERS = MAX_CONSUMERS + 1;
/** Maximum number of keys in the counts of one span: all of a domain. The use of further keys is not recorded. */
export const MAX_KEY_USES = MAX_REGISTRY_KEYS;

/** Requests, and those of them that the gateway admitted: what a quota counts. */
export interface GatewaySums {
  requests: number;
  admitted: number;
}

/** Requests to one gateway by one consumer of one operation that were answered with one status. */
export interface GatewayUse extends GatewaySums {
  /** The id of the rule. */
  readonly gateway: number;
  /** The username; empty: the request has no consumer. */
  readonly consumer: string;
  /** See `operationText` (`counts.ts`); empty: no operation describes the request. */
  readonly operation: string;
  /** The status of the response; 0: none, or one without three digits. */
  readonly status: number;
}

/** Counts of the gateways of one domain. */
export interface GatewayCounts {
  /** By `useKey`. */
  readonly uses: Map<string, GatewayUse>;
  /** By username; empty: requests without a consumer. */
  readonly consumers: Map<string, GatewaySums>;
  /** The last use of each API key, milliseconds since the epoch, by the first 8 hex digits of the key's hash. */
  readonly keys: Map<string, number>;
  /** Requests that no entry of `uses` has, and those that no entry of `consumers` has. */
  readonly uncounted: GatewaySums;
  readonly unnamed: GatewaySums;
}

/** What a gateway has made of a request. */
export interface GatewayRequest extends Omit<GatewayUse, keyof GatewaySums | 'status'> {
  /** Whether the gateway let it pass; other rules and the origin may have refused it. */
  readonly isAdmitted: boolean;
  /** The first 8 hex digits of the hash of its valid API key; `null`: it has none. */
  readonly key: string | null;
}

/** How a request ended. */
export interface GatewayResponse {
  /** As in `GatewayUse`. */
  readonly status: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Counts of nothing. */
export function createGatewayCounts(): GatewayCounts {
  return {
    uses: new Map(),
    consumers: new Map(),
    keys: new Map(),
    uncounted: { requests: 0, admitted: 0 },
    unnamed: { requests: 0, admitted: 0 },
  };
}

/** Adds one request. */
export function countGatewayRequest(
  counts: GatewayCounts,
  { gateway, consumer, operation, isAdmitted, key }: GatewayRequest,
  { status, at }: GatewayResponse,
): void {
  const sums = { requests: 1, admitted: isAdmitted ? 1 : 0 };
  addUse(counts, { gateway, consumer, operation, status, ...sums });
  addConsumer(counts, consumer, sums);
  if (key !== null) addKeyUse(counts, key, at);
}

/** Adds the counts of `from`, which stay as they are, to those of `to`. */
export function addGatewayCounts(to: GatewayCounts, from: GatewayCounts): void {
  for (const use of from.uses.values()) addUse(to, use);
  for (const [consumer, sums] of from.consumers) addConsumer(to, consumer, sums);
  for (const [key, at] of from.keys) addKeyUse(to, key, at);
  addSums(to.uncounted, from.uncounted);
  addSums(to.unnamed, from.unnamed);
}

/** Adds requests to other sums. */
export function addSums(to: GatewaySums, { requests, admitted }: Readonly<GatewaySums>): void {
  to.requests += requests;
  to.admitted += admitted;
}

function addUse({ uses, uncounted }: GatewayCounts, added: GatewayUse): void {
  const key = useKey(added);
  const before = uses.get(key);
  if (before !== undefined) addSums(before, added);
  else if (uses.size < MAX_GATEWAY_USES) uses.set(key, { ...added });
  else addSums(uncounted, added);
}

function addConsumer({ consumers, unnamed }: GatewayCounts, name: string, added: GatewaySums): void {
  const before = consumers.get(name);
  if (before !== undefined) addSums(before, added);
  else if (consumers.size < MAX_USE_CONSUMERS)
    consumers.set(name, { requests: added.requests, admitted: added.admitted });
  else addSums(unnamed, added);
}

function addKeyUse({ keys }: GatewayCounts, key: string, at: number): void {
  const before = keys.get(key);
  if (before === undefined ? keys.size < MAX_KEY_USES : at > before) keys.set(key, at);
}

/** The key of `GatewayCounts.uses`. */
export function useKey({
  gateway,
  status,
  consumer,
  operation,
}: Omit<GatewayUse, keyof GatewaySums>): string {
  return `${gateway} ${status} ${consumer.length} ${consumer}${operation}`;
}

/** The gateway that has settled or admitted a request; `null`: none is enforced for it. */
export function gatewayOf(decision: Decision): Pick<GatewayRequest, 'gateway' | 'isAdmitted'> | null {
  if (decision.gateway === undefined) return null;
  const match = decision.matches.find(({ type, mode }) => type === 'gateway' && mode === 'enforce');
  return match === undefined ? null : { gateway: match.id, isAdmitted: decision.rule?.type !== 'gateway' };
}
