import { describe, expect, test } from 'vitest';
import {
  parseCacheControl,
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
