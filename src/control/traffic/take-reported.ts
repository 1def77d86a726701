/**
 * Traffic as nodes of earlier releases report it, in JSON: requests and octets by domain and minute, matches by rule. Out:
 * parts as a batch has them, for the same tables.
 */
import { randomInt } from 'node:crypto';
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import { addHits, createTrafficCounts, type TrafficCounts } from '../../engine/counts/counts.ts';
import { sealCounts } from '../../engine/counts/layout.ts';
import type { NodeRow } from '../store/rows.ts';
import type { ReadTransaction, WriteTransaction } from '../store/store.ts';
import type { TrafficPart } from '../store/traffic-repositories.ts';
import { columnsOf } from './blocks.ts';
import { checkMinute } from './check-batch.ts';
import { TrafficRefusal } from './fault.ts';
import { MAX_REQUEST_OCTETS, MINUTE_MS } from './limits.ts';
import { ownDomains } from './own-domains.ts';
import { readSums } from './read-sums.ts';
import { spend } from './spend.ts';

/** Traffic of a domain in a minute. */
export interface ReportedUsage {
  readonly domain: string;
  /** Whole minutes since the epoch. */
  readonly minute: number;
  readonly requests: number;
  /** Octets of response bodies. */
  readonly octets: number;
  readonly gateway_requests: number;
}

/** Matches of a rule in a minute. */
export interface ReportedHits {
  readonly domain: string;
  readonly minute: number;
  readonly type: RuleType;
  readonly id: number;
  readonly count: number;
}

/** What a node sends at once. */
export interface ReportedTraffic {
  /** Absent: every report counts. */
  readonly batch?: number | undefined;
  readonly usage: readonly ReportedUsage[];
  readonly hits: readonly ReportedHits[];
}

/** Batches without a number get one below 0, which no node uses. */
const MOST_UNNUMBERED = 2 ** 48 - 1;

/** A report that was checked, to be stored in a transaction. */
export interface CheckedReport {
  readonly batch: number | null;
  readonly parts: readonly TrafficPart[];
  readonly now: number;
}

/** @throws TrafficRefusal for what cannot be true */
export async function checkReported(
  tx: ReadTransaction,
  node: NodeRow,
  { sent, now }: { readonly sent: ReportedTraffic; readonly now: number },
): Promise<CheckedReport> {
  const { batch, usage, hits } = sent;
  for (const [place, row] of usage.entries()) checkUsage(row, { field: `usage[${place}]`, now });
  for (const [place, { minute }] of hits.entries()) checkMinute(minute, { field: `hits[${place}]`, now });
  const fields = new Map([
    ...hits.map(({ domain }): [string, string] => [domain, 'hits']),
    ...usage.map(({ domain }): [string, string] => [domain, 'usage']),
  ]);
  const names = [...fields.keys()];
  const fieldOf = (name: string): string => fields.get(name) ?? 'usage';
  const ids = names.length === 0 ? new Map<string, number>() : await ownDomains(tx, node, { names, fieldOf });
  const number = batch ?? -randomInt(1, MOST_UNNUMBERED);
  const minutes = countsByMinute(sent, ids);
  await checkHits(tx, minutes);
  const parts = minutes.map(({ domain_id, minute, counts }) => ({
    ...{ domain_id, minute, node_id: node.id, batch: number },
    ...columnsOf(counts),
    taken_at: now,
    counts: sealCounts(counts),
    tops: null,
  }));
  return { batch: batch ?? null, parts, now };
}

/** Stores a checked report, unless its batch was accepted before. @throws TrafficRefusal, StoreFault */
export async function storeReported(
  tx: WriteTransaction,
  node: NodeRow,
  { batch, parts, now }: CheckedReport,
): Promise<void> {
  if (parts.length === 0) return;
  if (batch !== null && !(await tx.nodes.takeBatch(node.id, { batch, at: now }))) return;
  await spend(tx, node, { parts, now, field: 'usage' });
  await tx.traffic.add(parts);
}

function checkUsage(
  { minute, requests, octets, gateway_requests }: ReportedUsage,
  { field, now }: { readonly field: string; readonly now: number },
): void {
  checkMinute(minute, { field, now });
  if (gateway_requests > requests) {
    throw new TrafficRefusal(
      `${field}.gateway_requests: at most its ${requests} requests, found ${gateway_requests}`,
    );
  }
  if (octets <= requests * MAX_REQUEST_OCTETS) return;
  throw new TrafficRefusal(
    `${field}.octets: at most ${MAX_REQUEST_OCTETS} for each request, found ${octets}`,
  );
}

interface MinuteCounts {
  readonly domain_id: number;
  readonly minute: number;
  readonly counts: TrafficCounts;
}

/** The rows of a report by domain and minute. */
function countsByMinute(
  { usage, hits }: ReportedTraffic,
  ids: ReadonlyMap<string, number>,
): readonly MinuteCounts[] {
  const found = new Map<string, MinuteCounts>();
  const countsIn = (domain: string, minute: number): TrafficCounts | null => {
    const domain_id = ids.get(domain);
    if (domain_id === undefined) return null;
    const key = `${domain_id} ${minute}`;
    const there = found.get(key) ?? { domain_id, minute, counts: createTrafficCounts() };
    found.set(key, there);
    return there.counts;
  };
  for (const { domain, minute, requests, octets, gateway_requests } of usage) {
    const counts = countsIn(domain, minute);
    if (counts === null) continue;
    counts.sums.requests += requests;
    counts.sums.octets_out += octets;
    counts.sums.gateway_requests += gateway_requests;
  }
  for (const { domain, minute, type, id, count } of hits) {
    const counts = countsIn(domain, minute);
    // Such nodes count matches of both modes as one number. Most rules are enforced; the effect is not known.
    const rule = { type, id, mode: 'enforce', effect: null } as const;
    if (counts !== null && count > 0) addHits(counts, { ...rule, hits: count, lastAt: minute * MINUTE_MS });
  }
  return [...found.values()];
}

/** A rule matches a request once. Hits may come after the usage of their minute, in a report of their own, never before. */
async function checkHits(tx: ReadTransaction, minutes: readonly MinuteCounts[]): Promise<void> {
  for (const { domain_id, minute, counts } of minutes) {
    const excess = (requests: number) => [...counts.hits.values()].find(({ hits }) => hits > requests);
    if (excess(counts.sums.requests) === undefined) continue;
    const span = { from: minute * MINUTE_MS, to: (minute + 1) * MINUTE_MS };
    const stored = await readSums(tx, domain_id, span);
    const found = excess(counts.sums.requests + stored.requests);
    if (found === undefined) continue;
    const rule = `the rule ${found.id} of type ${found.type}`;
    throw new TrafficRefusal(
      `hits: ${rule} would have ${found.hits} in minute ${minute}, more than its domain had requests`,
    );
  }
}
