/**
 * A quota over eight nodes: they report what they admit, the control plane sums it, and all of them refuse the consumer before it has sent
 * more beyond its quota than the stated bound. A node that is killed and restarted refuses it from its first request on.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OVERSHOOT_SEC } from '../../src/control/registry/limits.ts';
import { type Answer, ask } from '../support/ask.ts';
import { builtCli } from '../support/built.ts';
import { type Served, serve } from '../support/served.ts';
import { sizeOf } from '../support/size.ts';
import { until } from '../support/until.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const NODES = sizeOf('EDGEPLAN_QUOTA_NODES', { usual: 8, full: 8 });
const PATIENCE_MS = 400_000;
const LIMIT = 300;
const RATE = 3;
/** More than the throttle admits, so that each node admits as much as it may. */
const PAUSE_MS = 1_000 / (RATE + 2);

let folder: string;
let server: Served;
let origin: Server;
let key: string;
const nodes: WorkerNode[] = [];
const tokens: Readonly<Record<string, string>>[] = [];

beforeAll(async () => {
  await builtCli();
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-quotas-'));
  origin = createServer((_request, response) => response.end('fine')).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  server = await serve({ tier: 'enterprise' });
  await publish((origin.address() as AddressInfo).port);
  for (let at = 0; at < NODES; at++) {
    tokens.push(await server.node(`node-${at}`));
    nodes.push(await startNode(at));
  }
}, PATIENCE_MS);
afterAll(async () => {
  for (const node of nodes) {
    node.signal('SIGKILL');
    await node.ended;
  }
  await server.stop();
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
}, PATIENCE_MS);

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function made(path: string, body: object): Promise<any> {
  const answer = await server.call('POST', `/domains/api.test${path}`, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function publish(port: number): Promise<void> {
  await server.domain('api.test');
  const place = { type: 'A', destination: '127.0.0.1', scheme: 'Http', port, proxied: true };
  await made('/records/', { name: '@', ...place });
  const quota = { limit: LIMIT, period: 'rolling_30d' };
  await made('/usage-plans/', { name: 'small', throttle: { rate: RATE }, quota });
  const consumer = await made('/consumers/', { username: 'acme', usage_plan: 'small' });
  key = (await made(`/consumers/${consumer.id}/keys/`, {})).value;
  const auth = { api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } };
  await made('/gateways/', { base_path: '/v1', auth });
}

async function startNode(at: number): Promise<WorkerNode> {
  const args = ['--workers', '1', '--control', server.url, '--data', join(folder, `node-${at}`)];
  const env = { EDGEPLAN_NODE_TOKEN: tokens[at]!['EDGEPLAN_NODE_TOKEN']! };
  const node = await startWorkerNode(args, { cwd: folder, env });
  await until(async () => (await node.status('/readyz')) === 200, `node ${at}`, PATIENCE_MS);
  return node;
}

const send = (node: WorkerNode): Promise<Answer> =>
  ask(node.port, '/v1/x', { host: 'api.test', headers: { 'x-api-key': key } });

const isQuota = ({ status, body }: Answer): boolean =>
  status === 429 && body.includes('the quota of the usage plan is exhausted');

test(
  `${NODES} nodes together admit no more than the quota and the stated bound`,
  async () => {
    let admitted = 0;
    let reachedAt = 0;
    const started = Date.now();
    const refusedAt = await Promise.all(
      nodes.map(async (node) => {
        for (;;) {
          const answer = await send(node);
          if (answer.status === 200 && ++admitted === LIMIT) reachedAt = Date.now();
          if (isQuota(answer)) return Date.now();
          expect([200, 429], answer.body).toContain(answer.status);
          if (Date.now() - started > PATIENCE_MS / 2)
            throw new Error(`${admitted} admitted, and none refused`);
          await wait(PAUSE_MS);
        }
      }),
    );
    const seconds = (Math.max(...refusedAt) - reachedAt) / 1_000;
    const overshoot = admitted - LIMIT;
    console.log(`${admitted} admitted of ${LIMIT}, the last node refused after ${seconds.toFixed(1)} s`);
    expect(overshoot).toBeGreaterThan(0);
    expect(overshoot).toBeLessThanOrEqual((OVERSHOOT_SEC + 1) * RATE * NODES);
    expect(seconds).toBeLessThan(OVERSHOOT_SEC);
    const refused = await send(nodes[0]!);
    expect(refused.headers['ratelimit-policy']).toMatch(/^"plan-[0-9a-f]{8} quota";q=300;w=2592000$/);
    expect(refused.headers['ratelimit']).toMatch(/^"plan-[0-9a-f]{8} quota";r=0;t=\d+$/);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(28 * 86_400);
    nodes[0]!.signal('SIGKILL');
    await nodes[0]!.ended;
    nodes[0] = await startNode(0);
    expect(isQuota(await send(nodes[0]))).toBe(true);
  },
  PATIENCE_MS,
);
