import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isNotModified, parseRange, rangeOf } from '../../../../src/base/http/conditions.ts';
import { invalidated } from '../../../../src/edge/cache/cache.ts';
import { joinNames, variantOf, varyNames } from '../../../../src/edge/cache/response-keys.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const date = (seconds: number): string => new Date(NOW + seconds * 1_000).toUTCString();

describe('a range', () => {
  test.each([
    ['bytes=0-4', 10, { from: 0, to: 5 }],
    ['bytes=5-', 10, { from: 5, to: 10 }],
    ['bytes=-3', 10, { from: 7, to: 10 }],
    ['bytes=-30', 10, { from: 0, to: 10 }],
    ['bytes=5-100', 10, { from: 5, to: 10 }],
    ['Bytes = 1-2', 10, 'whole'],
    ['bytes= 1 - 2 ', 10, { from: 1, to: 3 }],
    ['bytes=10-', 10, 'none'],
    ['bytes=-0', 10, 'none'],
    ['bytes=-1', 0, 'none'],
    ['bytes=5-4', 10, 'whole'],
    ['bytes=0-1,3-4', 10, 'whole'],
    ['bytes=a-b', 10, 'whole'],
    ['bytes=-', 10, 'whole'],
    ['bytes=5', 10, 'whole'],
    ['bytes=99999999999999999999-', 10, 'whole'],
    ['lines=1-2', 10, 'whole'],
    ['', 10, 'whole'],
  ])('%s of %i', (value, length, range) => {
    expect(parseRange(value, length)).toEqual(range);
  });

  test('a range lies within the body for any header value', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(1_000), (text, length) => {
        for (const value of [text, `bytes=${text}`, `bytes=${text.length}-${length}`]) {
          const range = parseRange(value, length);
          if (typeof range === 'string') continue;
          expect(range.from).toBeGreaterThanOrEqual(0);
          expect(range.to).toBeGreaterThan(range.from);
          expect(range.to).toBeLessThanOrEqual(length);
        }
      }),
    );
  });

  const HELD = ['ETag', '"a"', 'Last-Modified', date(-100)];
  test.each([
    ['"a"', true],
    ['"b"', false],
    ['W/"a"', false],
    [date(-100), true],
    [date(0), false],
  ])('If-Range %s', (condition, applies) => {
    const range = rangeOf({ range: 'bytes=0-0', 'if-range': condition }, HELD, 10);
    expect(range).toEqual(applies ? { from: 0, to: 1 } : 'whole');
  });
});

describe('a condition', () => {
  const HELD = ['ETag', 'W/"a"', 'Last-Modified', date(-100)];
  test.each<[Record<string, string>, readonly string[], boolean]>([
    [{ 'if-none-match': '"a"' }, HELD, true],
    [{ 'if-none-match': 'W/"a"' }, HELD, true],
    [{ 'if-none-match': '"x", "a"' }, HELD, true],
    [{ 'if-none-match': '*' }, HELD, true],
    [{ 'if-none-match': '"x,a"' }, HELD, false],
    [{ 'if-none-match': 'a' }, HELD, false],
    [{ 'if-none-match': '"b"', 'if-modified-since': date(0) }, HELD, false],
    [{ 'if-modified-since': date(-100) }, HELD, true],
    [{ 'if-modified-since': date(-101) }, HELD, false],
    [{ 'if-modified-since': 'yesterday' }, HELD, false],
    [{ 'if-modified-since': date(0) }, ['Date', date(-5)], true],
    [{ 'if-modified-since': date(-9) }, ['Date', date(-5)], false],
    [{}, HELD, false],
  ])('%j', (request, held, unchanged) => {
    expect(isNotModified(request, held, NOW)).toBe(unchanged);
  });
});

describe('variants', () => {
  test.each<[readonly string[], readonly string[] | null]>([
    [[], []],
    [
      ['Vary', 'B, a'],
      ['a', 'b'],
    ],
    [['Vary', 'a', 'vary', 'A'], ['a']],
    [['Vary', 'a, *'], null],
    [['Vary', ', *'], null],
    [['Vary', 'a,b,c,d,e,f,g,h,i'], null],
  ])('%j', (headers, names) => {
    expect(varyNames(headers)).toEqual(names);
  });

  test.each<[string, unknown, unknown, boolean]>([
    ['foo', '1, 2', ' 1,2 ', true],
    ['foo', ['1', '2'], '1, 2', true],
    ['foo', '1', '2', false],
    ['foo', '1,2', '2,1', false],
    ['foo', undefined, '', false],
    ['foo', '"1, 2"', '"1,2"', false],
    ['accept-encoding', 'gzip, br', 'BR,gzip;q=1', true],
    ['accept-encoding', 'gzip', 'gzip;q=0', false],
    ['accept-encoding', 'gzip;q=0.5', 'gzip', false],
    ['accept-language', 'en, de', ' eN ,DE', true],
    ['accept-language', 'en, de', 'de, en', false],
  ])('%s: %j and %j', (name, one, other, same) => {
    const variant = (value: unknown) =>
      variantOf([name], value === undefined ? {} : { [name]: value as string });
    expect(variant(one) === variant(other)).toBe(same);
  });

  test('requests share no variant when their values differ only in where one ends', () => {
    expect(variantOf(['a', 'b'], { a: '1\n=2' })).not.toBe(variantOf(['a', 'b'], { a: '1', b: '2' }));
  });

  test('values above the size limit make no variant', () => {
    expect(variantOf(['a'], { a: 'x'.repeat(5_000) })).toBeNull();
  });

  test('joined Vary names lose none', () => {
    expect(joinNames(['b'], ['a', 'b'])).toEqual(['a', 'b']);
    expect(joinNames(['a', 'b', 'c', 'd'], ['e', 'f', 'g', 'h', 'i'])).toBeNull();
  });
});

test.each<[readonly string[], readonly string[]]>([
  [['Location', '/b'], ['https://a.test/b']],
  [
    ['Content-Location', 'c?d=1'],
    ['https://a.test/x/c?d=1', 'https://a.test/x/c'],
  ],
  [['Location', 'https://other.test/b'], []],
  [['Location', 'http://a.test/b'], []],
  [['Location', 'https://'], []],
  [[], []],
])('a change says that %j has changed', (headers, keys) => {
  expect(invalidated('https://a.test/x/y?q', headers)).toEqual(keys);
});
