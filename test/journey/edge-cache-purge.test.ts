/** Purges of single responses at a node, over real sockets: what they cover, in memory, on disk, and around fetches in flight. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { CachePurge, PurgeList } from '../../src/engine/plan/purges.ts';
import {
  CACHE_HOST,
  type CacheNode,
  type CacheNodeOptions,
  startCacheNode,
  startCacheOrigin,
} from '../support/edge-cache.ts';
import { get } from '../support/edge-cache-client.ts';

const started: { stop(): Promise<void> }[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const one of started.splice(0)) await one.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'edgeplan-purge-'));
  folders.push(path);
  return path;
}

/** The list of one purge at its position. */
function purgeAt(position: number, kind: CachePurge['kind'], ...values: readonly string[]): PurgeList {
  return { through: position, floor: 0, purges: values.map((value) => ({ kind, value, position })) };
}

async function startOrigin(
  answer: RequestListener,
): Promise<{ readonly port: number; readonly seen: string[] }> {
  const seen: string[] = [];
  const origin = await startCacheOrigin((request, response) => {
    seen.push(request.url!);
    answer(request, response);
  });
  started.push({
    stop: async () => {
      origin.server.closeAllConnections();
      origin.server.close();
    },
  });
  return { port: origin.port, seen };
}

async function startNode(options: CacheNodeOptions): Promise<CacheNode> {
  const node = await startCacheNode(options);
  started.unshift(node);
  return node;
}

/** Answers with tags after the path: `/a` is tagged `a` and `all`. */
const tagged: RequestListener = (request, response) => {
  const path = request.url!.split('?', 1)[0]!;
  response.writeHead(200, {
    'Cache-Control': 'max-age=600',
    'Cache-Tag': `${path.slice(1).replaceAll('/', '-')}, All`,
    'Surrogate-Key': 'fastly-1 fastly-2',
    ETag: '"1"',
  });
  response.end(request.url);
};

const PATHS = ['/a', '/a?v=1', '/a?v=2', '/dir/b', '/dir/c', '/directory'];
const CASES: readonly { readonly purge: PurgeList; readonly gone: readonly string[] }[] = [
  { purge: purgeAt(5, 'url', `${CACHE_HOST}/a`), gone: ['/a'] },
  { purge: purgeAt(5, 'url', `${CACHE_HOST}/a?v=2`, `${CACHE_HOST}/dir/b`), gone: ['/a?v=2', '/dir/b'] },
  { purge: purgeAt(5, 'url', `${CACHE_HOST}/%61`), gone: ['/a'] },
  { purge: purgeAt(5, 'url', `other.${CACHE_HOST}/a`), gone: [] },
  { purge: purgeAt(5, 'prefix', `${CACHE_HOST}/dir/`), gone: ['/dir/b', '/dir/c'] },
  { purge: purgeAt(5, 'prefix', `${CACHE_HOST}/dir`), gone: ['/dir/b', '/dir/c', '/directory'] },
  { purge: purgeAt(5, 'prefix', `${CACHE_HOST}/`), gone: PATHS },
  { purge: purgeAt(5, 'tag', 'dir-b'), gone: ['/dir/b'] },
  { purge: purgeAt(5, 'tag', 'all'), gone: PATHS },
  { purge: purgeAt(5, 'tag', 'fastly-2'), gone: PATHS },
  { purge: purgeAt(5, 'tag', 'fastly'), gone: [] },
  { purge: { through: 5, floor: 5, purges: [] }, gone: PATHS },
];

describe.each([
  ['memory', false],
  ['disk after a restart', true],
])('%s', (_, onDisk) => {
  test.each(CASES)(
    'a purge covers what it names and nothing else ($purge.purges)',
    async ({ purge, gone }) => {
      const origin = await startOrigin(tagged);
      const options = { originPort: origin.port, directory: onDisk ? folder() : null };
      let node = await startNode(options);
      for (const path of PATHS) await get(node.port, path);
      if (onDisk) {
        started.shift();
        await node.stop();
        node = await startNode({ ...options, purges: purge });
      } else node.purge(purge);
      origin.seen.length = 0;
      for (const path of PATHS) expect((await get(node.port, path)).body).toBe(path);
      expect(origin.seen).toEqual(gone);
      // What was fetched after the purge is used again.
      for (const path of PATHS) await get(node.port, path);
      expect(origin.seen).toEqual(gone);
    },
  );
});

test('a purge of a URL covers all its variants', async () => {
  const origin = await startOrigin((request, response) => {
    response.writeHead(200, { 'Cache-Control': 'max-age=600', Vary: 'Accept-Language' });
    response.end(String(request.headers['accept-language']));
  });
  const node = await startNode({ originPort: origin.port });
  const languages = ['de', 'en'].map((one) => ({ headers: { 'accept-language': one } }));
  for (const language of [...languages, ...languages]) await get(node.port, '/a', language);
  expect(origin.seen).toHaveLength(2);
  node.purge(purgeAt(1, 'url', `${CACHE_HOST}/a`));
  for (const language of [...languages, ...languages]) await get(node.port, '/a', language);
  expect(origin.seen).toHaveLength(4);
});

test('clients get no tags, of stored responses and of others', async () => {
  const origin = await startOrigin((request, response) => {
    const control = request.url === '/private' ? 'no-store' : 'max-age=600';
    response.writeHead(200, { 'Cache-Control': control, 'Cache-Tag': 'a', 'Surrogate-Key': 'b' });
    response.end();
  });
  const node = await startNode({ originPort: origin.port });
  for (const path of ['/a', '/a', '/private']) {
    const { headers } = await get(node.port, path);
    expect([headers['cache-tag'], headers['surrogate-key']]).toEqual([undefined, undefined]);
  }
});

test('every purge of a tag covers a response with more tags than are stored', async () => {
  const origin = await startOrigin((_, response) => {
    response.writeHead(200, {
      'Cache-Control': 'max-age=600',
      'Surrogate-Key': Array.from({ length: 1_001 }, (_, at) => `t${at}`).join(' '),
    });
    response.end();
  });
  const node = await startNode({ originPort: origin.port });
  await get(node.port, '/a');
  node.purge(purgeAt(1, 'tag', 'another'));
  await get(node.port, '/a');
  expect(origin.seen).toHaveLength(2);
});

test('a response that was requested before a purge and arrives after it is not used again', async () => {
  const waiting: ServerResponse[] = [];
  const origin = await startOrigin((_: IncomingMessage, response) => void waiting.push(response));
  const answer = (response: ServerResponse, body: string): void => {
    response.writeHead(200, { 'Cache-Control': 'max-age=600', 'Cache-Tag': 'a' });
    response.end(body);
  };
  const node = await startNode({ originPort: origin.port });
  for (const [round, kind, value] of [
    [1, 'url', `${CACHE_HOST}/a`],
    [2, 'prefix', `${CACHE_HOST}/`],
    [3, 'tag', 'a'],
    [4, 'refresh', `${CACHE_HOST}/a`],
  ] as const) {
    node.install({ purgeEpoch: round });
    const first = get(node.port, '/a');
    await expect.poll(() => waiting.length).toBe(1);
    node.purge(purgeAt(round, kind, value));
    // A request after the purge does not share the response from before it.
    const second = get(node.port, '/a');
    await expect.poll(() => waiting.length).toBe(2);
    answer(waiting[1]!, 'new');
    expect((await second).body).toBe('new');
    answer(waiting[0]!, 'old');
    expect((await first).body).toBe('old');
    waiting.length = 0;
    expect((await get(node.port, '/a')).body).toBe('new');
  }
});

test('a refresh revalidates with the origin, and serves stale while the origin fails', async () => {
  let failing = false;
  const conditions: (string | undefined)[] = [];
  const origin = await startOrigin((request, response) => {
    conditions.push(request.headers['if-none-match']);
    if (failing) response.writeHead(503).end();
    else if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end();
    else {
      response.writeHead(200, {
        'Cache-Control': 'max-age=600, stale-if-error=600, stale-while-revalidate=600',
        ETag: '"1"',
      });
      response.end('body');
    }
  });
  const node = await startNode({ originPort: origin.port });
  await get(node.port, '/a');
  await get(node.port, '/b');
  node.purge(purgeAt(1, 'refresh', `${CACHE_HOST}/a`));
  for (const path of ['/a', '/a', '/b']) expect((await get(node.port, path)).body).toBe('body');
  expect(conditions).toEqual([undefined, undefined, '"1"']);
  failing = true;
  node.purge(purgeAt(2, 'refresh', `${CACHE_HOST}/a`));
  expect(await get(node.port, '/a')).toMatchObject({ status: 200, body: 'body' });
  expect(conditions).toHaveLength(4);
});

test('an origin that is slow to answer a purged URL is asked once by those who wait', async () => {
  const waiting: ServerResponse[] = [];
  const origin = await startOrigin((_, response) => void waiting.push(response));
  const node = await startNode({ originPort: origin.port });
  node.purge(purgeAt(1, 'url', `${CACHE_HOST}/a`));
  const answers = Array.from({ length: 5 }, () => get(node.port, '/a'));
  await expect.poll(() => waiting.length).toBe(1);
  await expect.poll(() => node.entries.length).toBe(0);
  waiting[0]!.writeHead(200, { 'Cache-Control': 'max-age=600' }).end('body');
  for (const one of await Promise.all(answers)) expect(one.body).toBe('body');
  expect(origin.seen).toHaveLength(1);
});
