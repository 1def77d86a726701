/**
 * Purges of single responses from the API to the caches of a node of several workers: in memory, on disk, after a restart,
 * after an absence of the control plane; and what a node refuses.
 */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { type ControlProxy, startControlProxy } from '../support/control-proxy.ts';
import { newFolder, startFollower } from '../support/edge-follower.ts';
import { addDomain, addDrop, type House, openHouse, until } from '../support/publish-setup.ts';
import { ADDRESSES, ask, startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const PATIENCE_MS = 60_000;
const HOSTS = ['shop.test', 'other.test'] as const;
const folder = newFolder();
let house: House;
let proxy: ControlProxy;
let origin: Server;
let token: string;
let node: WorkerNode;
/** What the origin answers with now. */
let version = 1;

async function addCached(name: string): Promise<void> {
  const domain = await addDomain(house, name);
  const at = Date.now();
  const { port } = origin.address() as AddressInfo;
  await house.store.write(async (tx) => {
    const [record] = await tx.records.list(domain.id);
    const place = { destination: '127.0.0.1', scheme: 'Http', port } as const;
    await tx.records.update(domain.id, [{ ...record!, ...place, updated_at: at }]);
    const body = JSON.stringify({ path_includes: ['/*'] });
    const row = { domain_id: domain.id, type: 'cache', priority: 100, body, record_ids: [] } as const;
    await tx.rules.insert({ ...row, created_at: at, updated_at: at });
  });
  await addDrop(house, domain, '/published');
}

async function start(): Promise<void> {
  node = await startWorkerNode(['--workers', '2', '--control', proxy.url, '--data', join(folder, 'node')], {
    cwd: folder,
    env: { EDGEPLAN_NODE_TOKEN: token },
  });
}

async function stop(): Promise<void> {
  node.signal('SIGTERM');
  expect(await node.ended).toBe(0);
}

/** What all workers answer a path with. */
async function answered(path: string, host: string = HOSTS[0]): Promise<readonly string[]> {
  const answers = await Promise.all(
    ADDRESSES.map((from) => ask({ port: node.port, path, from, headers: { host } })),
  );
  return [...new Set(answers.map(({ text }) => text))];
}

function purge(body: object, what = 'purge', host: string = HOSTS[0]) {
  return house.call('POST', `/domains/${host}/cache/${what}`, body);
}

/** Fills the caches of all workers with what the origin has now. */
async function fill(paths: readonly string[]): Promise<void> {
  for (const path of paths) expect(await answered(path)).toEqual([`${path} ${version}`]);
}

beforeAll(async () => {
  await builtCli();
  origin = createServer((request, response) => {
    if (request.headers['if-none-match'] === `"${version}"`) return void response.writeHead(304).end();
    response.writeHead(200, {
      'cache-control': 'max-age=6000',
      'cache-tag': `page${request.url!.split('/').at(-1)}`,
      etag: `"${version}"`,
    });
    response.end(`${request.url} ${version}`);
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  house = await openHouse({ database: join(folder, 'data') });
  proxy = await startControlProxy(house.port);
  token = await house.token('node-1');
  for (const host of HOSTS) await addCached(host);
  await start();
  for (const host of HOSTS) {
    const ready = async () => (await answered('/published', host)).every((text) => !text.includes('421'));
    await until(ready, 'the plan', PATIENCE_MS);
  }
  await until(
    async () => (await ask({ port: node.port, path: '/published' })).status === 403,
    'the plan',
    PATIENCE_MS,
  );
}, 180_000);
afterAll(async () => {
  await stop();
  await proxy.close();
  await house.close();
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

test('a purge by URL, prefix and tag reaches every worker, and no other domain', {
  timeout: 120_000,
}, async () => {
  const paths = ['/url/1', '/dir/2', '/dir/3', '/tag/4', '/stays/5'];
  await fill(paths);
  expect(await answered('/url/1', HOSTS[1])).toEqual(['/url/1 1']);
  version = 2;
  expect(await answered('/url/1')).toEqual(['/url/1 1']);
  expect(await purge({ urls: ['https://shop.test/url/1'] })).toMatchObject({
    ...{ status: 200, body: { message: '1 urls purged' } },
  });
  expect((await purge({ prefixes: ['shop.test/dir/'] })).status).toBe(200);
  expect((await purge({ tags: ['PAGE4'] })).status).toBe(200);
  await until(async () => (await answered('/tag/4')).join() === '/tag/4 2', 'the purges', PATIENCE_MS);
  for (const path of paths.slice(0, 4)) expect(await answered(path)).toEqual([`${path} 2`]);
  expect(await answered('/stays/5')).toEqual(['/stays/5 1']);
  expect(await answered('/url/1', HOSTS[1])).toEqual(['/url/1 1']);
  const { body } = await house.call('GET', '/domains/shop.test/audit/?limit=3');
  expect(JSON.stringify(body)).toContain('{"tags":["page4"]}');
});

interface Footprint {
  readonly oldest_at: string | null;
  readonly entries: number;
  readonly disk_files: number;
  readonly nodes: readonly { readonly name: string }[];
}

/** What the API answers about the caches. */
async function stored(below: string): Promise<unknown> {
  return (await house.call('GET', `/domains/${HOSTS[0]}/cache/${below}`)).body;
}

/** The paths under a prefix that nodes report. */
async function reported(prefix: string): Promise<readonly string[]> {
  const { entries } = (await stored(`entries?prefix=${HOSTS[0]}${prefix}`)) as {
    readonly entries: readonly { readonly url: string; readonly copies: number }[];
  };
  return entries.map(({ url, copies }) => `${new URL(url).pathname} ${copies}`);
}

test('what workers have cached is reported, and what is purged is reported no more', {
  timeout: 180_000,
}, async () => {
  const paths = ['/shown/1', '/shown/2', '/shown/dir/3', '/shown/tag/44', '/shown/stays/5'];
  await fill(paths);
  // Both workers have each.
  const all = paths.map((path) => `${path} 2`).sort();
  await until(async () => String(await reported('/shown/')) === String(all), 'the reports', PATIENCE_MS);
  const { oldest_at, ...footprint } = (await stored('')) as Footprint;
  expect(Date.now() - Date.parse(oldest_at!)).toBeLessThan(PATIENCE_MS);
  expect(footprint).toMatchObject({ nodes: [{ name: 'node-1' }] });
  expect(footprint.entries).toBeGreaterThanOrEqual(2 * paths.length);
  expect(footprint.disk_files).toBeGreaterThanOrEqual(2 * paths.length);
  expect(await stored(`entries?prefix=${HOSTS[0]}/shown/tag/`)).toMatchObject({
    entries: [{ status: 200, nodes: 1, copies: 2, tags: ['page44'] }],
    next: null,
  });
  expect((await purge({ urls: ['https://shop.test/shown/1'] })).status).toBe(200);
  expect((await purge({ prefixes: ['shop.test/shown/dir/'] })).status).toBe(200);
  expect((await purge({ tags: ['page44'] })).status).toBe(200);
  // Without a request for any of them.
  const left = ['/shown/2 2', '/shown/stays/5 2'];
  await until(async () => String(await reported('/shown/')) === String(left), 'the reports', PATIENCE_MS);
  expect((await stored('')) as Footprint).toMatchObject({ entries: footprint.entries - 6 });
  expect((await house.call('DELETE', `/domains/${HOSTS[0]}/cache/`)).status).toBe(200);
  await until(async () => ((await stored('')) as Footprint).nodes.length === 0, 'the reports', PATIENCE_MS);
});

test('a node of one process reports its cache beside the others', { timeout: 180_000 }, async () => {
  const one = await startWorkerNode(['--control', proxy.url, '--data', join(folder, 'one')], {
    cwd: folder,
    env: { EDGEPLAN_NODE_TOKEN: await house.token('node-one') },
  });
  try {
    await until(
      async () => (await ask({ port: one.port, path: '/published' })).status === 403,
      'the plan',
      PATIENCE_MS,
    );
    expect((await ask({ port: one.port, path: '/one/1' })).text).toBe(`/one/1 ${version}`);
    await until(async () => String(await reported('/one/')) === '/one/1 1', 'the report', PATIENCE_MS);
    const { nodes } = (await stored('')) as Footprint;
    expect(nodes.map(({ name }) => name)).toContain('node-one');
  } finally {
    one.signal('SIGTERM');
    expect(await one.ended).toBe(0);
  }
});

test('a refresh has every worker ask the origin with the validator', { timeout: 120_000 }, async () => {
  version = 3;
  await fill(['/fresh/1']);
  expect((await purge({ urls: ['https://shop.test/fresh/1'] }, 'refresh')).body).toEqual({
    message: '1 urls marked as stale',
  });
  const statuses = async () =>
    (await Promise.all(ADDRESSES.map((from) => ask({ port: node.port, path: '/fresh/1', from })))).map(
      ({ headers }) => String(headers['cache-status']),
    );
  const seen: string[] = [];
  await until(
    async () => {
      seen.push(...(await statuses()));
      return seen.some((status) => status.includes('fwd-status=304'));
    },
    'a revalidation',
    PATIENCE_MS,
  );
  expect(await answered('/fresh/1')).toEqual(['/fresh/1 3']);
});

test('a node that was off applies what was purged meanwhile before it serves', {
  timeout: 120_000,
}, async () => {
  version = 4;
  await fill(['/off/1', '/off/2']);
  await stop();
  version = 5;
  expect((await purge({ urls: ['https://shop.test/off/1'] })).status).toBe(200);
  await start();
  // The first request after the start, and no wait.
  expect((await ask({ port: node.port, path: '/off/1' })).text).toBe('/off/1 5');
  expect(await answered('/off/1')).toEqual(['/off/1 5']);
  // Of the disk cache.
  expect(await answered('/off/2')).toEqual(['/off/2 4']);
});

test('a node remembers purges without its control plane', { timeout: 120_000 }, async () => {
  version = 6;
  await fill(['/alone/1', '/alone/2', '/last/9']);
  expect((await purge({ tags: ['page1'] })).status).toBe(200);
  version = 7;
  expect((await purge({ prefixes: ['shop.test/none/'] })).status).toBe(200);
  // Purges of a domain arrive in their order.
  expect((await purge({ tags: ['page9'] })).status).toBe(200);
  await until(async () => (await answered('/last/9')).join() === '/last/9 7', 'the purges', PATIENCE_MS);
  proxy.target = 0;
  proxy.cutAll();
  await stop();
  await start();
  expect(await answered('/alone/1')).toEqual(['/alone/1 7']);
  expect(await answered('/alone/2')).toEqual(['/alone/2 6']);
  // What is purged while the control plane is away arrives when it is back.
  expect((await purge({ urls: ['http://shop.test/alone/2'] })).status).toBe(200);
  expect(await answered('/alone/2')).toEqual(['/alone/2 6']);
  proxy.target = house.port;
  await until(async () => (await answered('/alone/2')).join() === '/alone/2 7', 'the purge', PATIENCE_MS);
});

test('a node applies no purges that were altered, withheld or sent for another request', async () => {
  const follower = await startFollower({ url: proxy.url, token: await house.token('node-2') });
  const through = () => {
    const found = follower.plans.find('shop.test');
    return found === null || found === 'refused' ? 0 : found.purges.through;
  };
  try {
    await until(() => through() > 0, 'the purges so far');
    const before = through();
    let kept: Buffer | null = null;
    const attacks: readonly ((body: Buffer) => Buffer)[] = [
      (body) => Buffer.from(body.toString().replace('"evil"', '"good"')),
      (body) => Buffer.from(body.toString().replace(/"signature":"../, '"signature":"AA')),
      () => Buffer.from('{}'),
      (body) => kept ?? body,
    ];
    const first = await fetch(`http://127.0.0.1:${house.port}/nodes/purges/shop.test?since=${before}`, {
      headers: { authorization: `Bearer ${await house.token('node-3')}` },
    });
    // An answer of before: signed, and without the newest purge.
    kept = Buffer.from(await first.arrayBuffer());
    for (const attack of attacks) {
      const at = through();
      proxy.rewrite = (path, body) => (path.startsWith('/nodes/purges/') ? attack(body) : null);
      expect((await purge({ tags: ['evil'] })).status).toBe(200);
      await until(() => follower.state().refused > 0, 'a refusal');
      expect(through()).toBe(at);
      proxy.rewrite = null;
      await until(() => through() > at && follower.state().refused === 0, 'the purge');
    }
  } finally {
    proxy.rewrite = null;
    await follower.stop();
  }
}, 60_000);

test.each<readonly [object, string]>([
  [{}, 'exactly one of `urls`, `prefixes` and `tags` is needed, found none'],
  [{ urls: ['https://shop.test/'], tags: ['a'] }, 'exactly one of `urls`, `prefixes` and `tags` is needed'],
  [{ urls: [] }, 'urls: must not be empty'],
  [{ urls: 'https://shop.test/' }, 'urls: '],
  [{ urls: ['https://shop.test/', '/a'] }, 'urls[1]: must be a whole URL'],
  [{ urls: ['https://shop.test/', 'https://evil.test/'] }, 'urls[1]: must be of a host of `shop.test`'],
  [{ urls: ['https://evilshop.test/'] }, 'urls[0]: must be of a host of `shop.test`, found `evilshop.test`'],
  [{ prefixes: ['shop.test/a?b'] }, 'prefixes[0]: must not have a query'],
  [{ prefixes: ['/assets/'] }, 'prefixes[0]: must be a host and the beginning of a path'],
  [{ tags: ['ok', 'two words'] }, 'tags[1]: must be 1 to 1024 printable ASCII characters'],
  [{ tags: Array.from({ length: 31 }, (_, at) => `t${at}`) }, 'tags: '],
  [{ url: ['https://shop.test/'] }, 'url: '],
  [{ urls: [`https://shop.test/${'a'.repeat(2_100)}`] }, 'urls[0]: must be at most 2048 characters'],
])('a wrong purge is refused with its place (%#)', async (body, message) => {
  const before = await house.store.latest.plans.position();
  const answer = await purge(body);
  expect(answer.status).toBe(400);
  expect(answer.body.error).toContain(message);
  expect(await house.store.latest.plans.position()).toBe(before);
});
