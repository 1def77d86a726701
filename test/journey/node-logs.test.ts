/** What a node has queued arrives at the control plane once, whatever happens on the way. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ControlPlaneClient, createControl } from '../../src/edge/following/control-plane.ts';
import { LOG_QUEUE_FOLDER, type LogQueue, openLogQueue } from '../../src/edge/following/log-queue.ts';
import { createLogShipper, type LogShipper, makeQueueFolder } from '../../src/edge/following/ship-logs.ts';
import { send } from '../support/api.ts';
import { type ControlProxy, startControlProxy } from '../support/control-proxy.ts';
import { countedOf, lineOf } from '../support/log-lines.ts';
import { addDomain, type House, openHouse, until } from '../support/publish-setup.ts';

let folder: string;
let house: House;
let proxy: ControlProxy;
let control: ControlPlaneClient;
let warnings: string[];
const running: (LogShipper | { stop(): Promise<void> })[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-node-logs-'));
  house = await openHouse({ database: join(folder, 'data') });
  proxy = await startControlProxy(house.port);
  const token = await house.token('node-1');
  control = createControl({ url: proxy.url, token: () => token });
  warnings = [];
});
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
  await control.close();
  await proxy.close();
  await house.close();
  rmSync(folder, { recursive: true, force: true });
});

const log = {
  info: () => undefined,
  warn: (_: object, message: string) => void warnings.push(message),
  error: (_: object, message: string) => void warnings.push(message),
};

function startShipper(): LogShipper {
  const shipper = createLogShipper({ control, directory: folder, log, everyMs: 20 });
  running.push(shipper);
  return shipper;
}

function startQueue(process = 0): LogQueue {
  const queue = openLogQueue({ folder: makeQueueFolder(folder), process, share: 1, log, everyMs: 20 });
  running.push({ stop: queue.close });
  return queue;
}

/** Queues lines of a domain; returns their ids. */
function add(queue: LogQueue, domain: string, count: number): readonly string[] {
  const lines = Array.from({ length: count }, () => lineOf({ domain, at: Date.now() }));
  for (const line of lines) queue.add(domain, JSON.stringify(line));
  return lines.map(({ id }) => id);
}

/** Ids of all entries of a domain at the control plane. */
async function arrived(domain: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await house.call('GET', `/domains/${domain}/logs/?limit=200${cursor}`);
    ids.push(...body.entries.map((entry: { id: string }) => entry.id));
    if (body.next === null) return ids;
    cursor = `&cursor=${body.next}`;
  }
}

function queued(): readonly string[] {
  return readdirSync(join(folder, LOG_QUEUE_FOLDER));
}

test('entries of several processes arrive, each at its domain', async () => {
  await addDomain(house, 'shop.test');
  await addDomain(house, 'blog.test');
  const [first, second] = [startQueue(0), startQueue(1)];
  startShipper();
  const shop = [...add(first, 'shop.test', 700), ...add(second, 'shop.test', 40)];
  const blog = add(second, 'blog.test', 30);
  await until(async () => (await arrived('shop.test')).length === 740, 'all entries of the shop');
  expect([...(await arrived('shop.test'))].sort()).toEqual([...shop].sort());
  expect([...(await arrived('blog.test'))].sort()).toEqual([...blog].sort());
  await until(() => queued().length === 0, 'the queue to be empty');
  expect(warnings).toEqual([]);
});

test('entries whose acknowledgement is lost are sent again, and stored once', async () => {
  await addDomain(house, 'shop.test');
  let lost = 0;
  // They arrive, and the answer does not.
  proxy.rewrite = (path) => {
    if (path === '/nodes/logs' && lost++ < 3) proxy.cutAll();
    return null;
  };
  const ids = add(startQueue(), 'shop.test', 20);
  startShipper();
  await until(() => lost > 3 && queued().length === 0, 'the queue to be empty');
  expect([...(await arrived('shop.test'))].sort()).toEqual([...ids].sort());
});

test('lines for a collector whose acknowledgement is lost are written once', async () => {
  const file = join(folder, 'lines.jsonl');
  const other = await openHouse({ database: join(folder, 'other'), decisionLogs: file });
  const lossy = await startControlProxy(other.port);
  const token = await other.token('node-1');
  const client = createControl({ url: lossy.url, token: () => token });
  running.push({
    async stop() {
      await client.close();
      await lossy.close();
      await other.close();
    },
  });
  await addDomain(other, 'shop.test');
  let lost = 0;
  lossy.rewrite = (path) => {
    if (path === '/nodes/logs' && lost++ < 3) lossy.cutAll();
    return null;
  };
  const ids = add(startQueue(), 'shop.test', 20);
  running.push(createLogShipper({ control: client, directory: folder, log, everyMs: 20 }));
  await until(() => lost > 3 && queued().length === 0, 'the queue to be empty');
  const written = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(written.map((line) => JSON.parse(line).id)).toEqual(ids);
});

test('entries of a time without a control plane arrive after it and over a restart, none twice', async () => {
  await addDomain(house, 'shop.test');
  proxy.target = 0;
  proxy.cutAll();
  const queue = startQueue();
  const shipper = startShipper();
  const ids = [...add(queue, 'shop.test', 15)];
  await until(() => queued().length > 0 && warnings.length > 0, 'the entries to be queued');
  await queue.close();
  await shipper.stop();
  expect(await arrived('shop.test')).toEqual([]);
  ids.push(...add(startQueue(), 'shop.test', 15));
  startShipper();
  proxy.target = house.port;
  await until(() => queued().length === 0, 'the queue to be empty');
  await until(async () => (await arrived('shop.test')).length === 30, 'all entries');
  expect([...(await arrived('shop.test'))].sort()).toEqual([...ids].sort());
});

test('an entry that names the plan of another domain is not explained by it', async () => {
  const queue = startQueue();
  startShipper();
  const digests: string[] = [];
  for (const domain of ['shop.test', 'blog.test']) {
    await addDomain(house, domain);
    const current = await until(() => house.store.latest.plans.current(domain), 'the plan');
    digests.push(current.digest!);
  }
  const { revision } = (await house.store.latest.plans.current('shop.test'))!;
  const lines = digests.map((digest) => lineOf({ domain: 'shop.test', at: Date.now(), revision, digest }));
  for (const line of lines) queue.add('shop.test', JSON.stringify(line));
  await until(async () => (await arrived('shop.test')).length === 2, 'the entries');
  const traces = await Promise.all(
    lines.map(({ id }) => house.call('GET', `/domains/shop.test/logs/${id}/trace`)),
  );
  expect(traces.map(({ status }) => status)).toEqual([200, 409]);
});

test('a file that the control plane refuses is dropped, and the next ones arrive', async () => {
  await addDomain(house, 'shop.test');
  writeFileSync(join(makeQueueFolder(folder), '0000000000001-0000000000000-0000000000001.jsonl.gz'), 'torn');
  const ids = add(startQueue(), 'shop.test', 3);
  startShipper();
  await until(async () => (await arrived('shop.test')).length === 3, 'the entries');
  expect([...(await arrived('shop.test'))].sort()).toEqual([...ids].sort());
  expect(warnings).toEqual(['the control plane refuses log entries; they are dropped']);
});

test('a control plane of an earlier release gets gaps in place of counted lines, and every entry beside them', async () => {
  await addDomain(house, 'shop.test');
  // As the release before counted lines answers a batch that has one.
  const refusal = JSON.stringify({
    detail: 'line 2: `format` must be `edgeplan.decision/v1` or `edgeplan.gap/v1`',
  });
  const earlier = createServer(async (request, response) => {
    const body = await buffer(request);
    const isKnown = !gunzipSync(body).includes('edgeplan.counted/v1');
    const { method, url: path, headers } = request as { method: string; url: string; headers: object };
    const { status, text } = isKnown
      ? await send(house.port, { method, path, body, headers: { ...headers } })
      : { status: 400, text: refusal };
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise<void>((resolve) => earlier.listen(0, '127.0.0.1', resolve));
  proxy.target = (earlier.address() as AddressInfo).port;
  running.push({
    async stop() {
      earlier.closeAllConnections();
      await new Promise((resolve) => earlier.close(resolve));
    },
  });
  const queue = startQueue();
  const ids = add(queue, 'shop.test', 3);
  const line = countedOf({ domain: 'shop.test', at: Date.now(), requests: 700 });
  queue.add('shop.test', JSON.stringify(line));
  startShipper();
  await until(async () => (await arrived('shop.test')).length === 4, 'the entries');
  expect([...(await arrived('shop.test'))].sort()).toEqual([...ids, line.id].sort());
  const { body } = await house.call('GET', '/domains/shop.test/logs/?action=gap');
  expect(body.entries).toMatchObject([{ format: 'edgeplan.gap/v1', id: line.id, dropped: 700 }]);
  expect(warnings).toEqual(['the control plane takes no counted lines; it gets gaps']);
});

test('what is in memory when a node stops arrives before it ends', async () => {
  await addDomain(house, 'shop.test');
  const queue = openLogQueue({
    folder: makeQueueFolder(folder),
    process: 0,
    share: 1,
    log,
    everyMs: 3_600_000,
  });
  const shipper = createLogShipper({ control, directory: folder, log, everyMs: 3_600_000 });
  const ids = add(queue, 'shop.test', 5);
  await queue.close();
  await shipper.stop();
  expect([...(await arrived('shop.test'))].sort()).toEqual([...ids].sort());
});
