/** `edgeplan clearance rotate` beside a running server and node, while a visitor who was cleared goes on asking. */
import { readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, hand, solve } from '../support/ask.ts';
import { builtCli } from '../support/built.ts';
import { until } from '../support/publish-setup.ts';
import { type Served, serve } from '../support/served.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const PATIENCE_MS = 60_000;
const HTML = { accept: 'text/html' };
let origin: Server;
let served: Served;
let node: WorkerNode;

beforeAll(async () => {
  await builtCli();
  origin = createServer((_, response) => response.end('of the origin'));
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  served = await serve();
  for (const host of ['a.test', 'b.test']) {
    await served.domain(host);
    const { port } = origin.address() as AddressInfo;
    const record = { name: '@', type: 'A', destination: '127.0.0.1', proxied: true, scheme: 'Http', port };
    expect((await served.call('POST', `/domains/${host}/records/`, record)).status).toBe(200);
    const rule = { path_includes: ['/members/*'], ttl_sec: 3_600 };
    expect((await served.call('POST', `/domains/${host}/rules/captcha/`, rule)).status).toBe(200);
  }
  const env = await served.node('node-1');
  const args = ['--workers', '2', '--control', served.url, '--data', join(served.folder, 'node')];
  node = await startWorkerNode([...args, '--trust-proxy', '127.0.0.1'], { cwd: served.folder, env });
  await until(async () => ((await visit('a.test')) === 403 ? true : null), 'the plans', PATIENCE_MS);
  await until(async () => ((await visit('b.test')) === 403 ? true : null), 'the plans', PATIENCE_MS);
}, 180_000);
afterAll(async () => {
  node.signal('SIGTERM');
  await node.ended;
  await served.stop();
  origin.closeAllConnections();
  origin.close();
}, 60_000);

async function visit(host: string, cookie = ''): Promise<number> {
  const headers = cookie === '' ? HTML : { ...HTML, cookie };
  return (await ask(node.port, '/members/a', { host, headers })).status;
}

function namesFile(): string {
  return join(served.folder, 'node/names');
}

function names(): string {
  return readFileSync(namesFile(), 'utf8');
}

async function clear(host: string): Promise<string> {
  const page = await ask(node.port, '/members/a', { host, headers: HTML });
  expect(page.status).toBe(403);
  const answer = await hand(node.port, await solve(page), { host });
  expect(answer.status).toBe(303);
  return answer.headers['set-cookie']![0]!.split(';', 1)[0]!;
}

test('a cleared visitor stays cleared until the overlap ends', { timeout: 180_000 }, async () => {
  const before = await clear('a.test');
  expect([await visit('a.test', before), await visit('b.test', before)]).toEqual([200, 403]);
  const refused: number[] = [];
  let asked = 0;
  let asking = true;
  const traffic = (async () => {
    while (asking) {
      const status = await visit('a.test', before);
      asked++;
      if (status !== 200) refused.push(status);
    }
  })();
  const overlapMs = 20_000;
  const began = Date.now();
  const rotated = await served.run(['clearance', 'rotate', '--overlap', '20s', ...served.data]);
  expect([rotated.code, rotated.err]).toEqual([0, expect.stringContaining('new secret')]);
  expect(rotated.out).toMatch(/signs\n[0-9a-f]{16} .* accepted until /);
  const isStored = (): true | null => (names().includes('"previous":[{') ? true : null);
  await until(async () => isStored(), 'the secrets on the disk', PATIENCE_MS);
  expect(statSync(namesFile()).mode & 0o777).toBe(0o600);
  // From the disk to both workers.
  await wait(1_000);
  const after = await clear('a.test');
  expect(Date.now() - began).toBeLessThan(overlapMs);
  asking = false;
  await traffic;
  expect([asked > 20, refused]).toEqual([true, []]);
  await until(
    async () => ((await visit('a.test', before)) === 403 ? true : null),
    'the end of the secret before',
    PATIENCE_MS,
  );
  expect(Date.now() - began).toBeGreaterThanOrEqual(overlapMs);
  expect(await visit('a.test', after)).toBe(200);
});

test('without an overlap cookies of the secret before end at once', { timeout: 120_000 }, async () => {
  const before = await clear('b.test');
  expect(await visit('b.test', before)).toBe(200);
  const rotated = await served.run(['clearance', 'rotate', '--overlap', '0', ...served.data]);
  expect(rotated.code).toBe(0);
  await until(async () => ((await visit('b.test', before)) === 403 ? true : null), 'its end', PATIENCE_MS);
  expect(await visit('b.test', await clear('b.test'))).toBe(200);
  const shown = await served.run(['clearance', 'show', ...served.data]);
  expect(shown.out.trim().split('\n')).toHaveLength(2);
});
