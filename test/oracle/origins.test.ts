import { describe, expect, test } from 'vitest';
import type { OriginPoolRule, PoolOrigin } from '../../src/rules/model/types.ts';
import { decide, dnsRecord, request, rule, ruleSet } from '../support/sample-rules.ts';
import { createOracle, type OracleEnv } from './index.ts';

function pool(fields: Partial<OriginPoolRule>, origins: Record<string, Partial<PoolOrigin>>): OriginPoolRule {
  const filled = Object.entries(origins).map(([address, own]) => ({
    address,
    port: null,
    scheme: 'https' as const,
    weight: 1,
    node_ids: [],
    country: '',
    ...own,
  }));
  return rule('origin_pool', 1, { ...fields, origins: filled });
}

function picks(one: OriginPoolRule, count: number, env: OracleEnv = {}): string {
  const oracle = createOracle(ruleSet({ rules: [one] }), env);
  return Array.from({ length: count }, () => oracle.evaluate(request()).origin?.address).join('');
}

describe('origin_pool', () => {
  test('round robin is smooth and weighted', () => {
    expect(picks(pool({}, { a: { weight: 5 }, b: {}, c: {} }), 7)).toBe('aabacaa');
    expect(picks(pool({}, { a: {}, b: {}, c: {} }), 6)).toBe('abcabc');
    expect(picks(pool({}, { a: { weight: 0 }, b: {} }), 3)).toBe('bbb');
  });

  test('unhealthy origins are skipped; when all are out, all are used', () => {
    const three = pool({}, { a: {}, b: {}, c: { weight: 0 } });
    expect(picks(three, 3, { healthy: (_, index) => index !== 0 })).toBe('bbb');
    expect(picks(three, 4, { healthy: () => false })).toBe('abab');
    expect(picks(three, 4, { healthy: (_, index) => index === 2 })).toBe('abab');
  });

  test('least load is in-flight over weight; ties take turns', () => {
    const load = (...counts: number[]): OracleEnv => ({ inFlight: (_, index) => counts[index]! });
    const weighted = pool(
      { lb_type: 'least_load' },
      { a: { weight: 4 }, b: { weight: 1 }, c: { weight: 2 } },
    );
    expect(picks(weighted, 2, load(3, 1, 2))).toBe('aa');
    expect(picks(weighted, 2, load(5, 1, 2))).toBe('cb');
    expect(picks(pool({ lb_type: 'least_load' }, { a: {}, b: {} }), 4)).toBe('abab');
    expect(picks(weighted, 2, { ...load(3, 9, 2), healthy: (_, index) => index !== 0 })).toBe('cc');
  });

  test('geo takes this node, else origins of no node, else all; health is judged inside a group', () => {
    const geo = pool(
      { lb_type: 'geo' },
      { a: { node_ids: [7], weight: 9 }, b: { node_ids: [7] }, c: {}, d: { node_ids: [8] } },
    );
    expect(picks(geo, 4, { nodeId: 7 })).toBe('abab');
    expect(picks(geo, 2, { nodeId: 7, healthy: (_, index) => index !== 0 })).toBe('bb');
    expect(picks(geo, 2, { nodeId: 7, healthy: (_, index) => index > 1 })).toBe('cc');
    expect(picks(geo, 2, { nodeId: 7, healthy: (_, index) => index === 3 })).toBe('dd');
    expect(picks(geo, 3, { nodeId: 7, healthy: () => false })).toBe('aba');
    expect(picks(geo, 2, { nodeId: 9 })).toBe('cc');
    expect(picks(geo, 2)).toBe('cc');
    const noneFree = pool({ lb_type: 'geo' }, { a: { node_ids: [7] }, b: { node_ids: [8] } });
    expect(picks(noneFree, 3, { nodeId: 9 })).toBe('aba');
  });

  test('ports follow the scheme, and a pool may set the Host', () => {
    const one = pool({ host_header: 'inner' }, { a: { scheme: 'http' } });
    expect(decide({ rules: [one] })).toMatchObject({
      rule: { type: 'origin_pool', id: 1 },
      origin: { address: 'a', port: 80, scheme: 'http', hostHeader: 'inner', source: 'origin_pool' },
    });
  });
});

describe('the order of origins', () => {
  const rules = [
    pool({}, { a: {} }),
    rule('origin_route', 2, { path_includes: ['/r'], address: 'route', port: 8443 }),
    rule('bot_route', 3, { action: 'alt_origin', alt_dest: 'alt', alt_scheme: 'http' }),
    rule('cache', 4),
  ];
  const bot = { kind: 'gptbot', verified: false };

  test('alt_origin, else the first origin_route, else the first pool, else the records', () => {
    expect(decide({ rules }, { target: '/r', bot })).toMatchObject({
      rule: { type: 'bot_route', id: 3 },
      origin: { address: 'alt', port: 80, scheme: 'http', hostHeader: 'example.com', source: 'alt_origin' },
      cache: { mode: 'bypass', key: null },
      matches: [{ effect: 'alt_origin' }],
    });
    expect(decide({ rules }, { target: '/r' })).toMatchObject({
      rule: { type: 'origin_route', id: 2 },
      origin: { address: 'route', port: 8443, scheme: 'https', source: 'origin_route' },
      matches: [{ type: 'cache' }, { type: 'origin_route', effect: 'origin' }],
    });
    expect(decide({ rules }).origin?.source).toBe('origin_pool');
    expect(decide({})).toMatchObject({ rule: null, origin: { address: '192.0.2.1', source: 'record' } });
  });

  test('a pinned origin skips redirect and rewrite, not captcha', () => {
    const all = [
      ...rules,
      rule('redirect', 5),
      rule('rewrite', 6, { path_target: '/x' }),
      rule('captcha', 7, { path_includes: ['/c'] }),
    ];
    expect(decide({ rules: all }, { target: '/a?b', bot })).toMatchObject({
      action: 'forward',
      path: '/a',
      query: 'b',
    });
    expect(decide({ rules: all }, { target: '/c', bot })).toMatchObject({
      action: 'challenge',
      rule: { type: 'captcha', id: 7 },
    });
  });
});

describe("a host's own records", () => {
  const origin = (fields: Parameters<typeof dnsRecord>[2], sent: Parameters<typeof decide>[1] = {}) =>
    decide({ records: [dnsRecord(1, '@', fields)] }, sent).origin;

  test('scheme and port', () => {
    expect(origin({}, { scheme: 'HTTP' })).toMatchObject({ scheme: 'http', port: 80 });
    expect(origin({}, { scheme: 'ws' })).toMatchObject({ scheme: 'https', port: 443 });
    expect(origin({ scheme: 'Http' })).toMatchObject({ scheme: 'http', port: 80 });
    expect(origin({ scheme: 'Https', port: 8443 })).toMatchObject({ scheme: 'https', port: 8443 });
    expect(origin({ scheme: 'Auto' })).toMatchObject({ scheme: 'auto', port: null });
    expect(origin({ scheme: 'Auto', port: 81 })).toMatchObject({ scheme: 'auto', port: 81 });
  });

  test("the origin gets the canonical host with the listener's port, never the client's", () => {
    expect(origin({}, { host: 'EXAMPLE.com.:443' })?.hostHeader).toBe('example.com');
    expect(origin({}, { host: 'example.com:1337' })?.hostHeader).toBe('example.com');
    expect(origin({}, { port: 80 })?.hostHeader).toBe('example.com:80');
    expect(origin({}, { port: 80, scheme: 'http' })?.hostHeader).toBe('example.com');
    expect(origin({ host_header: 'inner' }, { port: 81 })?.hostHeader).toBe('inner');
  });

  test('several take turns in id order, each group for itself', () => {
    const records = [dnsRecord(3, '@'), dnsRecord(1, '@'), dnsRecord(2, 'www'), dnsRecord(4, 'www')];
    const rules = [rule('drop', 1, { path_includes: ['/no'] })];
    const oracle = createOracle(ruleSet({ records, rules }));
    const address = (host: string, target = '/') =>
      oracle.evaluate(request({ host, target })).origin?.address;
    expect(address('example.com')).toBe('192.0.2.1');
    expect(address('www.example.com')).toBe('192.0.2.2');
    expect(address('example.com', '/no')).toBeUndefined();
    expect(address('example.com')).toBe('192.0.2.3');
    expect(address('example.com')).toBe('192.0.2.1');
    expect(address('www.example.com')).toBe('192.0.2.4');
  });
});
