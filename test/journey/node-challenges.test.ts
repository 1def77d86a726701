/** `edgeplan serve` and nodes: every node answers the HTTP-01 challenges of a domain for its own hosts, and for no others. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../src/control/store/database/open.ts';
import type { Store } from '../../src/control/store/store.ts';
import { builtCli } from '../support/built.ts';
import { type Served, serve } from '../support/served.ts';
import { until } from '../support/until.ts';
import { ADDRESSES, ask, startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const PATIENCE_MS = 30_000;
const folder = mkdtempSync(join(tmpdir(), 'edgeplan-challenges-'));
/** By the number of their processes that serve. */
const nodes = new Map<number, WorkerNode>();
const envs = new Map<number, Readonly<Record<string, string>>>();
let served: Served;
let store: Store;

async function start(workers: number): Promise<void> {
  const data = join(folder, `node-${workers}`);
  const args = ['--workers', String(workers), '--control', served.url, '--data', data, '--drain', '0'];
  nodes.set(workers, await startWorkerNode(args, { cwd: folder, env: envs.get(workers)! }));
}

async function stop(workers: number): Promise<void> {
  const node = nodes.get(workers);
  node?.signal('SIGTERM');
  await node?.ended;
}

async function change(name: string, token: string, answer: string | null): Promise<void> {
  const domain = (await store.latest.domains.byName(name))!;
  const at = Date.now();
  if (answer === null) await store.write((tx) => tx.plans.removeChallenge(domain, { token, at }));
  else expect(await store.write((tx) => tx.plans.setChallenge(domain, { token, answer, at }))).toBe(true);
}

/** The answer at every address of every node; `null`: they differ, or are no answers to a challenge. */
async function answerTo(host: string, token: string): Promise<string | null> {
  const path = `/.well-known/acme-challenge/${token}`;
  const asked = [...nodes.values()].flatMap(({ port }) =>
    ADDRESSES.map((from) => ask({ port, path, from, headers: { host } })),
  );
  const answers = (await Promise.all(asked)).map(({ status, headers, text }) =>
    status === 200 && headers['content-type'] === 'application/octet-stream' ? text : `no: ${status}`,
  );
  const [first] = answers;
  return new Set(answers).size === 1 && !first!.startsWith('no: ') ? first! : null;
}

const answers = (host: string, token: string, answer: string | null): Promise<true> =>
  until(async () => (await answerTo(host, token)) === answer, `${token} at ${host}`, PATIENCE_MS);

beforeAll(async () => {
  await builtCli();
  served = await serve({ tier: 'enterprise' });
  for (const name of ['shop.test', 'other.test', 'team.shop.test']) {
    await served.domain(name);
    // No origin listens there: what the node does not answer itself is 502.
    const record = { type: 'A', name: '@', destination: '127.0.0.1', port: 9, proxied: true };
    const { status, body } = await served.call('POST', `/domains/${name}/records/`, record);
    expect([status, body]).toEqual([200, expect.anything()]);
  }
  // A redirect of everything must not apply to the authority.
  const redirect = { target: 'https://elsewhere.test/', status_code: 301 };
  const { status, body } = await served.call('POST', '/domains/shop.test/rules/redirect/', redirect);
  expect([status, body]).toEqual([200, expect.anything()]);
  store = await openStore({ database: served.data[1]!, role: 'tool' });
  for (const workers of [1, 2]) {
    envs.set(workers, await served.node(`edge-${workers}`));
    await start(workers);
  }
  for (const node of nodes.values()) {
    const redirects = async (): Promise<boolean> =>
      (await ask({ port: node.port, path: '/' })).status === 301;
    await until(redirects, 'the redirect', PATIENCE_MS);
  }
}, 240_000);
afterAll(async () => {
  for (const workers of nodes.keys()) await stop(workers);
  await store?.close();
  await served?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

test('a challenge is answered for hosts of its domain alone, until it is removed', {
  timeout: 180_000,
}, async () => {
  await change('shop.test', 'shop-token', 'shop-token.key');
  await answers('shop.test', 'shop-token', 'shop-token.key');
  for (const host of ['www.shop.test', 'A.B.Shop.test:80', 'shop.test.']) {
    expect([host, await answerTo(host, 'shop-token')]).toEqual([host, 'shop-token.key']);
  }
  for (const host of ['other.test', 'notshop.test', 'test', 'team.shop.test', 'www.team.shop.test']) {
    expect([host, await answerTo(host, 'shop-token')]).toEqual([host, null]);
  }
  expect(await answerTo('shop.test', 'another-token')).toBeNull();

  await change('team.shop.test', 'team-token', 'team-token.key');
  await answers('www.team.shop.test', 'team-token', 'team-token.key');
  expect(await answerTo('www.shop.test', 'team-token')).toBeNull();
  expect(await answerTo('shop.test', 'shop-token')).toBe('shop-token.key');

  await change('shop.test', 'shop-token', null);
  await answers('shop.test', 'shop-token', null);
  expect(await answerTo('team.shop.test', 'team-token')).toBe('team-token.key');
});

test('HEAD is answered without a body, and POST not at all', async () => {
  await change('other.test', 'method-token', 'method-token.key');
  await answers('other.test', 'method-token', 'method-token.key');
  for (const { port } of nodes.values()) {
    const path = '/.well-known/acme-challenge/method-token';
    const headers = { host: 'other.test' };
    const { text } = await ask({ port, path, headers, body: 'x' });
    expect(text).not.toContain('method-token.key');
    const sent = request({ host: '127.0.0.1', port, path, method: 'HEAD', headers, agent: false }).end();
    const [head] = (await once(sent, 'response')) as [IncomingMessage];
    expect([head.statusCode, await head.toArray()]).toEqual([200, []]);
  }
});

test('a node that restarts, and a worker that is started again, answer a challenge', {
  timeout: 180_000,
}, async () => {
  await change('shop.test', 'long-token', 'long-token.key');
  await answers('shop.test', 'long-token', 'long-token.key');
  const [lost] = nodes.get(2)!.workers();
  process.kill(lost!, 'SIGKILL');
  await until(
    async () => (await answerTo('shop.test', 'long-token').catch(() => null)) === 'long-token.key',
    'the worker',
    PATIENCE_MS,
  );
  for (const workers of [1, 2]) {
    await stop(workers);
    await start(workers);
  }
  await answers('shop.test', 'long-token', 'long-token.key');
  expect(await answerTo('other.test', 'long-token')).toBeNull();
});
