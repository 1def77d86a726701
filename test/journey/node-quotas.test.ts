/**
 * Quotas at nodes that follow a real control plane: two nodes refuse a consumer whose quota is exhausted, also after a restart and without
 * the control plane, until the period ends or the plan allows more.
 */
import { rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createQuotaWatch } from '../../src/control/registry/quota-watch.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import type { Decision } from '../../src/engine/evaluator/index.ts';
import { periodAt } from '../../src/engine/plan/quota-period.ts';
import { type ControlProxy, startControlProxy } from '../support/control-proxy.ts';
import { newFolder, startFollower, type TestFollower } from '../support/edge-follower.ts';
import { addDomain, type House, openHouse, until } from '../support/publish-setup.ts';

const SILENT = { info: () => undefined, warn: () => undefined };
const AUTH = { api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } };

let folder: string;
let house: House;
let proxy: ControlProxy;
let domain: DomainRow;
const nodes = new Set<TestFollower>();

beforeEach(async () => {
  folder = newFolder();
  house = await openHouse({ database: folder });
  proxy = await startControlProxy(house.port);
  domain = await addDomain(house, 'api.test');
});
afterEach(async () => {
  for (const node of nodes) await stop(node);
  await proxy.close();
  await house.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(token: string, directory?: string): Promise<TestFollower> {
  const node = await startFollower({
    url: proxy.url,
    token,
    ...(directory === undefined ? {} : { directory }),
  });
  nodes.add(node);
  return node;
}

async function stop(node: TestFollower): Promise<void> {
  nodes.delete(node);
  await node.stop();
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function good(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await house.call(method, `/domains/api.test${path}`, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** Adds admitted requests of the consumer today, and checks quotas. */
async function use(admitted: number): Promise<void> {
  const day = Math.floor(Date.now() / 86_400_000) * 1_440;
  const row = { domain_id: domain.id, consumer: 'acme', day, requests: admitted, admitted };
  await house.store.write((tx) => tx.consumerDays.add([row]));
  await createQuotaWatch({ store: house.store, clock: Date.now, log: SILENT }).round();
}

function decide(node: TestFollower, consumer: string, now = Date.now()): Decision {
  const found = node.plans.find('api.test');
  if (found === null || found === 'refused') throw new Error('the node does not serve the domain');
  const request = { scheme: 'https', method: 'GET', host: 'api.test', target: '/v1/x', ip: '192.0.2.1' };
  return found.evaluator.evaluate({ ...request, now, identity: { consumer } });
}

const reasonOf = (node: TestFollower, consumer = 'acme', now?: number): string | undefined =>
  decide(node, consumer, now).gateway?.reason;

test('both nodes refuse the consumer until the period ends, through a restart without the control plane', async () => {
  await good('POST', '/usage-plans/', { name: 'daily', quota: { limit: 100, period: 'month' } });
  for (const username of ['acme', 'beta'])
    await good('POST', '/consumers/', { username, usage_plan: 'daily' });
  await good('POST', '/gateways/', { base_path: '/v1', auth: AUTH });
  const tokens = [await house.token('node-1'), await house.token('node-2')] as const;
  const [one, two] = [await start(tokens[0]), await start(tokens[1])];
  const reach = (reason: string, among: readonly TestFollower[] = [one, two]): Promise<unknown> =>
    until(
      () => among.every((node) => node.decide('api.test', '/') !== '421' && reasonOf(node) === reason),
      `${reason} at ${among.length} nodes`,
    );
  await use(99);
  await reach('admitted');
  await use(1);
  await reach('quota');
  const { to } = periodAt('month', Date.now());
  const now = Date.now();
  const refused = decide(one, 'acme', now);
  expect(refused).toMatchObject({ action: 'respond', status: 429, retryAfter: Math.ceil((to - now) / 1000) });
  expect([reasonOf(one, 'acme', to - 1), reasonOf(one, 'acme', to)]).toEqual(['quota', 'admitted']);
  expect(reasonOf(one, 'beta')).toBe('admitted');
  proxy.target = 0;
  proxy.cutAll();
  await stop(one);
  const again = await start(tokens[0], one.directory);
  expect(reasonOf(again)).toBe('quota');
  expect(reasonOf(again, 'acme', to)).toBe('admitted');
  proxy.target = house.port;
  const plan = (await good('GET', '/usage-plans/'))[0];
  await good('PUT', `/usage-plans/${plan.id}`, { quota: { limit: 101, period: 'month' } });
  await reach('admitted', [again, two]);
  await use(1);
  await reach('quota', [again, two]);
  await good('PUT', `/usage-plans/${plan.id}`, { quota: null });
  await reach('admitted', [again, two]);
}, 60_000);
