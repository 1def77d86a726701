import { describe, expect, test } from 'vitest';
import {
  parseCacheControl,
  parseHttpDate,
  parseSeconds,
  parseTargeted,
  splitList,
} from '../../../../src/base/http/cache-control.ts';

describe('Cache-Control', () => {
  test.each([
    ['max-age=60', { maxAge: 60 }],
    ['MAX-AGE=060', { maxAge: 60 }],
    ['max-age="60"', { maxAge: 60 }],
    ['max-age=99999999999', { maxAge: 2 ** 31 }],
    ['max-age', { maxAge: 0 }],
    ['max-age=', { maxAge: 0 }],
    ['max-age=-1', { maxAge: 0 }],
    ['max-age=1.5', { maxAge: 0 }],
    ["max-age='60'", { maxAge: 0 }],
    ['max-age= 60', { maxAge: 0 }],
    ['max-age =60', { maxAge: null }],
    ['max-age=60, max-age=5', { maxAge: 5 }],
    ['max-age=5, max-age=60', { maxAge: 5 }],
    ['x="max-age=9", max-age=1', { maxAge: 1 }],
    ['max-age=1, x="max-age=9"', { maxAge: 1 }],
    ['s-maxage=7, public', { sharedMaxAge: 7, public: true }],
    ['No-Store', { noStore: true }],
    ['no-cache', { noCache: true }],
    ['no-cache="Set-Cookie, A"', { noCache: ['set-cookie', 'a'] }],
    ['no-cache="a", no-cache', { noCache: true }],
    ['private=""', { private: true }],
    ['private=a', { private: ['a'] }],
    ['stale-while-revalidate=5,stale-if-error=9', { staleWhileRevalidate: 5, staleIfError: 9 }],
    ['must-revalidate;proxy-revalidate', { mustRevalidate: false, proxyRevalidate: false }],
    ['', { maxAge: null, noStore: false }],
    [null, { maxAge: null, noStore: false }],
  ])('%s', (value, expected) => {
    expect(parseCacheControl(value)).toMatchObject(expected);
  });
});

describe('CDN-Cache-Control', () => {
  test.each([
    ['max-age=60', { maxAge: 60 }],
    ['max-age=60;x=1, no-store', { maxAge: 60, noStore: true }],
    ['no-store=?0, max-age=1', { noStore: false, maxAge: 1 }],
    ['private="a"', { private: ['a'] }],
    ['foo', { maxAge: null }],
    ['max-age="60"', null],
    ['max-age=1.5', null],
    ['max-age', null],
    ['max-age =60', null],
    ['max-age=60, &&&', null],
    ['max-age=a b', null],
    ['x="open', null],
    ['', null],
    [null, null],
  ])('%s', (value, expected) => {
    const said = parseTargeted(value);
    if (expected === null) expect(said).toBeNull();
    else expect(said).toMatchObject(expected);
  });
});

test.each([
  ['a, b', ['a', 'b']],
  [',, a ,', ['a']],
  ['a="x,y", b', ['a="x,y"', 'b']],
  ['a="x\\",y", b', ['a="x\\",y"', 'b']],
  ['a="open, b', ['a="open, b']],
  ['', []],
])('a list: %s', (value, elements) => {
  expect(splitList(value)).toEqual(elements);
});

test.each([
  ['0', 0],
  ['7', 7],
  ['4294967296', 2 ** 31],
  ['', null],
  ['1e3', null],
  [' 1', null],
])('delta-seconds: %s', (text, seconds) => {
  expect(parseSeconds(text)).toBe(seconds);
});

const NOW = Date.UTC(2026, 10, 20);

describe('an HTTP-date', () => {
  test.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Sunday, 06-Nov-94 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Sun Nov  6 08:49:37 1994', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Wed Nov 16 08:49:37 1994', Date.UTC(1994, 10, 16, 8, 49, 37)],
    ['SUN, 06 nov 1994 08:49:37 gmt', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Thursday, 18-Aug-50 02:01:18 GMT', Date.UTC(2050, 7, 18, 2, 1, 18)],
    ['Thursday, 18-Aug-76 02:01:18 GMT', Date.UTC(2076, 7, 18, 2, 1, 18)],
    ['Thursday, 18-Aug-77 02:01:18 GMT', Date.UTC(1977, 7, 18, 2, 1, 18)],
    ['Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
    ['Sun, 21 Nov 2286 04:46:39 GMT', Date.UTC(2286, 10, 21, 4, 46, 39)],
  ])('%s is read', (text, at) => {
    expect(parseHttpDate(text, NOW)).toBe(at);
  });

  test.each([
    '',
    '0',
    '-1',
    'never',
    '1994-11-06T08:49:37Z',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 94 08:49:37 GMT',
    'Sun 06 Nov 1994 08:49:37 GMT',
    'Sun, 06  Nov  1994 08:49:37 GMT',
    'Sun, 06-Nov-1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08.49.37 GMT',
    'Sun, 06 Nov 1994 8:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:00 GMT',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
    'Foo, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 0094 08:49:37 GMT',
    'x'.repeat(100_000),
  ])('%.40s is none', (text) => {
    expect(parseHttpDate(text, NOW)).toBeNull();
  });
});
