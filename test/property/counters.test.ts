import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_RATE_PATHS } from '../../src/base/vocabulary/limits.ts';
import {
  type BoundedCounters,
  createCounters,
  type MutableRateResult,
  type RateKey,
  type RateWindow,
} from '../../src/engine/rate-counters/counters.ts';

/** The slowest honest way to count: every request of every key in a list, nothing bounded, nothing packed. */
class NaiveLog {
  readonly #hits = new Map<string, number[]>();
  readonly #stays = new Map<string, { last: number; paths: Set<string> }>();
  readonly #budgets = new Map<string, { last: number; since: number; added: number }>();
  overflows = 0;

  judge(
    window: RateWindow,
    address: string,
    at: { path: string; now: number; allowance: number },
    stores: boolean,
  ) {
    const path = window.perPath && !window.shared ? this.#place(window, address, at, stores) : '';
    const name = window.shared
      ? this.#sharedName(window, address, at, stores)
      : JSON.stringify([window.slot, address, path]);
    const past = this.#hits.get(name) ?? [];
    const time = Math.max(at.now, past.at(-1) ?? 0);
    const hits = [...past, time];
    if (stores) this.#hits.set(name, hits);
    const exact = window.capacity <= 128;
    const counted = (then: number): number[] =>
      exact ? inWindow(hits, window, then) : inSlices(hits, window, then);
    const count = counted(time).length;
    const breached = count > at.allowance;
    let retryAfter = 0;
    if (breached) {
      const leaves = (hit: number): number => (exact ? hit + window.windowMs : leavesSlices(hit, window));
      const moments = hits
        .map((hit) => Math.ceil((leaves(hit) - time) / 1000))
        .filter((seconds) => seconds > 0);
      const opens = (seconds: number): boolean => counted(time + seconds * 1000).length + 1 <= at.allowance;
      retryAfter = Math.min(...moments.filter(opens));
    }
    return { breached, count, retryAfter };
  }

  /** The key of a path whatever the address, or that of the address once it has added all that it may. */
  #sharedName(
    window: RateWindow,
    address: string,
    at: { path: string; now: number },
    stores: boolean,
  ): string {
    const span = (window.windowMs * 17) / 16;
    const own = JSON.stringify([window.slot, address]);
    const name = JSON.stringify([window.slot, 'shared', at.path]);
    const newest = this.#hits.get(name)?.at(-1);
    const isNew = newest === undefined || at.now - newest >= span;
    const budget = this.#budgets.get(own) ?? { last: -Infinity, since: 0, added: 0 };
    const time = Math.max(at.now, budget.last);
    const isOver = at.now - budget.last >= span || time - budget.since >= span;
    const { since, added } = isOver ? { since: at.now, added: 0 } : budget;
    const isFull = isNew && added >= MAX_RATE_PATHS;
    if (isFull) this.overflows++;
    if (stores) this.#budgets.set(own, { last: time, since, added: added + (isNew && !isFull ? 1 : 0) });
    return isFull ? own : name;
  }

  /** The path, or one name for all paths an address has no place for. */
  #place(window: RateWindow, address: string, at: { path: string; now: number }, stores: boolean): string {
    const name = JSON.stringify([window.slot, address]);
    let stay = this.#stays.get(name);
    if (stay === undefined || at.now - stay.last >= (window.windowMs * 17) / 16) {
      stay = { last: at.now, paths: new Set() };
      if (stores) this.#stays.set(name, stay);
    }
    if (stores) stay.last = Math.max(stay.last, at.now);
    if (!stay.paths.has(at.path) && stay.paths.size >= MAX_RATE_PATHS) {
      this.overflows++;
      return 'overflow of 1,024 paths';
    }
    if (stores) stay.paths.add(at.path);
    return `/${at.path}`;
  }
}

function inWindow(hits: number[], window: RateWindow, now: number): number[] {
  return hits.filter((hit) => hit > now - window.windowMs && hit <= now);
}

/** Hits of the slice that holds now and of the sixteen before it. */
function inSlices(hits: number[], window: RateWindow, now: number): number[] {
  const slice = (time: number): number => Math.floor((time * 16) / window.windowMs);
  return hits.filter((hit) => hit <= now && slice(hit) > slice(now) - 17);
}

/** When the slice that holds the hit is the seventeenth before now, and counts no more. */
function leavesSlices(hit: number, window: RateWindow): number {
  return ((Math.floor((hit * 16) / window.windowMs) + 17) * window.windowMs) / 16;
}

function addressKey(address: number): RateKey {
  const words = new Uint32Array(2);
  if (address % 3 === 0) return { family: 0, words, path: '' };
  words[0] = address;
  words[1] = address * 77;
  return { family: address % 3 === 1 ? 4 : 6, words, path: '' };
}

function judge(
  counters: BoundedCounters,
  window: RateWindow,
  key: RateKey,
  now: number,
  allowance: number,
  stores = true,
) {
  const out: MutableRateResult = { breached: false, count: -1, retryAfter: -1 };
  if (stores) counters.hit(window, key, now, allowance, out);
  else counters.peek(window, key, now, allowance, out);
  return out;
}

/** Steps of a clock: mostly small, at times about a window, a slice, far ahead, or back. */
function steps(windowMs: number): fc.Arbitrary<number> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: Math.ceil(windowMs / 8) }) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(0, 1, windowMs - 1, windowMs, windowMs + 1, Math.floor(windowMs / 16)),
    },
    { weight: 1, arbitrary: fc.integer({ min: -windowMs, max: 2 * windowMs }) },
    { weight: 1, arbitrary: fc.constantFrom(2 ** 31, 2 ** 32, 2 ** 32 + windowMs, 2 ** 33) },
  );
}

const starts = fc.constantFrom(
  ...[0, 1, 1_700_000_000_000, 2 ** 32 - 500, 2 ** 40 + 17, 1_784_000_123_456],
  // The bits of stored times come again, in 2109.
  ...[2 ** 42 - 500, 2 ** 42 - 90_000_000, 4_400_000_000_000, 2 ** 48 + 17],
);
const windows = fc.constantFrom(1000, 2000, 3000, 60_000, 86_400_000);

// Few and many, both sides of exact, and every way the widest slice counts are packed.
const capacities = fc.oneof(
  fc.integer({ min: 1, max: 12 }),
  fc.integer({ min: 124, max: 133 }),
  // Their counts are stored in equally many bits.
  fc.integer({ min: 129, max: 254 }),
  fc.constantFrom(1000, 524_287, 524_288, 1_048_574, 1_048_575, 1_500_000, 2_000_000),
);

/** 1,500 paths of one address at one time. */
const MANY_PATHS = [0, 500, 1_000].map((from) => ({ address: 1, from, paths: 500, step: 0, peek: false }));

describe('counters equal the naive log', () => {
  const run = fc
    .tuple(windows, fc.array(fc.tuple(capacities, fc.boolean()), { minLength: 1, maxLength: 3 }), starts)
    .chain(([windowMs, rules, start]) =>
      fc.record({
        // Several rules in one set of counters.
        rules: fc.constant(
          rules.map(([capacity, doubled], slot) => ({ slot, capacity, doubled, windowMs, perPath: false })),
        ),
        start: fc.constant(start),
        moves: fc.array(
          fc.record({
            rule: fc.nat(rules.length - 1),
            step: steps(windowMs),
            address: fc.integer({ min: 0, max: 4 }),
            times: fc.oneof(
              fc.constant(1),
              fc.integer({ min: 1, max: Math.min(300, Math.ceil(rules[0]![0] * 1.2)) }),
            ),
            cleared: fc.boolean(),
            peek: fc.boolean(),
          }),
          { maxLength: 24, size: 'max' },
        ),
      }),
    );

  test('count, breach and retry, hits and peeks, clocks that jump', () => {
    fc.assert(
      fc.property(run, ({ rules, start, moves }) => {
        const counters = createCounters();
        const naive = new NaiveLog();
        let now = start;
        for (const move of moves) {
          const window = rules[move.rule]!;
          now = Math.max(0, now + move.step);
          const allowance = window.doubled && move.cleared ? 2 * window.capacity : window.capacity;
          const most = window.doubled ? 2 * window.capacity : window.capacity;
          const key = addressKey(move.address);
          for (let i = 0; i < move.times; i++) {
            const stores = !(move.peek && i % 3 === 0);
            const expected = naive.judge(
              window,
              String(move.address % 3 && move.address),
              { path: '', now, allowance },
              stores,
            );
            expected.count = Math.min(expected.count, most + 1);
            expect(judge(counters, window, key, now, allowance, stores)).toEqual(expected);
          }
        }
        expect(counters.evictions()).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  test.each([
    { name: 'per path, with more paths than an address may hold', keyed: {} },
    { name: 'whatever the address, with more values than one may add', keyed: { parts: 5, shared: true } },
  ])('$name', ({ keyed }) => {
    const visits = fc.array(
      fc.record({
        address: fc.integer({ min: 1, max: 2 }),
        from: fc.integer({ min: 0, max: 1200 }),
        paths: fc.integer({ min: 1, max: 500 }),
        step: fc.oneof(
          { weight: 3, arbitrary: fc.constant(0) },
          { weight: 3, arbitrary: fc.integer({ min: 0, max: 900 }) },
          fc.integer({ min: 900, max: 1200 }),
        ),
        peek: fc.boolean(),
      }),
      { minLength: 4, maxLength: 14, size: 'max' },
    );
    let overflowed = 0;
    fc.assert(
      fc.property(visits, fc.constantFrom(3, 130), (list, capacity) => {
        const window: RateWindow = {
          slot: 1,
          capacity,
          doubled: false,
          windowMs: 1000,
          perPath: true,
          ...keyed,
        };
        const counters = createCounters();
        const naive = new NaiveLog();
        let now = 1_700_000_000_000;
        for (const visit of list) {
          now += visit.step;
          for (let i = 0; i < visit.paths; i++) {
            const path = `/p${visit.from + i}`;
            const stores = !(visit.peek && i % 5 === 0);
            const at = { path, now, allowance: capacity };
            const expected = naive.judge(window, String(visit.address), at, stores);
            expected.count = Math.min(expected.count, capacity + 1);
            const got = judge(
              counters,
              window,
              { ...addressKey(visit.address * 3 + 1), path },
              now,
              capacity,
              stores,
            );
            expect(got).toEqual(expected);
          }
        }
        overflowed += naive.overflows;
      }),
      // One run surely has more paths than fit: of 25 by chance, some test in a thousand has none.
      { numRuns: 25, examples: [[MANY_PATHS, 3]] },
    );
    expect(overflowed).toBeGreaterThan(0);
  });
});

describe('what is promised to customers', () => {
  const traffic = fc
    .record({
      windowMs: windows,
      capacity: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 120, max: 140 })),
      start: starts,
    })
    .chain((setting) =>
      fc.record({
        setting: fc.constant(setting),
        gaps: fc.array(
          fc.oneof(
            {
              weight: 8,
              arbitrary: fc.integer({ min: 0, max: Math.ceil((2 * setting.windowMs) / setting.capacity) }),
            },
            { weight: 1, arbitrary: fc.constantFrom(0, setting.windowMs - 1, setting.windowMs) },
          ),
          { minLength: 1, maxLength: 500, size: 'max' },
        ),
      }),
    );

  test('no window holds more than the capacity, wherever it lies', () => {
    let refused = 0;
    fc.assert(
      fc.property(traffic, ({ setting, gaps }) => {
        const window: RateWindow = { slot: 0, doubled: false, perPath: false, ...setting };
        const counters = createCounters();
        const through: number[] = [];
        let now = setting.start;
        for (const gap of gaps) {
          now += gap;
          if (judge(counters, window, addressKey(1), now, window.capacity).breached) refused++;
          else through.push(now);
        }
        for (const [i, first] of through.entries()) {
          const next = through[i + window.capacity];
          if (next !== undefined) expect(next - first).toBeGreaterThanOrEqual(window.windowMs);
        }
      }),
      { numRuns: 150 },
    );
    expect(refused).toBeGreaterThan(0);
  });

  test('who sends at most the capacity in any 17/16 of a window is never refused', () => {
    fc.assert(
      fc.property(traffic, ({ setting, gaps }) => {
        const window: RateWindow = { slot: 0, doubled: false, perPath: false, ...setting };
        const counters = createCounters();
        const sent: number[] = [];
        let now = setting.start;
        for (const gap of gaps) {
          const earliest = sent.at(-window.capacity);
          now = Math.max(
            now + gap,
            earliest === undefined ? 0 : Math.ceil(earliest + (window.windowMs * 17) / 16),
          );
          sent.push(now);
          expect(judge(counters, window, addressKey(2), now, window.capacity).breached).toBe(false);
        }
      }),
      { numRuns: 150 },
    );
  });

  test('a request after retry-after is let through, one a second earlier is not', () => {
    let tried = 0;
    fc.assert(
      fc.property(traffic, ({ setting, gaps }) => {
        const window: RateWindow = { slot: 0, doubled: false, perPath: false, ...setting };
        const counters = createCounters();
        let now = setting.start;
        for (const gap of gaps) {
          now += gap;
          const { breached, retryAfter } = judge(counters, window, addressKey(1), now, window.capacity);
          if (!breached) continue;
          tried++;
          const peek = (seconds: number) =>
            judge(counters, window, addressKey(1), now + seconds * 1000, window.capacity, false).breached;
          expect(peek(retryAfter)).toBe(false);
          expect(peek(retryAfter - 1)).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
    expect(tried).toBeGreaterThan(0);
  });
});

test('keys of different rules, spaces, addresses and paths never share, whatever the seed', () => {
  const part = fc.constantFrom(0, 1, 2, 2 ** 31, 2 ** 32 - 1);
  const id = fc.record({
    space: part,
    slot: part,
    word: part,
    word2: part,
    family: fc.constantFrom(0, 4, 6),
    path: fc.constantFrom('', '/', '/a', '/ab', '/a\u0000', '/é'),
  });
  const seed = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.array(id, { maxLength: 60, size: 'max' }), seed, (ids, draw) => {
      const counters = createCounters({ random: () => draw });
      const seen = new Map<string, number>();
      for (const { space, slot, word, word2, family, path } of ids) {
        const known = [space, slot, family, family === 0 ? 0 : word, family === 6 ? word2 : 0, path];
        const count = (seen.get(JSON.stringify(known)) ?? 0) + 1;
        seen.set(JSON.stringify(known), count);
        const window: RateWindow = {
          space,
          slot,
          capacity: 100,
          doubled: false,
          windowMs: 60_000,
          perPath: true,
        };
        const key = { family: family as 0 | 4 | 6, words: Uint32Array.of(word, word2), path };
        expect(judge(counters, window, key, 5000, 100).count).toBe(count);
      }
    }),
    { numRuns: 60 },
  );
});
