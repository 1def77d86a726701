/** `--otlp`: what a collector receives of a node, of its workers and of a server, and what happens without a collector. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { METRICS } from '../../src/base/telemetry/metrics/declared.ts';
import { builtCli } from '../support/built.ts';
import { type Collector, type ReceivedSpan, startCollector } from '../support/otlp-collector.ts';
import { until } from '../support/publish-setup.ts';
import { serve } from '../support/served.ts';
import { ask, askFromAll, startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const PATIENCE_MS = 60_000;
/** The trusted proxy, and any other client. */
const PROXY = '127.0.0.2';
const CLIENT = '127.0.0.3';
/** Trace contexts of callers: sampled, and not sampled. */
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SAMPLED = `00-${TRACE}-b7ad6b7169203331-01`;
const UNSAMPLED = '00-1bf7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-telemetry-'));
let origin: Server;
/** Headers that the origin got, by path. */
const got = new Map<string, IncomingHttpHeaders>();

beforeAll(async () => {
  await builtCli();
  origin = createServer((request, response) => {
    got.set(request.url!, request.headers);
    response.writeHead(request.url === '/broken' ? 500 : 200).end('from the origin');
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const { port } = origin.address() as AddressInfo;
  const rules = `domain: shop.test
records:
  - { name: '@', type: A, destination: 127.0.0.1, port: ${port}, scheme: Http, proxied: true }
rules:
  - { key: no-private, type: drop, path_includes: ['/private'] }
`;
  writeFileSync(join(folder, 'edge.yaml'), rules);
}, 240_000);
afterAll(() => {
  origin.close();
  rmSync(folder, { recursive: true, force: true });
});

function startNode(name: string, args: readonly string[]): Promise<WorkerNode> {
  const own = ['--file', 'edge.yaml', '--data', join(folder, name), '--trust-proxy', PROXY];
  return startWorkerNode([...own, ...args], { cwd: folder });
}

async function stop(node: WorkerNode): Promise<void> {
  node.signal('SIGINT');
  expect(await node.ended).toBe(0);
}

/** The span of a request by its path; there is one. */
function spanOf({ spans }: Collector, path: string): ReceivedSpan {
  const found = spans.filter(({ attributes }) => attributes['url.path'] === path);
  expect(found, path).toHaveLength(1);
  return found[0]!;
}

describe('a node', () => {
  let collector: Collector;
  let metricsText: string;

  beforeAll(async () => {
    collector = await startCollector();
    const node = await startNode('node', ['--otlp', `${collector.url}/`, '--trace-ratio', '1']);
    const { port } = node;
    const secret = { cookie: 'session=geheim', authorization: 'Bearer geheim' };
    await ask({
      port,
      from: CLIENT,
      path: '/new?token=geheim',
      headers: { ...secret, traceparent: SAMPLED, tracestate: 'a=1' },
    });
    await ask({
      port,
      from: PROXY,
      path: '/continued',
      headers: { traceparent: SAMPLED, tracestate: 'a=1' },
    });
    await ask({ port, from: PROXY, path: '/unsampled', headers: { traceparent: UNSAMPLED } });
    await ask({ port, from: PROXY, path: '/malformed', headers: { traceparent: '00-zz' } });
    await ask({ port, from: CLIENT, path: '/private' });
    await ask({ port, from: CLIENT, path: '/broken' });
    metricsText = await (await fetch(`${node.operations}/metrics`)).text();
    await stop(node);
  }, 240_000);
  afterAll(() => collector.stop());

  test('sends one server span for each request, with decision and status', () => {
    const { name, kind, attributes, isError, resource } = spanOf(collector, '/private');
    expect({ name, kind, isError }).toEqual({ name: 'GET', kind: 'server', isError: false });
    expect(attributes).toMatchObject({
      'http.request.method': 'GET',
      'http.response.status_code': 403,
      'server.address': 'shop.test',
      'url.scheme': 'http',
      'edgeplan.domain': 'shop.test',
      'edgeplan.decision.action': 'block',
      'edgeplan.rule': 'drop/no-private',
      'edgeplan.decision.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(resource).toMatchObject({ 'service.name': 'edgeplan-node', 'process.pid': expect.any(Number) });
  });

  test('sends a client span for the request to the origin, below that of the visitor, and its id to the origin', () => {
    const server = spanOf(collector, '/new');
    const [client] = collector.spans.filter(({ parent }) => parent === server.id);
    expect(client).toMatchObject({
      kind: 'client',
      name: 'GET',
      traceId: server.traceId,
      attributes: {
        'http.response.status_code': 200,
        'server.address': '127.0.0.1',
        'server.port': (origin.address() as AddressInfo).port,
      },
    });
    expect(got.get('/new?token=geheim')!['traceparent']).toBe(`00-${server.traceId}-${client!.id}-01`);
    expect(client!.duration).toBeLessThanOrEqual(server.duration);
  });

  test('begins a new trace for a client that is no trusted proxy', () => {
    expect(spanOf(collector, '/new')).toMatchObject({ parent: '', state: '' });
    expect(spanOf(collector, '/new').traceId).not.toBe(TRACE);
    expect(got.get('/new?token=geheim')).not.toHaveProperty('tracestate');
  });

  test('continues the trace of a trusted proxy, its state included', () => {
    expect(spanOf(collector, '/continued')).toMatchObject({
      traceId: TRACE,
      parent: 'b7ad6b7169203331',
      state: 'a=1',
    });
    expect(got.get('/continued')).toMatchObject({
      traceparent: expect.stringMatching(`^00-${TRACE}-[0-9a-f]{16}-01$`),
      tracestate: 'a=1',
    });
  });

  test('does not sample what a trusted proxy does not, and passes the decision on', () => {
    expect(collector.spans.filter(({ attributes }) => attributes['url.path'] === '/unsampled')).toEqual([]);
    expect(got.get('/unsampled')!['traceparent']).toMatch(
      /^00-1bf7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/,
    );
  });

  test('begins a new trace for a malformed context', () => {
    expect(spanOf(collector, '/malformed').parent).toBe('');
  });

  test('marks the spans of a failed request as errors', () => {
    const server = spanOf(collector, '/broken');
    expect(server).toMatchObject({ isError: true, attributes: { 'error.type': '500' } });
    expect(collector.spans.find(({ parent }) => parent === server.id)).toMatchObject({ isError: true });
  });

  test('sends no query, no cookie and no credentials', () => {
    expect(JSON.stringify(collector.spans)).not.toContain('geheim');
  });

  test('sends the metrics of its registry under the same names, with the values of `/metrics`', () => {
    const [metrics] = [...collector.metrics.values()];
    const byName = new Map(metrics!.map((metric) => [metric.name, metric]));
    const blocked = byName.get('edgeplan_node_requests_total')!;
    expect(blocked).toMatchObject({ kind: 'sum', isMonotonic: true });
    expect(blocked.points).toContainEqual(
      expect.objectContaining({ attributes: { action: 'block', status: '4xx' }, value: 1 }),
    );
    const scraped = new Set([...metricsText.matchAll(/^# TYPE (edgeplan_\w+) /gm)].map(([, name]) => name!));
    const sampled = [...scraped].filter((name) =>
      new RegExp(`^${name}(?:_count)?(?:\\{| )`, 'm').test(metricsText),
    );
    expect(sampled.filter((name) => !byName.has(name))).toEqual([]);
    for (const [name, { kind }] of byName) {
      const declared = METRICS[name as keyof typeof METRICS]?.type ?? kind;
      expect(kind, name).toBe(declared === 'counter' ? 'sum' : declared);
    }
  });

  test('sends a histogram with the counts of each bucket alone', () => {
    const [metrics] = [...collector.metrics.values()];
    const durations = metrics!.find(({ name }) => name === 'edgeplan_node_request_duration_seconds')!;
    const [{ count, bounds, buckets } = { count: 0, bounds: [], buckets: [] }] = durations.points;
    expect(durations.unit).toBe('s');
    expect(count).toBe(6);
    expect(buckets).toHaveLength(bounds.length + 1);
    expect(buckets.reduce((sum, one) => sum + one, 0)).toBe(count);
  });
});

test('a node without `--otlp` passes the trace context of a client on as it is', async () => {
  const node = await startNode('plain', []);
  await ask({ port: node.port, path: '/plain', headers: { traceparent: SAMPLED, tracestate: 'a=1' } });
  await stop(node);
  expect(got.get('/plain')).toMatchObject({ traceparent: SAMPLED, tracestate: 'a=1' });
}, 120_000);

test('a node with workers sends the spans of each worker, and one sum of the metrics', async () => {
  const collector = await startCollector();
  const node = await startNode('workers', ['--workers', '2', '--otlp', collector.url, '--trace-ratio', '1']);
  const answers = await askFromAll(node.port, '/many');
  await until(() => collector.spans.length >= 2 * answers.length, 'the spans', PATIENCE_MS);
  await stop(node);
  const workers = new Set(collector.spans.map(({ resource }) => resource['edgeplan.worker']));
  expect([...workers].sort()).toEqual([0, 1]);
  expect(collector.metrics.size).toBe(1);
  const [instance, metrics] = [...collector.metrics][0]!;
  expect(new Set(collector.spans.map(({ resource }) => resource['service.instance.id']))).toEqual(
    new Set([instance]),
  );
  const requests = metrics.find(({ name }) => name === 'edgeplan_node_requests_total');
  expect(requests?.points.map(({ value }) => value).filter((value) => value > 0)).toEqual([answers.length]);
  await collector.stop();
}, 240_000);

describe('a collector that fails', () => {
  test.each(['hang', 'refuse'] as const)(
    'and does `%s` costs one warning, and no request',
    async (how) => {
      const collector = await startCollector();
      collector.behave(how);
      const node = await startNode(how, ['--otlp', collector.url, '--trace-ratio', '1']);
      for (let round = 0; round < 2; round++) {
        const received = collector.headers.length;
        expect((await ask({ port: node.port, path: '/served' })).status).toBe(200);
        await until(() => collector.headers.length > received, 'an export', PATIENCE_MS);
      }
      await node.said(/the OpenTelemetry collector gets nothing/);
      await stop(node);
      expect(node.err().match(/OpenTelemetry/g)).toHaveLength(1);
      await collector.stop();
    },
    240_000,
  );

  test('and works again is reported once', async () => {
    const collector = await startCollector();
    collector.behave('refuse');
    const node = await startNode('again', ['--otlp', collector.url, '--trace-ratio', '1']);
    await ask({ port: node.port, path: '/before' });
    await node.said(/the OpenTelemetry collector gets nothing: .*400/);
    collector.behave('accept');
    await ask({ port: node.port, path: '/after' });
    await node.said(/the OpenTelemetry collector answers again after 1 failed exports/);
    await stop(node);
    await collector.stop();
  }, 240_000);
});

describe('a server', () => {
  let collector: Collector;

  beforeAll(async () => {
    collector = await startCollector();
    const server = await serve({ otlp: collector.url });
    await server.domain('shop.test');
    await server.call('GET', '/domains/shop.test?secret=geheim');
    await server.call('GET', '/nowhere');
    await until(() => collector.spans.some(({ name }) => name === 'publish'), 'a publication', PATIENCE_MS);
    await server.stop();
  }, 240_000);
  afterAll(() => collector.stop());

  test('sends a span for each request, named by its route', () => {
    const created = collector.spans.find(({ name }) => name === 'POST /domains/')!;
    expect(created).toMatchObject({
      kind: 'server',
      parent: '',
      attributes: { 'http.route': '/domains/', 'http.response.status_code': expect.any(Number) },
      resource: { 'service.name': 'edgeplan-server' },
    });
    const elsewhere = collector.spans.find(({ name }) => name === 'GET')!;
    expect(elsewhere.attributes['http.response.status_code']).toBe(404);
    expect(JSON.stringify(collector.spans)).not.toContain('geheim');
  });

  test('sends a span for each transaction of a request, below that of the request', () => {
    const created = collector.spans.find(({ name }) => name === 'POST /domains/')!;
    const writes = collector.spans.filter(({ parent }) => parent === created.id);
    expect(writes).toContainEqual(
      expect.objectContaining({ name: 'write', kind: 'client', traceId: created.traceId }),
    );
  });

  test('sends a span for each publication', () => {
    const { attributes } = collector.spans.find(({ name }) => name === 'publish')!;
    expect(attributes).toMatchObject({ 'edgeplan.domain': 'shop.test', 'edgeplan.revision': 1 });
  });

  test('sends its metrics', () => {
    const [metrics] = [...collector.metrics.values()];
    expect(metrics!.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['edgeplan_api_requests_total', 'edgeplan_outbox_rows', 'edgeplan_build_info']),
    );
  });
});
