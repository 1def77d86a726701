/** Seconds as the processes of a node send them, made of sums instead of requests, and what batches contain. */
import { gunzipSync } from 'node:zlib';
import type { CountedSecond } from '../../src/edge/following/traffic/counter.ts';
import { addHits, addKey, createTopLists, createTrafficCounts } from '../../src/engine/counts/counts.ts';
import {
  openBatch,
  openCounts,
  openTops,
  sealBatch,
  sealCounts,
  sealTops,
} from '../../src/engine/counts/layout.ts';
import { offer } from '../../src/engine/counts/space-saving.ts';

const MINUTE_MS = 60_000;

/** Requests of one domain that end in one second. */
export interface SecondOf {
  readonly domain: string;
  readonly requests: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Octets of all responses. */
  readonly octets?: number;
  /** Drop rules that matched all of them. */
  readonly rules?: readonly number[];
  /** Paths, among which the requests are divided. Default: `/`. */
  readonly paths?: readonly string[];
}

/** The sealed counts of a second. */
export function countedSecond(...domains: readonly [SecondOf, ...SecondOf[]]): CountedSecond {
  const [{ at }] = domains;
  const minute = Math.floor(at / MINUTE_MS) * MINUTE_MS;
  const entries = domains.map(({ domain, requests, octets = 0, rules = [], paths = ['/'] }) => {
    const counts = createTrafficCounts();
    counts.sums.requests = requests;
    counts.sums.octets_out = octets;
    addKey(counts, 'status', { key: '200', requests });
    for (const id of rules)
      addHits(counts, { type: 'drop', id, mode: 'enforce', effect: 'block', hits: requests, lastAt: at });
    const lists = createTopLists();
    for (const path of paths) offer(lists.path, path, requests / paths.length);
    return { domain, minute, counts: sealCounts(counts), tops: sealTops(lists) };
  });
  return { minute, sealed: sealBatch({ batch: at, entries }) };
}

/** An entry of a batch, opened. */
export interface EntrySums {
  readonly domain: string;
  readonly minute: number;
  readonly requests: number;
  /** Requests of the list of paths; `null`: the entry has no lists. */
  readonly listed: number | null;
}

/** The number of a batch and its entries. */
export interface BatchSums {
  readonly batch: number;
  readonly entries: readonly EntrySums[];
}

/** Opens a batch as it is sent. */
export function openSent(body: Uint8Array, isGzipped: boolean): BatchSums {
  const { batch, entries } = openBatch(isGzipped ? gunzipSync(body) : body);
  return {
    batch,
    entries: entries.map(({ domain, minute, counts, tops }) => ({
      domain,
      minute,
      requests: openCounts(counts).sums.requests,
      listed: tops === null ? null : openTops(tops).path.total,
    })),
  };
}
