/** A node that never had a plan gets no traffic before it serves every name of its first manifest. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { type ControlProxy, startControlProxy } from '../support/control-proxy.ts';
import { newFolder } from '../support/edge-follower.ts';
import { addDomain, addDrop, type House, openHouse, until } from '../support/publish-setup.ts';
import { ask, startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const HOSTS = ['a.test', 'b.test', 'c.test'] as const;
const PATIENCE_MS = 60_000;
const folder = newFolder();
let house: House;
let proxy: ControlProxy;
/** Path of the plan that is held up. */
let heldUp: string;
const running: WorkerNode[] = [];

beforeAll(async () => {
  await builtCli();
  house = await openHouse({ database: join(folder, 'data') });
  proxy = await startControlProxy(house.port);
  for (const host of HOSTS) await addDrop(house, await addDomain(house, host), '/p');
  const isOut = async (): Promise<boolean> => (await house.store.latest.outbox.backlog()).rows === 0;
  await until(isOut, 'the plans', PATIENCE_MS);
  heldUp = (await house.store.latest.plans.current('b.test'))!.digest!;
}, 180_000);
afterEach(async () => {
  proxy.before = null;
  proxy.rewrite = null;
  for (const node of running.splice(0)) {
    node.signal('SIGINT');
    await node.ended;
  }
});
afterAll(async () => {
  await proxy.close();
  await house.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

async function start(name: string, workers: string): Promise<WorkerNode> {
  const args = ['--workers', workers, '--control', proxy.url, '--data', join(folder, name)];
  const node = await startWorkerNode(args, {
    cwd: folder,
    env: { EDGEPLAN_NODE_TOKEN: await house.token(name) },
  });
  running.push(node);
  return node;
}

async function statusOf(node: WorkerNode, host: string): Promise<number> {
  return (await ask({ port: node.port, path: '/p', headers: { host } })).status;
}

test.each(['1', '2'])(
  'a node of %s processes is ready once all names are served',
  { timeout: 120_000 },
  async (workers) => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    proxy.before = async (path) => {
      if (path.includes(heldUp)) await released;
    };
    const node = await start(`held-${workers}`, workers);
    for (const host of ['a.test', 'c.test'])
      await until(async () => (await statusOf(node, host)) === 403, `${host} to be served`, PATIENCE_MS);
    expect(await statusOf(node, 'b.test')).toBe(421);
    // A worker that has not reported yet has the first probes due, and the primary names that first.
    await expect
      .poll(async () => {
        const unready = await fetch(`${node.operations}/readyz`);
        return `${unready.status} ${await unready.text()}`;
      })
      .toContain('503 the first plans are being fetched: 1 names are not served yet');
    release();
    await until(async () => (await node.status('/readyz')) === 200, 'the node to be ready', PATIENCE_MS);
    expect(await statusOf(node, 'b.test')).toBe(403);
  },
);

test('a plan that is refused does not hold up the node', { timeout: 120_000 }, async () => {
  proxy.rewrite = (path) => (path.includes(heldUp) ? Buffer.from('no plan') : null);
  const node = await start('refusing', '1');
  await until(async () => (await node.status('/readyz')) === 200, 'the node to be ready', PATIENCE_MS);
  expect(await Promise.all(HOSTS.map((host) => statusOf(node, host)))).toEqual([403, 421, 403]);
});
