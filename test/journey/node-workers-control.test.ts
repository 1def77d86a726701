/** `edgeplan node --workers --control`: what is published reaches every worker, and the node is one to its control plane. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import { builtCli } from '../support/built.ts';
import { type ControlProxy, startControlProxy } from '../support/control-proxy.ts';
import { newFolder } from '../support/edge-follower.ts';
import { addDomain, addDrop, type House, openHouse, removeDomain, until } from '../support/publish-setup.ts';
import { requires } from '../support/requires.ts';
import {
  ADDRESSES,
  ask,
  askFromAll,
  filesOf,
  NO_CHILDREN,
  NO_LIMITS,
  oneConnection,
  startWorkerNode,
  type WorkerNode,
} from '../support/worker-node.ts';

const folder = newFolder();
const data = join(folder, 'node');
const PATIENCE_MS = 60_000;
let house: House;
let proxy: ControlProxy;
let token: string;
let domain: DomainRow;
let rule: number;
let node: WorkerNode;
/** Requests that a plan decided. */
let decided = 0;

async function start(): Promise<void> {
  const args = ['--workers', '3', '--control', proxy.url, '--data', data];
  // As an operator does: the token is in no list of processes.
  node = await startWorkerNode(args, { cwd: folder, env: { EDGEPLAN_NODE_TOKEN: token } });
}

async function stop(): Promise<void> {
  node.signal('SIGTERM');
  expect(await node.ended).toBe(0);
}

/** The statuses by which every worker answers a path that its plan blocks, or nobody owns. */
async function statuses(path: string): Promise<readonly number[]> {
  const answers = await askFromAll(node.port, path);
  decided += answers.filter(({ status }) => status !== 421).length;
  return [...new Set(answers.map(({ status }) => status))];
}

function reportOn(revision: number): Promise<string> {
  return until(
    async () => (await house.store.latest.nodes.reportsOn('shop.test', revision))[0]?.outcome,
    `a report on revision ${revision}`,
    PATIENCE_MS,
  );
}

beforeAll(async () => {
  await builtCli();
  house = await openHouse({ database: join(folder, 'data') });
  proxy = await startControlProxy(house.port);
  token = await house.token('node-1');
  domain = await addDomain(house, 'shop.test');
  rule = (await addDrop(house, domain, '/p1')).rule.id;
  await start();
}, 180_000);
afterAll(async () => {
  await stop();
  await proxy.close();
  await house.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

test('an ack is sent only after every worker serves the plan', { timeout: 240_000 }, async () => {
  expect(await reportOn(1)).toBe('ack');
  const first = await until(
    async () => ((await statuses('/p1'))[0] === 403 ? 1 : null),
    'the plan',
    PATIENCE_MS,
  );
  for (let revision = first + 1; revision < first + 5; revision++) {
    await addDrop(house, domain, `/p${revision}`);
    expect(await reportOn(revision)).toBe('ack');
    expect(await statuses(`/p${revision}`)).toEqual([403]);
    expect(await house.store.latest.nodes.reportsOn('shop.test', revision)).toHaveLength(1);
  }
  expect(readdirSync(join(data, 'plans'))).toHaveLength(2);
  await until(async () => (await node.status('/readyz')) === 200, 'the node to be ready', PATIENCE_MS);
});

test('requests of all workers are reported to the control plane once', { timeout: 240_000 }, async () => {
  await stop();
  const told = async () => (await house.call('GET', '/domains/shop.test/traffic?minutes=1000')).body;
  expect(await told()).toMatchObject({ requests: decided });
  const before = decided;
  await start();
  expect(await statuses('/p1')).toEqual([403]);
  await stop();
  expect(decided).toBe(before + ADDRESSES.length);
  const { requests, rules } = (await told()) as { requests: number; rules: { id: number; hits: number }[] };
  expect(requests).toBe(decided);
  expect(rules.find(({ id }) => id === rule)!.hits).toBeGreaterThanOrEqual(ADDRESSES.length);
  // One token, one node.
  expect(await house.store.latest.nodes.reportsOn('shop.test', 1)).toHaveLength(1);
  await start();
});

test('workers start with the stored plans without a control plane', {
  ...requires(NO_CHILDREN),
  timeout: 240_000,
}, async () => {
  proxy.target = 0;
  proxy.cutAll();
  process.kill(node.workers()[1]!, 'SIGKILL');
  await node.said(/worker \d serves again/);
  expect(await statuses('/p2')).toEqual([403]);
  proxy.target = house.port;
});

test('no worker serves a plan until every worker can open it', {
  ...requires(NO_LIMITS),
  timeout: 240_000,
}, async () => {
  const at = Date.now();
  await house.store.write(async (tx) => {
    const body = JSON.stringify({ path_includes: ['/moved'], target: '/there' });
    const row = { domain_id: domain.id, type: 'redirect', priority: 100, body, record_ids: [] } as const;
    await tx.rules.insert({ ...row, created_at: at, updated_at: at });
  });
  await addDrop(house, domain, '/other');
  await until(async () => (await statuses('/moved')).join() === '302', 'the redirect', PATIENCE_MS);
  const kept = ADDRESSES.map((from) => ({ from, agent: oneConnection() }));
  const asks = async (): Promise<ReadonlySet<number>> => {
    const answers = kept.map((one) => ask({ ...one, port: node.port, path: '/moved' }));
    return new Set((await Promise.all(answers)).map(({ status }) => status));
  };
  expect(await asks()).toEqual(new Set([302]));
  const reports = () => house.store.latest.nodes.reportsOn('shop.test', revision);
  const revision = (await house.store.latest.plans.current('shop.test'))!.revision + 1;
  const files = filesOf(node.workers()[1]!);
  files.forbid();
  await addDrop(house, domain, '/moved');
  const refused = await until(async () => (await reports())[0] ?? null, 'a report', PATIENCE_MS);
  expect(refused).toMatchObject({
    outcome: 'nack',
    reason: expect.stringMatching(/^worker \d of the node goes on as before: EMFILE/),
  });
  expect(await asks()).toEqual(new Set([302]));
  files.allow();
  await until(async () => (await reports())[0]?.outcome === 'ack', 'the plan at all workers', PATIENCE_MS);
  expect(await asks()).toEqual(new Set([403]));
  await until(() => readdirSync(join(data, 'plans')).length === 2, 'the end of the old file', PATIENCE_MS);
  for (const { agent } of kept) agent.destroy();
});

test('workers refuse a name whose plan file is damaged until the plan is fetched again', {
  timeout: 240_000,
}, async () => {
  const files = (): readonly string[] => readdirSync(join(data, 'plans'));
  const before = files();
  const other = await addDomain(house, 'other.test');
  await addDrop(house, other, '/p1');
  const headers = { host: 'other.test' };
  // One revision or two: changes that wait together are published together.
  await until(
    async () => {
      const { outbox, plans, nodes } = house.store.latest;
      const isOut = (await outbox.backlog()).rows === 0;
      const newest = isOut ? await plans.current('other.test') : null;
      if (newest === null) return false;
      return (await nodes.reportsOn('other.test', newest.revision))[0]?.outcome === 'ack';
    },
    'the other plan',
    PATIENCE_MS,
  );
  for (const file of files()) if (!before.includes(file)) writeFileSync(join(data, 'plans', file), 'damaged');
  const asks = (): Promise<readonly number[]> =>
    Promise.all(
      ADDRESSES.map(async (from) => (await ask({ port: node.port, path: '/p1', from, headers })).status),
    );
  await asks();
  await until(async () => (await asks()).every((status) => status === 403), 'the plan again', PATIENCE_MS);
  await removeDomain(house, other);
  await until(async () => (await asks()).every((status) => status === 421), 'its end', PATIENCE_MS);
});
