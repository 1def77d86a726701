/**
 * What a rate counter costs, and what it takes: against a log of times in a Map (what one would write first), octets
 * a key, windows over the limit, the price of a flood of new visitors.
 *
 * Both sides see the same requests in one run, turn by turn, and must give the same answers before anything is timed.
 */
import {
  type BoundedCounters,
  createCounters,
  type MutableRateResult,
  type RateKey,
  type RateWindow,
} from '../src/engine/rate-counters/counters.ts';
import { median } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';

const VISITORS = 100_000;
const QUICK_VISITORS = 2_000;
const ROUNDS = 7;
const REQUESTS_AROUND_LIMIT = 200_000;
const NOON = 1_784_030_400_000;

/** Takes about twenty seconds. */
export async function run({ quick }: BenchOptions): Promise<readonly Row[]> {
  const visitors = quick ? QUICK_VISITORS : VISITORS;
  const requests = quick ? REQUESTS_AROUND_LIMIT / 20 : REQUESTS_AROUND_LIMIT;
  return [
    ...speedRows(visitors),
    ...floodRows(visitors),
    ...memoryRows(visitors),
    windowsOverLimit(requests),
  ];
}

type Judge = (address: number, now: number) => boolean;

function windowOf(capacity: number, other: Partial<RateWindow> = {}): RateWindow {
  return { slot: 1, capacity, doubled: false, windowMs: 60_000, perPath: false, ...other };
}

function judgeOf(counters: BoundedCounters, window: RateWindow): Judge {
  const words = new Uint32Array(2);
  const key: RateKey = { family: 4, words, path: '' };
  const out: MutableRateResult = { breached: false, count: 0, retryAfter: 0 };
  return (address, now) => {
    words[0] = address;
    counters.hit(window, key, now, window.capacity, out);
    return out.breached;
  };
}

/** The log one would write first: a Map of arrays of times, the old ones shifted out. */
function naiveJudge(window: RateWindow): Judge {
  const logs = new Map<number, number[]>();
  return (address, now) => {
    let log = logs.get(address);
    if (log === undefined) {
      log = [];
      logs.set(address, log);
    }
    while (log.length > 0 && log[0]! <= now - window.windowMs) log.shift();
    log.push(now);
    return log.length > window.capacity;
  };
}

/** The same pseudo-random visitors for both sides. @returns nanoseconds a request, and how many were refused */
function timed(judge: Judge, round: number, visitors: number): { ns: number; refused: number } {
  const requests = 4 * visitors;
  let random = round + 1;
  let refused = 0;
  const start = performance.now();
  for (let i = 0; i < requests; i++) {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) | 0;
    const address = Math.imul((random >>> 8) % visitors, 2_654_435_761) >>> 0;
    if (judge(address, NOON + round * 9_000 + (i >> 8))) refused++;
  }
  return { ns: ((performance.now() - start) * 1e6) / requests, refused };
}

function speedRows(visitors: number): readonly Row[] {
  const exact = windowOf(20);
  const sliced = windowOf(200);
  const ours = judgeOf(createCounters(), exact);
  const slices = judgeOf(createCounters(), sliced);
  const naive = naiveJudge(exact);
  const times = { ours: [] as number[], slices: [] as number[], naive: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    const a = timed(ours, round, visitors);
    const b = timed(naive, round, visitors);
    if (a.refused !== b.refused)
      throw new Error(`counters refused ${a.refused} requests, the log ${b.refused}`);
    times.ours.push(a.ns);
    times.naive.push(b.ns);
    times.slices.push(timed(slices, round, visitors).ns);
  }
  const note = `${visitors} visitors at random, median of ${ROUNDS}`;
  const hit = median(times.ours);
  return [
    { name: 'hit, exact', value: hit, goal: { atMost: 200 }, unit: 'ns', note },
    { name: 'hit, slices', value: median(times.slices), goal: { atMost: 200 }, unit: 'ns', note },
    {
      name: 'log in a Map ÷ hit',
      value: median(times.naive) / hit,
      goal: null,
      unit: '×',
      note: 'the Map has no bound and no seed',
    },
  ];
}

/** New visitors only: into free memory, and into a full set that gives up a key for each. */
function floodRows(visitors: number): readonly Row[] {
  const window = windowOf(1000);
  const free = createCounters({ maxBytes: 256 * 1024 * 1024 });
  const full = createCounters({ maxBytes: 4 * 1024 * 1024 });
  const takeFree = judgeOf(free, window);
  const takeFull = judgeOf(full, window);
  flood(takeFull, 0, visitors);
  const early = flood(takeFull, visitors, visitors);
  const freeNs = flood(takeFree, 0, 5 * visitors);
  flood(takeFull, 2 * visitors, 10 * visitors);
  const late = flood(takeFull, 12 * visitors, visitors);
  return [
    {
      name: 'new visitor, free memory',
      value: freeNs,
      goal: null,
      unit: 'ns',
      note: `${5 * visitors} in a row`,
    },
    {
      name: 'new visitor, full memory',
      value: late,
      goal: null,
      unit: 'ns',
      note: `${full.evictions()} keys given up`,
    },
    {
      name: 'flood after a million ÷ at its start',
      value: late / early,
      goal: { atMost: 1.5 },
      unit: '×',
      note: 'full memory',
    },
  ];
}

function flood(judge: Judge, first: number, count: number): number {
  const start = performance.now();
  for (let i = first; i < first + count; i++) judge(Math.imul(i, 2_654_435_761) >>> 0, NOON + (i >> 6));
  return ((performance.now() - start) * 1e6) / count;
}

function memoryRows(visitors: number): readonly Row[] {
  const rows = [1, 20, 128, 129, 10_000, 2_000_000].map((capacity): Row => {
    const counters = createCounters({ maxBytes: 512 * 1024 * 1024 });
    flood(judgeOf(counters, windowOf(capacity)), 0, visitors);
    const goal = capacity <= 128 ? 4 * capacity + 32 : 64;
    const value = counters.bytes() / visitors;
    return {
      name: `a key of ${capacity} a window`,
      value,
      goal: { atMost: goal },
      unit: 'octets',
      note: `${visitors} keys`,
    };
  });
  const counters = createCounters();
  flood(judgeOf(counters, windowOf(1000)), 0, 10 * visitors);
  const note = `${counters.evictions()} given up`;
  return [
    ...rows,
    { name: 'a million keys', value: counters.bytes() / 2 ** 20, goal: { atMost: 64 }, unit: 'MiB', note },
  ];
}

/** Visitors around their limit, now below, now above, and every window of what was let through. */
function windowsOverLimit(requests: number): Row {
  let over = 0;
  let seen = 0;
  for (const capacity of [1, 10, 128, 129, 1000]) {
    const window = windowOf(capacity, { windowMs: 1000 });
    const judge = judgeOf(createCounters(), window);
    const through: number[] = [];
    let random = capacity;
    let now = NOON;
    for (let i = 0; i < requests; i++) {
      random = (Math.imul(random, 1_664_525) + 1_013_904_223) | 0;
      // Mean gaps of 0.7 to 1.5 shares of the window, in turns of about three windows.
      const gap = (0.7 + (Math.floor(i / capacity / 3) % 5) * 0.2) * (window.windowMs / capacity);
      now += ((random >>> 8) / 2 ** 24) * 2 * gap;
      if (!judge(7, now)) through.push(Math.floor(now));
    }
    for (let i = capacity; i < through.length; i++) {
      seen++;
      if (through[i]! - through[i - capacity]! < window.windowMs) over++;
    }
  }
  return {
    name: 'windows over the limit',
    value: over,
    goal: { atMost: 0 },
    unit: 'windows',
    note: `of ${seen} full ones`,
  };
}
