/**
 * Reads the facts of a domain in one snapshot: rules, records, certificates, keys of the account that asks, and the counts of
 * 30 days. Runs in a compute thread: it parses and lints all rules and opens some 50 blocks of counts.
 */
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import { addTrafficCounts, createTrafficCounts, type TrafficCounts } from '../../engine/counts/counts.ts';
import { lintRuleSet } from '../../workbench/proofs/lint.ts';
import { type LogAction, LogFault, type LogStore } from '../logs/log-store.ts';
import { type DomainRows, readDomainRows, toRuleSet } from '../publishing/make-plan.ts';
import type { ReadTransaction } from '../store/store.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import type { RuleRow } from '../store/tables/rules.ts';
import { readTop, readTraffic } from '../traffic/read-traffic.ts';
import { STEP_MS } from '../traffic/retention.ts';
import { inEvaluationOrder, sumHits } from '../traffic/show-hits.ts';
import { lacksCertificates } from './certificates.ts';
import {
  DRY_RUN_DAYS,
  ENTRIES_OF_PART,
  ENTRY_DAYS,
  ENTRY_PARTS,
  MAX_ENTRY_OCTETS,
  MAX_ENTRY_RULES,
  MAX_NAMES_SHOWN,
  NEWEST_ENTRIES,
  READ_ENTRIES_MS,
  UNUSED_DAYS,
  UNUSED_KEY_MS,
} from './limits.ts';
import {
  type CountedPeriod,
  isOverTls,
  type RuleEntries,
  readEntryRequest,
  type StoredFacts,
  type UnusedKeyFacts,
} from './stored-facts.ts';

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
export interface FactRows
  extends Pick<StoredFacts, 'certificates' | 'keys' | 'unknownOperations' | 'consumerKeys'> {
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
  const week = daysBefore(now, DRY_RUN_DAYS);
  const hasGateways = counts && rows.rules.some(({ type }) => type === 'gateway');
  const asksForTls = counts && lacksCertificates({ certificates, dnsMode: domain.dns_mode });
  return {
    rows,
    certificates,
    keys: await tx.keys.list(account),
    consumerKeys: counts ? await readUnusedKeys(tx, domain.id, now) : null,
    days: counts ? await readTraffic(tx, domain.id, { step: 'day', ...daysBefore(now, UNUSED_DAYS) }) : null,
    unknownOperations: hasGateways
      ? { ...week, list: await readTop(tx, domain.id, { of: 'unknown_operation', ...week }) }
      : null,
    // A node takes the JA4 of each handshake of its own.
    tlsRequests: asksForTls ? (await readTop(tx, domain.id, { of: 'ja4', ...week })).total : null,
  };
}

/** The keys of consumers that were not used for long. */
async function readUnusedKeys(
  { consumerKeys }: Pick<ReadTransaction, 'consumerKeys'>,
  domainId: number,
  now: number,
): Promise<UnusedKeyFacts> {
  const asked = { now, before: now - UNUSED_KEY_MS, limit: MAX_NAMES_SHOWN };
  const { total, keys } = await consumerKeys.unused(domainId, asked);
  return { of: total, keys };
}

/** The facts of a domain. */
export function toFacts(
  { rows, certificates, keys, consumerKeys, days, tlsRequests, unknownOperations }: FactRows,
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
    ...(ruleSet.lists === undefined ? {} : { lists: ruleSet.lists }),
    certificates,
    keys,
    consumerKeys,
    // PERF: each request computes its page of recommendations, so proofs and findings about consumers are those of the analysis alone.
    findings: lintRuleSet(ruleSet, undefined, { proofs: false, partial: true }),
    month: days === null ? null : countedPeriod(days, daysBefore(now, UNUSED_DAYS)),
    week: days === null ? null : countedPeriod(days, daysBefore(now, DRY_RUN_DAYS)),
    unknownOperations,
    entries: entries?.rules.map(parseEntries) ?? null,
    overTls: (tlsRequests ?? 0) > 0 || entries?.newest.some(isOverTls) === true,
  };
}

function parseEntries({ rule, lines }: EntryLines): RuleEntries {
  return { rule, requests: lines.flatMap((line) => readEntryRequest(line, rule) ?? []) };
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
    gateways: total.gateways,
  };
}

// Reads lines of log entries for the rules that are judged by them. In: the log store, whose threads search, and a domain. Out:
// for each of a few `waf` and `cache` rules lines that are spread over the last seven days, unparsed, and the newest lines of the
// domain.
//
// The time is divided into parts, and the newest lines of each part are read, so that a busy rule shows more than its last
// minutes. Parts are visited in steps of several: what is read before a bound ends the reading is spread over the time, too.
// The work is bounded by the rules, by the lines of a rule and part, by the octets of all lines, and by time; the evidence of a
// recommendation states how many entries of which period it rests on.

const DAY_MS = 86_400_000;
/** Parts from one that is visited to the next; it has no divisor in common with their number, so each is visited once. */
const PART_STEP = 19;

/** The lines of one rule, newest first. */
interface EntryLines {
  /** `<type>/<id>`. */
  readonly rule: string;
  readonly lines: readonly string[];
}

/** What is read of a domain. */
export interface ReadEntries {
  readonly rules: readonly EntryLines[];
  /** The newest lines of the domain, whatever rules they name. */
  readonly newest: readonly string[];
}

/** The parameters of `readEntries`. */
export interface EntriesAsked {
  readonly logs: Pick<LogStore, 'find'>;
  readonly tx: Pick<ReadTransaction, 'rules'>;
  readonly domain: Pick<DomainRow, 'id' | 'created_at'>;
  /** The account that asks: its searches run one after another. */
  readonly account: number;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Reads the lines; `null`: this server stores no entries. @throws LogFault, StoreFault */
export async function readEntries(asked: EntriesAsked): Promise<ReadEntries | null> {
  const { tx, domain } = asked;
  const rules = [...(await firstRules(tx, domain.id, 'waf')), ...(await firstRules(tx, domain.id, 'cache'))];
  try {
    const newest = await readNewest(asked);
    return { newest, rules: await readByPart(rules.map(searchOf), asked) };
  } catch (error) {
    if (error instanceof LogFault && error.code === 'absent') return null;
    throw error;
  }
}

/** The enabled rules of a type that are evaluated first. */
function firstRules(
  { rules }: EntriesAsked['tx'],
  domainId: number,
  type: RuleType,
): Promise<readonly RuleRow[]> {
  return rules.page(domainId, { type, after: null, limit: MAX_ENTRY_RULES, enabled: true, text: null });
}

/** The entries that say something of one rule. */
interface RuleSearch {
  readonly rule: string;
  /** Milliseconds since the epoch: earlier entries are of another version of the rule. */
  readonly since: number;
  readonly action: LogAction | null;
}

function searchOf({ type, id, body, updated_at }: RuleRow): RuleSearch {
  const { action_mode } = JSON.parse(body) as { readonly action_mode?: string };
  const blocked = action_mode === 'dry_run' ? 'would-block' : 'block';
  return { rule: `${type}/${id}`, since: updated_at, action: type === 'waf' ? blocked : null };
}

/** The newest lines of the last seven days. */
async function readNewest({ logs, domain, account, clock }: EntriesAsked): Promise<readonly string[]> {
  const to = clock() + 1;
  const from = Math.max(to - ENTRY_DAYS * DAY_MS, domain.created_at);
  if (from >= to) return [];
  const { entries } = await logs.find({
    ...{ domainId: domain.id, account, from, to, before: null, limit: NEWEST_ENTRIES },
    ...{ action: null, rule: null, ip: null, path: null },
  });
  return entries.map(({ line }) => line);
}

/** The lines of each search, until a bound is reached. */
async function readByPart(
  searches: readonly RuleSearch[],
  { logs, domain, account, clock }: EntriesAsked,
): Promise<readonly EntryLines[]> {
  const now = clock();
  const found = searches.map(() => new Map<number, readonly string[]>());
  let octets = 0;
  for (let visit = 0; visit < ENTRY_PARTS; visit++) {
    const part = (visit * PART_STEP) % ENTRY_PARTS;
    for (const [index, { rule, since, action }] of searches.entries()) {
      const { from, to } = partOf(part, { from: Math.max(since, domain.created_at), now });
      if (from >= to) continue;
      if (octets > MAX_ENTRY_OCTETS || clock() - now > READ_ENTRIES_MS) return inOrder(searches, found);
      const page = await logs.find({
        ...{ domainId: domain.id, account, from, to, before: null, limit: ENTRIES_OF_PART },
        // A counted line has no request to judge a rule by, and its requests are those of the lines beside it.
        ...{ action, rule, ip: null, path: null, onlyDecisions: true },
      });
      const lines = page.entries.map(({ line }) => line);
      octets += lines.reduce((sum, { length }) => sum + length, 0);
      found[index]!.set(part, lines);
    }
  }
  return inOrder(searches, found);
}

/** One part of the time before `now`, the newest part first; `from`: earlier entries are not read. */
function partOf(
  part: number,
  { from, now }: { readonly from: number; readonly now: number },
): { readonly from: number; readonly to: number } {
  const end = now + 1;
  const start = Math.max(end - ENTRY_DAYS * DAY_MS, from);
  const length = Math.max(0, end - start) / ENTRY_PARTS;
  const border = (at: number): number => Math.floor(end - at * length);
  return { from: border(part + 1), to: border(part) };
}

/** The lines of each search, newest first. */
function inOrder(
  searches: readonly RuleSearch[],
  found: readonly ReadonlyMap<number, readonly string[]>[],
): readonly EntryLines[] {
  return searches.map(({ rule }, index) => {
    const parts = [...found[index]!].sort(([left], [right]) => left - right);
    return { rule, lines: parts.flatMap(([, lines]) => lines) };
  });
}
