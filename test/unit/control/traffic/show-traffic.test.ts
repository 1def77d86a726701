/** Traffic as the API shows it: points and totals equal sums of what was counted, and a division covers all requests. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_DIVISION_VALUES } from '../../../../src/control/traffic/limits.ts';
import { STEP_MS, startsOf, type TrafficPeriod } from '../../../../src/control/traffic/retention.ts';
import { QUANTILE_ERROR, showTraffic, VISITORS_ERROR } from '../../../../src/control/traffic/show-traffic.ts';
import { createTrafficCounts, type TrafficCounts } from '../../../../src/engine/counts/counts.ts';
import { addText } from '../../../../src/engine/counts/hyperloglog.ts';
import { record } from '../../../../src/engine/counts/log-histogram.ts';

const period: TrafficPeriod = { step: 'hour', from: 0, to: 6 * STEP_MS.hour };

/** Counts of one step with requests by country. */
function countsOf(countries: Readonly<Record<string, number>>): TrafficCounts {
  const counts = createTrafficCounts();
  for (const [country, requests] of Object.entries(countries)) {
    counts.by.country.set(country, requests);
    counts.sums.requests += requests;
  }
  return counts;
}

describe('traffic', () => {
  test('has a point for every step of the period, in order, those without traffic too', () => {
    const { points, totals, values } = showTraffic(new Map(), period, { by: null });
    expect(points.map(({ at }) => Date.parse(at))).toEqual(startsOf(period));
    expect(points).toHaveLength(6);
    expect(values).toBe(undefined);
    const none = { p50: null, p90: null, p95: null, p99: null };
    expect(totals).toEqual({
      requests: 0,
      octets_in: 0,
      octets_out: 0,
      origin_requests: 0,
      origin_errors: 0,
      cache_hit_ratio: null,
      visitors: 0,
      edge_ms: none,
      origin_ms: none,
      gateway_requests: 0,
      actions: {},
      statuses: {},
      cache: {},
    });
  });

  test('divided by a dimension adds up to all requests, in every step and in total', () => {
    const country = fc.string({ minLength: 2, maxLength: 2 });
    const step = fc.dictionary(country, fc.integer({ min: 1, max: 50 }), { maxKeys: 20 });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), (given) => {
        const steps = new Map(given.map((one, index) => [index * STEP_MS.hour, countsOf(one)]));
        const { totals, points, values = [] } = showTraffic(steps, period, { by: 'country' });
        expect(totals.requests).toBe(points.reduce((sum, { requests }) => sum + requests, 0));
        expect(values.reduce((sum, { requests }) => sum + requests, 0)).toBe(totals.requests);
        expect(values.length).toBeLessThanOrEqual(MAX_DIVISION_VALUES + 1);
        for (const [index, { requests }] of points.entries()) {
          expect(values.reduce((sum, one) => sum + one.points[index]!, 0)).toBe(requests);
        }
        const listed = values.flatMap(({ value, requests }) => (value === null ? [] : [requests]));
        expect(listed).toEqual([...listed].sort((left, right) => right - left));
        for (const { value, requests } of values) {
          if (value === null) continue;
          expect(requests).toBe(
            given.reduce((sum, one) => sum + (Object.hasOwn(one, value) ? one[value]! : 0), 0),
          );
        }
      }),
    );
  });

  test('counts a visitor of several steps once in the total', () => {
    const steps = new Map(
      [0, 1, 2].map((hour) => {
        const counts = createTrafficCounts();
        for (let visitor = 0; visitor < 2_000; visitor++) addText(counts.visitors, `visitor ${visitor}`);
        return [hour * STEP_MS.hour, counts];
      }),
    );
    const { totals, points } = showTraffic(steps, period, { by: null });
    // Four standard errors.
    expect(Math.abs(totals.visitors - 2_000) / 2_000).toBeLessThan(4 * VISITORS_ERROR);
    expect(points[1]?.visitors).toBe(totals.visitors);
  });

  test('has quantiles of the whole period within their stated error', () => {
    const steps = new Map(
      [1, 100].map((milliseconds, hour) => {
        const counts = createTrafficCounts();
        for (let request = 0; request < 100; request++) record(counts.edgeTimes, milliseconds);
        return [hour * STEP_MS.hour, counts];
      }),
    );
    const { totals, points } = showTraffic(steps, period, { by: null });
    expect(Math.abs(totals.edge_ms.p99! - 100)).toBeLessThanOrEqual(100 * QUANTILE_ERROR);
    expect(Math.abs(points[0]!.edge_ms.p99! - 1)).toBeLessThanOrEqual(QUANTILE_ERROR);
    expect(totals.origin_ms.p50).toBe(null);
  });

  test('has a hit ratio of hits and misses alone', () => {
    const counts = createTrafficCounts();
    for (const [result, requests] of Object.entries({
      hit: 5,
      stale: 1,
      shared: 1,
      miss: 3,
      pass: 50,
      none: 9,
    })) {
      counts.by.cache.set(result, requests);
    }
    const { totals } = showTraffic(new Map([[0, counts]]), period, { by: null });
    expect(totals.cache_hit_ratio).toBe(0.7);
  });
});
