import { describe, expect, test } from 'vitest';
import { parseHttpDate } from '../../../../src/base/http/cache-control.ts';

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
