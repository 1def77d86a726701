/** Traffic counts of made-up requests, and their content as plain values, for tests of what stores and sums them. */
import {
  addChange,
  addHits,
  addKey,
  createTopLists,
  createTrafficCounts,
  TOP_KINDS,
  type TopLists,
  type TrafficCounts,
} from '../../src/engine/counts/counts.ts';
import { countGatewayRequest } from '../../src/engine/counts/gateway-counts.ts';
import { addText, estimate } from '../../src/engine/counts/hyperloglog.ts';
import { sealCounts, sealTops } from '../../src/engine/counts/layout.ts';
import { count, quantile, record } from '../../src/engine/counts/log-histogram.ts';
import { offer, top } from '../../src/engine/counts/space-saving.ts';
import type { Effect } from '../../src/engine/evaluator/decision.ts';

/** What a sample consists of. */
export interface SampleCounts {
  readonly requests: number;
  /** Rules that matched all requests. */
  readonly rules?: readonly number[];
  /** Any number: two samples of one seed are alike. */
  readonly seed?: number;
  /** Milliseconds since the epoch of the last match. */
  readonly lastAt?: number;
}

/** Counts in which every part has something. */
export function sampleCounts({ requests, rules = [1], seed = 0, lastAt = 0 }: SampleCounts): TrafficCounts {
  const counts = createTrafficCounts();
  const { sums } = counts;
  sums.requests = requests;
  sums.octets_in = 10 * requests;
  sums.octets_out = 1_000 * requests + seed;
  sums.origin_requests = requests;
  sums.origin_errors = seed % 2;
  sums.monitored = Math.min(requests, 1 + (seed % 3));
  sums.monitored_errors = seed % 2;
  sums.gateway_requests = Math.floor(requests / 2);
  for (let request = 0; request < requests; request++) {
    const consumer = ['', 'acme', 'beta'][(seed + request) % 3]!;
    const of = { gateway: 1, consumer, operation: 'listOrders', key: consumer === '' ? null : '0badcafe' };
    const isAdmitted = request % 2 === 1;
    countGatewayRequest(counts.gateways, { ...of, isAdmitted }, { status: 200, at: lastAt });
  }
  addKey(counts, 'action', { key: 'forward', requests });
  addKey(counts, 'status', { key: seed % 5 === 0 ? '503' : '200', requests });
  addKey(counts, 'country', { key: ['DE', 'FR', 'US'][seed % 3]!, requests });
  for (const id of rules) {
    const effect: Effect = 'block';
    addHits(counts, {
      type: 'drop',
      id,
      mode: seed % 2 === 0 ? 'enforce' : 'dry_run',
      effect,
      hits: requests,
      lastAt,
    });
  }
  addChange(counts, { type: 'drop', id: 1, from: 'forward', to: 'block 403', instead: '', requests });
  for (let request = 0; request < requests; request++) {
    record(counts.edgeTimes, 1 + ((seed + request) % 50));
    record(counts.originTimes, 10 + ((seed + request) % 50));
    addText(counts.visitors, `visitor ${(seed * 7 + request) % 200}`);
  }
  return counts;
}

/** Top lists in which each kind has a value, and paths some. */
export function sampleTops({ requests, seed = 0 }: SampleCounts): TopLists {
  const lists = createTopLists();
  for (const kind of TOP_KINDS) offer(lists[kind], `${kind} ${seed % 4}`, requests);
  return lists;
}

/** Both, sealed as an entry of a batch has them. */
export function sealedSample(sample: SampleCounts): {
  readonly counts: Uint8Array;
  readonly tops: Uint8Array;
} {
  return { counts: sealCounts(sampleCounts(sample)), tops: sealTops(sampleTops(sample)) };
}

/** The content of counts, independent of the order in which it was added. */
export function plainCounts(counts: TrafficCounts): unknown {
  const { sums, by, hits, changes, edgeTimes, originTimes, visitors, gateways } = counts;
  const sorted = (map: ReadonlyMap<string, unknown>): unknown =>
    Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
  return {
    sums: { ...sums },
    by: Object.fromEntries(Object.entries(by).map(([name, keys]) => [name, sorted(keys)])),
    hits: sorted(hits),
    changes: sorted(changes),
    uses: sorted(gateways.uses),
    consumers: sorted(gateways.consumers),
    times: [edgeTimes, originTimes].map((times) => [
      count(times),
      quantile(times, 0.5),
      quantile(times, 0.95),
    ]),
    visitors: Math.round(estimate(visitors)),
  };
}

/** The values of top lists with their counts. */
export function plainTops(lists: TopLists): unknown {
  return Object.fromEntries(
    TOP_KINDS.map((kind) => {
      const values = top(lists[kind], 100).map(({ value, count: found, error }) => [value, found, error]);
      return [kind, Object.fromEntries(values.map(([value, ...rest]) => [value, rest]).sort())];
    }),
  );
}
