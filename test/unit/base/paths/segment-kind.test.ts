/** Which segments of paths are obviously values, and which are words. */
import { describe, expect, test } from 'vitest';
import {
  generalizePath,
  MAX_GENERALIZED,
  MAX_SEGMENTS,
  segmentKind,
  valueOfText,
} from '../../../../src/base/paths/segment-kind.ts';

describe('a segment', () => {
  test.each([
    ['10', 'integer'],
    ['20240131', 'integer'],
    ['3f2504e0-4f89-41d3-9a0c-0305e82c3301', 'uuid'],
    ['2024-01-31', 'date'],
    ['2024-01-31T09:00:00Z', 'date'],
    ['9fceb02d0ae598e95dc970b74767f19372d61af8', 'hash'],
    ['1a2b3c4d', 'hash'],
    ['cus_9s6XKzkNRiz8i3', 'token'],
    ['cus_NffrFeUfNVHibQ', 'token'],
    ['cus_nffrFeUfNVHibq', 'token'],
    ['SM5ef872f6da5a21de157d80997a64bd33', 'token'],
    ['01ARZ3NDEKTSV4RRFFQ69G5FAV', 'token'],
    ['INV-20311', 'token'],
    ['jane.doe@example.com', 'token'],
  ])('%s is a value: %s', (segment, kind) => {
    expect(segmentKind(segment)).toBe(kind);
  });

  test.each([
    ...['', '2', 'v1', 'v1beta1', 'v1alpha12', 'orders', 'purchase-orders', 'oauth2', '@me', 'users_search'],
    ...['users_SearchResults', 'users_SEARCHRESULTS', 'users_resultsAPI', 'max_ResultsPerPage'],
    ...['getUserAccountDetails', 'recommendations-for-visitors', '2fa-recovery-code-settings', 'sha256sum'],
    ...['deadbeef-cafe', 'openapi.json', 'feedface', 'a@b', 'x'.repeat(400)],
  ])('%s is a word', (segment) => {
    expect(segmentKind(segment)).toBeNull();
  });
});

describe('a path', () => {
  test('has the kinds of its values in their places', () => {
    expect(generalizePath('/orders/4711/items/9fceb02d0a/')).toBe('/orders/{integer}/items/{hash}/');
    expect(generalizePath('/accounts/4711.json')).toBe('/accounts/{integer}.json');
    expect(generalizePath('/')).toBe('/');
    expect(valueOfText('{integer}.json')).toEqual({ kind: 'integer', extension: '.json' });
    expect(valueOfText('{other}')).toBeNull();
  });

  test('may begin with a date, which is a version', () => {
    expect(generalizePath('/2010-04-01/days/2010-04-01')).toBe('/2010-04-01/days/{date}');
  });

  test('with braces, a semicolon, too many segments or too many characters is not generalized', () => {
    expect(generalizePath('/orders/{integer}')).toBeNull();
    expect(generalizePath('/orders;v=1')).toBeNull();
    expect(generalizePath('/a'.repeat(MAX_SEGMENTS))).not.toBeNull();
    expect(generalizePath('/a'.repeat(MAX_SEGMENTS + 1))).toBeNull();
    expect(generalizePath(`/${'7'.repeat(MAX_GENERALIZED - 1)}`)).toBe('/{integer}');
    expect(generalizePath(`/${'7'.repeat(MAX_GENERALIZED)}`)).toBeNull();
  });
});

describe('the time', () => {
  /** The shortest of several rounds, in nanoseconds. */
  function nanosecondsOf(path: string): number {
    const round = (): number => {
      const start = process.hrtime.bigint();
      for (let times = 0; times < 20; times++) generalizePath(path);
      return Number(process.hrtime.bigint() - start);
    };
    return Math.min(...Array.from({ length: 20 }, round));
  }

  test.each(['ab_AAAA', 'ab_aAaA', 'a-000000', 'a......', 'a.b.c.d', '0-a-0-a-'])(
    'of a segment that goes on as %s grows with its length, not with the square of it',
    (start) => {
      const segment = (length: number): string => `/${start.padEnd(length - 1, start.slice(-4))}`;
      const quarter = nanosecondsOf(segment(MAX_GENERALIZED / 4));
      expect(nanosecondsOf(segment(MAX_GENERALIZED))).toBeLessThan(10 * quarter);
    },
  );
});
