/** The counter of a process: every request is in exactly one second of the minute in which it ended. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type CountedSeconds,
  createTrafficCounter,
} from '../../../../../src/edge/following/traffic/counter.ts';
import { createTrafficLog, type RequestLogEntry } from '../../../../../src/edge/proxy/log/request-log.ts';
import { openBatch, openCounts, openTops } from '../../../../../src/engine/counts/layout.ts';
import { COUNTED } from '../../../../support/counted-requests.ts';
import { until } from '../../../../support/until.ts';

const MINUTE_MS = 60_000;
const NEVER_MS = 1_000_000;

/** Requests by domain and minute. */
function sumsOf(counted: readonly CountedSeconds[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { minute, sealed } of counted.flatMap(({ seconds }) => seconds)) {
    for (const { domain, minute: own, counts } of openBatch(sealed).entries) {
      expect(own).toBe(minute);
      const key = `${domain} ${minute}`;
      sums[key] = (sums[key] ?? 0) + openCounts(counts).sums.requests;
    }
  }
  return sums;
}

const REQUESTS = fc.array(
  fc.record({ domain: fc.constantFrom('a.test', 'b.test', 'c.test'), at: fc.nat(5 * MINUTE_MS) }),
  { maxLength: 60 },
);

describe('a counter', () => {
  test('counts requests of any order under the minute of their end, also when sending fails', async () => {
    await fc.assert(
      fc.asyncProperty(REQUESTS, fc.array(fc.boolean(), { maxLength: 8 }), async (requests, fails) => {
        const arrived: CountedSeconds[] = [];
        const outcomes = [...fails];
        const send = async (counted: CountedSeconds): Promise<void> => {
          if (outcomes.shift() === true) throw new Error('the primary is gone');
          arrived.push(counted);
        };
        const counter = createTrafficCounter({ send, drainMs: 1 });
        const expected: Record<string, number> = {};
        for (const { domain, at } of requests) {
          counter.count(domain, { ...COUNTED, at });
          const key = `${domain} ${Math.floor(at / MINUTE_MS) * MINUTE_MS}`;
          expected[key] = (expected[key] ?? 0) + 1;
        }
        await until(
          () =>
            JSON.stringify(Object.entries(sumsOf(arrived)).sort()) ===
            JSON.stringify(Object.entries(expected).sort()),
          'all requests',
        );
        await counter.stop();
        expect(sumsOf(arrived)).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  test('has one message under way; what is counted meanwhile is in the next one', async () => {
    const arrived: CountedSeconds[] = [];
    let release: () => void = () => undefined;
    const send = (counted: CountedSeconds): Promise<void> => {
      arrived.push(counted);
      return new Promise((resolve) => {
        release = resolve;
      });
    };
    const counter = createTrafficCounter({ send, drainMs: 1 });
    counter.count('a.test', COUNTED);
    await until(() => arrived.length === 1, 'the first message');
    for (let round = 0; round < 500; round++) counter.count('a.test', COUNTED);
    const stopped = counter.stop();
    expect(arrived).toHaveLength(1);
    release();
    await until(() => arrived.length === 2, 'the second message');
    release();
    await stopped;
    expect(Object.values(sumsOf(arrived))).toEqual([501]);
  });

  test('drops the top lists of the domains with the fewest requests and no counts', async () => {
    const arrived: CountedSeconds[] = [];
    const send = async (counted: CountedSeconds): Promise<void> => void arrived.push(counted);
    const counter = createTrafficCounter({ send, drainMs: NEVER_MS, maxTopsOctets: 600_000 });
    for (let domain = 1; domain <= 20; domain++) {
      for (let request = 0; request < 50 * domain; request++) {
        counter.count(`d${domain}.test`, { ...COUNTED, path: `/${'p'.repeat(60)}${request}` });
      }
    }
    await counter.stop();
    const [{ seconds, droppedTops }] = arrived as [CountedSeconds];
    const entries = openBatch(seconds[0]!.sealed).entries;
    expect(entries.map(({ counts }) => openCounts(counts).sums.requests)).toEqual(
      Array.from({ length: 20 }, (_, at) => 50 * (at + 1)),
    );
    const withTops = entries.flatMap(({ tops }, at) => (tops === null ? [] : [at + 1]));
    expect(withTops).toEqual(Array.from({ length: 20 - droppedTops }, (_, at) => droppedTops + at + 1));
    expect(droppedTops).toBeGreaterThan(5);
    expect(droppedTops).toBeLessThan(20);
    const last = openTops(entries.at(-1)!.tops!);
    expect(last.path.total).toBe(1_000);
  });

  test('counts the end of a request in whole milliseconds, whatever the duration', async () => {
    const arrived: CountedSeconds[] = [];
    const counter = createTrafficCounter({
      send: async (counted) => void arrived.push(counted),
      drainMs: NEVER_MS,
    });
    const match = { type: 'drop', id: 7, mode: 'enforce', effect: 'block' } as const;
    const startedAt = COUNTED.at;
    const exchange = {
      startedAt,
      domain: { name: 'a.test' },
      request: { target: '/', headers: {} },
      decision: { action: 'block', matches: [match], shadow: null },
    };
    const entry = {
      exchange,
      status: 403,
      octets: 9,
      octetsIn: 0,
      durationMs: 1_000.123_456,
      cache: null,
      firstOctetMs: 0.5,
      originMs: null,
      origin: null,
      monitored: false,
    };
    createTrafficLog(counter).done(entry as unknown as RequestLogEntry);
    await counter.stop();
    const [one] = openBatch(arrived[0]!.seconds[0]!.sealed).entries;
    const [hits] = openCounts(one!.counts).hits.values();
    expect(hits).toEqual({ ...match, hits: 1, lastAt: startedAt + 1_000 });
  });
});
