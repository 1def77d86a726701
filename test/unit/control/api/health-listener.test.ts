/** The operators' listener of the API over a real store and sockets. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Counter, Histogram, Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it, test } from 'vitest';
import { takeFolder } from '../../../../src/base/storage/sqlite.ts';
import { declared } from '../../../../src/base/telemetry/metrics/declared.ts';
import {
  addAnswerTimes,
  createHealthListener,
  createMetrics,
} from '../../../../src/control/api/health-listener.ts';
import { MAX_UNPUBLISHED_MS } from '../../../../src/control/api/operation/limits.ts';
import { openSqlite } from '../../../../src/control/store/database/sqlite/open.ts';
import type { Store } from '../../../../src/control/store/store.ts';
import { say, statusesOf } from '../../../support/raw.ts';

let folder: string;
let store: Store;
let server: ReturnType<typeof createHealthListener>;
let port: number;
let now: number;
let failing: number;
let metrics: ReturnType<typeof createMetrics>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-operations-'));
  store = await openSqlite({ folder, role: 'tool' });
  now = Date.now();
  const clock = (): number => now;
  failing = 0;
  metrics = createMetrics({
    store,
    clock,
    failing: () => failing,
    older: () => 0,
    build: { version: '1.2.3', planFormat: 3 },
  });
  server = createHealthListener({ store, metrics, clock, draining: () => false });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
  server.close();
  server.closeAllConnections();
  await store.close();
  rmSync(folder, { recursive: true });
});

function get(path: string, host: string): Promise<string> {
  return say(port, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
}

test.each(['evil.test', '127.0.0.1.evil.test', '192.0.2.1', 'localhost.evil.test:80', '[::2]', ''])(
  'a request for another host is refused with a reason: `%s`',
  async (host) => {
    for (const path of ['/healthz', '/readyz', '/metrics']) {
      const text = await get(path, host);
      expect(statusesOf(text)).toEqual([421]);
      expect(text).toContain('the Host header names another');
    }
  },
);

test.each(['localhost', 'LocalHost:99', '127.0.0.1', '127.1.2.3:80', '[::1]:8080'])(
  'a request for a loopback host is answered: %s',
  async (host) => {
    expect(statusesOf(await get('/healthz', host))).toEqual([200]);
  },
);

test('the server is not ready while a change waits past the limit without a publication', async () => {
  await store.write(async (tx) => {
    await tx.outbox.append({
      domain_id: 1,
      domain: 'shop.test',
      account_id: null,
      key_id: null,
      at: now,
      reason: 'a test',
    });
  });
  expect(statusesOf(await get('/readyz', 'localhost'))).toEqual([200]);
  now += MAX_UNPUBLISHED_MS + 1;
  const text = await get('/readyz', 'localhost');
  expect(statusesOf(text)).toEqual([503]);
  expect(text).toContain('has waited 300 s to be published');
  failing = 1;
  expect(statusesOf(await get('/readyz', 'localhost'))).toEqual([200]);
  failing = 0;
  metrics.published({ digest: null }, 1);
  expect(statusesOf(await get('/readyz', 'localhost'))).toEqual([200]);
});

test('only the owner can read the files of a folder’s lock, also those of an earlier version', async () => {
  const data = mkdtempSync(join(tmpdir(), 'edgeplan-lock-'));
  const files = ['edgeplan.lock', 'edgeplan.pid'].map((name) => join(data, name));
  for (const file of files) writeFileSync(file, '', { mode: 0o644 });
  const release = takeFolder(data);
  expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
  release();
  rmSync(data, { recursive: true });
});

// What is told of answers is what prom-client's own counter and histogram would tell.

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 20];

it('the text of the metrics equals that of prom-client', async () => {
  const ours = new Registry();
  const answersOf = addAnswerTimes(ours);
  const theirs = new Registry();
  const count = new Counter({
    ...declared('edgeplan_api_requests_total'),
    registers: [theirs],
  });
  const times = new Histogram({
    ...declared('edgeplan_api_request_duration_seconds'),
    buckets: BUCKETS,
    registers: [theirs],
  });
  const kinds = [
    { method: 'GET', path: '/domains/', status: 200 },
    { method: 'GET', path: '/domains/', status: 401 },
    { method: 'POST', path: '/domains/', status: 200 },
    { method: 'GET', path: '', status: 404 },
  ];
  for (const kind of kinds) {
    for (const seconds of [0, 0.0009, 0.001, 0.0011, 0.3, 20, 21, ...BUCKETS]) {
      answersOf(kind)(seconds);
      const { method, path, status } = kind;
      count.inc({ method, path, status: String(status) });
      times.observe({ method, path }, seconds);
    }
  }
  expect(linesOf(await ours.metrics())).toEqual(linesOf(await theirs.metrics()));
});

it('the metrics have no series before the first answer', async () => {
  const registry = new Registry();
  addAnswerTimes(registry);
  expect(await registry.metrics()).not.toMatch(/^[^#\n]/m);
});

/** Without their order, and with labels in theirs. */
function linesOf(text: string): readonly string[] {
  const inOrder = (_: string, labels: string): string =>
    `{${labels
      .split(/,(?=\w+=)/)
      .sort()
      .join(',')}}`;
  return text
    .split('\n')
    .map((line) => line.replace(/\{(.*)\}/, inOrder))
    .sort();
}
