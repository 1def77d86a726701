/** A worker sends each traffic count to the primary once, also when sending fails. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ReportedCounts } from '../../../src/sync/traffic-counts.ts';
import { createCounts } from '../../../src/workers/counts.ts';
import { DOMAIN, journalSubject, RECORDS } from '../../support/edge-journal.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const subject = journalSubject({
  domain: DOMAIN,
  records: RECORDS,
  rules: [{ id: 9, type: 'drop', path_includes: ['/closed'], ips: ['0.0.0.0/0', '::/0'] }],
});

function summed(told: readonly ReportedCounts[]): unknown {
  const requests = told.reduce((sum, one) => sum + one.requests, 0);
  const octets = told.reduce((sum, one) => sum + one.octets, 0);
  const hits = told.flatMap((one) => one.hits).reduce((sum, [, count]) => sum + count, 0);
  return { requests, octets, hits };
}

test('a worker sends requests, octets and matches once a second, and no message without requests', async () => {
  const told: (readonly ReportedCounts[])[] = [];
  const counts = createCounts(async (tallies) => void told.push(tallies));
  counts.done(subject.entry({ target: '/closed' }));
  counts.done(subject.entry({ target: '/open' }));
  counts.done({ ...subject.entry({}), exchange: null });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(told).toHaveLength(1);
  expect(told[0]!.map(({ domain }) => domain)).toEqual(['example.com']);
  expect(summed(told[0]!)).toEqual({ requests: 2, octets: 132, hits: 1 });
  await counts.stop();
  expect(told).toHaveLength(1);
});

test('counts that could not be sent are sent with the next message, and the rest at the stop', async () => {
  const told: (readonly ReportedCounts[])[] = [];
  let away = true;
  const counts = createCounts(async (tallies) => {
    if (away) throw new Error('not now');
    told.push(tallies);
  });
  counts.done(subject.entry({ target: '/closed' }));
  await vi.advanceTimersByTimeAsync(1_000);
  counts.done(subject.entry({ target: '/closed' }));
  expect(told).toEqual([]);
  away = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(summed(told[0]!)).toEqual({ requests: 2, octets: 132, hits: 2 });
  counts.done(subject.entry({ target: '/open' }));
  await counts.stop();
  expect(summed(told.flat())).toEqual({ requests: 3, octets: 198, hits: 2 });
});

test('counts add up in the worker while a message is being sent', async () => {
  const told: (readonly ReportedCounts[])[] = [];
  let release: () => void = () => undefined;
  const counts = createCounts((tallies) => {
    told.push(tallies);
    return new Promise((resolve) => {
      release = resolve;
    });
  });
  for (let at = 0; at < 5; at++) {
    counts.done(subject.entry({ target: '/open' }));
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(told).toHaveLength(1);
  release();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(told.map((one) => one[0]!.requests)).toEqual([1, 4]);
  release();
  await counts.stop();
});
