/** An upgrade to a newer plan format as operators do it, while visitors ask: every request is answered as it should be. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openStore } from '../../src/control/store/database/open.ts';
import { hostOf } from '../../src/edge/proxy/origin/origins.ts';
import { OLDEST_VERSION, PLAIN_VERSION } from '../../src/engine/plan/layout.ts';
import { builtCli } from '../support/built.ts';
import { type ControlProxy, startControlProxy } from '../support/control-proxy.ts';
import { servedVersions } from '../support/named-plans.ts';
import { filePlan, sealAsPrevious } from '../support/older-plan.ts';
import { type House, openHouse, until } from '../support/publish-setup.ts';
import { type Served, serve } from '../support/served.ts';
import {
  type Balancer,
  startBalancer,
  startVisitors,
  type Visit,
  type Visitor,
  type Visitors,
} from '../support/visitors.ts';
import { ask, isRunning, startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const PATIENCE_MS = 60_000;
const DRAIN_SEC = 2;
/** Parts of the slow answer and the milliseconds between them: it outlasts the drain that it begins before. */
const PARTS = 5;
const PART_MS = 500;
const HOSTS = ['a.test', 'b.test', 'c.test'] as const;
const NODES = ['node-1', 'node-2'] as const;

let origin: Server;
let folder: string;
let database: string;
let proxy: ControlProxy;
let balancer: Balancer;
let visitors: Visitors;
const clean: (() => unknown)[] = [];
const nodes = new Map<string, WorkerNode>();
const tokens = new Map<string, Readonly<Record<string, string>>>();
/** The server of the release before: it publishes nothing in the new format. */
let older: House | null = null;
let served: Served | null = null;

beforeAll(async () => {
  await builtCli();
  origin = createServer((request, response) => {
    if (request.method === 'POST') return void request.pipe(response);
    if (request.url !== '/slow') return void response.end(`of ${hostOf(request.headers.host ?? '')}`);
    let parts = 0;
    const sending = setInterval(() => {
      response.write('part ');
      if (++parts < PARTS) return;
      clearInterval(sending);
      response.end();
    }, PART_MS);
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
}, 120_000);
afterAll(() => {
  origin.closeAllConnections();
  origin.close();
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-upgrade-'));
  clean.push(() => rmSync(folder, { recursive: true, force: true }));
  database = join(folder, 'data');
  await prepareStore();
  clean.push(stopServers);
  older = await openHouse({ database, idle: true });
  proxy = await startControlProxy(older.port);
  clean.push(() => proxy.close());
  clean.push(stopNodes);
  await Promise.all(NODES.map(startNode));
  balancer = startBalancer();
  clean.push(balancer.stop);
  for (const [name, node] of nodes) balancer.put(name, node);
  await until(() => balancer.ready().length === NODES.length, 'the nodes', PATIENCE_MS);
  visitors = startVisitors(balancer, VISITORS);
  clean.push(visitors.stop);
}, 120_000);
afterEach(async () => {
  for (const one of clean.splice(0).reverse()) await one();
}, 60_000);

async function stopServers(): Promise<void> {
  await served?.stop();
  await older?.close();
  [served, older] = [null, null];
}

async function stopNodes(): Promise<void> {
  for (const node of nodes.values()) {
    if (!isRunning(node.pid)) continue;
    node.signal('SIGINT');
    await node.ended;
  }
  nodes.clear();
}

/** Domains as customers made them, whose current plans are revisions of the version before this one. */
async function prepareStore(): Promise<void> {
  const server = await serve({ database });
  clean.push(() => server.stop());
  const { port } = origin.address() as AddressInfo;
  for (const host of HOSTS) {
    await server.domain(host);
    const write = async (path: string, body: object): Promise<void> => {
      const answer = await server.call('POST', `/domains/${host}/${path}?wait=published`, body);
      expect(answer).toMatchObject({ status: 200 });
    };
    await write('records/', {
      name: '@',
      type: 'A',
      destination: '127.0.0.1',
      proxied: true,
      scheme: 'Http',
      port,
    });
    await write('rules/drop/', { path_includes: ['/admin'] });
    await write('rules/redirect/', { path_includes: ['/old'], target: `/new-of-${host}` });
  }
  for (const name of NODES) tokens.set(name, await server.node(name));
  await server.stop();
  clean.pop();
  const store = await openStore({ database });
  for (const domain of await store.latest.domains.page(0, 100))
    await filePlan({ store }, domain, sealAsPrevious);
  await store.close();
}

function dataOf(name: string): string {
  return join(folder, name);
}

async function startNode(name: string): Promise<void> {
  const args = ['--control', proxy.url, '--data', dataOf(name), '--drain', String(DRAIN_SEC)];
  const node = await startWorkerNode(args, { cwd: folder, env: tokens.get(name)! });
  nodes.set(name, node);
}

/** Ends a node as a rollout does, and starts it again. */
async function restartNode(name: string): Promise<void> {
  const node = nodes.get(name)!;
  node.signal('SIGTERM');
  expect(await node.ended).toBe(0);
  await startNode(name);
  const again = nodes.get(name)!;
  balancer.put(name, again);
  await until(() => balancer.ready().includes(again), `${name} to be ready again`, PATIENCE_MS);
  await visitors.more();
  expect(visitors.answeredBy(again)).toBeGreaterThan(0);
}

/** The server of the release before ends, and this one starts; it publishes every domain again. */
async function upgradeServer(): Promise<void> {
  proxy.target = 0;
  await older!.close();
  older = null;
  proxy.cutAll();
  await visitors.more();
  expect(versions()).toEqual(all(OLDEST_VERSION));
  await startServer();
  await until(async () => (await served!.metric('edgeplan_plans_of_older_version')) === 0, 'the server');
  await until(() => isEqual(versions(), all(PLAIN_VERSION)), 'the new plans at both nodes', PATIENCE_MS);
  await visitors.more();
}

async function startServer(): Promise<void> {
  served = await serve({ database });
  proxy.target = served.port;
}

/** The server is stopped and started again, as for any upgrade within a plan format. */
async function restartServer(): Promise<void> {
  proxy.target = 0;
  await served!.stop();
  proxy.cutAll();
  await startServer();
}

type Versions = readonly Readonly<Record<string, number>>[];

/** The versions of the plans that each node serves. */
function versions(): Versions {
  return NODES.map((name) => servedVersions(dataOf(name)));
}

function all(version: number): Versions {
  return NODES.map(() => Object.fromEntries(HOSTS.map((host) => [host, version])));
}

function isEqual(found: Versions, wanted: Versions): boolean {
  return found.every((one, at) => HOSTS.every((host) => one[host] === wanted[at]![host]));
}

const VISITS: readonly Visit[] = HOSTS.flatMap((host): readonly Visit[] => {
  const headers = { host };
  return [
    { path: '/', headers, isRight: ({ status, text }) => status === 200 && text === `of ${host}` },
    { path: '/form', headers, body: 'a=b', isRight: ({ status, text }) => status === 200 && text === 'a=b' },
    { path: '/admin', headers, isRight: ({ status }) => status === 403 },
    {
      path: '/old',
      headers,
      isRight: (answer) => answer.status === 302 && answer.headers.location === `/new-of-${host}`,
    },
  ];
});
const SLOW: Visit = {
  path: '/slow',
  headers: { host: HOSTS[0] },
  isRight: ({ status, text }) => status === 200 && text === 'part '.repeat(PARTS),
};
const VISITORS: readonly Visitor[] = [
  ...Array.from({ length: 4 }, (): Visitor => ({ visits: VISITS, connections: 'kept' })),
  ...Array.from({ length: 2 }, (): Visitor => ({ visits: VISITS, connections: 'new' })),
  { visits: [SLOW], connections: 'kept' },
  { visits: [SLOW], connections: 'new' },
];

const ORDERS: readonly (readonly [string, readonly (() => Promise<void>)[]])[] = [
  ['the nodes first', [restartNodes, upgradeServer, restartServer]],
  ['the server first', [upgradeServer, restartNodes, restartServer]],
];

async function restartNodes(): Promise<void> {
  for (const name of NODES) await restartNode(name);
}

test.each(ORDERS)('an upgrade with %s fails no request', { timeout: 180_000 }, async (_, steps) => {
  await visitors.more();
  expect(versions()).toEqual(all(OLDEST_VERSION));
  for (const step of steps) await step();
  const [host] = HOSTS;
  const rule = { path_includes: ['/new'], target: '/newest' };
  const written = await served!.call('POST', `/domains/${host}/rules/redirect/?wait=published`, rule);
  expect(written.status).toBe(200);
  for (const { port } of nodes.values()) {
    const redirects = async () => (await ask({ port, path: '/new', headers: { host } })).status === 302;
    await until(redirects, 'the next change at both nodes', PATIENCE_MS);
  }
  await visitors.stop();
  expect(visitors.failed).toEqual([]);
  expect(versions()).toEqual(all(PLAIN_VERSION));
  for (const node of nodes.values()) expect(await node.metric('edgeplan_node_plans_refused')).toBe(0);
});
