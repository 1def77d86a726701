/**
 * HAProxy 2.6 with the shipped configuration under load, and an agent that has a fifth of the processor, is stopped, or is killed and
 * started again: no request passes without a decision.
 */
import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { builtCli, startEdgeplan } from '../support/built.ts';
import { freePort } from '../support/free-ports.ts';
import { missingProgram, requires } from '../support/requires.ts';
import { sizeOf } from '../support/size.ts';
import { DOOR_SECRET, type RunningHaproxy, startHaproxy } from '../support/spop-door.ts';
import { until } from '../support/until.ts';
import { ask } from '../support/worker-node.ts';

const MISSING = missingProgram('haproxy') ?? missingProgram('wrk');
/** Requests for a blocked path in each of the three tests. */
const REQUESTS = sizeOf('EDGEPLAN_UNFILTERED', { usual: 20_000, full: 340_000 });
/** Against hangs: at least 300 requests a second. */
const LOADED = { ...requires(MISSING), timeout: 300_000 + 10 * REQUESTS };

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-door-overload-'));
let origin: Server;
let haproxy: RunningHaproxy;
let agent: ChildProcess;
let start: () => Promise<void>;
/** Requests at the origin, by path. */
const seen = new Map<string, number>();

beforeAll(async () => {
  if (MISSING !== null) return;
  await builtCli();
  origin = createServer(({ url = '' }, response) => {
    seen.set(url, (seen.get(url) ?? 0) + 1);
    response.end('served');
  }).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const { port } = origin.address() as AddressInfo;
  const file = join(folder, 'edge.yaml');
  const record = `{ name: '@', type: A, destination: 127.0.0.1, port: ${port}, scheme: Http, proxied: true }`;
  const rule = "{ type: drop, path_includes: ['/admin*'] }";
  writeFileSync(file, `domain: { name: shop.test }\nrecords:\n  - ${record}\nrules:\n  - ${rule}\n`);
  const secret = join(folder, 'door.secret');
  writeFileSync(secret, DOOR_SECRET);
  const [spop, pages] = [await freePort(), await freePort()];
  const doors = ['--spop', `127.0.0.1:${spop}`, '--forward-auth', `127.0.0.1:${pages}`];
  const args = [
    'agent',
    '--file',
    file,
    '--secret-file',
    secret,
    '--data',
    join(folder, 'data'),
    '--drain',
    '0',
  ];
  start = async () => {
    agent = startEdgeplan([...args, ...doors], { cwd: folder });
    agent.stderr!.resume();
    let text = '';
    agent.stdout!.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    await until(() => /^process \d+$/m.test(text), 'the agent');
  };
  await start();
  haproxy = await startHaproxy({ door: spop, pages, servers: port });
}, 240_000);
afterAll(async () => {
  if (MISSING !== null) return;
  await end();
  await haproxy?.close();
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => seen.clear());

/** Ends the agent by kill -9. */
async function end(): Promise<void> {
  const ended = once(agent, 'exit');
  agent.kill('SIGCONT');
  if (agent.kill('SIGKILL')) await ended;
}

/** Sends requests for a blocked path on 64 connections; resolves to their number once there are enough. */
async function overload(): Promise<number> {
  let sent = 0;
  while (sent < REQUESTS) {
    const args = ['-t1', '-c64', '-d2s', '--timeout', '60s', '-H', 'Host: shop.test'];
    const { stdout } = await promisify(execFile)('wrk', [
      ...args,
      `http://127.0.0.1:${haproxy.port}/admin/x`,
    ]);
    const [, requests] = /(\d+) requests in/.exec(stdout)!;
    const [, refused = '0'] = /Non-2xx or 3xx responses: (\d+)/.exec(stdout) ?? [];
    expect(refused, stdout).toBe(requests);
    sent += Number(requests);
  }
  return sent;
}

/** Disturbs the agent again and again during the load; it decides at the end. */
async function during(disturb: () => Promise<void>): Promise<void> {
  let isOver = false;
  const disturbing = (async () => {
    while (!isOver) await disturb();
  })();
  try {
    expect(await overload()).toBeGreaterThanOrEqual(REQUESTS);
  } finally {
    isOver = true;
    await disturbing;
  }
  const statusOf = async (path: string) => (await ask({ port: haproxy.port, path })).status;
  await until(async () => (await statusOf('/admin/x')) === 403, 'a block');
  await until(async () => (await statusOf('/plain')) === 200, 'a forward');
  expect([...seen.keys()]).toEqual(['/plain']);
}

test.each([
  ['at five times the capacity of the agent', { stopMs: 40, runMs: 10 }],
  ['while the agent is stopped again and again', { stopMs: 1_500, runMs: 500 }],
])('nothing passes %s', LOADED, async (_, { stopMs, runMs }) => {
  await during(async () => {
    agent.kill('SIGSTOP');
    await wait(stopMs);
    agent.kill('SIGCONT');
    await wait(runMs);
  });
});

test('nothing passes while the agent is killed and started again', LOADED, async () => {
  await during(async () => {
    await end();
    await wait(200);
    await start();
    await wait(500);
  });
});
