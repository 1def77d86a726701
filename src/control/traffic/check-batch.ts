/**
 * Checks a batch of traffic as far as it can be checked without the store. In: the octets that a node sent. Out: its entries
 * as parts, still under the names of their domains, or the sentence of the refusal. Runs in the thread of traffic, since
 * all counts have to be opened.
 */
import { gunzipSync } from 'node:zlib';
import { DIMENSIONS, TOP_KINDS, type TopLists, type TrafficCounts } from '../../engine/counts/counts.ts';
import { addSums, type GatewayCounts, type GatewaySums } from '../../engine/counts/gateway-counts.ts';
import { openBatch, openCounts, openTops, type TrafficBatchEntry } from '../../engine/counts/layout.ts';
import { count } from '../../engine/counts/log-histogram.ts';
import { CountsFault } from '../../engine/counts/octets.ts';
import type { KeyUse } from '../store/registry/consumers.ts';
import type { ConsumerDay, TrafficPart } from '../store/tables/traffic.ts';
import { columnsOf } from './blocks.ts';
import { TrafficRefusal } from './fault.ts';
import {
  DAY,
  MAX_BATCH_OCTETS,
  MAX_CLOCK_AHEAD_MS,
  MAX_ENTRIES,
  MAX_ORIGIN_REQUESTS,
  MAX_REQUEST_OCTETS,
  MINUTE_MS,
  TAKEN_MINUTES,
} from './limits.ts';
import { startOf } from './read-traffic.ts';

/** A batch as a node sent it. */
export interface ReceivedBatch {
  readonly octets: Uint8Array;
  readonly isGzip: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A part before its domain and node are known. */
export type NamedPart = Omit<TrafficPart, 'domain_id' | 'node_id' | 'batch' | 'taken_at'> & {
  readonly domain: string;
};

/** A batch whose entries can be true. */
export interface CheckedBatch {
  readonly batch: number;
  readonly parts: readonly NamedPart[];
  /** Requests to gateways by domain, consumer and day, each once. */
  readonly uses: readonly NamedUse[];
  /** The last use of keys by domain, each once. */
  readonly keys: readonly NamedKeyUse[];
}

/** Requests of one consumer on one day before their domain is known. */
export type NamedUse = Omit<ConsumerDay, 'domain_id'> & { readonly domain: string };

/** The last use of a key before its domain is known. */
export type NamedKeyUse = Omit<KeyUse, 'domain_id'> & { readonly domain: string };

/** @throws TrafficRefusal that names the entry */
export function checkBatch({ octets, isGzip, now }: ReceivedBatch): CheckedBatch {
  const { batch, entries } = opened(isGzip ? inflated(octets) : octets);
  if (batch < 1) throw new TrafficRefusal(`the number of a batch is 1 or more, found ${batch}`);
  if (entries.length > MAX_ENTRIES)
    throw new TrafficRefusal(`a batch has at most ${MAX_ENTRIES} entries, found ${entries.length}`, 413);
  const seen = new Set<string>();
  const uses = createUses();
  const parts = entries.map((entry, place) => {
    const field = `entries[${place}]`;
    const { part, gateways } = checkEntry(entry, { field, now });
    addUses(uses, part, gateways);
    const key = `${part.minute} ${part.domain}`;
    if (seen.has(key)) {
      const again = `\`${part.domain}\` has an entry of minute ${part.minute} already`;
      throw new TrafficRefusal(`${field}: ${again}`);
    }
    seen.add(key);
    return part;
  });
  return { batch, parts, uses: [...uses.days.values()], keys: [...uses.keys.values()] };
}

// What is stored of requests to gateways besides their counts. In: entries. Out: sums by day, the last use of each key.

interface Uses {
  readonly days: Map<string, NamedUse>;
  readonly keys: Map<string, NamedKeyUse>;
}

function createUses(): Uses {
  return { days: new Map(), keys: new Map() };
}

function addUses(
  { days, keys }: Uses,
  { domain, minute }: Pick<NamedPart, 'domain' | 'minute'>,
  { consumers, unnamed, keys: used }: GatewayCounts,
): void {
  const day = startOf(minute, DAY);
  const add = (consumer: string, { requests, admitted }: Readonly<GatewaySums>): void => {
    const key = `${domain} ${day} ${consumer}`;
    const before = days.get(key) ?? { requests: 0, admitted: 0 };
    const sums = { requests: before.requests + requests, admitted: before.admitted + admitted };
    days.set(key, { domain, consumer, day, ...sums });
  };
  for (const [consumer, sums] of consumers) add(consumer, sums);
  // No quota counts them: their consumer is not known.
  if (unnamed.requests > 0) add('', unnamed);
  for (const [key_id, at] of used) {
    const key = `${domain} ${key_id}`;
    if (at > (keys.get(key)?.at ?? -1)) keys.set(key, { domain, key_id, at });
  }
}

function inflated(octets: Uint8Array): Uint8Array {
  try {
    return gunzipSync(octets, { maxOutputLength: MAX_BATCH_OCTETS });
  } catch (error) {
    if (error instanceof RangeError || (error as { readonly code?: string }).code === 'ERR_BUFFER_TOO_LARGE')
      throw new TrafficRefusal(`a batch has at most ${MAX_BATCH_OCTETS} octets inflated`, 413);
    throw new TrafficRefusal(
      `the batch cannot be inflated: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function opened(octets: Uint8Array): ReturnType<typeof openBatch> {
  try {
    return openBatch(octets);
  } catch (error) {
    if (error instanceof CountsFault) throw new TrafficRefusal(`the batch cannot be read: ${error.message}`);
    throw error;
  }
}

/** Where an entry is, and the time of its check. */
interface Place {
  readonly field: string;
  readonly now: number;
}

function checkEntry(
  { domain, minute: start, counts: octets, tops }: TrafficBatchEntry,
  place: Place,
): { readonly part: NamedPart; readonly gateways: GatewayCounts } {
  const { field } = place;
  if (!isPlainText(domain)) throw new TrafficRefusal(`${field}.domain: must be plain text`);
  const minute = start / MINUTE_MS;
  checkMinute(minute, place);
  try {
    const counts = openCounts(octets);
    checkCounts(counts, place);
    if (![...counts.gateways.consumers.keys()].every(isPlainText))
      throw new TrafficRefusal(`${field}.gateways.consumers: must be plain text`);
    if (tops !== null) checkTops(openTops(tops), counts, field);
    const part = { domain, minute, ...columnsOf(counts), counts: octets, tops };
    return { part, gateways: counts.gateways };
  } catch (error) {
    if (error instanceof CountsFault)
      throw new TrafficRefusal(`${field}: its counts cannot be read: ${error.message}`);
    throw error;
  }
}

/** Whether the store accepts a text. */
function isPlainText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** @throws TrafficRefusal when a minute is too old or ahead */
export function checkMinute(minute: number, { field, now }: Place): void {
  const last = Math.floor((now + MAX_CLOCK_AHEAD_MS) / MINUTE_MS);
  const first = Math.floor(now / MINUTE_MS) - TAKEN_MINUTES;
  if (minute >= first && minute <= last) return;
  throw new TrafficRefusal(
    `${field}.minute: from ${first} to ${last} by the server's clock, found ${minute}`,
  );
}

/** Nothing happens more often than there are requests. */
function checkCounts(counts: TrafficCounts, { field, now }: Place): void {
  const { sums, by, hits, changes, edgeTimes } = counts;
  const { requests } = sums;
  const atMost = (name: string, found: number, most: number): void => {
    if (found > most) throw new TrafficRefusal(`${field}.${name}: at most ${most}, found ${found}`);
  };
  for (const name of ['octets_in', 'octets_out'] as const) {
    if (sums[name] <= requests * MAX_REQUEST_OCTETS) continue;
    const limit = `at most ${MAX_REQUEST_OCTETS} for each request, found ${sums[name]}`;
    throw new TrafficRefusal(`${field}.${name}: ${limit}`);
  }
  atMost('gateway_requests', sums.gateway_requests, requests);
  atMost('origin_requests', sums.origin_requests, requests * MAX_ORIGIN_REQUESTS);
  atMost('origin_errors', sums.origin_errors, sums.origin_requests);
  atMost('monitored', sums.monitored, sums.origin_requests);
  atMost('monitored_errors', sums.monitored_errors, sums.monitored);
  for (const dimension of DIMENSIONS) atMost(dimension, total(by[dimension].values()), requests);
  atMost('edge_times', count(edgeTimes), requests);
  const latest = now + MAX_CLOCK_AHEAD_MS;
  for (const { type, id, hits: found, lastAt } of hits.values()) {
    if (found > requests) {
      const rule = `the rule ${id} of type ${type} would have ${found}`;
      throw new TrafficRefusal(`${field}.hits: ${rule}, more than its domain had requests`);
    }
    if (lastAt > latest) atMost(`hits: the last match of the rule ${id} of type ${type}`, lastAt, latest);
  }
  for (const { type, id, requests: found } of changes.values())
    atMost(`changes: requests of the rule ${id} of type ${type}`, found, requests);
  checkGateways(counts, atMost);
  for (const [key, at] of counts.gateways.keys)
    if (at > latest) atMost(`gateways: the last use of the key ${key}`, at, latest);
}

/** Consumers and uses are two divisions of the same requests. */
function checkGateways(
  { sums, gateways }: TrafficCounts,
  atMost: (name: string, found: number, most: number) => void,
): void {
  const { uses, consumers, uncounted, unnamed } = gateways;
  for (const [name, entries, rest] of [
    ['uses', uses, uncounted],
    ['consumers', consumers, unnamed],
  ] as const) {
    const total = { ...rest };
    for (const one of entries.values()) addSums(total, one);
    atMost(`gateways.${name}`, total.requests, sums.requests);
    atMost(`gateways.${name}: admitted requests`, total.admitted, sums.gateway_requests);
  }
}

function checkTops(lists: TopLists, { sums }: TrafficCounts, field: string): void {
  for (const kind of TOP_KINDS) {
    const { total: found } = lists[kind];
    if (found > sums.requests)
      throw new TrafficRefusal(`${field}.tops.${kind}: at most ${sums.requests}, found ${found}`);
  }
}

function total(counts: Iterable<number>): number {
  let sum = 0;
  for (const one of counts) sum += one;
  return sum;
}
