/**
 * `edgeplan agent --upgrade` behind HAProxy 2.6 with the shipped configuration, under load and while rules are written: no request
 * fails, each is counted once and its block shipped once, and the new process follows.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { countedOnce } from '../support/counted-once.ts';
import { missingProgram, requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';
import { sizeOf } from '../support/size.ts';
import { DOOR_SECRET, type RunningHaproxy, startHaproxy } from '../support/spop-door.ts';
import { until } from '../support/until.ts';
import { startUpgradedAgent, type UpgradedAgent } from '../support/upgraded-agent.ts';
import { startLoad } from '../support/upgraded-node.ts';
import { ask, isRunning } from '../support/worker-node.ts';

const HAPROXY = missingProgram('haproxy');
/** Upgrades in a row. */
const ROUNDS = sizeOf('EDGEPLAN_CONTROL_UPGRADES', { usual: 2, full: 6 });
const PATIENCE_MS = 120_000;

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-agent-control-'));
/** Where the control plane writes the lines that agents ship. */
const lines = join(folder, 'decisions.jsonl');
let origin: Server;
let served: Served;
let agent: UpgradedAgent;
let haproxy: RunningHaproxy;
/** Requests that this test sends besides the load. */
let asked = 0;

const portOf = (door: string): number => Number(new URL(door).port);

async function write(path: string, body: object): Promise<void> {
  const answer = await served.call('POST', `/domains/shop.test/${path}`, body);
  expect([answer.status, answer.text]).toEqual([
    expect.toSatisfy((status: number) => status < 300),
    expect.anything(),
  ]);
}

/** Waits until HAProxy answers a path with a status. */
async function answers(path: string, status: number): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    asked++;
    return (await ask({ port: haproxy.port, path })).status === status;
  };
  await until(isThere, `${status} for ${path}`, PATIENCE_MS);
}

beforeAll(async () => {
  if (HAPROXY !== null) return;
  await builtCli();
  origin = createServer((_, response) => response.end('served')).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  served = await serve({ tier: 'enterprise', args: ['--decision-logs', lines] });
  await served.domain('shop.test');
  const { port } = origin.address() as AddressInfo;
  const place = { destination: '127.0.0.1', scheme: 'Http', port };
  await write('records/', { name: '@', type: 'A', proxied: true, ...place });
  await write('rules/drop/', { path_includes: ['/admin'] });
  const secret = join(folder, 'door.secret');
  writeFileSync(secret, DOOR_SECRET);
  const doors = ['--spop', '--forward-auth', '--ext-authz'].flatMap((flag) => [flag, '127.0.0.1:0']);
  // All blocks become lines or are counted; plain responses would need a share of the lines.
  const args = ['--control', served.url, '--secret-file', secret, '--drain', '1', '--log-rate', '0'];
  const where = { cwd: folder, data: join(folder, 'agent'), env: await served.node('agent-1') };
  agent = await startUpgradedAgent([...args, ...doors], where);
  const { spop, http } = agent.doors;
  haproxy = await startHaproxy({ door: portOf(spop), pages: portOf(http), servers: port, patient: true });
  await answers('/', 200);
}, 240_000);
afterAll(async () => {
  if (HAPROXY !== null) return;
  await haproxy?.close();
  await agent?.end();
  await served?.stop();
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

const LOADED = { ...requires(HAPROXY), timeout: 180_000 + ROUNDS * 120_000 };

test('upgrades fail, lose and double no request, and follow the writes', LOADED, async () => {
  const from = new Date(Date.now() - 600_000).toISOString();
  const loads = [
    startLoad({ port: haproxy.port, tlsPort: null }, { http1: 8, http2: 0 }),
    startLoad({ port: haproxy.port, tlsPort: null }, { http1: 2, http2: 0, path: '/admin', status: 403 }),
  ];
  for (let round = 0; round < ROUNDS; round++) {
    const before = agent.pid();
    await write('rules/redirect/', { path_includes: [`/before-${round}`], target: '/x' });
    // Published while the processes change.
    const writing = write('rules/redirect/', { path_includes: [`/during-${round}`], target: '/x' });
    const run = await agent.upgrade();
    expect([run.code, run.err.split('\n').at(-2)]).toEqual([0, `process ${agent.pid()} serves`]);
    expect(agent.pid()).not.toBe(before);
    await writing;
    await write('rules/redirect/', { path_includes: [`/after-${round}`], target: '/x' });
    await until(() => !isRunning(before), 'the end of the process before', PATIENCE_MS);
    for (const when of ['before', 'during', 'after']) await answers(`/${when}-${round}`, 302);
    // It has taken the folder over by then, and gives it back.
    const failed = await agent.upgrade('--forward-auth', `127.0.0.1:${served.port}`);
    expect([failed.code, failed.err]).toEqual([4, expect.stringContaining('is taken')]);
    await write('rules/redirect/', { path_includes: [`/failed-${round}`], target: '/x' });
    await answers(`/failed-${round}`, 302);
  }
  await Promise.all(loads.map((load) => load.stop()));
  expect(loads.map(({ faults }) => faults)).toEqual([[], []]);
  await until(async () => {
    const { body } = await served.call('GET', '/domains/shop.test/nodes/');
    const plans = await served.call('GET', '/domains/shop.test/plans/?limit=1');
    return body[0].outcome === 'ack' && body[0].revision === plans.body[0].revision;
  }, 'the report of the last revision');

  const last = agent.pid();
  process.kill(last, 'SIGTERM');
  await until(() => !isRunning(last), 'the end of the agent', PATIENCE_MS);
  const [plain, blocked] = loads.map((load) => load.answers());
  await countedOnce(served, { from, sent: plain! + blocked! + asked, blocked: blocked!, lines });
});
