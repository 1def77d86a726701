import { describe, expect, test } from 'vitest';
import {
  MAX_DOMAIN_REPORT_OCTETS,
  MAX_REPORTED_DOMAINS,
  MAX_REPORTED_OCTETS,
} from '../../../../src/base/vocabulary/limits.ts';
import type { CacheContents, CachedUrl } from '../../../../src/edge/cache/request.ts';
import { nextContents, REPEAT_CACHE_MS, type ReportedMark } from '../../../../src/edge/node/report-cache.ts';

const NOW = 1_800_000_000_000;

function contents(urls: number, changes: Partial<CachedUrl> = {}): CacheContents {
  const listed = Array.from({ length: urls }, (_, at) => ({
    url: `https://a.test/${at}`.padEnd(100, 'x'),
    ...{ status: 200, octets: 10, storedAt: NOW, freshUntil: NOW + 1_000, tags: [], copies: 1 },
    ...changes,
  }));
  return { entries: urls, octets: urls * 10, diskFiles: 0, diskOctets: 0, urls: listed };
}

function octetsOf(urls: readonly object[]): number {
  return urls.reduce((sum, url) => sum + Buffer.byteLength(JSON.stringify(url)) + 1, 0);
}

describe('the next report', () => {
  test('has domains that changed, and those whose report is old', () => {
    const found = new Map([
      ['a.test', contents(1)],
      ['b.test', contents(1)],
    ]);
    const first = nextContents(found, new Map(), NOW);
    expect(first.map(({ contents: { domain } }) => domain)).toEqual(['a.test', 'b.test']);
    const reported = new Map(first.map(({ contents: { domain }, mark }) => [domain, { at: NOW, mark }]));
    expect(nextContents(found, reported, NOW + 1)).toEqual([]);
    expect(nextContents(found, reported, NOW + REPEAT_CACHE_MS)).toHaveLength(2);
    // A refresh changes the end of the freshness alone.
    const refreshed = new Map([...found, ['b.test', contents(1, { freshUntil: NOW })] as const]);
    expect(nextContents(refreshed, reported, NOW + 1)).toMatchObject([{ contents: { domain: 'b.test' } }]);
  });

  test('has a domain that has no stored responses any more, with nothing', () => {
    const reported = new Map([['a.test', { at: NOW, mark: 'before' }]]);
    expect(nextContents(new Map(), reported, NOW + 1)).toMatchObject([
      { contents: { domain: 'a.test', entries: 0, octets: 0, disk_files: 0, disk_octets: 0, urls: [] } },
    ]);
  });

  test('has those first that were reported longest ago, if there are more than the bound', () => {
    const names = Array.from({ length: MAX_REPORTED_DOMAINS + 2 }, (_, at) => `${at}.test`);
    const found = new Map(names.map((name) => [name, contents(1)]));
    const reported = new Map<string, ReportedMark>(
      names.slice(0, -1).map((name, at) => [name, { at: NOW - 1_000 - at, mark: 'other' }]),
    );
    const domains = nextContents(found, reported, NOW).map(({ contents: { domain } }) => domain);
    expect(domains).toHaveLength(MAX_REPORTED_DOMAINS);
    expect(domains[0]).toBe(names.at(-1));
    expect(domains[1]).toBe(names.at(-2));
    expect(domains).not.toContain('0.test');
  });

  test('gives no domain more than its bound, and small ones all of their URLs beside large ones', () => {
    const small = Array.from({ length: 20 }, (_, at) => [`small${at}.test`, contents(5)] as const);
    const large = Array.from({ length: 10 }, (_, at) => [`large${at}.test`, contents(1_000)] as const);
    const next = nextContents(new Map([...large, ...small]), new Map(), NOW);
    const octets = next.map(({ contents: { urls } }) => octetsOf(urls));
    expect(octets.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(MAX_REPORTED_OCTETS);
    for (const { contents: sent } of next) {
      if (sent.domain.startsWith('small')) expect(sent.urls).toHaveLength(5);
      else expect(sent).toMatchObject({ entries: 1_000 });
    }
    const shares = next.slice(0, 10).map(({ contents: { urls } }) => urls.length);
    expect(Math.min(...shares)).toBeGreaterThan(80);
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
    const [alone] = nextContents(new Map([large[0]!]), new Map(), NOW);
    expect(octetsOf(alone!.contents.urls)).toBeLessThanOrEqual(MAX_DOMAIN_REPORT_OCTETS);
    expect(alone!.contents.urls.length).toBeGreaterThan(300);
  });
});
