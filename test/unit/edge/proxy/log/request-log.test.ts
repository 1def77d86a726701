/** What the traffic log counts of finished requests. */
import { expect, test } from 'vitest';
import { createTrafficCounter } from '../../../../../src/edge/following/traffic/counter.ts';
import { createTrafficLog, type RequestLogEntry } from '../../../../../src/edge/proxy/log/request-log.ts';

test('a hit of a rule is counted at a whole millisecond, however long its request took', async () => {
  const decision = {
    ...{ action: 'block', status: 403, origin: null, shadow: null, waf: null, cache: null },
    rule: { type: 'drop', id: 7 },
    matches: [{ type: 'drop', id: 7, mode: 'enforce', effect: 'block' }],
  };
  const entry = {
    exchange: {
      startedAt: 1_700_000_000_000,
      domain: { name: 'shop.test' },
      request: { target: '/', headers: {}, ip: '192.0.2.1' },
      decision,
    },
    ...{ status: 403, octets: 1, octetsIn: 0, durationMs: 45.3755, firstOctetMs: 45.2, originMs: null },
    ...{ origin: null, monitored: false, cache: null },
  } as unknown as RequestLogEntry;
  const sent: number[] = [];
  const counter = createTrafficCounter({
    drainMs: 3_600_000,
    send: async ({ seconds }) => void sent.push(seconds.length),
  });
  createTrafficLog(counter).done(entry);
  await counter.stop();
  expect(sent).toEqual([1]);
});
