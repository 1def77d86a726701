import { describe, expect, test } from 'vitest';
import type { RateLimitRule } from '../../src/rules/model/types.ts';
import { request, rule, ruleSet } from '../support/sample-rules.ts';
import { createOracle } from './index.ts';

/** An oracle with one rate limit; `send` gives the seconds of Retry-After, 0 for a pass, or the other action. */
function limiter(fields: Partial<RateLimitRule>) {
  const oracle = createOracle(ruleSet({ rules: [rule('rate_limit', 1, fields)] }));
  return (now: number, sent: Parameters<typeof request>[0] = {}) => {
    const { action, status, retryAfter } = oracle.evaluate(request({ now, ...sent }));
    if (action === 'forward') return 0;
    return action === 'block' && status === 429 ? retryAfter : action;
  };
}

describe('the exact window', () => {
  test('lets limit + burst through; a hit exactly one window old is out', () => {
    const send = limiter({ limit: 2, burst: 1, window_sec: 10 });
    expect([send(0), send(1), send(5_000), send(9_999)]).toEqual([0, 0, 0, 1]);
    const next = limiter({ limit: 2, window_sec: 10 });
    expect([next(0), next(5_000), next(10_000), next(14_999)]).toEqual([0, 0, 0, 6]);
  });

  test('refused requests count towards the limit', () => {
    const send = limiter({ limit: 1, window_sec: 10 });
    expect([send(0), send(9_000), send(11_000), send(20_000), send(30_000)]).toEqual([0, 10, 10, 10, 0]);
  });

  test('Retry-After is the time until a request would be let through', () => {
    const send = limiter({ limit: 3, window_sec: 60 });
    expect([send(0), send(10_000), send(20_000)]).toEqual([0, 0, 0]);
    expect(send(30_000)).toBe(40);
    expect(limiter({ limit: 1, window_sec: 60 })(0)).toBe(0);
    const twice = limiter({ limit: 2, window_sec: 60 });
    expect([twice(0), twice(500), twice(30_250)]).toEqual([0, 0, 31]);
  });

  test('is exact up to limit + burst = 128', () => {
    const send = limiter({ limit: 100, burst: 28, window_sec: 1 });
    for (let hit = 0; hit < 128; hit += 1) expect(send(999)).toBe(0);
    expect(send(1_998)).toBe(1);
    const later = limiter({ limit: 128, window_sec: 1 });
    for (let hit = 0; hit < 128; hit += 1) later(999);
    expect(later(1_999)).toBe(0);
  });

  test('a request with an earlier time counts at the newest one', () => {
    const send = limiter({ limit: 1, window_sec: 10 });
    expect([send(50_000), send(1_000), send(60_000)]).toEqual([0, 10, 0]);
  });
});

describe('the sliced window', () => {
  const fields = { limit: 129, window_sec: 16 };
  test('a slice counts until all of it has left the window', () => {
    const send = limiter(fields);
    for (let hit = 0; hit < 129; hit += 1) expect(send(1_500)).toBe(0);
    expect(send(16_999)).toBe(2);
    const late = limiter(fields);
    for (let hit = 0; hit < 129; hit += 1) late(1_500);
    expect(late(17_999)).toBe(1);
    const free = limiter(fields);
    for (let hit = 0; hit < 129; hit += 1) free(1_500);
    expect(free(18_000)).toBe(0);
  });

  test('Retry-After waits for the slice that must leave', () => {
    const send = limiter(fields);
    for (let hit = 0; hit < 100; hit += 1) send(1_500);
    for (let hit = 0; hit < 29; hit += 1) send(5_500);
    expect(send(6_100)).toBe(12);
    expect(send(17_900)).toBe(1);
    expect(send(18_000)).toBe(0);
  });

  test('limit + burst in any 17/16 of a window is never refused', () => {
    const send = limiter(fields);
    for (let second = 0; second < 170; second += 17) {
      for (let hit = 0; hit < 129; hit += 1) expect(send(second * 1000 + 999)).toBe(0);
    }
  });
});

describe('keys', () => {
  test('IPv6 is keyed by /64, a mapped address is its IPv4, unknown addresses share a key', () => {
    const send = limiter({ limit: 1 });
    expect([send(0, { ip: '2001:db8::1' }), send(0, { ip: '2001:db8::ffff:1' })]).toEqual([0, 60]);
    expect(send(0, { ip: '2001:db8:0:1::1' })).toBe(0);
    expect([send(0, { ip: '192.0.2.1' }), send(0, { ip: '::ffff:192.0.2.1' })]).toEqual([0, 60]);
    expect([send(0, { ip: '010.0.0.1' }), send(0, { ip: null })]).toEqual([0, 60]);
  });

  test('ip_path uses the twin of the canonical path without its trailing slash', () => {
    const send = limiter({ limit: 1, key_by: 'ip_path' });
    expect(send(0, { target: '/a' })).toBe(0);
    for (const target of ['/a/', '/a;x', '//a/.', '/%61?q']) expect(send(0, { target })).toBe(60);
    expect(send(0, { target: '/b' })).toBe(0);
    expect([send(0, { target: '/' }), send(0, { target: '//' })]).toEqual([0, 60]);
  });

  test('one address holds 1,024 paths, the rest share a key until 17/16 of a window has been quiet', () => {
    const send = limiter({ limit: 1, key_by: 'ip_path', window_sec: 16 });
    for (let path = 0; path < 1024; path += 1) expect(send(0, { target: `/${path}` })).toBe(0);
    expect([send(0, { target: '/x' }), send(0, { target: '/y' })]).toEqual([0, 16]);
    expect(send(0, { target: '/z', ip: '192.0.2.1' })).toBe(0);
    expect([send(16_999, { target: '/x' }), send(16_999, { target: '/y' })]).toEqual([0, 16]);
    expect([send(33_999, { target: '/x' }), send(33_999, { target: '/y' })]).toEqual([0, 0]);
  });

  test('parts of a key are read of their first occurrence, and an absent one is the empty text', () => {
    const send = limiter({ limit: 1, key_parts: ['header:x-key', 'cookie:id', 'query:q'] });
    const headers = { 'x-key': ['a', 'b'], cookie: 'id=1; id=2' };
    expect(send(0, { headers, target: '/?q=x&q=y', ip: '192.0.2.1' })).toBe(0);
    const same = { 'X-Key': ' a ', cookie: 'z=0;id=1' };
    expect(send(0, { headers: same, target: '/other?q=x', ip: '192.0.2.2' })).toBe(60);
    expect(send(0, { headers: { ...headers, 'x-key': 'b' }, target: '/?q=x' })).toBe(0);
    expect([send(0, { headers: {} }), send(0, { headers: { 'x-key': '' }, target: '/?q=' })]).toEqual([
      0, 60,
    ]);
  });

  test('values cannot be divided among the parts in another way', () => {
    const send = limiter({ limit: 1, key_parts: ['query:a', 'query:b'] });
    for (const target of ['/?a=x&b=1:y', '/?a=x1:y', '/?b=x1:y', '/?a=x1:&b=y'])
      expect(send(0, { target })).toBe(0);
  });

  test('of a key with `ip` and `path` an address has what it has under `ip_path`', () => {
    const send = limiter({ limit: 1, key_parts: ['path', 'ip'] });
    expect([
      send(0, { target: '/a', ip: '2001:db8::1' }),
      send(0, { target: '/a', ip: '2001:db8::2' }),
    ]).toEqual([0, 60]);
    expect([
      send(0, { target: '/a/;x', ip: '2001:db8::2' }),
      send(0, { target: '/b', ip: '2001:db8::2' }),
    ]).toEqual([60, 0]);
  });

  test('facts that are unknown are the empty text', () => {
    const send = limiter({ limit: 1, key_parts: ['country', 'asn', 'ja4'] });
    expect([send(0, { country: 'XX' }), send(0, { asn: 0 }), send(0, { country: 'NO' })]).toEqual([0, 60, 0]);
    expect([send(0, { asn: 64_496 }), send(0, { ja4: 't13d' }), send(0, { ja4: 't13d' })]).toEqual([
      0, 0, 60,
    ]);
  });

  test('an address adds 1,024 values in 17/16 of a window, the rest share a key; known ones stay apart', () => {
    const send = limiter({ limit: 1, key_parts: ['query:k'], window_sec: 16 });
    expect(send(0, { target: '/?k=known', ip: '192.0.2.9' })).toBe(0);
    for (let value = 0; value < 1024; value += 1) expect(send(0, { target: `/?k=${value}` })).toBe(0);
    expect([send(0, { target: '/?k=x' }), send(0, { target: '/?k=y' })]).toEqual([0, 16]);
    expect(send(0, { target: '/?k=known' })).toBe(16);
    expect(send(0, { target: '/?k=x', ip: '192.0.2.1' })).toBe(0);
    expect([send(16_999, { target: '/?k=z' }), send(16_999, { target: '/?k=z2' })]).toEqual([0, 16]);
    expect([send(17_000, { target: '/?k=x2' }), send(17_000, { target: '/?k=y2' })]).toEqual([0, 0]);
  });

  test('a solved captcha doubles the limit', () => {
    const send = limiter({ limit: 1, burst: 1, on_breach: 'captcha' });
    const cleared = ['rate_limit/1'];
    expect([send(0), send(0), send(0)]).toEqual([0, 0, 'challenge']);
    expect([send(0, { cleared }), send(0, { cleared })]).toEqual([0, 'challenge']);
    const drop = limiter({ limit: 1 });
    expect([drop(0, { cleared }), drop(0, { cleared })]).toEqual([0, 60]);
  });

  test('a request without a time counts at the clock', () => {
    const rules = [rule('rate_limit', 1, { limit: 1, window_sec: 10 })];
    const oracle = createOracle(ruleSet({ rules }), { now: () => 7_000 });
    expect(oracle.evaluate(request({ now: 0 })).action).toBe('forward');
    expect(oracle.evaluate(request({ now: undefined })).retryAfter).toBe(10);
    expect(oracle.evaluate(request({ now: 17_000 })).action).toBe('forward');
  });
});

test('every matching rule counts, the first breached one acts', () => {
  const rules = [
    rule('rate_limit', 1, { limit: 2, path_includes: ['/a'], on_breach: 'captcha' }),
    rule('rate_limit', 2, { limit: 1 }),
    rule('rate_limit', 3, { limit: 1, priority: 200 }),
  ];
  const oracle = createOracle(ruleSet({ rules }));
  const effects = (target: string) =>
    oracle.evaluate(request({ target })).matches.map((match) => match.effect);
  expect(effects('/a')).toEqual(['counted', 'counted', 'counted']);
  expect(effects('/a')).toEqual(['counted', 'block', 'counted']);
  expect(effects('/a')).toEqual(['challenge', 'counted', 'counted']);
  expect(effects('/b')).toEqual(['block', 'counted']);
});
