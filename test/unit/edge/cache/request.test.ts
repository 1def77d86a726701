/** What a survey of the cache finds, in memory and on disk, and what it removes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createCache } from '../../../../src/edge/cache/cache.ts';
import { MAX_SURVEYED_URLS } from '../../../../src/edge/cache/limits.ts';
import type { CachedDomain, CacheRequest, HttpCache } from '../../../../src/edge/cache/request.ts';
import { type CachePurge, createPurgeIndex } from '../../../../src/engine/plan/purges.ts';

const NOTHING = (): void => undefined;
const SINK = { informational: NOTHING, head: NOTHING, data: NOTHING, end: NOTHING, fail: NOTHING };
const SOURCE = { pause: NOTHING, resume: NOTHING, abort: NOTHING };
const SETTINGS = { cacheCapMb: 128, diskMaxGb: 10, diskTtlDays: 7 };
const clean: (() => unknown)[] = [];

afterEach(async () => {
  for (const one of clean.splice(0).reverse()) await one();
});

function open(directory: string | null): HttpCache {
  const onFault = (error: unknown): never => {
    throw error;
  };
  const cache = createCache({ memoryOctets: 64 << 20, directory, onFault });
  clean.push(cache.close);
  return cache;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'edgeplan-survey-'));
  clean.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function domainWith(name: string, ...purges: readonly CachePurge[]): CachedDomain {
  const through = Math.max(0, ...purges.map(({ position }) => position));
  return {
    name,
    purgeEpoch: 0,
    purges: createPurgeIndex({ through, floor: 0, purges }),
    settings: SETTINGS,
  };
}

/** Stores the response to a URL. */
async function put(
  cache: HttpCache,
  domain: CachedDomain,
  path: string,
  { headers = [], body = 'body' }: { headers?: readonly string[]; body?: string } = {},
): Promise<void> {
  const settings = { mode: 'standard', edgeTtl: 600, browserTtl: null, key: `https://${domain.name}${path}` };
  const request = { domain, settings, method: 'GET', headers: { 'accept-language': body } };
  const full = { ...request, now: Date.now(), note: NOTHING } as object as CacheRequest;
  await new Promise<void>((resolve) => {
    cache.answer(full, { ...SINK, end: () => resolve() }, (_changes, taker) => {
      queueMicrotask(() => {
        taker.head({ status: 200, headers: [...headers], madeBy: 'origin' }, SOURCE);
        taker.data(Buffer.from(body));
        taker.end([]);
      });
      return SOURCE;
    });
  });
}

describe.each(['memory', 'disk'] as const)('a cache with %s', (kind) => {
  const start = (): HttpCache => open(kind === 'disk' ? folder() : null);

  test('the URLs of each domain are found, the most recently used first, with all variants as one', async () => {
    const cache = start();
    const [one, two] = [domainWith('one.test'), domainWith('two.test')];
    await put(cache, one, '/a', { headers: ['Cache-Tag', 'x,y'] });
    await put(cache, one, '/b', { headers: ['Vary', 'Accept-Language'], body: 'de' });
    await put(cache, one, '/b', { headers: ['Vary', 'Accept-Language'], body: 'english' });
    await put(cache, two, '/c');
    const domains = new Map([one, two].map((domain) => [domain.name, domain]));
    const found = await cache.survey((name) => domains.get(name) ?? null);
    expect([...found.keys()].sort()).toEqual(['one.test', 'two.test']);
    expect(found.get('one.test')).toMatchObject({
      entries: 3,
      octets: 13,
      urls: [
        { url: 'https://one.test/b', copies: 2, octets: 9, tags: [] },
        { url: 'https://one.test/a', copies: 1, octets: 4, tags: ['x', 'y'], status: 200 },
      ],
    });
    expect((await cache.survey((name) => (name === 'two.test' ? two : null))).size).toBe(1);
  });

  test('what a purge covers is removed, and what a refresh covers is stale', async () => {
    const cache = start();
    const domain = domainWith('one.test');
    for (const path of ['/a', '/b', '/c']) await put(cache, domain, path);
    const purged = domainWith(
      'one.test',
      { kind: 'url', value: 'one.test/a', position: 1 },
      { kind: 'refresh', value: 'one.test/b', position: 2 },
    );
    if (kind === 'disk') {
      const files = async () => (await cache.survey(() => domain)).get('one.test')!.diskFiles;
      await expect.poll(files).toBe(3);
    }
    const before = Date.now();
    const { urls, entries } = (await cache.survey(() => purged)).get('one.test')!;
    expect(entries).toBe(2);
    const fresh = new Map(urls.map(({ url, freshUntil }) => [url, freshUntil]));
    expect([...fresh.keys()]).toEqual(['https://one.test/c', 'https://one.test/b']);
    expect(fresh.get('https://one.test/b')).toBeLessThanOrEqual(Date.now());
    expect(fresh.get('https://one.test/c')).toBeGreaterThan(before);
    // Removed in fact: a survey without the purges does not find it again.
    const again = (await cache.survey(() => domain)).get('one.test')!;
    expect([again.entries, again.diskFiles]).toEqual([2, kind === 'disk' ? 2 : 0]);
    expect((await cache.survey(() => ({ ...domain, purgeEpoch: 1 }))).size).toBe(0);
  });

  test('more URLs than the bound are counted, and the last ones are listed', async () => {
    const cache = start();
    const domain = domainWith('one.test');
    for (let at = 0; at < MAX_SURVEYED_URLS + 5; at++) await put(cache, domain, `/${at}`);
    const found = (await cache.survey(() => domain)).get('one.test')!;
    expect(found.entries).toBe(MAX_SURVEYED_URLS + 5);
    expect(found.urls).toHaveLength(MAX_SURVEYED_URLS);
    expect(found.urls.at(-1)!.url).toBe('https://one.test/5');
  });
});

test('files of before the start are counted, and their URLs are listed once they are used', async () => {
  const directory = folder();
  const domain = domainWith('one.test');
  const first = createCache({ memoryOctets: 64 << 20, directory, onFault: NOTHING });
  await put(first, domain, '/a');
  await first.close();
  const second = open(directory);
  const survey = async () => (await second.survey(() => domain)).get('one.test');
  await expect.poll(survey).toMatchObject({ entries: 0, diskFiles: 1, urls: [] });
  await put(second, domain, '/a');
  expect(await survey()).toMatchObject({ entries: 1, diskFiles: 1, urls: [{ url: 'https://one.test/a' }] });
});
