/** Every request that a node refuses is in the log of its domain with its rule and network, however many there are at once. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../support/ask.ts';
import { builtCli } from '../support/built.ts';
import { until } from '../support/publish-setup.ts';
import { type Served, serve } from '../support/served.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const HOST = 'shop.test';
const PATIENCE_MS = 60_000;
/** Requests of each phase. */
const BURST = 4_000;
const NETWORKS = ['192.0.2', '198.51.100', '203.0.113'] as const;
const NETWORK_V6 = '2001:db8:7';

beforeAll(() => builtCli(), 180_000);

interface Shape {
  readonly format: string;
  readonly id: string;
  readonly action: string;
  readonly rule: string | null;
  readonly network: string | null;
  readonly requests: number;
  readonly decision: { readonly action: string; readonly rule: string | null };
  readonly shadow: { readonly action: string; readonly rule: string | null } | null;
  readonly request: { readonly ip: string };
}

/** Numbers by action, rule and network. */
type Sums = Record<string, number>;

function add(sums: Sums, key: string, requests: number): void {
  sums[key] = (sums[key] ?? 0) + requests;
}

function networkOf(ip: string): string {
  return ip.includes(':') ? `${NETWORK_V6}::/48` : `${ip.slice(0, ip.lastIndexOf('.'))}.0/24`;
}

describe('a server and a node of two workers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-counted-'));
  const origin = createServer((request, response) =>
    request.resume().on('end', () => response.end('origin')),
  );
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const seen: Sums = {};
  /** The rule of each path and what it does. */
  const rules = new Map<string, { readonly action: string; readonly rule: string }>();
  let server: Served;
  let node: WorkerNode;

  beforeAll(async () => {
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    const { port } = origin.address() as AddressInfo;
    server = await serve({ tier: 'business' });
    await server.domain(HOST);
    const record = { name: '@', type: 'A', destination: '127.0.0.1', port, scheme: 'Http', proxied: true };
    expect((await server.call('POST', `/domains/${HOST}/records/`, record)).status).toBe(200);
    for (const [type, path, action_mode, action] of [
      ['drop', '/one', 'enforce', 'block'],
      ['drop', '/two', 'enforce', 'block'],
      ['captcha', '/asked', 'enforce', 'challenge'],
      ['drop', '/tried', 'dry_run', 'would-block'],
    ] as const) {
      const body = { path_includes: [path], action_mode };
      const made = await server.call('POST', `/domains/${HOST}/rules/${type}/?wait=published`, body);
      expect(made.status, made.text).toBe(200);
      rules.set(path, { action, rule: `${type}/${made.body.id}` });
    }
    const env = { ...(await server.node('eu-1')), EDGEPLAN_CONTROL: server.url };
    const args = [
      '--data',
      'node',
      '--workers',
      '2',
      '--trust-proxy',
      '127.0.0.0/8',
      '--log-rate',
      '0',
      '--ship-lines',
      '5',
    ];
    node = await startWorkerNode(args, { cwd: folder, env });
    await until(
      async () => (await ask(node.port, '/', { host: HOST })).status === 200,
      'the plan',
      PATIENCE_MS,
    );
  }, 300_000);
  afterAll(async () => {
    node.signal('SIGTERM');
    await node.ended;
    agent.destroy();
    await server.stop();
    origin.closeAllConnections();
    await new Promise((resolve) => origin.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  });

  /** Sends one request over the connections of the burst, and counts it once its response is there. */
  function visit(path: string, ip: string): Promise<void> {
    const headers = { host: HOST, 'x-forwarded-for': ip };
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: node.port, path, headers, agent };
      const sent = httpRequest(options, (response) => {
        response.resume().on('error', reject);
        response.on('end', () => {
          const { action, rule } = rules.get(path)!;
          expect(response.statusCode === 200).toBe(action === 'would-block');
          add(seen, `${action} ${rule} ${networkOf(ip)}`, 1);
          resolve();
        });
      });
      sent.on('error', reject).end();
    });
  }

  async function burst(): Promise<void> {
    const paths = [...rules.keys()];
    await Promise.all(
      Array.from({ length: BURST }, (_, number) => {
        const network = NETWORKS[number % 5];
        const ip = network === undefined ? `${NETWORK_V6}:${number % 9}::1` : `${network}.${number % 250}`;
        return visit(paths[number % 7 < 3 ? 0 : number % 4]!, ip);
      }),
    );
  }

  async function entries(query = ''): Promise<readonly Shape[]> {
    const all: Shape[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await server.call('GET', `/domains/${HOST}/logs/?limit=200${query}${cursor}`);
      all.push(...body.entries);
      if (body.next === null) return all;
      cursor = `&cursor=${body.next}`;
    }
  }

  function sumsOf(list: readonly Shape[]): Sums {
    const sums: Sums = {};
    for (const one of list) {
      if (one.format === 'edgeplan.counted/v1') {
        add(sums, `${one.action} ${one.rule} ${one.network}`, one.requests);
      } else {
        expect(one.format).toBe('edgeplan.decision/v1');
        const { decision, shadow, request } = one;
        const by = decision.action === 'forward' ? shadow! : decision;
        add(sums, `${by === shadow ? 'would-' : ''}${by.action} ${by.rule} ${networkOf(request.ip)}`, 1);
      }
    }
    return sums;
  }

  function total(sums: Sums): number {
    return Object.values(sums).reduce((sum, requests) => sum + requests, 0);
  }

  test('entries and counted lines add up to what visitors saw, by action, rule and network', async () => {
    const began = Date.now();
    await burst();
    const seconds = (Date.now() - began) / 1_000;
    await until(async () => total(sumsOf(await entries())) >= BURST, 'all requests in the log', PATIENCE_MS);
    const list = await entries();
    expect(sumsOf(list)).toEqual(seen);
    expect(Object.keys(seen).length).toBe(16);
    const counted = list.filter(({ format }) => format === 'edgeplan.counted/v1');
    // The bound of --ship-lines: ten seconds of it at once, then its rate.
    expect(list.length - counted.length).toBeLessThanOrEqual(5 * (10 + seconds) + 1);
    expect(await node.metric('edgeplan_node_shipped_lines_dropped_total')).toBe(0);
    expect(await node.metric('edgeplan_node_shipped_requests_counted_total')).toBe(
      counted.reduce((sum, { requests }) => sum + requests, 0),
    );
  }, 120_000);

  test('logs prints counted lines, their filters hold, and explain says what they are', async () => {
    const { rule } = rules.get('/one')!;
    const printed = await server.run([
      'logs',
      HOST,
      '--action',
      'counted',
      '--rule',
      rule,
      '--ip',
      '192.0.2.9',
    ]);
    expect([printed.code, printed.err]).toEqual([0, '']);
    for (const line of printed.out.trimEnd().split('\n'))
      expect(line).toMatch(
        /^2\S+Z {2}block +drop\/\d+ +192\.0\.2\.0\/24 +\d+ requests? until 2\S+Z {2}[0-9a-f-]{36}$/,
      );
    const [id = ''] = /[0-9a-f-]{36}$/m.exec(printed.out) ?? [];
    const explained = await server.run(['explain', id]);
    expect([explained.code, explained.out]).toEqual([
      0,
      expect.stringMatching(
        /^\S+ {2}\S+ to \S+\n\d+ requests? from 192\.0\.2\.0\/24 to shop\.test\nblock by drop\/\d+\n/,
      ),
    ]);
    const { out: log } = await server.run(['logs', HOST, '--json', '--limit', '10000']);
    const offline = await server.run(['explain', id, '--log', '-'], log);
    expect([offline.code, offline.out]).toEqual([0, explained.out]);
    writeFileSync(join(folder, 'edge.yaml'), (await server.run(['export', HOST, '--ids'])).out);
    const replayed = await server.run(['replay', '--log', '-', '-f', join(folder, 'edge.yaml')], log);
    expect([replayed.code, replayed.out]).toEqual([0, expect.stringMatching(/none would change\n$/)]);
    expect(replayed.err).toMatch(/edgeplan: \d+ requests are only counted, without what they asked for\n/);
  }, 120_000);

  test('a stop right after a burst loses none of its requests', async () => {
    await burst();
    node.signal('SIGTERM');
    expect(await node.ended).toBe(0);
    expect(sumsOf(await entries())).toEqual(seen);
    expect(total(seen)).toBe(2 * BURST);
  }, 120_000);
});
