/** Cookies at the cache: what an origin sets for one visitor reaches no other visitor. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { RequestListener, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createDisk } from '../../src/edge/cache/disk.ts';
import type { ServedDomain } from '../../src/edge/following/served-domain.ts';
import {
  CACHE_HOST,
  type CacheNode,
  type CacheNodeOptions,
  startCacheNode,
  startCacheOrigin,
} from '../support/edge-cache.ts';
import { type ClientAnswer, get } from '../support/edge-cache-client.ts';

const clean: (() => unknown)[] = [];

afterEach(async () => {
  for (const one of clean.splice(0).reverse()) await one();
});

interface Place {
  readonly node: CacheNode;
  /** The visitors whose requests reached the origin. */
  readonly seen: string[];
  /** A request of the visitor whose cookie header is `who`. */
  readonly ask: (
    who: string,
    path: string,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<ClientAnswer>;
}

/** A node before an origin that sets every visitor's own cookie on each response. */
async function place(answer: RequestListener, options: Partial<CacheNodeOptions> = {}): Promise<Place> {
  const seen: string[] = [];
  const origin = await startCacheOrigin((request, response) => {
    const who = request.headers.cookie ?? 'nobody';
    seen.push(who);
    response.setHeader('Set-Cookie', [`session=${who}`, 'b=2']);
    answer(request, response);
  });
  clean.push(() => {
    origin.server.closeAllConnections();
    origin.server.close();
  });
  const node = await startCacheNode({ originPort: origin.port, ...options });
  clean.push(() => node.stop());
  return {
    node,
    seen,
    ask: (who, path, headers) => get(node.port, path, { headers: { cookie: who, ...headers } }),
  };
}

const cookiesOf = ({ headers }: ClientAnswer): unknown => headers['set-cookie'];
const own = (who: string): readonly string[] => [`session=${who}`, 'b=2'];
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What an origin may send that allows a shared cache to store, by status. */
const ALLOWED: readonly (readonly [number, Readonly<Record<string, string>>])[] = [
  [200, { 'Cache-Control': 's-maxage=600' }],
  [200, { 'Cache-Control': 'public, max-age=600' }],
  [200, { 'Cache-Control': 'max-age=0', 'CDN-Cache-Control': 'max-age=600' }],
  [200, { 'Cache-Control': 'max-age=600, no-cache="set-cookie"' }],
  [200, { 'Cache-Control': 'public, max-age=600', Vary: 'Accept' }],
  [301, { 'Cache-Control': 'public, max-age=600', Location: '/b' }],
  [302, { 'Cache-Control': 'public, max-age=600', Location: '/b' }],
  [404, { 'Cache-Control': 's-maxage=600' }],
];

test.each(ALLOWED)('standard mode stores no %i with a cookie under %o', async (status, headers) => {
  const { ask, seen } = await place((_request, response) => response.writeHead(status, headers).end('page'));
  for (const who of ['alice', 'bob', 'alice']) {
    const answer = await ask(who, '/a');
    expect([answer.status, cookiesOf(answer)]).toEqual([status, own(who)]);
    expect(answer.headers['cache-status']).toBe('edgeplan; fwd=miss');
  }
  expect(seen).toEqual(['alice', 'bob', 'alice']);
});

test.each(ALLOWED)('force mode stores %i without its cookie under %o', async (status, headers) => {
  const { ask, seen } = await place((_request, response) => response.writeHead(status, headers).end('page'), {
    rule: { mode: 'force' },
  });
  expect(cookiesOf(await ask('alice', '/a'))).toEqual(own('alice'));
  const hit = await ask('bob', '/a');
  expect([hit.status, hit.body, cookiesOf(hit)]).toEqual([status, 'page', undefined]);
  const head = await ask('carol', '/a', { 'if-modified-since': new Date().toUTCString() });
  expect(cookiesOf(head)).toBeUndefined();
  expect(seen).toEqual(['alice']);
});

test('of concurrent requests each gets its own cookie in standard mode, and the fetching one alone in force mode', async () => {
  for (const mode of ['standard', 'force'] as const) {
    const open: (() => void)[] = [];
    const { ask, seen } = await place(
      (_request, response) =>
        void open.push(() => response.writeHead(200, { 'Cache-Control': 's-maxage=600' }).end('page')),
      { rule: { mode } },
    );
    const names = ['alice', 'bob', 'carol', 'dave'];
    const first = ask('alice', '/a');
    await expect.poll(() => open.length).toBe(1);
    const others = names.slice(1).map((who) => ask(who, '/a'));
    // All wait for the first request's response, as far as a sleep can show it: a later one would find it stored.
    await wait(50);
    open[0]!();
    if (mode === 'standard') {
      await expect.poll(() => open.length).toBe(4);
      for (const one of open.slice(1)) one();
    }
    const answers = await Promise.all([first, ...others]);
    const expected = mode === 'standard' ? names.slice(1).map(own) : [undefined, undefined, undefined];
    expect(answers.map(cookiesOf)).toEqual([own('alice'), ...expected]);
    expect(answers.map(({ body }) => body)).toEqual(['page', 'page', 'page', 'page']);
    expect(seen.length).toBe(mode === 'standard' ? 4 : 1);
  }
});

test.each(['standard', 'force'] as const)('the cookie of a 304 is not stored in %s mode', async (mode) => {
  let first = true;
  const { ask, seen } = await place(
    (request, response) => {
      const headers = { 'Cache-Control': first ? 'max-age=1' : 'max-age=600', ETag: '"one"' };
      if (first) response.removeHeader('Set-Cookie');
      first = false;
      const known = request.headers['if-none-match'] === '"one"';
      response.writeHead(known ? 304 : 200, headers).end(known ? undefined : 'page');
    },
    { rule: { mode } },
  );
  expect(cookiesOf(await ask('alice', '/a'))).toBeUndefined();
  await wait(1_100);
  const revalidated = await ask('bob', '/a');
  expect([revalidated.body, cookiesOf(revalidated)]).toEqual(['page', own('bob')]);
  const hit = await ask('carol', '/a');
  expect([hit.body, cookiesOf(hit)]).toEqual(['page', undefined]);
  expect(hit.headers['cache-status']).toContain('hit; ttl=');
  expect(seen).toEqual(['alice', 'bob']);
});

test('a cookie of the background revalidation of a stale response reaches nobody', async () => {
  const open: ServerResponse[] = [];
  let first = true;
  const headers = { 'Cache-Control': 'max-age=1, stale-while-revalidate=600', ETag: '"one"' };
  const { ask } = await place((_request, response) => {
    if (!first) return void open.push(response);
    first = false;
    response.removeHeader('Set-Cookie');
    response.writeHead(200, headers).end('page');
  });
  await ask('alice', '/a');
  await wait(1_100);
  expect(cookiesOf(await ask('bob', '/a'))).toBeUndefined();
  await expect.poll(() => open.length).toBe(1);
  expect(cookiesOf(await ask('carol', '/a'))).toBeUndefined();
  open[0]!.writeHead(304, { ...headers, 'Cache-Control': 'max-age=600' }).end();
  await expect.poll(async () => (await ask('dave', '/a')).headers['cache-status']).toMatch(/hit; ttl=[1-9]/);
  expect(cookiesOf(await ask('erin', '/a'))).toBeUndefined();
});

test('headers that `private` and `no-cache` name reach the fetching visitor alone', async () => {
  const { ask, seen } = await place((_request, response) => {
    response.removeHeader('Set-Cookie');
    response.writeHead(200, { 'Cache-Control': 'max-age=600, private="x-me"', 'X-Me': 'alice' }).end('page');
  });
  expect((await ask('alice', '/a')).headers['x-me']).toBe('alice');
  expect((await ask('bob', '/a')).headers['x-me']).toBeUndefined();
  expect(seen).toEqual(['alice']);
});

test('a large body on disk and its ranges come without the cookie of the visitor who fetched it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeplan-cache-'));
  clean.push(() => rmSync(directory, { recursive: true, force: true }));
  const body = Buffer.alloc(3_000_000, 'x');
  const { ask, seen, node } = await place((_request, response) => response.writeHead(200).end(body), {
    rule: { mode: 'force' },
    memoryOctets: 4_000_000,
    directory,
  });
  const first = await ask('alice', '/a');
  expect([first.octets.length, cookiesOf(first)]).toEqual([body.length, own('alice')]);
  await expect.poll(async () => (await ask('bob', '/a')).headers['cache-status']).toContain('hit');
  const asked = seen.length;
  const hit = await ask('carol', '/a');
  expect([hit.octets.length, cookiesOf(hit)]).toEqual([body.length, undefined]);
  const part = await ask('dave', '/a', { range: 'bytes=0-9' });
  expect([part.status, cookiesOf(part)]).toEqual([206, undefined]);
  expect(seen.length).toBe(asked);
  expect(node.faults).toEqual([]);
});

test('a file with a cookie, as earlier releases wrote it, is not used', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'edgeplan-cache-'));
  clean.push(() => rmSync(directory, { recursive: true, force: true }));
  const faults: unknown[] = [];
  const disk = createDisk({
    directory,
    share: 1,
    maxFiles: 1_000,
    clock: Date.now,
    onFault: (error) => faults.push(error),
  });
  await disk.ready;
  const domain = {
    name: CACHE_HOST,
    purgeEpoch: 0,
    settings: { diskMaxGb: 10, diskTtlDays: 7 },
  } as ServedDomain;
  const now = Date.now();
  for (const [path, cookie] of [
    ['/a', ['Set-Cookie', 'session=alice']],
    ['/b', []],
  ] as const) {
    const key = `${CACHE_HOST}\nhttp://${CACHE_HOST}${path}`;
    const life = { storedAt: now, initialAge: 0, freshUntil: now + 600_000, validateAlways: false };
    const stale = { neverStale: false, staleIfSaid: false, staleWhileRevalidate: 0, staleIfError: null };
    const place = disk.enter(domain, key);
    disk.write(
      place,
      {
        ...{ kind: 'entry', key, status: 200, headers: ['Content-Length', '3', ...cookie], length: 3 },
        ...{ life: { ...life, ...stale }, validators: { etag: null, lastModified: null } },
        terms: { epoch: 0, purgesThrough: 0, mode: 'standard', edgeTtl: null },
      },
      Buffer.from('old'),
    );
  }
  await disk.close();
  const { ask, node } = await place((_request, response) => response.writeHead(200).end('new'), {
    directory,
  });
  const answers = [await ask('bob', '/b'), await ask('bob', '/a')];
  expect(answers.map(({ body }) => body)).toEqual(['old', 'new']);
  expect(answers.map(cookiesOf)).toEqual([undefined, own('bob')]);
  expect([...node.faults, ...faults]).toEqual([]);
});
