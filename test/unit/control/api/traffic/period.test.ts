/** Periods of requests for traffic: defaults, alignment, and the sentence of every refusal. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type AskedPeriod, PERIOD_QUERY, readPeriod } from '../../../../../src/control/api/traffic/period.ts';
import { USUAL_RETENTION as retention } from '../../../../../src/control/traffic/retention.ts';

const now = Date.parse('2026-11-25T04:37:12.345Z');
const schema = z.object(PERIOD_QUERY);

/** The period of a query, with times as texts. */
function periodOf(query: Readonly<Record<string, string>>) {
  const { step, from, to } = readPeriod(schema.parse(query) as AskedPeriod, { now, retention });
  return [step, short(from), short(to)];
}

function short(time: number): string {
  return new Date(time).toISOString().slice(0, 16);
}

describe('a period', () => {
  test('without parameters is the last 24 hours by hour, up to the end of this hour', () => {
    expect(periodOf({})).toEqual(['hour', '2026-11-24T04:00', '2026-11-25T05:00']);
  });

  test.each([
    [{ from: '2026-11-25T02:00:00Z' }, ['minute', '2026-11-25T02:00', '2026-11-25T04:38']],
    [{ from: '2026-11-20', to: '2026-11-21' }, ['hour', '2026-11-20T00:00', '2026-11-21T00:00']],
    [{ from: '2026-10-01' }, ['day', '2026-10-01T00:00', '2026-11-26T00:00']],
    [{ from: '2026-11-24T10:59:59+02:00' }, ['hour', '2026-11-24T08:00', '2026-11-25T05:00']],
    [{ from: '2026-11-24', step: 'day' }, ['day', '2026-11-24T00:00', '2026-11-26T00:00']],
    [{ to: '2026-11-25T04:00:00Z', step: 'hour' }, ['hour', '2026-11-24T04:00', '2026-11-25T04:00']],
    // Of minutes that are not stored any more there are hours.
    [
      { from: '2026-11-20T01:10:00Z', to: '2026-11-20T02:10:00Z' },
      ['hour', '2026-11-20T01:00', '2026-11-20T03:00'],
    ],
  ])('%j begins and ends where a step does', (query, period) => {
    expect(periodOf(query as Record<string, string>)).toEqual(period);
  });

  test('does not reach into the future', () => {
    expect(periodOf({ to: '2030-01-01' })).toEqual(periodOf({}));
  });
});

describe('a refused period', () => {
  test.each([
    [{ from: '2026-11-26' }, 'from: lies in the future, found `2026-11-26T00:00:00Z`'],
    [{ from: '2026-11-25', to: '2026-11-25' }, 'from: must be before `to`, found `2026-11-25T00:00:00Z`'],
    [
      { from: '2026-11-22T00:00:00Z', step: 'minute' },
      'from: counts by minute are stored for 48 hours, and `2026-11-22T00:00:00Z` is longer ago; use `step=hour`, or a `from` of 2026-11-23T04:37:00Z or later',
    ],
    [
      { from: '2026-10-01', step: 'hour' },
      'from: counts by hour are stored for 35 days, and `2026-10-01T00:00:00Z` is longer ago; use `step=day`, or a `from` of 2026-10-21T04:00:00Z or later',
    ],
    [
      { from: '2020-01-01' },
      'from: counts by day are stored for 400 days, and `2020-01-01T00:00:00Z` is longer ago; use a `from` of 2025-10-21T00:00:00Z or later',
    ],
    [
      { from: '2026-11-23T05:00:00Z', step: 'minute' },
      'step: an answer has at most 1500 points, and this period has 2858 by minute; use `step=hour`, or a `from` of 2026-11-24T03:38:00Z or later',
    ],
  ])('%j is answered with what would be right', (query, sentence) => {
    expect(() => periodOf(query as Record<string, string>)).toThrow(sentence);
  });

  test.each(['yesterday', '24h', '2026-11-25T04:00', '2026-13-01', '2026-11-25 04:00:00Z'])(
    '%s is no time',
    (from) => {
      expect(schema.safeParse({ from }).error?.issues[0]?.message).toMatch(/^must be an RFC 3339 time/);
    },
  );
});
