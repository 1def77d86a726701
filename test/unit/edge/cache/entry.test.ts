import { describe, expect, test } from 'vitest';
import {
  ageOf,
  type CacheEntry,
  isFresh,
  type Lifetime,
  mayServeOnError,
  mayServeUnreached,
  mayServeWhile,
} from '../../../../src/edge/cache/entry.ts';
import {
  freshenedHeaders,
  setsBrowserLifetime,
  storedHeaders,
  withBrowserLifetime,
} from '../../../../src/edge/cache/stored-response.ts';

const AT = 1_000_000_000;

/** An entry that came at `AT` and is fresh for 10 s. */
function entry(life: Partial<Lifetime> = {}): CacheEntry {
  const plain: Lifetime = {
    storedAt: AT,
    initialAge: 0,
    freshUntil: AT + 10_000,
    validateAlways: false,
    neverStale: false,
    staleIfSaid: false,
    staleWhileRevalidate: 0,
    staleIfError: null,
    ...life,
  };
  return { lifetime: plain } as CacheEntry;
}

describe('the use of an entry', () => {
  test.each<
    [string, Partial<Lifetime>, number, { fresh: boolean; behind: boolean; error: boolean; down: boolean }]
  >([
    ['fresh', {}, 9, { fresh: true, behind: true, error: true, down: true }],
    ['stale', {}, 10, { fresh: false, behind: false, error: false, down: true }],
    ['stale for a day', {}, 10 + 86_400, { fresh: false, behind: false, error: false, down: false }],
    ['no-cache', { validateAlways: true }, 1, { fresh: false, behind: false, error: false, down: false }],
    [
      'must-revalidate',
      { neverStale: true, staleIfError: 60, staleWhileRevalidate: 60 },
      11,
      { fresh: false, behind: false, error: false, down: false },
    ],
    ['s-maxage', { staleIfSaid: true }, 11, { fresh: false, behind: false, error: false, down: false }],
    [
      's-maxage that says so',
      { staleIfSaid: true, staleIfError: 60, staleWhileRevalidate: 60 },
      11,
      { fresh: false, behind: true, error: true, down: true },
    ],
    [
      'stale-if-error over',
      { staleIfError: 5 },
      15,
      { fresh: false, behind: false, error: false, down: false },
    ],
    ['a clock set back', {}, -3_600, { fresh: false, behind: false, error: false, down: false }],
    ['asked for before it came', {}, -5, { fresh: true, behind: true, error: true, down: true }],
  ])('%s', (_name, life, seconds, may) => {
    const one = entry(life);
    const now = AT + seconds * 1_000;
    expect({
      fresh: isFresh(one, now),
      behind: mayServeWhile(one, now),
      error: mayServeOnError(one, now),
      down: mayServeUnreached(one, now),
    }).toEqual(may);
  });

  test.each([
    [0, 0, 0],
    [30, 1_500, 31],
    [30, -700, 30],
  ])('age %i, %i ms later, is %i', (initialAge, ms, age) => {
    expect(ageOf(entry({ initialAge }), AT + ms)).toBe(age);
  });
});

test('hop-by-hop headers, proxy headers and those listed in Connection are not stored, and Date is', () => {
  const headers = [
    'Connection',
    'X-A',
    'X-A',
    '1',
    'Keep-Alive',
    'x',
    'Proxy-Authentication-Info',
    'x',
    'Age',
    '5',
  ];
  const more = ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-B', '2'];
  expect(storedHeaders({ headers: [...headers, ...more], omit: ['x-b'], now: 0 })).toEqual([
    'Date',
    'Thu, 01 Jan 1970 00:00:00 GMT',
  ]);
});

test('a 304 replaces stored headers, except those that describe the body', () => {
  const held = ['Date', 'x', 'Content-Length', '5', 'ETag', '"a"', 'X-A', '1', 'X-A', '2', 'X-B', '1'];
  const sent = ['date', 'y', 'Content-Length', '0', 'ETag', '"b"', 'x-a', '3', 'X-C', '1'];
  expect(freshenedHeaders(held, { headers: sent, omit: [], now: 0 })).toEqual([
    ...['Content-Length', '5', 'ETag', '"a"', 'X-B', '1'],
    ...['date', 'y', 'x-a', '3', 'X-C', '1'],
  ]);
});

test.each<[string, number, boolean, boolean, string | null]>([
  ['public, max-age=5, s-maxage=9', 200, false, true, 'public, s-maxage=9, max-age=7'],
  ['', 200, false, true, 'max-age=7'],
  ['private', 200, false, false, null],
  ['no-cache="a"', 200, false, false, null],
  ['private, no-store, max-age=0, immutable', 200, true, true, 'immutable, max-age=7'],
  ['max-age=5', 404, true, false, null],
])('a browser lifetime on `%s` (%i, forced: %s)', (said, status, forced, sets, result) => {
  const headers = ['Cache-Control', said, 'Expires', 'x', 'Date', 'x', 'Age', '9'];
  const life = { status, headers, browserTtl: 7, forced };
  expect(setsBrowserLifetime(life)).toBe(sets);
  if (result !== null) expect(withBrowserLifetime(life)).toEqual(['Cache-Control', result]);
});
