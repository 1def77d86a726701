/** Saved rate counters: restored ones count on as if nothing had happened, or not at all. */
import { describe, expect, test } from 'vitest';
import {
  type BoundedCounters,
  createCounters,
  type RateKey,
  type RateWindow,
} from '../../../../src/engine/rate-counters/counters.ts';
import { restoreCounters, saveCounters } from '../../../../src/engine/rate-counters/saved.ts';
import { type Random, seeded } from '../../../support/generate-random.ts';

const NOON = 1_784_030_400_000;
/** Little enough for evictions, and for pages that are dropped. */
const SMALL = 16 * 1024;

const WINDOWS: readonly RateWindow[] = [
  { slot: 1, capacity: 2, doubled: false, windowMs: 60_000, perPath: false },
  { slot: 2, capacity: 40, doubled: true, windowMs: 10_000, perPath: false },
  // Counted by sixteenths of the window.
  { slot: 3, capacity: 2_000, doubled: false, windowMs: 3_600_000, perPath: false },
  { slot: 4, capacity: 3, doubled: false, windowMs: 60_000, perPath: true },
  { space: 7, slot: 1, capacity: 2, doubled: false, windowMs: 60_000, perPath: false },
];

/** A hit of one of some visitors. @returns the result as text */
function hit(counters: BoundedCounters, random: Random, now: number): string {
  const window = random.pick(WINDOWS);
  const isIpv6 = random.chance(0.3);
  const key: RateKey = {
    family: isIpv6 ? 6 : 4,
    words: Uint32Array.of(random.int(300), isIpv6 ? random.int(3) : 0),
    path: window.perPath ? `/page/${random.int(30)}` : '',
  };
  const out = { breached: false, count: -1, retryAfter: -1 };
  counters.hit(window, key, now, window.capacity, out);
  return JSON.stringify(out);
}

/** Results of `count` hits, 20 ms after each other. */
function hits(counters: BoundedCounters, seed: number, count: number): readonly string[] {
  const random = seeded(seed);
  const from = NOON + seed * count * 20;
  return Array.from({ length: count }, (_, at) => hit(counters, random, from + at * 20));
}

function restored(saved: Uint8Array, maxBytes: number): BoundedCounters {
  const counters = createCounters({ maxBytes });
  expect(restoreCounters(counters, saved)).toBe(true);
  return counters;
}

describe('restored counters', () => {
  test.each([
    ['with room for all keys', 1024 * 1024],
    ['that evict keys', SMALL],
  ])('count on as the saved ones, %s', (_, maxBytes) => {
    const counters = createCounters({ maxBytes });
    for (let round = 0; round < 4; round++) {
      hits(counters, 2 * round, 3_000);
      const next = restored(saveCounters(counters), maxBytes);
      expect([next.bytes(), next.evictions()]).toEqual([counters.bytes(), counters.evictions()]);
      const further = hits(counters, 2 * round + 1, 3_000);
      expect(hits(next, 2 * round + 1, 3_000)).toEqual(further);
      expect(further.some((result) => result.includes('true'))).toBe(true);
    }
    if (maxBytes === SMALL) expect(counters.evictions()).toBeGreaterThan(100);
  });

  test('have the same octets when they are saved again', () => {
    const counters = createCounters({ maxBytes: SMALL });
    hits(counters, 1, 2_000);
    const saved = saveCounters(counters);
    expect(saveCounters(restored(saved, SMALL))).toEqual(saved);
  });

  test('count in memory of their own', () => {
    const counters = createCounters({ maxBytes: SMALL });
    hits(counters, 1, 500);
    const saved = saveCounters(counters);
    const before = saved.slice();
    hits(restored(saved, SMALL), 2, 500);
    expect([saved, saveCounters(counters)]).toEqual([before, before]);
  });

  test('read octets that begin at any boundary', () => {
    const counters = createCounters({ maxBytes: SMALL });
    hits(counters, 1, 500);
    const saved = saveCounters(counters);
    const shifted = new Uint8Array(saved.length + 1);
    shifted.set(saved, 1);
    expect(saveCounters(restored(shifted.subarray(1), SMALL))).toEqual(saved);
  });
});

describe('nothing is restored', () => {
  function used(maxBytes = SMALL): BoundedCounters {
    const counters = createCounters({ maxBytes });
    hits(counters, 1, 500);
    return counters;
  }
  function ofVersion(version: number): Uint8Array {
    const saved = saveCounters(used());
    new DataView(saved.buffer).setUint32(0, version, true);
    return saved;
  }

  test.each([
    ['no octets', new Uint8Array()],
    ['octets of another version', ofVersion(999)],
    ['counters of another bound', saveCounters(used(2 * SMALL))],
    ['counters without a request', saveCounters(createCounters({ maxBytes: SMALL }))],
  ])('of %s', (_, saved) => {
    const counters = createCounters({ maxBytes: SMALL });
    expect(restoreCounters(counters, saved)).toBe(false);
    expect(hits(counters, 1, 50)).toEqual(hits(createCounters({ maxBytes: SMALL }), 1, 50));
  });

  test('into counters that have counted', () => {
    const [counters, twin] = [createCounters({ maxBytes: SMALL }), createCounters({ maxBytes: SMALL })];
    for (const one of [counters, twin]) hits(one, 3, 200);
    expect(restoreCounters(counters, saveCounters(used()))).toBe(false);
    expect(hits(counters, 4, 200)).toEqual(hits(twin, 4, 200));
  });
});
