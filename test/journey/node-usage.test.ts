/** What a node counts arrives at the control plane once, whatever happens on the way. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { RequestLogEntry } from '../../src/proxy/log/request-log.ts';
import { type ControlPlaneClient, ControlPlaneFault, createControl } from '../../src/sync/control-plane.ts';
import { createUsage, type Usage, type UsageOptions } from '../../src/sync/usage.ts';
import { createCounts } from '../../src/workers/counts.ts';
import { type ControlProxy, startControlProxy } from '../support/control-proxy.ts';
import { addDomain, addDrop, type House, openHouse, until } from '../support/publish-setup.ts';

let folder: string;
let house: House;
let proxy: ControlProxy;
let control: ControlPlaneClient;
const usages: Usage[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-usage-'));
  house = await openHouse({ database: join(folder, 'data') });
  proxy = await startControlProxy(house.port);
  const token = await house.token('node-1');
  control = createControl({ url: proxy.url, token: () => token });
});
afterEach(async () => {
  for (const usage of usages.splice(0)) await usage.stop();
  await control.close();
  await proxy.close();
  await house.close();
  rmSync(folder, { recursive: true, force: true });
});

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

function start(options: Partial<UsageOptions> = {}): Usage {
  const usage = createUsage({ control, directory: folder, log, everyMs: 40, ...options });
  usages.push(usage);
  return usage;
}

/** As the walk of a request tells it: only what is counted. */
function entry(domain: string, rules: readonly number[] = [], octets = 10): RequestLogEntry {
  const matches = rules.map((id) => ({ type: 'drop', id, mode: 'enforce', effect: 'block' }));
  return {
    exchange: { domain: { name: domain }, decision: { matches } },
    octets,
  } as unknown as RequestLogEntry;
}

async function traffic(domain: string): Promise<unknown> {
  return (await house.call('GET', `/domains/${domain}/traffic?minutes=1000`)).body;
}

test('requests, octets and rule matches are reported in the minute after', async () => {
  const domain = await addDomain(house, 'shop.test');
  const { rule } = await addDrop(house, domain, '/a');
  let now = Date.now() - 120_000;
  const usage = start({ clock: () => now });
  for (let round = 0; round < 3; round++) usage.done(entry('shop.test', [rule.id]));
  usage.done(entry('shop.test'));
  usage.done(entry('unknown.test', [1]));
  usage.done({ ...entry('shop.test'), exchange: null });
  expect(usage.rows()).toBe(4);
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(await traffic('shop.test')).toMatchObject({ requests: 0 });
  now += 60_000;
  await until(() => usage.rows() === 0, 'the report');
  expect(await traffic('shop.test')).toEqual({
    minutes: 1_000,
    requests: 4,
    octets: 40,
    rules: [{ type: 'drop', id: rule.id, hits: 3 }],
  });
});

test('counts of other processes of the node are added to its own', async () => {
  const domain = await addDomain(house, 'shop.test');
  const { rule } = await addDrop(house, domain, '/a');
  let now = Date.now() - 120_000;
  const usage = start({ clock: () => now });
  const counts = createCounts(async (tallies) => tallies.forEach(usage.add));
  usage.done(entry('shop.test', [rule.id]));
  counts.done(entry('shop.test', [rule.id]));
  counts.done(entry('shop.test'));
  await counts.stop();
  expect(usage.rows()).toBe(2);
  now += 60_000;
  await until(() => usage.rows() === 0, 'the report');
  expect(await traffic('shop.test')).toMatchObject({
    requests: 3,
    octets: 30,
    rules: [{ type: 'drop', id: rule.id, hits: 2 }],
  });
});

test('a batch whose response is lost is counted once', async () => {
  await addDomain(house, 'shop.test');
  let now = Date.now() - 600_000;
  const usage = start({ clock: () => now });
  let lost = 0;
  // It arrives, and its answer does not.
  proxy.rewrite = (path) => {
    if (path === '/nodes/reports' && lost++ < 2) proxy.cutAll();
    return null;
  };
  usage.done(entry('shop.test'));
  now += 60_000;
  await until(() => usage.rows() === 0, 'the report');
  expect(lost).toBe(3);
  expect(await traffic('shop.test')).toMatchObject({ requests: 1 });
});

test('an unreachable control plane gets all counts later, over a restart and a clock that is set back', async () => {
  await addDomain(house, 'shop.test');
  let now = Date.now();
  const first = start({ clock: () => now });
  first.done(entry('shop.test'));
  now += 60_000;
  await until(() => first.rows() === 0, 'the first report');
  const number = Number(readFileSync(join(folder, 'usage-batch'), 'utf8'));
  now -= 3_600_000;
  const second = start({ clock: () => now });
  proxy.target = 0;
  proxy.cutAll();
  for (let minute = 0; minute < 5; minute++) {
    second.done(entry('shop.test'));
    now += 60_000;
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(second.rows()).toBe(5);
  proxy.target = house.port;
  await until(() => second.rows() === 0, 'the rest');
  expect(await traffic('shop.test')).toMatchObject({ requests: 6 });
  expect(Number(readFileSync(join(folder, 'usage-batch'), 'utf8'))).toBe(number + 5);
});

test('buffered rows are bounded by merging the oldest minutes, without losing counts', async () => {
  const sent: { usage: { domain: string; requests: number }[]; hits: { count: number }[] }[] = [];
  let away = true;
  const report = async (body: object): Promise<void> => {
    if (away) throw new ControlPlaneFault('away', 'not now');
    sent.push(body as (typeof sent)[number]);
  };
  let now = 0;
  const usage = start({ control: { report }, clock: () => now, maxRows: 100 });
  for (let minute = 0; minute < 200; minute++) {
    now += 60_000;
    for (let domain = 0; domain < 10; domain++) usage.done(entry(`d${domain}.test`, [1]));
    expect(usage.rows()).toBeLessThanOrEqual(140);
  }
  away = false;
  now += 60_000;
  await until(() => usage.rows() === 0, 'everything');
  const counted = sent.flatMap((batch) => batch.usage).reduce((sum, { requests }) => sum + requests, 0);
  const hits = sent.flatMap((batch) => batch.hits).reduce((sum, { count }) => sum + count, 0);
  expect([counted, hits]).toEqual([2_000, 2_000]);
});

test('the stop reports all remaining counts', async () => {
  await addDomain(house, 'shop.test');
  const usage = start({ everyMs: 1_000_000 });
  usage.done(entry('shop.test'));
  await usage.stop();
  expect(await traffic('shop.test')).toMatchObject({ requests: 1 });
});

/** A control plane that takes everything, and what it took in sum. */
function countAll(): { readonly requests: () => number; readonly control: UsageOptions['control'] } {
  let requests = 0;
  return {
    requests: () => requests,
    control: {
      async report(body) {
        for (const row of (body as { usage: { requests: number }[] }).usage) requests += row.requests;
      },
    },
  };
}

test('requests that are counted and merged while a batch number is stored are reported once', async () => {
  const { control, requests } = countAll();
  let now = 0;
  const usage = start({ control, clock: () => now, everyMs: 1, maxRows: 20 });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  for (let round = 0; round < 2_000; round++) {
    now += 60_000;
    for (let domain = 0; domain < 5; domain++) usage.done(entry(`d${domain}.test`));
    await turn();
  }
  now += 60_000;
  await until(() => usage.rows() === 0, 'everything');
  expect(requests()).toBe(10_000);
});

test('requests that are counted during the final report are reported', async () => {
  const { control, requests } = countAll();
  const usage = start({ control, clock: () => 0, everyMs: 1_000_000 });
  usage.done(entry('shop.test'));
  const stopped = usage.stop();
  await new Promise((resolve) => setImmediate(resolve));
  usage.done(entry('shop.test'));
  await stopped;
  await until(() => requests() === 2, 'both requests');
  expect(usage.rows()).toBe(0);
});

test('two concurrent stops report once, also when the first attempt fails', async () => {
  const { control: whole, requests } = countAll();
  let attempts = 0;
  const control: UsageOptions['control'] = {
    async report(body) {
      if (++attempts === 1) throw new ControlPlaneFault('away', 'the control plane restarts');
      await whole.report(body);
    },
  };
  const usage = start({ control, clock: () => 0, everyMs: 1_000_000 });
  usage.done(entry('shop.test'));
  await Promise.all([usage.stop(), usage.stop()]);
  expect([requests(), usage.rows()]).toEqual([1, 0]);
});
