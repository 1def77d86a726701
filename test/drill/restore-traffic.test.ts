/** A restore from a backup while visitors ask: every request is answered, and nodes follow to what was restored. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtCli, edgeplan } from '../support/built.ts';
import { type ControlProxy, startControlProxy } from '../support/control-proxy.ts';
import { until } from '../support/publish-setup.ts';
import { type Served, serve } from '../support/served.ts';
import { startBalancer, startVisitors, type Visit } from '../support/visitors.ts';
import { type Answer, ask, startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const PATIENCE_MS = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'edgeplan-restore-'));
const database = join(folder, 'data');
const backup = join(folder, 'backup.db');

let origin: Server;
let proxy: ControlProxy;
let served: Served;
let node: WorkerNode;
const clean: (() => unknown)[] = [];
/** Answers of the origin to `/cached`. */
let made = 0;

beforeAll(async () => {
  await builtCli();
  origin = createServer((request, response) => {
    if (request.url !== '/cached') return void response.end('of the origin');
    response.setHeader('cache-control', 'public, max-age=86400');
    response.end(`answer ${++made}`);
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  clean.push(() => {
    origin.closeAllConnections();
    origin.close();
  });
  served = await serve({ database });
  clean.push(() => served.stop());
  proxy = await startControlProxy(served.port);
  clean.push(() => proxy.close());
}, 120_000);
afterAll(async () => {
  for (const one of clean.splice(0).reverse()) await one();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** A write that waits for its revision. @returns what was written */
async function write(method: 'POST' | 'PUT', path: string, body: object): Promise<{ readonly id: number }> {
  const answer = await served.call(method, `/domains/shop.test/${path}?wait=published`, body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}

function visit(path: string): Promise<Answer> {
  return ask({ port: node.port, path });
}

async function redirects(path: string, target: string): Promise<void> {
  const isThere = async (): Promise<boolean> => (await visit(path)).headers.location === target;
  await until(isThere, `${path} to lead to ${target}`, PATIENCE_MS);
}

/** The revision that the server published last. */
async function newest(): Promise<number> {
  return (await served.call('GET', '/domains/shop.test/plans/?limit=1')).body[0].revision;
}

/** Where `/moved` led to, each place once for as long as it did. */
const places: (string | undefined)[] = [];
const MOVED: Visit = {
  path: '/moved',
  isRight({ status, headers: { location } }) {
    if (location !== places.at(-1)) places.push(location);
    return status === 302;
  },
};
const VISITS: readonly Visit[] = [
  { path: '/', isRight: ({ status, text }) => status === 200 && text === 'of the origin' },
  { path: '/form', body: 'a=b', isRight: ({ status }) => status === 200 },
  { path: '/cached', isRight: ({ status, text }) => status === 200 && text.startsWith('answer ') },
  { path: '/admin', isRight: ({ status }) => status === 403 },
];

test('a restore fails no request; nodes serve the old plans until they have the restored ones', {
  timeout: 180_000,
}, async () => {
  await served.domain('shop.test');
  const { port } = origin.address() as AddressInfo;
  const record = { name: '@', type: 'A', destination: '127.0.0.1', proxied: true, scheme: 'Http', port };
  await write('POST', 'records/', record);
  await write('POST', 'rules/drop/', { path_includes: ['/admin'] });
  await write('POST', 'rules/cache/', { path_includes: ['/cached'] });
  const moved = await write('POST', 'rules/redirect/', { path_includes: ['/moved'], target: '/before' });
  const env = await served.node('node-1');
  node = await startWorkerNode(['--control', proxy.url, '--data', join(folder, 'node')], {
    cwd: folder,
    env,
  });
  clean.push(() => {
    node.signal('SIGTERM');
    return node.ended;
  });
  await redirects('/moved', '/before');
  const balancer = startBalancer();
  clean.push(balancer.stop);
  balancer.put('node-1', node);
  await until(() => balancer.ready().length === 1, 'the node to be ready', PATIENCE_MS);
  const visitors = startVisitors(balancer, [
    { visits: [MOVED], connections: 'kept' },
    { visits: VISITS, connections: 'kept' },
    { visits: VISITS, connections: 'kept' },
    { visits: VISITS, connections: 'new' },
  ]);
  clean.push(visitors.stop);

  const copied = await served.run(['backup', '--to', backup, ...served.data]);
  expect([copied.code, copied.err]).toEqual([0, '']);
  const atBackup = await newest();
  await write('PUT', `rules/redirect/${moved.id}`, { target: '/after' });
  for (const path of ['/lost-1', '/lost-2', '/lost-3'])
    await write('POST', 'rules/drop/', { path_includes: [path] });
  await redirects('/moved', '/after');
  await until(async () => (await visit('/lost-3')).status === 403, 'the last change', PATIENCE_MS);
  const cached = (await visit('/cached')).text;
  const atLoss = await newest();
  expect(atLoss).toBeGreaterThan(atBackup + 2);

  await served.stop();
  proxy.target = 0;
  proxy.cutAll();
  const restored = await edgeplan(['restore', '--from', backup, '--data', database, '--force'], {
    cwd: folder,
  });
  expect([restored.code, restored.err]).toEqual([0, '']);
  await visitors.more();
  expect((await visit('/moved')).headers.location).toBe('/after');
  expect((await visit('/cached')).text).toBe(cached);

  served = await serve({ database });
  proxy.target = served.port;
  // Before the node is back: its answer says what is published, which the node gets with the rest.
  await write('POST', 'rules/redirect/', { path_includes: ['/new'], target: '/of-the-restored' });
  expect(await newest()).toBeLessThan(atLoss);
  await redirects('/moved', '/before');
  await redirects('/new', '/of-the-restored');
  await node.said(/the control plane was restored and began a new epoch/);
  expect((await visit('/lost-1')).status).toBe(200);
  expect((await visit('/cached')).text).not.toBe(cached);
  await until(async () => (await node.metric('edgeplan_node_following')) === 1, 'the feed', PATIENCE_MS);

  await write('PUT', `rules/redirect/${moved.id}`, { target: '/again' });
  const revision = await newest();
  await redirects('/moved', '/again');
  await until(async () => {
    // Within the budget of a key.
    await wait(200);
    const [reported] = (await served.call('GET', '/domains/shop.test/nodes/')).body;
    return reported.revision === revision && reported.outcome === 'ack';
  }, 'the report on the new revision');

  await visitors.more();
  await visitors.stop();
  expect(visitors.failed).toEqual([]);
  expect(places).toEqual(['/before', '/after', '/before', '/again']);
});
