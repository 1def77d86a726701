import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatIp, type IpInterval, parseIpEntry } from '../../../../src/base/addresses/ip.ts';
import { createRanges, MAX_PREFIXES, readRanges } from '../../../../src/engine/classification/bots.ts';

const LIST = JSON.stringify({
  creationTime: '2026-01-01T00:00:00',
  prefixes: [
    { ipv6Prefix: '2001:4860:4801:10::/64' },
    { ipv4Prefix: '66.249.64.0/27' },
    { ipv4Prefix: '66.249.64.32/27' },
  ],
});

describe('published ranges', () => {
  test.each([
    ['66.249.64.0', true],
    ['66.249.64.63', true],
    ['66.249.64.64', false],
    ['66.249.63.255', false],
    ['2001:4860:4801:10::9', true],
    ['2001:4860:4801:11::9', false],
    ['::ffff:66.249.64.1', true],
    ['no address', false],
  ])('%s: %s', (ip, inside) => {
    expect(createRanges(readRanges(LIST)).has(ip)).toBe(inside);
  });

  test.each([
    ['no JSON', 'hello', /JSON/],
    ['null', 'null', /no list `prefixes`/],
    ['no list', '{"prefixes":{}}', /no list `prefixes`/],
    ['an entry without a prefix', '{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{}]}', /`prefixes\[1\]`/],
    ['an entry that is null', '{"prefixes":[null]}', /`prefixes\[0\]`/],
    ['a number', '{"prefixes":[{"ipv4Prefix":7}]}', /`prefixes\[0\]`/],
    [
      'a prefix that is none',
      '{"prefixes":[{"ipv4Prefix":"192.0.2.0/33"}]}',
      /`prefixes\[0\]`: a prefix length/,
    ],
    ['too many', JSON.stringify({ prefixes: Array(MAX_PREFIXES + 1).fill({}) }), /at most/],
  ])('%s is refused with its place', (_what, text, reason) => {
    expect(() => readRanges(text)).toThrow(reason);
  });

  test('the binary search of ranges agrees with a linear search', () => {
    const address = fc.integer({ min: 0, max: 300 });
    fc.assert(
      fc.property(fc.array(fc.tuple(address, address), { maxLength: 20 }), address, (pairs, asked) => {
        const texts = pairs.map(([a, b]) => `${formatIp(4, [a])}-${formatIp(4, [b])}`);
        const intervals = texts.map((text) => parseIpEntry(text) as IpInterval);
        const expected = intervals.some(({ first, last }) => first[0]! <= asked && asked <= last[0]!);
        expect(createRanges(intervals).has(formatIp(4, [asked]))).toBe(expected);
      }),
    );
  });
});
