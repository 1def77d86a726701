/**
 * Takes the traffic that a node reports, each report once: sealed batches, which the thread opens and checks
 * (`check-batch.ts`), and counts in JSON of earlier releases. A batch is stored in one transaction with its number, so
 * that it counts once, in whatever order batches come and whenever a process ends. In: octets or JSON of a node. Out:
 * parts in the store, of domains that the node serves and in amounts that it can have had.
 */
import { randomInt } from 'node:crypto';
import { shareGroup } from '../../base/vocabulary/node-groups.ts';
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import { addHits, createTrafficCounts, type TrafficCounts } from '../../engine/counts/counts.ts';
import { sealCounts } from '../../engine/counts/layout.ts';
import type { ReadTransaction, Store, WriteTransaction } from '../store/store.ts';
import type { NodeRow } from '../store/tables/nodes.ts';
import type { TrafficPart } from '../store/tables/traffic.ts';
import { columnsOf } from './blocks.ts';
import { checkMinute, type ReceivedBatch } from './check-batch.ts';
import { TrafficRefusal } from './fault.ts';
import {
  KEY_USE_STEP_MS,
  MAX_NODE_OCTETS_PER_SEC,
  MAX_NODE_REQUESTS_PER_SEC,
  MAX_REQUEST_OCTETS,
  MINUTE_MS,
  TAKEN_MINUTES,
  TRAFFIC_SLACK_MS,
} from './limits.ts';
import { readSums } from './read-traffic.ts';
import type { TrafficThread } from './thread.ts';

/** What became of a batch. */
export interface TakenBatch {
  readonly batch: number;
  /** Entries that were counted: names without a domain are not. */
  readonly parts: number;
  /** The batch was accepted before; nothing was counted. */
  readonly isRepeated: boolean;
}

/** @throws TrafficRefusal for what cannot be true, TrafficFault, StoreFault; nothing is counted then */
export async function takeBatch(
  { store, thread }: { readonly store: Store; readonly thread: Pick<TrafficThread, 'check'> },
  node: NodeRow,
  sent: ReceivedBatch,
): Promise<TakenBatch> {
  const { now } = sent;
  const { batch, parts: named, uses, keys } = await thread.check(sent);
  const places = new Map(named.map(({ domain }, place) => [domain, place]));
  const ids = await ownDomains(store.latest, node, {
    names: [...places.keys()],
    fieldOf: (name) => `entries[${places.get(name) ?? 0}].domain`,
  });
  const withIds = <Row extends { readonly domain: string }>(rows: readonly Row[]) =>
    rows.flatMap(({ domain, ...rest }) => {
      const domain_id = ids.get(domain);
      return domain_id === undefined ? [] : [{ ...rest, domain_id }];
    });
  const parts = withIds(named).map((part) => ({ ...part, node_id: node.id, batch, taken_at: now }));
  return store.write(async (tx) => {
    if (!(await tx.nodes.takeBatch(node.id, { batch, at: now })))
      return { batch, parts: 0, isRepeated: true };
    await spend(tx, node, { parts, now, field: 'entries' });
    await tx.traffic.add(parts);
    await tx.consumerDays.add(withIds(uses));
    await tx.consumerKeys.noteUses(withIds(keys), KEY_USE_STEP_MS);
    return { batch, parts: parts.length, isRepeated: false };
  });
}

// Checks that a node can have had its traffic since its last accepted report, by the highest rates of a machine.

/** What a node reports, and when it came. */
export interface Reported {
  readonly parts: readonly Pick<TrafficPart, 'minute' | 'requests' | 'octets_in' | 'octets_out'>[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The field that the message names. */
  readonly field: string;
}

/**
 * Takes the time that the traffic needs at the highest rates from the time since the node's last accepted report.
 * @throws TrafficRefusal when it needs more than there is
 */
async function spend(
  tx: WriteTransaction,
  { id, created_at }: Pick<NodeRow, 'id' | 'created_at'>,
  { parts, now, field }: Reported,
): Promise<void> {
  if (parts.length === 0) return;
  const requests = parts.reduce((sum, row) => sum + row.requests, 0);
  // Both directions of a network have its whole rate.
  const octets = Math.max(
    parts.reduce((sum, row) => sum + row.octets_out, 0),
    parts.reduce((sum, row) => sum + row.octets_in, 0),
  );
  const seconds = Math.max(requests / MAX_NODE_REQUESTS_PER_SEC, octets / MAX_NODE_OCTETS_PER_SEC);
  const earliest = now - TAKEN_MINUTES * MINUTE_MS;
  const until = now + TRAFFIC_SLACK_MS;
  const begun = parts.reduce((first, { minute }) => Math.min(first, minute * MINUTE_MS), now);
  const terms = { since: created_at, earliest, floor: begun, now, until };
  // Also a sum that no integer can be made of.
  const ms = Math.ceil(Math.min(seconds * 1_000, Number.MAX_SAFE_INTEGER / 4));
  if (await tx.nodes.spend(id, { ...terms, ms })) return;
  const spent = Math.max((await tx.nodes.spentUntil(id)) ?? created_at, earliest);
  const left = Math.max(0, until - spent) / 1_000;
  const most = Math.floor(left * MAX_NODE_REQUESTS_PER_SEC);
  const mostOctets = Math.floor(left * MAX_NODE_OCTETS_PER_SEC);
  throw new TrafficRefusal(
    `${field}: at most ${most} requests and ${mostOctets} octets since the last accepted report (${MAX_NODE_REQUESTS_PER_SEC} and ${MAX_NODE_OCTETS_PER_SEC} a second), found ${requests} and ${octets}`,
  );
}

/**
 * Ids by name, of all names by one statement. Names without a domain, and those of domains that have left the node's groups,
 * have none and are not counted. `fieldOf` returns the field that names it in a message.
 * @throws TrafficRefusal for a name of other groups
 */
export async function ownDomains(
  tx: Pick<ReadTransaction, 'traffic'>,
  node: Pick<NodeRow, 'node_groups'>,
  { names, fieldOf }: { readonly names: readonly string[]; readonly fieldOf: (name: string) => string },
): Promise<ReadonlyMap<string, number>> {
  const ids = new Map<string, number>();
  for (const { name, domain_id, node_groups, left_groups } of await tx.traffic.domainsOf(names)) {
    if (shareGroup(node_groups, node.node_groups)) ids.set(name, domain_id);
    else if (!shareGroup(left_groups, node.node_groups))
      throw new TrafficRefusal(`${fieldOf(name)}: \`${name}\` is in no group of this node`);
  }
  return ids;
}

// Traffic as nodes of earlier releases report it, in JSON: requests and octets by domain and minute, matches by rule. Out:
// parts as a batch has them, for the same tables.

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
