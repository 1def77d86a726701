/** The sketches against exact counts: bounds of Space-Saving after any merges, quantiles, and sets of visitors. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addText,
  createHyperLogLog,
  estimate,
  type HyperLogLog,
  mergeHyperLogLog,
} from '../../src/engine/counts/hyperloglog.ts';
import {
  count,
  createLogHistogram,
  mergeLogHistogram,
  quantile,
  record,
} from '../../src/engine/counts/log-histogram.ts';
import {
  createSpaceSaving,
  mergeSpaceSaving,
  offer,
  type SpaceSaving,
  top,
} from '../../src/engine/counts/space-saving.ts';
import { plainVisitors } from '../support/plain-counts.ts';

/** Values of a stream: few frequent ones, many rare ones, with weights. */
const STREAM = fc.array(
  fc.tuple(
    fc.oneof({ weight: 3, arbitrary: fc.nat(6) }, { weight: 2, arbitrary: fc.nat(500) }),
    fc.oneof(
      { weight: 5, arbitrary: fc.constant(1) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 40 }) },
    ),
  ),
  { maxLength: 400 },
);
const CAPACITY = fc.integer({ min: 1, max: 40 });
type Stream = readonly (readonly [number, number])[];

function summaryOf(stream: Stream, capacity: number): SpaceSaving {
  const summary = createSpaceSaving(capacity);
  for (const [value, weight] of stream) offer(summary, `value ${value}`, weight);
  return summary;
}

function exactOf(stream: Stream): ReadonlyMap<string, number> {
  const exact = new Map<string, number>();
  for (const [value, weight] of stream)
    exact.set(`value ${value}`, (exact.get(`value ${value}`) ?? 0) + weight);
  return exact;
}

function expectBounds(summary: SpaceSaving, stream: Stream): void {
  const exact = exactOf(stream);
  const total = stream.reduce((sum, [, weight]) => sum + weight, 0);
  expect(summary.total).toBe(total);
  expect(summary.unlisted).toBeLessThanOrEqual(total / (summary.capacity + 1));
  expect(summary.entries.size).toBeLessThanOrEqual(summary.capacity * 2);
  for (const [value, { count: upper, error }] of summary.entries) {
    expect(exact.get(value) ?? 0, value).toBeLessThanOrEqual(upper);
    expect(exact.get(value) ?? 0, value).toBeGreaterThanOrEqual(upper - error);
    expect(error).toBeLessThanOrEqual(summary.unlisted);
  }
  for (const [value, times] of exact)
    if (!summary.entries.has(value)) expect(times, value).toBeLessThanOrEqual(summary.unlisted);
}

describe('a Space-Saving summary', () => {
  test('bounds every count of its stream', () => {
    fc.assert(
      fc.property(STREAM, CAPACITY, (stream, capacity) => {
        expectBounds(summaryOf(stream, capacity), stream);
      }),
    );
  });

  test('bounds every count of all streams after merges in any grouping', () => {
    fc.assert(
      fc.property(fc.array(STREAM, { minLength: 2, maxLength: 5 }), CAPACITY, (streams, capacity) => {
        const chain = createSpaceSaving(capacity);
        for (const stream of streams) mergeSpaceSaving(chain, summaryOf(stream, capacity));
        expectBounds(chain, streams.flat());
        let tree = streams.map((stream) => summaryOf(stream, capacity));
        while (tree.length > 1) {
          const [one, other, ...rest] = tree;
          mergeSpaceSaving(one!, other!);
          tree = [...rest, one!];
        }
        expectBounds(tree[0]!, streams.flat());
      }),
    );
  });

  test('lists every value that makes up more than its share of the stream', () => {
    fc.assert(
      fc.property(STREAM, CAPACITY, (stream, capacity) => {
        const summary = summaryOf(stream, capacity);
        const values = top(summary, capacity * 2).map(({ value }) => value);
        for (const [value, times] of exactOf(stream))
          if (times > summary.total / (capacity + 1)) expect(values).toContain(value);
      }),
    );
  });
});

describe('a logarithmic histogram', () => {
  const DURATIONS = fc.array(fc.double({ min: 0.001, max: 9_000_000, noNaN: true }), {
    minLength: 1,
    maxLength: 300,
  });

  test('has every quantile within 5 % of the exact one', () => {
    fc.assert(
      fc.property(DURATIONS, fc.double({ min: 0, max: 1, noNaN: true }), (durations, q) => {
        const histogram = createLogHistogram();
        for (const ms of durations) record(histogram, ms);
        const sorted = Float64Array.from(durations).sort();
        const exact = sorted[Math.max(1, Math.ceil(q * durations.length)) - 1]!;
        expect(Math.abs(quantile(histogram, q)! / exact - 1)).toBeLessThanOrEqual(0.05);
      }),
    );
  });

  test('of two parts has the quantiles of the whole', () => {
    fc.assert(
      fc.property(DURATIONS, DURATIONS, (one, other) => {
        const [whole, sum, part] = [createLogHistogram(), createLogHistogram(), createLogHistogram()];
        for (const ms of [...one, ...other]) record(whole, ms);
        for (const ms of one) record(sum, ms);
        for (const ms of other) record(part, ms);
        mergeLogHistogram(sum, part);
        expect(count(sum)).toBe(one.length + other.length);
        for (const q of [0, 0.5, 0.9, 0.99, 1]) expect(quantile(sum, q)).toBe(quantile(whole, q));
      }),
    );
  });

  test('of nothing has no quantile', () => {
    expect(quantile(createLogHistogram(), 0.5)).toBeNull();
  });
});

describe('a visitor sketch', () => {
  function sketchOf(from: number, size: number, into = createHyperLogLog()): HyperLogLog {
    for (let visitor = from; visitor < from + size; visitor++) addText(into, `visitor ${visitor}`);
    return into;
  }
  const SPAN = fc.tuple(fc.nat(1_500), fc.oneof(fc.nat(40), fc.nat(2_000)));

  test('of two sets is that of their union, in either order and whatever they share', () => {
    fc.assert(
      fc.property(SPAN, SPAN, (one, other) => {
        const union = plainVisitors(sketchOf(...other, sketchOf(...one)));
        for (const [first, second] of [
          [one, other],
          [other, one],
        ] as const) {
          const merged = sketchOf(...first);
          mergeHyperLogLog(merged, sketchOf(...second));
          expect(plainVisitors(merged)).toEqual(union);
        }
      }),
    );
  });

  test.each([[0], [1], [10], [200], [700]])('estimates %i visitors within 0.5 %%', (visitors) => {
    expect(Math.abs(estimate(sketchOf(0, visitors)) - visitors)).toBeLessThanOrEqual(visitors * 0.005);
  });

  // One set in sixteen is further off than 3 %: 1.04 / sqrt(4096) = 1.6 % is a standard error, not a bound.
  test.each([[1_000], [10_000], [100_000]])(
    'estimates sets of %i visitors with a standard error below 2 %%',
    (visitors) => {
      const errors = Array.from(
        { length: 60 },
        (_, set) => estimate(sketchOf(set * visitors, visitors)) / visitors - 1,
      );
      const within = errors.filter((error) => Math.abs(error) <= 0.03);
      expect(Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / errors.length)).toBeLessThan(
        0.02,
      );
      expect(within.length / errors.length).toBeGreaterThan(0.85);
    },
  );
});
