/** Requests as nodes count them, made for tests, and their way into a store. */
import type { ActionMode, RuleType } from '../../src/base/vocabulary/vocabulary.ts';
import type { Store } from '../../src/control/store/store.ts';
import { columnsOf } from '../../src/control/traffic/blocks.ts';
import {
  type CountedRequest,
  createTopLists,
  createTrafficCounts,
  type TopLists,
  type TrafficCounts,
} from '../../src/engine/counts/counts.ts';
import { sealBatch, sealCounts, sealTops } from '../../src/engine/counts/layout.ts';
import { countRequest, countTops } from '../../src/engine/counts/request-counter.ts';
import type { Action, Decision, Effect, Match } from '../../src/engine/evaluator/decision.ts';

const MINUTE_MS = 60_000;

/** A matched rule. */
export interface Matched {
  readonly type: RuleType;
  readonly id: number;
  readonly effect: Effect;
  readonly mode?: ActionMode;
}

/** What tests say of a request; everything else has a usual value. */
export interface SentRequest extends Partial<Omit<CountedRequest, 'decision' | 'at'>> {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly action?: Action;
  /** What a plan has decided, in the place of what follows and of `action`. */
  readonly decided?: Decision;
  readonly matches?: readonly Matched[];
  /** The action and status had dry_run rules been enforced, and the rule that settles them. */
  readonly shadow?: { readonly action: Action; readonly status: number | null; readonly by: Matched };
}

/** A decision that forwards and matches nothing. */
export const FORWARDED: Decision = {
  action: 'forward',
  status: null,
  rule: null,
  location: null,
  body: null,
  origin: null,
  path: '/',
  query: null,
  cache: null,
  tags: [],
  retryAfter: null,
  waf: null,
  matches: [],
  shadow: null,
  revision: 1,
};

/** The decision that tests describe: an action other than `forward` is settled by the first enforced match. */
function decisionOf({ action = 'forward', status = 200, matches = [], shadow }: SentRequest): Decision {
  const all = matches.map(({ mode = 'enforce', ...match }): Match => ({ ...match, mode }));
  const settled = action === 'forward' ? null : (all.find(({ mode }) => mode === 'enforce') ?? null);
  const own: Decision = {
    ...FORWARDED,
    action,
    status: action === 'forward' ? null : status,
    rule: settled === null ? null : { type: settled.type, id: settled.id },
    matches: all,
  };
  if (shadow === undefined) return own;
  const { type, id } = shadow.by;
  const other = { ...own, action: shadow.action, status: shadow.status, rule: { type, id }, shadow: null };
  return { ...own, shadow: other };
}

/** The request as a node counts it. */
export function countedRequest(sent: SentRequest): CountedRequest {
  const { action: _action, matches: _matches, shadow: _shadow, decided, ...fields } = sent;
  return {
    pageMatches: [],
    status: 200,
    octetsIn: 0,
    octetsOut: 1_000,
    cache: null,
    country: null,
    bot: null,
    ip: '192.0.2.1',
    userAgent: 'curl/8.5.0',
    method: 'GET',
    path: '/',
    referrer: null,
    ja4: null,
    edgeMs: 5,
    originMs: null,
    originRequest: false,
    originError: false,
    monitored: false,
    gateway: null,
    ...fields,
    decision: decided ?? decisionOf(sent),
  };
}

/** The counts of one minute. */
interface CountedMinute {
  readonly minute: number;
  readonly counts: TrafficCounts;
  readonly tops: TopLists;
}

/** Counts requests by minute. */
function countMinutes(requests: readonly SentRequest[]): readonly CountedMinute[] {
  const minutes = new Map<number, CountedMinute>();
  for (const sent of requests) {
    const minute = Math.floor(sent.at / MINUTE_MS);
    const there = minutes.get(minute) ?? { minute, counts: createTrafficCounts(), tops: createTopLists() };
    minutes.set(minute, there);
    const counted = countedRequest(sent);
    countRequest(there.counts, counted);
    countTops(there.tops, counted);
  }
  return [...minutes.values()];
}

/** Requests of one domain as a node sends them, not compressed. */
export function batchOfRequests(batch: number, domain: string, requests: readonly SentRequest[]): Uint8Array {
  const entries = countMinutes(requests).map(({ minute, counts, tops }) => ({
    ...{ domain, minute: minute * MINUTE_MS },
    ...{ counts: sealCounts(counts), tops: sealTops(tops) },
  }));
  return sealBatch({ batch, entries });
}

let batches = 0;

/** Stores requests as parts that no roll-up has merged yet, each call as one batch. */
export async function storeTraffic(
  store: Store,
  domainId: number,
  requests: readonly SentRequest[],
): Promise<void> {
  const batch = ++batches;
  const parts = countMinutes(requests).map(({ minute, counts, tops }) => ({
    domain_id: domainId,
    minute,
    node_id: 1,
    batch,
    ...columnsOf(counts),
    taken_at: (minute + 1) * MINUTE_MS,
    counts: sealCounts(counts),
    tops: sealTops(tops),
  }));
  await store.write((tx) => tx.traffic.add(parts));
}
