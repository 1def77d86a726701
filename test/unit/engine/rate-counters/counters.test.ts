import { describe, expect, test } from 'vitest';
import {
  type BoundedCounters,
  counterSpace,
  createCounters,
  type MutableRateResult,
  type RateKey,
  type RateWindow,
} from '../../../../src/engine/rate-counters/counters.ts';
import {
  absorb,
  absorbText,
  begin,
  createHashState,
  finish,
  layoutOf,
} from '../../../../src/engine/rate-counters/layout.ts';

const MINUTE = 60_000;
const NOON = 1_784_030_400_000;

function windowOf(capacity: number, other: Partial<RateWindow> = {}): RateWindow {
  return { slot: 0, capacity, doubled: false, windowMs: MINUTE, perPath: false, ...other };
}

function visitor(address: number, path = ''): RateKey {
  return { family: 4, words: Uint32Array.of(address), path };
}

function hit(counters: BoundedCounters, window: RateWindow, key: RateKey, now = NOON): MutableRateResult {
  const out = { breached: false, count: -1, retryAfter: -1 };
  counters.hit(window, key, now, window.capacity, out);
  return out;
}

function peek(counters: BoundedCounters, window: RateWindow, key: RateKey, now = NOON): MutableRateResult {
  const out = { breached: false, count: -1, retryAfter: -1 };
  counters.peek(window, key, now, window.capacity, out);
  return out;
}

/** Hits `count` different visitors once each, from `first` on. */
function flood(
  counters: BoundedCounters,
  window: RateWindow,
  { first, count, now = NOON }: { first: number; count: number; now?: number },
): void {
  const words = new Uint32Array(1);
  const key: RateKey = { family: 4, words, path: '' };
  const out = { breached: false, count: 0, retryAfter: 0 };
  for (let i = 0; i < count; i++) {
    words[0] = first + i;
    counters.hit(window, key, now, window.capacity, out);
  }
}

describe('a visitor', () => {
  test('a visitor breaches with one request above the capacity, and no longer once the oldest request leaves the window', () => {
    const counters = createCounters();
    const window = windowOf(2);
    expect(hit(counters, window, visitor(1), NOON)).toEqual({ breached: false, count: 1, retryAfter: 0 });
    expect(hit(counters, window, visitor(1), NOON + 10_000)).toEqual({
      breached: false,
      count: 2,
      retryAfter: 0,
    });
    expect(peek(counters, window, visitor(1), NOON + 20_000)).toEqual({
      breached: true,
      count: 3,
      retryAfter: 50,
    });
    expect(peek(counters, window, visitor(1), NOON + MINUTE)).toEqual({
      breached: false,
      count: 2,
      retryAfter: 0,
    });
  });

  test('a visitor with a solved challenge breaches only above twice the capacity', () => {
    const counters = createCounters();
    const window = windowOf(3, { doubled: true });
    const out = { breached: false, count: 0, retryAfter: 0 };
    const breaches = Array.from({ length: 8 }, () => {
      counters.hit(window, visitor(1), NOON, 6, out);
      return out.breached;
    });
    expect(breaches).toEqual([false, false, false, false, false, false, true, true]);
    expect(peek(counters, window, visitor(1)).breached).toBe(true);
  });

  test('visitors of unknown address share one key, and an IPv6 visitor’s key is its /64', () => {
    const counters = createCounters();
    const window = windowOf(5);
    const unknown = (word: number): RateKey => ({ family: 0, words: Uint32Array.of(word, word), path: '' });
    const six = (a: number, b: number): RateKey => ({
      family: 6,
      words: Uint32Array.of(a, b, 1, 2),
      path: '',
    });
    expect(
      [hit(counters, window, unknown(1)), hit(counters, window, unknown(2))].map((r) => r.count),
    ).toEqual([1, 2]);
    expect([six(1, 1), six(1, 2), six(1, 1)].map((key) => hit(counters, window, key).count)).toEqual([
      1, 1, 2,
    ]);
  });

  test('a visitor’s count restarts when the rule’s numbers change', () => {
    const counters = createCounters();
    hit(counters, windowOf(5), visitor(1));
    expect(hit(counters, windowOf(6), visitor(1)).count).toBe(1);
    expect(hit(counters, windowOf(5, { windowMs: 1000 }), visitor(1)).count).toBe(1);
    expect(hit(counters, windowOf(5, { space: counterSpace('example.com') }), visitor(1)).count).toBe(1);
    expect(hit(counters, windowOf(5), visitor(1)).count).toBe(2);
  });
});

test('two million requests in one window are counted one by one', () => {
  const counters = createCounters();
  const window = windowOf(2_000_000, { doubled: true });
  const out = { breached: false, count: 0, retryAfter: 0 };
  const key = visitor(9);
  for (let i = 0; i < 2_000_000; i++) counters.hit(window, key, NOON + (i % 50), 2_000_000, out);
  expect(out).toEqual({ breached: false, count: 2_000_000, retryAfter: 0 });
  expect(hit(counters, window, key, NOON + 50).breached).toBe(true);
});

describe('paths of one address', () => {
  test('paths of one address beyond 1,024 share a key until the address had no request for 17/16 of the window', () => {
    const counters = createCounters();
    const window = windowOf(5, { perPath: true });
    for (let i = 0; i < 1024; i++) expect(hit(counters, window, visitor(1, `/${i}`)).count).toBe(1);
    expect(hit(counters, window, visitor(1, '/new')).count).toBe(1);
    expect(hit(counters, window, visitor(1, '/other')).count).toBe(2);
    expect(hit(counters, window, visitor(1, '/7')).count).toBe(2);
    expect(hit(counters, window, visitor(2, '/new')).count).toBe(1);
    const silent = NOON + (MINUTE * 17) / 16;
    expect(peek(counters, window, visitor(1, '/another'), silent - 1).count).toBe(1);
    expect(hit(counters, window, visitor(1, '/new'), silent).count).toBe(1);
    expect(hit(counters, window, visitor(1, '/other'), silent).count).toBe(1);
  });

  test('a path keeps its own count while its address is active, however long the path itself has no request', () => {
    const counters = createCounters();
    const window = windowOf(3, { perPath: true, windowMs: 1000 });
    for (let i = 0; i < 1024; i++) hit(counters, window, visitor(1, `/${i}`));
    for (let second = 0; second < 100; second++) {
      const now = NOON + second * 1000;
      hit(counters, window, visitor(1, '/0'), now);
      for (let other = 0; other < 50; other++)
        hit(counters, window, visitor(100 * second + other + 2, '/'), now);
    }
    const later = NOON + 100_000;
    expect(hit(counters, window, visitor(1, '/not held'), later).count).toBe(1);
    expect(hit(counters, window, visitor(1, '/not held either'), later).count).toBe(2);
    expect(hit(counters, window, visitor(1, '/1000'), later).count).toBe(1);
    expect(counters.evictions()).toBe(0);
  });
});

describe('after May 2109, when the bits of stored times come again', () => {
  const DAY = 86_400_000;
  test.each([2 ** 42 - DAY, 2 ** 42, 4_400_000_000_000, 2 ** 43 + 5, 2 ** 48])(
    'a limit that was reached at %i opens a window later',
    (start) => {
      for (const capacity of [1, 200]) {
        const counters = createCounters();
        const window = windowOf(capacity, { perPath: true });
        for (let i = 0; i < capacity; i++) hit(counters, window, visitor(1, '/a'), start);
        expect(hit(counters, window, visitor(1, '/a'), start)).toMatchObject({ breached: true });
        expect(hit(counters, window, visitor(1, '/a'), start + 2 * DAY)).toMatchObject({ count: 1 });
      }
    },
  );

  test('keys are evicted as at any other time', () => {
    const evictionsFrom = (start: number): number => {
      const counters = createCounters({ maxBytes: 64 * 1024 });
      const window = windowOf(3, { perPath: true, windowMs: 1000 });
      for (let second = 0; second < 50; second++)
        for (let path = 0; path < 300; path++)
          hit(counters, window, visitor(1 + second, `/${path}`), start + second * 5000);
      return counters.evictions();
    };
    // At the same place between two times of stored hits.
    expect(evictionsFrom(2 ** 42 - 25 * 1024)).toBe(evictionsFrom(Math.floor(NOON / 1024) * 1024));
  });
});

describe('keys without an address', () => {
  const keyed = { parts: 7, shared: true };

  test('count the text whatever the address, apart from keys of other parts', () => {
    const counters = createCounters();
    const window = windowOf(5, { perPath: true, ...keyed });
    expect(hit(counters, window, visitor(1, 'a')).count).toBe(1);
    expect(hit(counters, window, visitor(2, 'a')).count).toBe(2);
    expect(hit(counters, window, visitor(2, 'b')).count).toBe(1);
    expect(hit(counters, windowOf(5, { perPath: true, ...keyed, parts: 8 }), visitor(1, 'a')).count).toBe(1);
    expect(hit(counters, windowOf(5, { perPath: true }), visitor(1, 'a')).count).toBe(1);
    const given = windowOf(5, { ...keyed });
    expect(hit(counters, given, visitor(1, 'NO')).count).toBe(1);
    expect(hit(counters, given, visitor(2, 'NO')).count).toBe(2);
    expect(peek(counters, given, visitor(3, 'SE')).count).toBe(1);
  });

  test('of one address take the memory of 1,024 values, however many it sends', () => {
    const flooded = createCounters();
    const filled = createCounters();
    const window = windowOf(2, { perPath: true, ...keyed });
    for (let i = 0; i < 1024; i++) hit(filled, window, visitor(1, `k${i}`));
    for (let i = 0; i < 100_000; i++) hit(flooded, window, visitor(1, `k${i}`));
    expect(flooded.bytes()).toBeLessThan(2 * filled.bytes());
  });

  test('free the places of an address that never rests after 17/16 of the window', () => {
    const counters = createCounters();
    const window = windowOf(5, { perPath: true, ...keyed });
    const span = (MINUTE * 17) / 16;
    for (let i = 0; i < 1024; i++) hit(counters, window, visitor(1, `k${i}`), NOON + i);
    expect(hit(counters, window, visitor(1, 'x'), NOON + span - 1).count).toBe(1);
    expect(hit(counters, window, visitor(1, 'y'), NOON + span - 1).count).toBe(2);
    expect(hit(counters, window, visitor(1, 'z'), NOON + span).count).toBe(1);
    expect(hit(counters, window, visitor(1, 'w'), NOON + span).count).toBe(1);
  });
});

describe('memory', () => {
  const cases: [capacity: number, doubled: boolean, octets: number][] = [
    [1, false, 4 + 32],
    [10, false, 40 + 32],
    [128, false, 512 + 32],
    [128, true, 1024 + 32],
    [129, false, 64],
    [100_000, false, 64],
    [2_000_000, false, 64],
    [2_000_000, true, 64],
  ];
  test.each(cases)(
    'a key of %i requests a window (doubled: %s) takes at most %i octets',
    (capacity, doubled, octets) => {
      const counters = createCounters();
      const count = 60_000;
      flood(counters, windowOf(capacity, { doubled }), { first: 1, count });
      expect(counters.evictions()).toBe(0);
      expect(counters.bytes() / count).toBeLessThanOrEqual(octets);
    },
  );

  test('a limit holds beside a lower one whose counts have equally many bits', () => {
    const counters = createCounters();
    hit(counters, windowOf(129), visitor(1));
    const through = Array.from({ length: 1_000 }, () => hit(counters, windowOf(200), visitor(1)));
    expect(through.filter(({ breached }) => !breached)).toHaveLength(200);
    expect(through.at(-1)).toMatchObject({ breached: true, count: 201 });
  });

  test('a slices entry never passes 60 octets, whatever the capacity', () => {
    for (let capacity = 129; capacity <= 2_000_000; capacity = Math.ceil(capacity * 1.01)) {
      for (const doubled of [false, true]) {
        for (const linked of [false, true]) {
          const layout = layoutOf(capacity, doubled, linked);
          expect(layout.stride).toBeLessThanOrEqual(15);
          expect(2 ** layout.width).toBeGreaterThan(layout.size);
        }
      }
    }
  });

  test('starts small and does not grow while windows pass', () => {
    const counters = createCounters();
    expect(counters.bytes()).toBeLessThan(512);
    const window = windowOf(10, { windowMs: 1000 });
    flood(counters, window, { first: 0, count: 5000, now: NOON });
    const settled = counters.bytes();
    for (let second = 1; second < 60; second++) {
      flood(counters, window, { first: second * 5000, count: 5000, now: NOON + second * 3000 });
    }
    expect(counters.bytes()).toBeLessThan(settled * 1.2);
    expect(counters.evictions()).toBe(0);
  });

  test('a million keys stay within the memory bound, and the newest of them are stored', () => {
    const maxBytes = 8 * 1024 * 1024;
    const counters = createCounters({ maxBytes });
    const window = windowOf(1000);
    flood(counters, window, { first: 0, count: 1_000_000 });
    expect(counters.bytes()).toBeLessThanOrEqual(maxBytes);
    expect(counters.bytes()).toBeGreaterThan(maxBytes * 0.95);
    const held = 1_000_000 - counters.evictions();
    expect(held).toBeGreaterThan(maxBytes / 64);
    // What is given up is the oldest half at worst: no key among the newest half of the places is missing.
    const newest = Math.floor(held / 2);
    for (let i = 1_000_000 - newest; i < 1_000_000; i += 97) {
      expect(peek(counters, window, visitor(i)).count).toBe(2);
    }
    expect(peek(counters, window, visitor(0)).count).toBe(1);
  });

  test('a visitor with steady requests is not evicted during a flood of new ones', () => {
    const counters = createCounters({ maxBytes: 64 * 1024 });
    const window = windowOf(1000);
    for (let round = 1; round <= 200; round++) {
      flood(counters, window, { first: 10 + round * 500, count: 500, now: NOON + round });
      expect(hit(counters, window, visitor(1), NOON + round).count).toBe(round);
    }
    expect(counters.evictions()).toBeGreaterThan(50_000);
  });

  test('rules of all shapes share the bound, and the room goes where the traffic is', () => {
    const maxBytes = 256 * 1024;
    const counters = createCounters({ maxBytes });
    const shapes = [1, 5, 50, 128, 200, 5000, 2_000_000];
    for (let turn = 0; turn < 4; turn++) {
      for (const [i, capacity] of shapes.entries()) {
        const now = NOON + (turn * shapes.length + i) * 100;
        const window = windowOf(capacity, { slot: i, doubled: i % 2 === 1, perPath: i % 3 === 2 });
        flood(counters, window, { first: turn * 3000, count: 3000, now });
        expect(counters.bytes()).toBeLessThanOrEqual(maxBytes);
        expect(peek(counters, window, visitor(turn * 3000 + 2999), now).count).toBe(2);
      }
    }
    const last = windowOf(2_000_000, { slot: 50 });
    flood(counters, last, { first: 0, count: 3000, now: NOON + 10_000 });
    flood(counters, last, { first: 0, count: 1, now: NOON + 10_000 });
    let held = 0;
    for (let i = 0; i < 3000; i++) held += peek(counters, last, visitor(i), NOON + 10_000).count - 1;
    expect(held).toBeGreaterThan(2500);
  });

  test('the smallest accepted memory bound is enough for the largest key', () => {
    const counters = createCounters({ maxBytes: 4096 });
    const window = windowOf(128, { doubled: true, perPath: true });
    for (let i = 0; i < 300; i++) {
      expect(hit(counters, window, visitor(i, `/${i}`)).count).toBe(1);
      expect(counters.bytes()).toBeLessThanOrEqual(4096);
    }
    flood(counters, windowOf(1), { first: 0, count: 1000 });
    flood(counters, windowOf(500), { first: 0, count: 1000 });
    expect(hit(counters, window, visitor(1, '/')).count).toBe(1);
    expect(counters.bytes()).toBeLessThanOrEqual(4096);
    expect(() => createCounters({ maxBytes: 4095 })).toThrow(
      'maxBytes is `4095`; counters need at least 4096 octets',
    );
    expect(() => createCounters({ maxBytes: Number.NaN })).toThrow(RangeError);
  });

  test('evicting a path gives its place back to the address', () => {
    const counters = createCounters({ maxBytes: 16 * 1024 });
    const window = windowOf(2, { perPath: true });
    for (let i = 0; i < 5000; i++) hit(counters, window, visitor(1, `/${i}`), NOON + i);
    expect(counters.evictions()).toBeGreaterThan(1024);
    expect(hit(counters, window, visitor(1, '/fresh'), NOON + 5000).count).toBe(1);
    expect(hit(counters, window, visitor(1, '/fresh too'), NOON + 5000).count).toBe(1);
  });
});

describe('clocks', () => {
  test('a full set of counters accepts new visitors after the clock was set back', () => {
    const counters = createCounters({ maxBytes: 64 * 1024 });
    const window = windowOf(1000);
    flood(counters, window, { first: 0, count: 5000, now: NOON + 3_600_000 });
    flood(counters, window, { first: 10_000, count: 300, now: NOON });
    for (let i = 10_000; i < 10_300; i++) expect(peek(counters, window, visitor(i), NOON + 1).count).toBe(2);
  });

  test('unusable times count as the epoch or the latest representable moment', () => {
    const counters = createCounters();
    for (const [i, now] of [-1, -0, 0.5, 1e300, Number.MAX_SAFE_INTEGER, Number.NaN, Infinity].entries()) {
      expect(hit(counters, windowOf(1), visitor(i), now)).toEqual({
        breached: false,
        count: 1,
        retryAfter: 0,
      });
      expect(hit(counters, windowOf(1), visitor(i), now)).toEqual({
        breached: true,
        count: 2,
        retryAfter: 60,
      });
      expect(hit(counters, windowOf(200), visitor(i), now).count).toBe(1);
    }
  });
});

describe('the hash', () => {
  /** HalfSipHash with 64 bits of result, from the reference description, on whole octets. */
  function reference(
    octets: number[],
    key: [number, number],
    rounds: { compress: number; finish: number },
  ): [number, number] {
    const v = [key[0], key[1] ^ 0xee, 0x6c796765 ^ key[0], 0x74656462 ^ key[1]];
    const rotate = (x: number, by: number): number => (x << by) | (x >>> (32 - by));
    const round = (): void => {
      v[0] = (v[0]! + v[1]!) | 0;
      v[1] = rotate(v[1]!, 5) ^ v[0];
      v[0] = rotate(v[0], 16);
      v[2] = (v[2]! + v[3]!) | 0;
      v[3] = rotate(v[3]!, 8) ^ v[2];
      v[0] = (v[0] + v[3]) | 0;
      v[3] = rotate(v[3], 7) ^ v[0];
      v[2] = (v[2] + v[1]) | 0;
      v[1] = rotate(v[1], 13) ^ v[2];
      v[2] = rotate(v[2], 16);
    };
    const words: number[] = [];
    for (let i = 0; i + 4 <= octets.length; i += 4) {
      words.push(octets[i]! | (octets[i + 1]! << 8) | (octets[i + 2]! << 16) | (octets[i + 3]! << 24));
    }
    const rest = octets.slice(words.length * 4).reduce((sum, octet, i) => sum | (octet << (8 * i)), 0);
    for (const word of [...words, (octets.length << 24) | rest]) {
      v[3]! ^= word;
      for (let i = 0; i < rounds.compress; i++) round();
      v[0]! ^= word;
    }
    v[2]! ^= 0xee;
    for (let i = 0; i < rounds.finish; i++) round();
    const first = v[1]! ^ v[3]!;
    v[1]! ^= 0xdd;
    for (let i = 0; i < rounds.finish; i++) round();
    return [first, v[1]! ^ v[3]!];
  }

  test('is HalfSipHash-1-3', () => {
    // First of the published vectors: key 00 01 … 07, empty message, two and four rounds.
    const published = reference([], [0x03020100, 0x07060504], { compress: 2, finish: 4 });
    expect(published.map((word) => (word >>> 0).toString(16))).toEqual(['591f8d21', 'c83cb8b9']);

    const state = createHashState();
    const out = new Int32Array(2);
    begin(state, Int32Array.of(0x03020100, 0x07060504));
    absorb(state, Int32Array.of(-1, 0x44434241, 0x48474645), 1, 3);
    finish(state, 8 << 24, out);
    const octets = [...'ABCDEFGH'].map((letter) => letter.charCodeAt(0));
    expect([...out]).toEqual(reference(octets, [0x03020100, 0x07060504], { compress: 1, finish: 3 }));
  });

  test('the hash accepts texts of any length and continues from a shared beginning', () => {
    const state = createHashState();
    const out = new Int32Array(2);
    const seen = new Set<string>();
    const texts = ['', 'a', 'ab', 'abc', 'b', 'a\u0000', '\u0000', '\uffff'];
    for (const text of texts) {
      begin(state, Int32Array.of(1, 2));
      absorbText(state, text);
      finish(state, text.length, out);
      seen.add(out.join());
      finish(state, text.length + 100, out);
      seen.add(out.join());
    }
    expect(seen.size).toBe(2 * texts.length);
  });

  test('depends on the seed', () => {
    const hashes = [0, 1, 2].map((seed) => {
      const state = createHashState();
      const out = new Int32Array(2);
      begin(state, Int32Array.of(seed, 0));
      absorb(state, Int32Array.of(7), 0, 1);
      finish(state, 0, out);
      return out.join();
    });
    expect(new Set(hashes).size).toBe(3);
  });

  test('spaces of different names differ', () => {
    const spaces = Array.from({ length: 20_000 }, (_, i) => counterSpace(`d${i}.example`));
    expect(new Set(spaces).size).toBe(spaces.length);
    expect(spaces.every((space) => Number.isSafeInteger(space) && space >= 0)).toBe(true);
    const half = spaces.filter((space) => space % 2 === 0).length;
    expect(half).toBeGreaterThan(9500);
    expect(half).toBeLessThan(10_500);
  });
});
