/** The report of traffic: what a terminal of 80 columns shows. */
import { describe, expect, test } from 'vitest';
import { type TrafficReport, trafficLines } from '../../../../src/cli/print/traffic.ts';
import type { TrafficPeriod } from '../../../../src/control/traffic/retention.ts';
import { showTraffic } from '../../../../src/control/traffic/show-traffic.ts';
import { createTrafficCounts } from '../../../../src/engine/counts/counts.ts';
import { paint } from '../../../../src/workbench/simulation/paint.ts';
import { columns } from '../../../../src/workbench/simulation/render-text.ts';

const HOUR = 3_600_000;
const from = Date.parse('2026-11-24T05:00:00Z');
const period: TrafficPeriod = { step: 'hour', from, to: from + 24 * HOUR };

/** Counts of one hour of the day. */
function hourOf(hour: number) {
  const counts = createTrafficCounts();
  const requests = 10_000 + 1_000 * (hour % 12);
  Object.assign(counts.sums, { requests, octets_in: requests * 500, octets_out: requests * 41_000 });
  Object.assign(counts.sums, { origin_requests: requests / 5, origin_errors: hour });
  for (const [action, share] of [
    ['forward', 0.97],
    ['block', 0.02],
    ['challenge', 0.01],
  ] as const) {
    counts.by.action.set(action, requests * share);
  }
  counts.by.status.set('200', requests * 0.97).set('403', requests * 0.03);
  counts.by.cache.set('hit', requests * 0.7).set('miss', requests * 0.2);
  counts.by.cache.set('none', requests * 0.1);
  return counts;
}

const steps = new Map(Array.from({ length: 24 }, (_, hour) => [from + hour * HOUR, hourOf(hour)]));
const ends = { from: '2026-11-24T05:00:00.000Z', to: '2026-11-25T05:00:00.000Z' };
const REPORT: TrafficReport = {
  domain: 'shop.example',
  ...ends,
  step: 'hour',
  by: 'action',
  precision: { visitors: 0.016_25, milliseconds: 0.05 },
  ...showTraffic(steps, period, { by: 'action' }),
  top: {
    ...ends,
    of: 'path',
    total: 370_000,
    unlisted_at_most: 18,
    values: [
      { value: '/', requests: 120_000, at_least: 120_000 },
      { value: `/assets/${'a'.repeat(100)}`, requests: 40_210, at_least: 40_195 },
      { value: '', requests: 7, at_least: 1 },
    ],
  },
};

/** The text in a terminal of so many columns. */
function shown(report: TrafficReport, width = 80): string {
  return paint(trafficLines(report, width), false);
}

describe('traffic in a terminal', () => {
  test('is totals, a division with charts, and a top list with the bounds of its counts', () => {
    expect(shown(REPORT)).toMatchInlineSnapshot(`
      "shop.example  2026-11-24 05:00 to 2026-11-25 05:00 UTC, by hour

      requests      372,000  ▄▅▅▅▆▆▇▇▇███▄▅▅▅▆▆▇▇▇███
      visitors      0 ± 1.6 %
      octets        15.3 GB out · 186 MB in
      statuses      200 360,840 (97.0 %) · 403 11,160 (3.0 %)
      cache         hit ratio 77.8 %   hit 260,400 (70.0 %) · miss 74,400 (20.0 %)
      origin        74,400 requests · 276 errors (0.4 %)
      first octet   not measured
        of origins  not measured

      by action  requests   share
      forward     360,840  97.0 %  ▄▅▅▅▆▆▇▇▇███▄▅▅▅▆▆▇▇▇███
      block         7,440   2.0 %  ▄▅▅▅▆▆▇▇▇███▄▅▅▅▆▆▇▇▇███
      challenge     3,720   1.0 %  ▄▅▅▅▆▆▇▇▇███▄▅▅▅▆▆▇▇▇███

      at most  at least   share  top path
      120,000   120,000  32.4 %  /
       40,210    40,195  10.9 %  /assets/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…
            7         1  <0.1 %  (none)
      of 370,000 requests, 2026-11-24 05:00 to 2026-11-25 05:00 UTC; any other had at
      most 18
      "
    `);
  });

  test.each([60, 80, 120])('of %i columns has no wider line', (width) => {
    for (const line of shown(REPORT, width).split('\n')) expect(columns(line)).toBeLessThanOrEqual(width);
  });

  test('without requests says so, and shows no totals', () => {
    const empty = { ...REPORT, ...showTraffic(new Map(), period, { by: 'action' }), top: null };
    expect(shown(empty)).toBe(
      'shop.example  2026-11-24 05:00 to 2026-11-25 05:00 UTC, by hour\n\nno requests in this period\n',
    );
  });

  test('escapes what a visitor may have sent to control the terminal', () => {
    const values = [{ value: '/\u001b[2J', requests: 1, at_least: 1 }];
    const text = shown({ ...REPORT, top: { ...REPORT.top!, values } });
    expect(text).toContain('/\\u{1b}[2J');
    expect(text).not.toContain('\u001b');
  });
});
