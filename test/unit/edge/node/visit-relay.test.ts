/** Hits and proofs of a process that drains are sent to the next one, within a bound. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createVisitRelay, type VisitRelay, type Visits } from '../../../../src/edge/node/visit-relay.ts';
import {
  createCounters,
  type RateKey,
  type RateWindow,
} from '../../../../src/engine/rate-counters/counters.ts';

const WINDOW: RateWindow = { slot: 1, capacity: 5, doubled: false, windowMs: 3_600_000, perPath: true };

let warnings: object[];
let relay: VisitRelay;

function create(): VisitRelay {
  return createVisitRelay(createCounters(), { warn: (about: object) => void warnings.push(about) } as never);
}

beforeEach(() => {
  warnings = [];
  relay = create();
});
afterEach(() => relay.stop());

function visitor(address: number, path = '/'): RateKey {
  return { family: 4, words: Uint32Array.of(address), path };
}

/** @returns the count that includes the hit */
function hit({ counters }: VisitRelay, key: RateKey): number {
  const out = { breached: false, count: 0, retryAfter: 0 };
  counters.hit(WINDOW, key, Date.now(), WINDOW.capacity, out);
  return out.count;
}

test('hits since the sink was set count in another process too, each once', async () => {
  const next = create();
  hit(relay, visitor(1));
  relay.to(async ({ hits }) => next.absorb(hits));
  for (const key of [visitor(1), visitor(1), visitor(2), visitor(1, '/other')]) hit(relay, key);
  await relay.stop();
  const ipv6: RateKey = { family: 6, words: Uint32Array.of(1, 2, 3, 4), path: '/' };
  expect([visitor(1), visitor(2), visitor(1, '/other'), ipv6].map((key) => hit(next, key))).toEqual([
    3, 2, 2, 1,
  ]);
  expect(warnings).toEqual([]);
});

test('hits of keys of parts count in another process under the same key', async () => {
  const next = create();
  const window: RateWindow = { ...WINDOW, parts: 7, shared: true };
  const count = ({ counters }: VisitRelay, key: RateKey): number => {
    const out = { breached: false, count: 0, retryAfter: 0 };
    counters.hit(window, key, Date.now(), window.capacity, out);
    return out.count;
  };
  relay.to(async ({ hits }) => next.absorb(JSON.parse(JSON.stringify(hits))));
  count(relay, visitor(1, '2:k1'));
  count(relay, visitor(2, '2:k1'));
  await relay.stop();
  expect([count(next, visitor(3, '2:k1')), count(next, visitor(1, '2:k2'))]).toEqual([3, 1]);
});

test('the address of IPv6 is its /64', async () => {
  const sent: Visits[] = [];
  relay.to(async (visits) => void sent.push(visits));
  hit(relay, { family: 6, words: Uint32Array.of(1, 2, 3, 4), path: '/' });
  hit(relay, { family: 6, words: Uint32Array.of(1, 2, 5, 6), path: '/' });
  await relay.stop();
  expect(sent).toEqual([{ hits: [expect.objectContaining({ words: [1, 2], times: 2 })], proofs: [] }]);
});

test('batches follow each other while there are hits and proofs', async () => {
  const sent: Visits[] = [];
  let arrived: () => void = () => undefined;
  relay.to(async (visits) => {
    sent.push(visits);
    arrived();
  });
  for (const address of [1, 2]) {
    const batch = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    hit(relay, visitor(address));
    relay.addProof([`proof ${address}`, 1]);
    await batch;
  }
  expect(sent.map(({ hits, proofs }) => [hits.length, proofs])).toEqual([
    [1, [['proof 1', 1]]],
    [1, [['proof 2', 1]]],
  ]);
});

test('what exceeds the bound of a batch is reported, and its requests are counted here', async () => {
  let entries = 0;
  relay.to(async ({ hits }) => {
    entries += hits.length;
  });
  for (let address = 0; address < 6_000; address++) hit(relay, visitor(address));
  for (let number = 0; number < 10; number++) relay.addProof([`proof ${number}`, 1]);
  expect(hit(relay, visitor(5_999))).toBe(2);
  await relay.stop();
  expect([entries, warnings]).toEqual([5_000, [{ lost: 1_011 }]]);
});

test('long paths are bounded by their characters', async () => {
  let characters = 0;
  relay.to(async ({ hits }) => {
    for (const { path } of hits) characters += path.length;
  });
  for (let number = 0; number < 100; number++) hit(relay, visitor(1, `/${number}`.padEnd(8_000, 'x')));
  await relay.stop();
  expect([characters, warnings]).toEqual([256_000, [{ lost: 68 }]]);
});

test('hits that a process which has ended does not take are reported', async () => {
  relay.to(() => Promise.reject(new Error('the new process has ended')));
  hit(relay, visitor(1));
  hit(relay, visitor(1));
  relay.addProof(['proof', 1]);
  await relay.stop();
  expect(warnings).toEqual([{ lost: 3 }]);
});

test('without a sink nothing is sent later, nor reported', async () => {
  const sent: Visits[] = [];
  const sink = async (visits: Visits): Promise<void> => void sent.push(visits);
  relay.to(sink);
  hit(relay, visitor(1));
  relay.to(null);
  hit(relay, visitor(2));
  relay.to(sink);
  await relay.stop();
  expect([sent, warnings]).toEqual([[], []]);
});
