/**
 * Files what a node reports, as far as it can be true: names of its groups, revisions that were published, traffic that fits
 * the time since its last report, rules that matched no more often than there were requests. A report that cannot be true
 * changes nothing.
 */
import { shareGroup } from '../base/node-groups.ts';
import type { HitRow, NodeRow, ReportRow, UsageRow } from '../store/rows.ts';
import type { ReadTransaction, Store, WriteTransaction } from '../store/store.ts';
import {
  HITS_STORED_MINUTES,
  MAX_CLOCK_AHEAD_MS,
  MAX_NODE_OCTETS_PER_SEC,
  MAX_NODE_REQUESTS_PER_SEC,
  MAX_REQUEST_OCTETS,
  TRAFFIC_SLACK_MS,
} from './limits.ts';
import { findOwnDomain } from './own-domain.ts';

const MINUTE_MS = 60_000;

/** The message names the field and the limit. */
export class ReportRefusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ReportRefusal';
  }
}

type Named<Row> = Omit<Row, 'domain_id'> & { readonly domain: string };

/** What a node sends at once. */
export interface SentReports {
  /** The number of the batch of traffic, see `NodeWrites.takeBatch`; absent: every batch counts. */
  readonly batch?: number | undefined;
  readonly reports: readonly Omit<ReportRow, 'node_id' | 'at'>[];
  readonly usage: readonly Named<UsageRow>[];
  readonly hits: readonly Named<HitRow>[];
}

/** @throws ReportRefusal when something of it cannot be true; nothing is filed then */
export async function fileReports(
  store: Store,
  node: NodeRow,
  { sent, now }: { readonly sent: SentReports; readonly now: number },
): Promise<void> {
  const { batch, reports, usage, hits } = sent;
  for (const [place, report] of reports.entries()) await checkAnswer(store.latest, node, { report, place });
  for (const [place, row] of usage.entries()) checkFigures(row, { place, now });
  for (const [place, { minute }] of hits.entries()) checkMinute(minute, { field: `hits[${place}]`, now });
  const ids = await ownIds(store.latest, node, { usage, hits });
  const traffic = usage.flatMap((row) => withId(row, ids));
  const matched = hits.flatMap((row) => withId(row, ids));
  await store.write(async (tx) => {
    await tx.nodes.report(reports.map((report) => ({ ...report, node_id: node.id, at: now })));
    if (traffic.length === 0 && matched.length === 0) return;
    if (batch !== undefined && !(await tx.nodes.takeBatch(node.id, batch))) return;
    await spend(tx, node, { traffic, now });
    await tx.usage.add(traffic);
    await tx.hits.add(matched);
    await checkHits(tx, matched);
  });
}

/** Names with the ids of their domains. A name without a domain, or outside the node's groups, has none and is not counted. */
async function ownIds(
  tx: ReadTransaction,
  node: NodeRow,
  { usage, hits }: Pick<SentReports, 'usage' | 'hits'>,
): Promise<ReadonlyMap<string, number>> {
  const ids = new Map<string, number>();
  /** By name, the first field that it is in. */
  const fields = new Map([
    ...hits.map(({ domain }): [string, string] => [domain, 'hits']),
    ...usage.map(({ domain }): [string, string] => [domain, 'usage']),
  ]);
  for (const [name, field] of fields) {
    const domain = await findOwnDomain(tx, node, name);
    if (domain === 'foreign') throw foreign(field, name);
    if (domain !== null) ids.set(name, domain.id);
  }
  return ids;
}

function foreign(field: string, name: string): ReportRefusal {
  return new ReportRefusal(`${field}: \`${name}\` is in no group of this node`);
}

function withId<Row extends { readonly domain: string }>(
  { domain, ...rest }: Row,
  ids: ReadonlyMap<string, number>,
): (Omit<Row, 'domain'> & { readonly domain_id: number })[] {
  const domain_id = ids.get(domain);
  return domain_id === undefined ? [] : [{ ...rest, domain_id }];
}

/**
 * Checks that a report is about a domain in one of the node's groups (or one that has left them), at a revision that
 * exists.
 */
async function checkAnswer(
  tx: ReadTransaction,
  { node_groups }: NodeRow,
  { report, place }: { readonly report: SentReports['reports'][number]; readonly place: number },
): Promise<void> {
  const { domain, revision } = report;
  const current = await tx.plans.current(domain);
  const groups = current === null ? '' : `${current.node_groups},${current.left_groups}`;
  if (current === null || !shareGroup(groups, node_groups)) throw foreign(`reports[${place}].domain`, domain);
  if (revision <= current.revision) return;
  const newest = `the newest revision of \`${domain}\` is ${current.revision}`;
  throw new ReportRefusal(`reports[${place}].revision: ${newest}, found ${revision}`);
}

interface At {
  readonly now: number;
}

function checkFigures(
  { minute, requests, octets, gateway_requests }: SentReports['usage'][number],
  { place, now }: At & { readonly place: number },
): void {
  const field = `usage[${place}]`;
  checkMinute(minute, { field, now });
  if (gateway_requests > requests) {
    throw new ReportRefusal(
      `${field}.gateway_requests: at most its ${requests} requests, found ${gateway_requests}`,
    );
  }
  if (octets <= requests * MAX_REQUEST_OCTETS) return;
  throw new ReportRefusal(`${field}.octets: at most ${MAX_REQUEST_OCTETS} for each request, found ${octets}`);
}

function checkMinute(minute: number, { field, now }: At & { readonly field: string }): void {
  const last = Math.floor((now + MAX_CLOCK_AHEAD_MS) / MINUTE_MS);
  const first = Math.floor(now / MINUTE_MS) - HITS_STORED_MINUTES;
  if (minute >= first && minute <= last) return;
  throw new ReportRefusal(`${field}.minute: from ${first} to ${last} by the server's clock, found ${minute}`);
}

/** Takes the time that the traffic needs at the highest rates from the time since the node's last accepted report. */
async function spend(
  tx: WriteTransaction,
  { id, created_at }: NodeRow,
  { traffic, now }: At & { readonly traffic: readonly UsageRow[] },
): Promise<void> {
  if (traffic.length === 0) return;
  const requests = traffic.reduce((sum, row) => sum + row.requests, 0);
  const octets = traffic.reduce((sum, row) => sum + row.octets, 0);
  const seconds = Math.max(requests / MAX_NODE_REQUESTS_PER_SEC, octets / MAX_NODE_OCTETS_PER_SEC);
  const earliest = now - HITS_STORED_MINUTES * MINUTE_MS;
  const until = now + TRAFFIC_SLACK_MS;
  const begun = Math.min(...traffic.map(({ minute }) => minute * MINUTE_MS), now);
  const terms = { since: created_at, earliest, floor: begun, now, until };
  // Also a sum that no integer can be made of.
  const ms = Math.ceil(Math.min(seconds * 1_000, Number.MAX_SAFE_INTEGER / 4));
  if (await tx.nodes.spend(id, { ...terms, ms })) return;
  const spent = Math.max((await tx.nodes.spentUntil(id)) ?? created_at, earliest);
  const left = Math.max(0, until - spent) / 1_000;
  const [most, mostOctets] = [left * MAX_NODE_REQUESTS_PER_SEC, left * MAX_NODE_OCTETS_PER_SEC].map(
    Math.floor,
  );
  throw new ReportRefusal(
    `usage: at most ${most} requests and ${mostOctets} octets since the last accepted report (${MAX_NODE_REQUESTS_PER_SEC} and ${MAX_NODE_OCTETS_PER_SEC} a second), found ${requests} and ${octets}`,
  );
}

/** A rule matches a request once. Hits may come after the usage of their minute, never before. */
async function checkHits(tx: WriteTransaction, hits: readonly HitRow[]): Promise<void> {
  const minutes = new Map(hits.map((row) => [`${row.domain_id} ${row.minute}`, row]));
  for (const { domain_id, minute } of minutes.values()) {
    const found = await tx.hits.excess(domain_id, minute);
    if (found === null) continue;
    const rule = `the rule ${found.rule_id} of type ${found.type}`;
    throw new ReportRefusal(
      `hits: ${rule} would have ${found.hits} in minute ${minute}, more than its domain had requests`,
    );
  }
}
