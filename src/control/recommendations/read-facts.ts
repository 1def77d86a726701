/**
 * Reads the facts of a domain in one snapshot: rules, records, certificates, keys of the account that asks, and the counts of
 * 30 days. Runs in a compute thread: it parses and lints all rules and opens some 50 blocks of counts.
 */

import { addTrafficCounts, createTrafficCounts, type TrafficCounts } from '../../engine/counts/counts.ts';
import { lintRuleSet } from '../../workbench/proofs/lint.ts';
import { type DomainRows, readDomainRows, toRuleSet } from '../publishing/rule-set.ts';
import type { DomainRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';
import { STEP_MS } from '../traffic/period.ts';
import { readTop, readTraffic } from '../traffic/read-traffic.ts';
import { inEvaluationOrder, sumHits } from '../traffic/show-hits.ts';
import { lacksCertificates } from './certificates.ts';
import { isOverTls, readEntryRequest } from './entry-request.ts';
import { DRY_RUN_DAYS, UNUSED_DAYS } from './limits.ts';
import type { EntryLines, ReadEntries } from './read-entries.ts';
import type { CountedPeriod, RuleEntries, StoredFacts } from './stored-facts.ts';

/** The parameters of `readFactRows` and `toFacts`. */
export interface FactsAsked {
  readonly domain: DomainRow;
  /** The account whose keys are read. */
  readonly account: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether counts may be read. */
  readonly counts: boolean;
  /** Lines of log entries; `null`: they may not be read, or none are stored. */
  readonly entries: ReadEntries | null;
}

/** Rows and counts of one snapshot. */
export interface FactRows extends Pick<StoredFacts, 'certificates' | 'keys'> {
  readonly rows: DomainRows;
  /** Counts by the start of each day, UTC. */
  readonly days: ReadonlyMap<number, TrafficCounts> | null;
  /** Requests of the last seven days whose TLS ended at a node; `null`: it does not matter, or they are not to be read. */
  readonly tlsRequests: number | null;
}

/** Reads what `toFacts` takes. @throws StoreFault, CountsFault */
export async function readFactRows(
  tx: ReadTransaction,
  { domain, account, now, counts }: FactsAsked,
): Promise<FactRows> {
  const rows = await readDomainRows(tx, domain);
  const certificates = await tx.certificates.list(domain.id);
  const asksForTls = counts && lacksCertificates({ certificates, dnsMode: domain.dns_mode });
  return {
    rows,
    certificates,
    keys: await tx.keys.list(account),
    days: counts ? await readTraffic(tx, domain.id, { step: 'day', ...daysBefore(now, UNUSED_DAYS) }) : null,
    // A node takes the JA4 of each handshake of its own.
    tlsRequests: asksForTls
      ? (await readTop(tx, domain.id, { of: 'ja4', ...daysBefore(now, DRY_RUN_DAYS) })).total
      : null,
  };
}

/** The facts of a domain. */
export function toFacts(
  { rows, certificates, keys, days, tlsRequests }: FactRows,
  { domain, now, entries }: FactsAsked,
): StoredFacts {
  const ruleSet = toRuleSet({ ...rows, rules: inEvaluationOrder(rows.rules) });
  const changed = new Map(rows.rules.map(({ id, updated_at }) => [id, updated_at]));
  return {
    now,
    domain: ruleSet.domain,
    dnsMode: domain.dns_mode,
    rules: ruleSet.rules.map((rule) => ({ rule, updatedAt: changed.get(rule.id) ?? now })),
    records: ruleSet.records,
    certificates,
    keys,
    // Proofs are left to the analysis: a page of recommendations is computed anew each time.
    findings: lintRuleSet(ruleSet, undefined, { proofs: false }),
    month: days === null ? null : countedPeriod(days, daysBefore(now, UNUSED_DAYS)),
    week: days === null ? null : countedPeriod(days, daysBefore(now, DRY_RUN_DAYS)),
    entries: entries?.rules.map((one) => parseEntries(one, domain.name)) ?? null,
    overTls: (tlsRequests ?? 0) > 0 || entries?.newest.some(isOverTls) === true,
  };
}

function parseEntries({ rule, lines }: EntryLines, domain: string): RuleEntries {
  const requests = lines.flatMap((line) => readEntryRequest(line, { rule, domain }) ?? []);
  return { rule, requests };
}

/** A period in milliseconds since the epoch. */
interface Days {
  readonly from: number;
  readonly to: number;
}

/** So many whole days before today, and today. */
function daysBefore(now: number, days: number): Days {
  const today = now - (now % STEP_MS.day);
  return { from: today - days * STEP_MS.day, to: today + STEP_MS.day };
}

/** The counts of the days that are in a period. */
export function countedPeriod(days: ReadonlyMap<number, TrafficCounts>, { from, to }: Days): CountedPeriod {
  const within = [...days].filter(([start]) => start >= from && start < to);
  const total = createTrafficCounts();
  for (const [, counts] of within) addTrafficCounts(total, counts);
  const busy = within.filter(([, { sums }]) => sums.requests > 0).map(([start]) => start);
  return {
    from,
    to,
    trafficDays: busy.length,
    firstDay: busy.length === 0 ? null : Math.min(...busy),
    requests: total.sums.requests,
    statuses: total.by.status,
    sums: sumHits(new Map(within)),
  };
}
