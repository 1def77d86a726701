/** What `edgeplan node` tells its operators, of one process and of several: readiness, how it follows, its ports. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { builtCli, edgeplan } from '../support/built.ts';
import { startControlProxy } from '../support/control-proxy.ts';
import { makeCertificate, OPENSSL_MISSING } from '../support/make-certificate.ts';
import { addDomain, addDrop, openHouse, until } from '../support/publish-setup.ts';
import { requires } from '../support/requires.ts';
import { ask, isRunning, startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-node-operations-'));
const file = join(folder, 'edge.yaml');
/** Requests that wait at the origin until they are let go. */
const held: (() => void)[] = [];
let origin: Server;
const nodes: WorkerNode[] = [];

beforeAll(async () => {
  await builtCli();
  origin = createServer((message, response) => {
    if (message.url === '/held') held.push(() => response.end());
    else response.end(message.headers.host);
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const { port } = origin.address() as AddressInfo;
  writeFileSync(
    file,
    `domain: { name: shop.test }
records:
  - { name: '@', type: A, destination: 127.0.0.1, scheme: Http, port: ${port}, proxied: true }
`,
  );
}, 120_000);
afterEach(async () => {
  for (const node of nodes.splice(0)) {
    if (isRunning(node.pid)) node.signal('SIGTERM');
    await node.ended;
  }
});
afterAll(() => {
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<WorkerNode> {
  const data = mkdtempSync(join(folder, 'data-'));
  const node = await startWorkerNode(['--data', data, ...args], { cwd: folder, env });
  nodes.push(node);
  return node;
}

const PATIENT = { timeout: 300_000 };

describe.each(['1', '2'])('a node of %s processes', (workers) => {
  test('a draining node is not ready, and is healthy until its end', PATIENT, async () => {
    const node = await start(['--file', file, '--workers', workers]);
    await until(async () => (await node.status('/readyz')) === 200, 'the node to be ready');
    expect(await node.status('/healthz')).toBe(200);
    held.length = 0;
    const asked = ask({ port: node.port, path: '/held' });
    await until(() => held.length === 1, 'the request at the origin');
    node.signal('SIGTERM');
    const ready = async (): Promise<string> => (await fetch(`${node.operations}/readyz`)).text();
    await until(async () => (await ready()) === 'draining\n', 'the drain to be told');
    expect(await node.status('/healthz')).toBe(200);
    held[0]!();
    expect((await asked).status).toBe(200);
    expect(await node.ended).toBe(0);
  });

  test('a node whose disk accepts no writes is not ready, and serves on', PATIENT, async () => {
    const house = await openHouse({ database: mkdtempSync(join(folder, 'house-')) });
    try {
      const domain = await addDomain(house, 'shop.test');
      const env = { EDGEPLAN_NODE_TOKEN: await house.token('n1') };
      const control = `http://127.0.0.1:${house.port}`;
      const node = await start(['--control', control, '--workers', workers], env);
      const ready = async (): Promise<string> => (await fetch(`${node.operations}/readyz`)).text();
      await until(async () => (await ready()) === 'ready\n', 'the first plan');
      // No file may grow beyond a few octets: every write fails, as on a full disk.
      execFileSync('prlimit', ['--pid', String(node.pid), '--fsize=16:unlimited']);
      await addDrop(house, domain, '/p1');
      const stale = 'changes cannot be stored, so that what is served grows old: EFBIG\n';
      await until(async () => (await ready()) === stale, 'the fault of the disk');
      expect(await node.status('/healthz')).toBe(200);
      expect(await (await fetch(`${node.operations}/metrics`)).text()).toContain(
        '\nedgeplan_node_disk_failing 1\n',
      );
      execFileSync('prlimit', ['--pid', String(node.pid), '--fsize=unlimited:unlimited']);
      await until(async () => (await ready()) === 'ready\n', 'the change');
      expect(await (await fetch(`${node.operations}/metrics`)).text()).toContain(
        '\nedgeplan_node_disk_failing 0\n',
      );
    } finally {
      await house.close();
    }
  });

  test('a node prints that its token is refused, and how to create one', PATIENT, async () => {
    const house = await openHouse({ database: mkdtempSync(join(folder, 'house-')) });
    try {
      const env = { EDGEPLAN_NODE_TOKEN: `edn_${'x'.repeat(43)}` };
      const control = `http://127.0.0.1:${house.port}`;
      const node = await start(['--control', control, '--workers', workers], env);
      await node.said(/^edgeplan: the control plane refuses this node token; .*edgeplan node-token create/m);
    } finally {
      await house.close();
    }
  });

  test('a second node cannot use the same folder', PATIENT, async () => {
    const data = mkdtempSync(join(folder, 'own-'));
    const node = await startWorkerNode(['--file', file, '--data', data, '--workers', workers], {
      cwd: folder,
    });
    nodes.push(node);
    const args = ['node', '--file', file, '--data', data, '--port', '0', '--workers', workers];
    const second = await edgeplan(args, { cwd: folder });
    expect([second.code, second.out]).toEqual([4, '']);
    expect(second.err).toContain(
      `the data folder \`${data}\` is served by process ${node.pid}, which holds `,
    );
    expect(second.err).toContain('; stop it first, or choose another folder\n');
    // However it ends, its folder is free then.
    node.signal('SIGKILL');
    await node.ended;
    nodes.push(await startWorkerNode(args.slice(1), { cwd: folder }));
  });

  test('metrics show the progress of sync', PATIENT, async () => {
    const house = await openHouse({ database: mkdtempSync(join(folder, 'house-')) });
    const proxy = await startControlProxy(house.port);
    try {
      await addDomain(house, 'shop.test');
      await addDomain(house, 'gone.test', { suspended: true });
      const env = { EDGEPLAN_NODE_TOKEN: await house.token('node-1') };
      const node = await start(['--control', proxy.url, '--workers', workers], env);
      // To this machine nothing is in the clear that was not.
      expect(node.err()).not.toContain('in the clear');
      const following = (): Promise<number> => node.metric('edgeplan_node_following');
      await until(async () => (await following()) === 1, 'the feed');
      await until(async () => (await node.metric('edgeplan_node_plans_pending')) === 0, 'all plans');
      for (const series of ['plans_refused', 'reports_waiting', 'traffic_files']) {
        await until(async () => (await node.metric(`edgeplan_node_${series}`)) === 0, series);
      }
      await node.said(/^serving 1 domain; 1 more is not active and refused$/m);
      proxy.target = 0;
      proxy.cutAll();
      await until(async () => (await following()) === 0, 'its end');
      const before = await node.metric('edgeplan_node_control_silent_seconds');
      const silent = (): Promise<number> => node.metric('edgeplan_node_control_silent_seconds');
      await until(async () => (await silent()) > before, 'the silence');
      expect((await ask({ port: node.port, path: '/missing' })).status).not.toBe(421);
      const files = (): Promise<number> => node.metric('edgeplan_node_traffic_files');
      // Its minute is closed first.
      await until(async () => (await files()) === 1, 'the traffic', 180_000);
      // Cut off, it serves what it has.
      expect(await node.status('/readyz')).toBe(200);
    } finally {
      await proxy.close();
      await house.close();
    }
  });

  test('each listener has a public port of its own', requires(OPENSSL_MISSING), async () => {
    const certs = mkdtempSync(join(folder, 'certs-'));
    await makeCertificate({ names: ['shop.test'], cert: join(certs, 'a.crt'), key: join(certs, 'a.key') });
    const tls = ['--tls-port', '0', '--certificates', certs];
    const node = await start([
      ...['--file', file, '--workers', workers, ...tls],
      ...['--public-port', '80', '--public-tls-port', '443'],
    ]);
    expect((await ask({ port: node.port, path: '/' })).text).toBe('shop.test');
    expect(await askSecurely(node.tlsPort!)).toMatch(/\r\n\r\nshop\.test$/);
    const other = await start(['--file', file, '--workers', workers, ...tls, '--public-tls-port', '444']);
    expect((await ask({ port: other.port, path: '/' })).text).toBe(`shop.test:${other.port}`);
    expect(await askSecurely(other.tlsPort!)).toMatch(/\r\n\r\nshop\.test:444$/);
  });
});

test('a public port for HTTPS needs HTTPS', async () => {
  const { code, err } = await edgeplan(['node', '--file', file, '--public-tls-port', '443'], { cwd: folder });
  expect([code, err]).toEqual([2, expect.stringContaining('TLS needs certificates')]);
});

/** The whole answer to a request without `Content-Length`. */
async function askSecurely(port: number): Promise<string> {
  const socket = connectTls({ host: '127.0.0.1', port, servername: 'shop.test', rejectUnauthorized: false });
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  socket.write('GET / HTTP/1.0\r\nHost: shop.test\r\n\r\n');
  await once(socket, 'end');
  socket.destroy();
  return text;
}
