/**
 * What a process counts on connections that clients have open while it drains is counted by the process that took over: a limit
 * over both is the limit of one, and a proof counts once.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type Agent, createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { solve } from '../support/ask.ts';
import { builtCli } from '../support/built.ts';
import { until } from '../support/until.ts';
import { startUpgradedNode, type UpgradedNode } from '../support/upgraded-node.ts';
import { type Answer, ask, isRunning, oneConnection } from '../support/worker-node.ts';

/** Requests that the rule lets through, those before the upgrade, and connections that outlive it. */
const [LIMIT, BEFORE, OPEN] = [10, 2, 5];
/** Seconds; the tests end the drain themselves. */
const DRAIN = 300;
const TIMED = { timeout: 240_000 };
const HTML = { accept: 'text/html', 'user-agent': 'test/1' };

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-upgrade-limits-'));
const file = join(folder, 'edge.yaml');
let origin: Server;
let node: UpgradedNode;
const agents: Agent[] = [];

beforeAll(async () => {
  await builtCli();
  origin = createServer((_, response) => response.end('served')).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const { port } = origin.address() as AddressInfo;
  writeFileSync(
    file,
    `domain: { name: shop.test }
records:
  - { name: '@', type: A, destination: 127.0.0.1, scheme: Http, port: ${port}, proxied: true }
rules:
  - { id: 1, type: rate_limit, path_includes: ['/limited'], limit: ${LIMIT}, window_sec: 3600 }
  - { id: 2, type: captcha, path_includes: ['/members/*'], ttl_sec: 3600 }
`,
  );
}, 120_000);
afterEach(async () => {
  for (const agent of agents.splice(0)) agent.destroy();
  await node.end();
});
afterAll(() => {
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(workers: string): Promise<void> {
  const args = ['--file', file, '--workers', workers, '--drain', String(DRAIN)];
  node = await startUpgradedNode(args, { cwd: folder, data: mkdtempSync(join(folder, 'data-')) });
}

/** A connection of the running process that has had a request. */
async function open(): Promise<Agent> {
  const agent = oneConnection();
  agents.push(agent);
  const { status, headers } = await ask({ port: node.first.port, path: '/', agent });
  expect([status, headers.connection]).toEqual([200, 'keep-alive']);
  return agent;
}

async function limited(agent?: Agent): Promise<Answer> {
  const parts = agent === undefined ? {} : { agent };
  return ask({ port: node.first.port, path: '/limited', ...parts });
}

/** Hands a proof in. @returns whether it brought a clearance */
async function clears(proof: string, agent?: Agent): Promise<boolean> {
  const { headers } = await ask({
    port: node.first.port,
    path: '/.well-known/edgeplan/proof',
    body: new URLSearchParams({ proof, back: '/members/a' }).toString(),
    headers: { ...HTML, 'content-type': 'application/x-www-form-urlencoded' },
    ...(agent === undefined ? {} : { agent }),
  });
  return headers['set-cookie'] !== undefined;
}

/** Ends the drain of the process before. */
async function endDrain(pid: number): Promise<void> {
  process.kill(pid, 'SIGTERM');
  await until(() => !isRunning(pid), 'the end of the process before');
}

test.each(['1', '2'])(
  'requests that %s draining processes serve are within the limit',
  TIMED,
  async (workers) => {
    await start(workers);
    const before = node.pid();
    for (let sent = 0; sent < BEFORE; sent++) expect((await limited()).status).toBe(200);
    const connections = await Promise.all(Array.from({ length: OPEN }, open));
    expect((await node.upgrade()).code).toBe(0);
    for (const agent of connections) {
      const { status, headers } = await limited(agent);
      // The process before asks its clients to leave.
      expect([status, headers.connection]).toEqual([200, 'close']);
    }
    await endDrain(before);
    const allowed: number[] = [];
    for (let sent = 0; sent < LIMIT; sent++) allowed.push((await limited()).status);
    expect(allowed.filter((status) => status === 200)).toHaveLength(LIMIT - BEFORE - OPEN);
  },
);

test.each(['1', '2'])(
  'a proof that %s draining processes have got is refused after it',
  TIMED,
  async (workers) => {
    await start(workers);
    const before = node.pid();
    const page = await ask({ port: node.first.port, path: '/members/a', headers: HTML });
    const proof = await solve({ status: 403, headers: page.headers, body: page.text });
    const connection = await open();
    expect((await node.upgrade()).code).toBe(0);
    expect(await clears(proof, connection)).toBe(true);
    await endDrain(before);
    expect(await clears(proof)).toBe(false);
  },
);
