/** Facts of a domain as plain values, for tests of recommendations. */
import type { RuleType } from '../../src/base/vocabulary/vocabulary.ts';
import { countedPeriod } from '../../src/control/recommendations/read-facts.ts';
import type {
  CountedPeriod,
  EntryRequest,
  StoredFacts,
} from '../../src/control/recommendations/stored-facts.ts';
import { inEvaluationOrder } from '../../src/control/traffic/show-hits.ts';
import {
  addChange,
  addHits,
  createTrafficCounts,
  type TrafficCounts,
} from '../../src/engine/counts/counts.ts';
import type { Effect } from '../../src/engine/evaluator/decision.ts';
import { parseRuleSet } from '../../src/rules/model/parse.ts';
import { lintRuleSet } from '../../src/workbench/proofs/lint.ts';

export const DAY = 86_400_000;
export const HOUR = 3_600_000;
/** A Wednesday, 15:00 UTC. */
export const NOW = Date.UTC(2026, 10, 25, 15);

/** What a test states; everything else is empty, rules are unchanged for a year, and requests come over TLS. */
export interface FactParts extends Partial<Omit<StoredFacts, 'rules' | 'records' | 'domain' | 'findings'>> {
  readonly rules?: readonly object[];
  readonly records?: readonly object[];
  /** Milliseconds since the epoch. */
  readonly updatedAt?: number;
  /** Of the domain. */
  readonly status?: string;
}

const SHOP = { id: 1, name: 'shop', type: 'A', destination: '198.51.100.20', proxied: true };

/** The facts; rules and records are written as in an edge file, with ids. */
export function factsOf({
  rules = [],
  records = [SHOP],
  updatedAt,
  status = 'active',
  ...parts
}: FactParts): StoredFacts {
  const read = parseRuleSet({ domain: { name: 'shop.example', status }, records, rules });
  if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
  const ruleSet = { ...read.ruleSet, rules: inEvaluationOrder(read.ruleSet.rules) };
  return {
    now: NOW,
    certificates: [],
    keys: [],
    consumerKeys: null,
    month: null,
    week: null,
    unknownOperations: null,
    entries: null,
    dnsMode: 'managed',
    overTls: true,
    ...parts,
    domain: ruleSet.domain,
    records: ruleSet.records,
    rules: ruleSet.rules.map((rule) => ({ rule, updatedAt: updatedAt ?? NOW - 365 * DAY })),
    findings: lintRuleSet(ruleSet, undefined, { proofs: false }),
  };
}

/** The counts of days before today and of today. */
export interface CountedDays {
  /** Days of the period besides today. */
  readonly days: number;
  /** Requests of each day. */
  readonly requests: number;
  /** Days of them without requests, the first ones of the period. */
  readonly quiet?: number;
  /** Changes the counts of yesterday. */
  readonly yesterday?: (counts: TrafficCounts) => void;
}

/** A period with the same requests on every day. */
export function periodOf({ days, requests, quiet = 0, yesterday }: CountedDays): CountedPeriod {
  const today = NOW - (NOW % DAY);
  const from = today - days * DAY;
  const counted = new Map<number, TrafficCounts>();
  for (let day = quiet; day <= days; day++) {
    const counts = createTrafficCounts();
    counts.sums.requests = requests;
    if (day === days - 1) yesterday?.(counts);
    counted.set(from + day * DAY, counts);
  }
  return countedPeriod(counted, { from, to: today + DAY });
}

/** Adds hits of a dry_run rule. */
export function wouldHave(
  counts: TrafficCounts,
  id: number,
  { effect, hits, type = 'drop' }: { effect: Effect; hits: number; type?: RuleType },
): void {
  addHits(counts, { type, id, mode: 'dry_run', effect, hits, lastAt: NOW - DAY });
}

/** Adds changes of a `drop` rule under dry_run. */
export function wouldChange(
  counts: TrafficCounts,
  id: number,
  {
    from = 'forward',
    to = 'block 403',
    requests,
    instead = '',
  }: { from?: string; to?: string; requests: number; instead?: string },
): void {
  addChange(counts, { type: 'drop', id, from, to, instead, requests });
}

/** A request as its log entry has it. */
export function entryOf(parts: Partial<EntryRequest>): EntryRequest {
  return {
    id: '00000000-0000-4000-8000-000000000000',
    at: NOW - HOUR,
    visitor: '1',
    agent: '',
    answer: null,
    isBot: false,
    fromOwnPage: true,
    method: 'GET',
    path: '/',
    parameters: [],
    status: 200,
    octets: 1_000,
    cache: null,
    effect: null,
    verdict: null,
    ...parts,
  };
}
