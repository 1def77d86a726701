/**
 * What the API answers about the use of gateways equals a naive count over the decision logs of two nodes, with a control plane that
 * is killed meanwhile: counts of nodes add up, and what is stored is neither lost nor counted twice.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DecisionLine } from '../../src/edge/proxy/log/line.ts';
import { builtCli } from '../support/built.ts';
import { type ControlProxy, startControlProxy } from '../support/control-proxy.ts';
import { requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';
import { until } from '../support/until.ts';
import { ask, isRunning, NO_CHILDREN, startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const PATIENCE_MS = 240_000;
const REQUESTS = 300;
const DOMAIN = '/domains/shop.test';

let folder: string;
let servers: Served[] = [];
let proxy: ControlProxy;
let origin: Server;
const nodes: WorkerNode[] = [];
const keys: Record<string, string> = {};
const tokens: Record<string, string> = {};
const ids: Record<string, number> = {};
let gateway = 0;

beforeAll(async () => {
  await builtCli();
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-usage-'));
  origin = createServer((_, response) => response.end('served')).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  servers = [await serve({ database: join(folder, 'data') })];
  proxy = await startControlProxy(server().port);
  await publish((origin.address() as AddressInfo).port);
  for (const name of ['one', 'two']) nodes.push(await startNode(name));
}, PATIENCE_MS);
afterAll(async () => {
  for (const node of nodes) {
    node.signal('SIGKILL');
    await node.ended;
  }
  await proxy.close();
  for (const one of servers) await one.stop();
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
}, PATIENCE_MS);

const server = (): Served => servers.at(-1)!;

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function good(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await server().call(method, `${DOMAIN}${path}`, body);
  expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
  return answer.body;
}

async function publish(port: number): Promise<void> {
  await server().domain('shop.test');
  const place = { type: 'A', destination: '127.0.0.1', scheme: 'Http', port, proxied: true };
  await good('POST', '/records/', { name: '@', ...place });
  for (const username of ['acme', 'beta']) {
    ids[username] = (
      await good('POST', '/consumers/', { username, acl: username === 'beta' ? ['read'] : [] })
    ).id;
    keys[username] = (await good('POST', `/consumers/${ids[username]}/keys/`, {})).value;
  }
  const operations = [
    { operation_id: 'list', methods: ['GET'], path: '/orders' },
    { methods: ['GET'], path: '/orders/{id}', tags: ['read'] },
  ];
  const auth = { api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } };
  gateway = (await good('POST', '/gateways/', { base_path: '/v1', auth, operations })).id;
  await good('POST', '/plans/?wait=published', {});
}

async function startNode(name: string): Promise<WorkerNode> {
  tokens[name] ??= (await server().node(name))['EDGEPLAN_NODE_TOKEN']!;
  const args = [
    '--control',
    proxy.url,
    '--data',
    join(folder, name),
    '--log',
    logOf(name),
    '--log-rate',
    '1',
  ];
  const node = await startWorkerNode(args, { cwd: folder, env: { EDGEPLAN_NODE_TOKEN: tokens[name] } });
  await until(async () => (await node.status('/readyz')) === 200, 'the plan', PATIENCE_MS);
  return node;
}

const logOf = (name: string): string => join(folder, `${name}.jsonl`);

/** Requests of both consumers and of nobody, some of them refused. */
async function send(node: WorkerNode): Promise<void> {
  for (let at = 0; at < REQUESTS; at++) {
    const key = [keys['acme'], keys['beta'], keys['beta'], undefined][at % 4];
    const path = ['/v1/orders', '/v1/orders/7', '/v1/other', '/plain', '/v1/orders/8'][at % 5]!;
    const headers = key === undefined ? {} : { 'x-api-key': key };
    await ask({ port: node.port, path, headers });
  }
}

/** Ends a node, which reports its last minute then. */
async function end(node: WorkerNode): Promise<void> {
  node.signal('SIGTERM');
  await node.ended;
}

function logged(): readonly DecisionLine[] {
  return ['one', 'two'].flatMap((name) =>
    readFileSync(logOf(name), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as DecisionLine)
      .filter(({ decision }) => decision?.gateway !== undefined),
  );
}

function naive(lines: readonly DecisionLine[]) {
  const admitted = lines.filter(({ decision }) => decision!.gateway!.reason === 'admitted').length;
  return { requests: lines.length, admitted };
}

test('use of two nodes, with a control plane that is killed between, equals the count over their logs', {
  ...requires(NO_CHILDREN),
  timeout: PATIENCE_MS,
}, async () => {
  await Promise.all(nodes.map(send));
  await end(nodes[0]!);
  await until(async () => (await good('GET', `/gateways/${gateway}/usage`)).totals.requests > 0, 'counts');
  const killed = server();
  process.kill(killed.pid, 'SIGKILL');
  await until(() => !isRunning(killed.pid), 'the end of the server', PATIENCE_MS);
  servers.push(await serve({ database: join(folder, 'data') }));
  proxy.target = server().port;
  await send(nodes[1]!);
  await end(nodes[1]!);
  const lines = logged();
  const all = naive(lines);
  expect(all.requests).toBe(3 * REQUESTS * 0.8);
  expect(all.admitted).toBeGreaterThan(100);
  // A node that ends has a second for its last reports; its next process sends the others.
  for (const name of ['one', 'two']) nodes.push(await startNode(name));
  const use = () => good('GET', `/gateways/${gateway}/usage?by=consumer`);
  await until(async () => (await use()).totals.requests >= all.requests, 'the counts', PATIENCE_MS);
  const used = await use();
  expect(used.totals).toEqual(all);
  for (const { value, ...sums } of used.values)
    expect(sums).toEqual(naive(lines.filter(({ decision }) => decision!.gateway!.consumer === value)));
  for (const username of ['acme', 'beta']) {
    const own = lines.filter(({ decision }) => decision!.gateway!.consumer === username);
    expect((await good('GET', `/consumers/${ids[username]}/usage`)).totals).toEqual(naive(own));
    const [key] = await good('GET', `/consumers/${ids[username]}/keys/`);
    expect(Date.now() - Date.parse(key.last_used_at)).toBeLessThan(PATIENCE_MS);
  }
  const { domain_usage } = await good('GET', '/features');
  expect(domain_usage).toContainEqual(
    expect.objectContaining({ name: 'max_gateway_requests_30d', used: all.admitted }),
  );
  const { operations, unlisted } = await good('GET', `/gateways/${gateway}/operations/usage`);
  const called = [...operations, unlisted].map(({ requests_24h }) => requests_24h);
  const of = (name: string | null) =>
    lines.filter(({ decision }) => decision!.gateway!.operation === name).length;
  expect(called).toEqual([of('list'), of('/orders/{id}'), of(null)]);
});
