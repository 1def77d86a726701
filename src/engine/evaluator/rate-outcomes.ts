/**
 * What rate limits leave beside a decision (semantics §14): the states that its response states in the fields `RateLimit` and
 * `RateLimit-Policy`, counts that wait for the status of its response, and the slot that it needs while it is in flight (semantics §15).
 * In: what the phase has judged. Out: the fields; the counts; the slot.
 * They belong to the decision object and are no fields of it: most decisions have none, and keys may have secrets of visitors.
 */
import { utf8Bytes } from '../../base/octets/octets.ts';
import { xxhash32 } from '../../base/octets/xxhash32.ts';
import type { Counters, RateKey, RateWindow } from '../rate-counters/counters.ts';
import type { NeededSlot } from '../rate-counters/slots.ts';
import type { Decision } from './decision.ts';

/** The state of one rate limit for the visitor of a request, the request included. */
export interface RateState {
  /** `policyName` of the rule. */
  readonly name: string;
  /** Requests that are let through in a window. */
  readonly quota: number;
  readonly windowSec: number;
  /** Requests that are let through in the next `resetSec` seconds. */
  readonly remaining: number;
  readonly resetSec: number;
}

/** A request that counts if its response has one of the statuses. */
export interface PendingCount {
  readonly counters: Counters;
  readonly window: RateWindow;
  readonly key: RateKey;
  readonly now: number;
  readonly statuses: readonly number[];
}

/** What rate limits leave beside one decision. */
interface RateOutcome {
  readonly states: readonly RateState[] | null;
  pending: readonly PendingCount[] | null;
  readonly needed: NeededSlot | null;
}

const OUTCOMES = new WeakMap<Decision, RateOutcome>();

/** Stores what belongs to a decision. */
export function storeOutcome(decision: Decision, outcome: RateOutcome): void {
  OUTCOMES.set(decision, outcome);
}

/**
 * The name of a rule's policy in the fields: the same while the rule is the same, and without words of the customer.
 * @param key the key of a rule of a file; empty: the rule goes by its id
 */
export function policyName(id: number, key: string): string {
  return `rule-${key === '' ? id : xxhash32(utf8Bytes(key)).toString(16).padStart(8, '0')}`;
}

/** The name of a usage plan in the fields, without words of the customer. */
export function planName(name: string): string {
  return `plan-${xxhash32(utf8Bytes(name)).toString(16).padStart(8, '0')}`;
}

/** The name of `limits` of an operation in the fields, likewise. @param gateway the key or id of its gateway */
export function operationName(gateway: string, operation: string): string {
  return `operation-${xxhash32(utf8Bytes(`${gateway}\n${operation}`))
    .toString(16)
    .padStart(8, '0')}`;
}

/** Values of two response header fields, lists of RFC 9651. */
export interface RateLimitFields {
  /** `RateLimit-Policy`: `"rule-7";q=100;w=60`. */
  readonly policy: string;
  /** `RateLimit`: `"rule-7";r=0;t=12`. */
  readonly limit: string;
}

/** The fields of the response to a decision (draft-ietf-httpapi-ratelimit-headers-10); `null`: it has none. */
export function rateLimitFields(decision: Decision): RateLimitFields | null {
  const states = OUTCOMES.get(decision)?.states ?? null;
  if (states === null) return null;
  return {
    policy: states.map(({ name, quota, windowSec }) => `"${name}";q=${quota};w=${windowSec}`).join(', '),
    limit: states.map(({ name, remaining, resetSec }) => `"${name}";r=${remaining};t=${resetSec}`).join(', '),
  };
}

/** Counts the request of a decision under the rules that count the status of its response; once, whatever is called again. */
export function countResponse(decision: Decision, status: number): void {
  const outcome = OUTCOMES.get(decision);
  if (outcome === undefined || outcome.pending === null) return;
  const { pending } = outcome;
  outcome.pending = null;
  for (const { counters, window, key, now, statuses } of pending)
    if (statuses.includes(status)) counters.hit(window, key, now, window.capacity, unread());
}

/** Whether the request of a decision needs a slot while it is in flight. */
export function needsSlot(decision: Decision): boolean {
  return (OUTCOMES.get(decision)?.needed ?? null) !== null;
}

/** Takes the slot of a decision, and returns the function that frees it; `null`: it needs none. */
export function takeSlot(decision: Decision): (() => void) | null {
  const needed = OUTCOMES.get(decision)?.needed ?? null;
  return needed === null || needed.slots === null ? null : needed.slots.take(needed.key);
}

function unread(): { breached: boolean; count: number; retryAfter: number } {
  return { breached: false, count: 0, retryAfter: 0 };
}
