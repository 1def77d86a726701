import { describe, expect, test } from 'vitest';
import { storagePolicy } from '../../../../src/edge/cache/build-entry.ts';
import type { CacheDirective } from '../../../../src/engine/evaluator/index.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const DATE = ['Date', new Date(NOW).toUTCString()];
const RULE: CacheDirective = { mode: 'standard', edgeTtl: null, browserTtl: null, key: 'k' };

interface Case {
  readonly status?: number;
  readonly headers?: readonly string[];
  readonly rule?: Partial<CacheDirective>;
  readonly authorized?: boolean;
  readonly sentAt?: number;
}

function plan({ status = 200, headers = [], rule = {}, authorized = false, sentAt = NOW }: Case) {
  const head = { status, headers: [...DATE, ...headers] };
  return storagePolicy({ head, settings: { ...RULE, ...rule }, authorized, sentAt, now: NOW });
}

/** Seconds of freshness left at its arrival; `null`: not kept. */
function left(of: Case): number | null {
  const found = plan(of);
  return found === null ? null : (found.lifetime.freshUntil - NOW) / 1_000;
}

const CC = (value: string): readonly string[] => ['Cache-Control', value];
const CDN = (value: string): readonly string[] => ['CDN-Cache-Control', value];
const LM = (seconds: number): readonly string[] => [
  'Last-Modified',
  new Date(NOW - seconds * 1_000).toUTCString(),
];
const EXPIRES = (seconds: number): readonly string[] => [
  'Expires',
  new Date(NOW + seconds * 1_000).toUTCString(),
];

describe('the standard mode', () => {
  test.each<[string, Case, number | null]>([
    ['nothing said', {}, 0],
    ['max-age', { headers: CC('max-age=60') }, 60],
    ['s-maxage before max-age', { headers: CC('max-age=1, s-maxage=60') }, 60],
    ['max-age before Expires', { headers: [...CC('max-age=60'), ...EXPIRES(-5)] }, 60],
    ['Expires', { headers: EXPIRES(90) }, 90],
    ['Expires that is no date', { headers: ['Expires', '0', ...LM(86_400)] }, 0],
    ['Expires twice', { headers: [...EXPIRES(90), ...EXPIRES(90)] }, 0],
    ['Age counts', { headers: [...CC('max-age=60'), 'Age', '20'] }, 40],
    ['Age beyond', { headers: [...CC('max-age=60'), 'Age', '100'] }, 0],
    ['Age that is none', { headers: [...CC('max-age=60'), 'Age', '7200.0'] }, 60],
    ['the first of two', { headers: [...CC('max-age=60'), 'Age', '20', 'Age', '50'] }, 40],
    ['time on the way counts', { headers: CC('max-age=60'), sentAt: NOW - 5_000 }, 55],
    ['heuristic', { headers: LM(1_000) }, 100],
    ['heuristic at most a day', { headers: LM(86_400 * 365) }, 86_400],
    ['no heuristic for 403', { status: 403, headers: LM(1_000) }, null],
    ['unless public', { status: 403, headers: [...LM(1_000), ...CC('public')] }, 100],
    ['explicit on any status', { status: 599, headers: CC('max-age=60') }, 60],
    ['206 never', { status: 206, headers: CC('max-age=60') }, null],
    ['304 never', { status: 304, headers: CC('max-age=60') }, null],
    ['no-store', { headers: CC('no-store, max-age=60') }, null],
    ['private', { headers: CC('private, max-age=60') }, null],
    ['private header', { headers: CC('private="a", max-age=60') }, 60],
    ['must-understand over no-store', { headers: CC('no-store, must-understand, max-age=60') }, 60],
    ['not understood', { status: 599, headers: CC('must-understand, max-age=60') }, null],
    ['targeted before Cache-Control', { headers: [...CC('no-store'), ...CDN('max-age=60')] }, 60],
    ['targeted forbids', { headers: [...CC('max-age=60'), ...CDN('no-store')] }, null],
    ['targeted and Expires', { headers: [...EXPIRES(90), ...CDN('foo')] }, 0],
    ['targeted that is none', { headers: [...CC('max-age=60'), ...CDN('&&')] }, 60],
    ['Authorization', { authorized: true, headers: CC('max-age=60') }, null],
    ['Authorization, public', { authorized: true, headers: CC('max-age=60, public') }, 60],
    ['Authorization, s-maxage', { authorized: true, headers: CC('s-maxage=60') }, 60],
    ['Authorization, must-revalidate', { authorized: true, headers: CC('max-age=60, must-revalidate') }, 60],
    ['Set-Cookie', { headers: [...CC('max-age=60'), 'Set-Cookie', 'a=b'] }, null],
    ['Set-Cookie, public', { headers: [...CC('public, max-age=60'), 'Set-Cookie', 'a=b'] }, null],
    ['Set-Cookie, targeted', { headers: [...CDN('max-age=60'), 'Set-Cookie', 'a=b'] }, null],
  ])('the lifetime is right for: %s', (_name, of, seconds) => {
    expect(left(of)).toBe(seconds);
  });

  test('an edge lifetime replaces the origin’s at any age, and overrides no prohibition', () => {
    const rule = { edgeTtl: 300 };
    expect(left({ rule })).toBe(300);
    expect(left({ rule, headers: [...CC('max-age=1'), 'Age', '50'] })).toBe(300);
    expect(left({ rule, headers: CC('no-store') })).toBeNull();
    expect(left({ rule, headers: CC('private') })).toBeNull();
    expect(plan({ rule, headers: CC('no-cache') })?.lifetime.validateAlways).toBe(true);
    expect(left({ rule, status: 404 })).toBe(180);
    expect(left({ rule, status: 500 })).toBeNull();
    expect(left({ rule, status: 500, headers: CC('max-age=9') })).toBe(9);
  });
});

describe('the force mode', () => {
  const force = { mode: 'force' } as const;
  test.each<[string, Case, number | null]>([
    ['nothing said', { rule: force }, 7_200],
    ['no-store', { rule: force, headers: CC('no-store') }, 7_200],
    ['private', { rule: force, headers: CC('private, max-age=0') }, 7_200],
    ['a lifetime of the origin', { rule: force, headers: CC('max-age=60') }, 60],
    ['its own lifetime', { rule: { ...force, edgeTtl: 30 }, headers: CC('no-store') }, 30],
    ['302', { rule: force, status: 302 }, 1_200],
    ['404', { rule: { ...force, edgeTtl: 86_400 }, status: 404 }, 180],
    ['500 as in standard', { rule: { ...force, edgeTtl: 60 }, status: 500 }, null],
    ['Set-Cookie', { rule: { ...force, edgeTtl: 60 }, headers: ['Set-Cookie', 'a=b'] }, 60],
    ['Authorization', { rule: { ...force, edgeTtl: 60 }, authorized: true }, null],
    ['Vary is looked at elsewhere', { rule: force, headers: ['Vary', '*'] }, 7_200],
  ])('the lifetime is right for: %s', (_name, of, seconds) => {
    expect(left(of)).toBe(seconds);
  });

  test('force mode ignores no-cache', () => {
    expect(plan({ rule: force, headers: CC('no-cache') })?.lifetime.validateAlways).toBe(false);
  });
});

test('the stale directives of a response are stored with its lifetime', () => {
  const life = (value: string) => plan({ headers: CC(`max-age=1, ${value}`) })!.lifetime;
  expect(life('must-revalidate').neverStale).toBe(true);
  expect(life('proxy-revalidate').neverStale).toBe(true);
  expect(life('s-maxage=1')).toMatchObject({ neverStale: false, staleIfSaid: true });
  expect(life('stale-while-revalidate=5')).toMatchObject({ staleWhileRevalidate: 5, staleIfError: null });
  expect(life('stale-if-error=0').staleIfError).toBe(0);
});

test('headers listed by no-cache and private are not stored', () => {
  expect(plan({ headers: CC('no-cache="A", private="b, c", max-age=1') })?.omit).toEqual(['a', 'b', 'c']);
});

test('a slow clock of the origin shortens the lifetime, and a fast one does not extend it', () => {
  const at = (seconds: number) =>
    storagePolicy({
      head: {
        status: 200,
        headers: ['Date', new Date(NOW + seconds * 1_000).toUTCString(), ...CC('max-age=60')],
      },
      settings: RULE,
      authorized: false,
      sentAt: NOW,
      now: NOW,
    })!.lifetime.freshUntil;
  expect(at(-20)).toBe(NOW + 40_000);
  expect(at(20)).toBe(NOW + 60_000);
});
