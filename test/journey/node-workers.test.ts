/**
 * `edgeplan node --workers` with an edge file, over real sockets: exact counts, deaths, reloads, TLS, sums, the end. Tests
 * of one group share a node, in their order: starting one takes longer than most of them.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli, edgeplan } from '../support/built.ts';
import { makeCertificate, OPENSSL_MISSING } from '../support/make-certificate.ts';
import { until } from '../support/publish-setup.ts';
import { requires } from '../support/requires.ts';
import {
  ADDRESSES,
  ask,
  askFromAll,
  isRunning,
  NO_CHILDREN,
  oneConnection,
  startWorkerNode,
  type WorkerNode,
} from '../support/worker-node.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-node-workers-'));
const file = join(folder, 'edge.yaml');
/** Requests that wait at the origin until they are let go. */
const held: (() => void)[] = [];
let origin: Server;

function writeEdge(more = ''): void {
  const { port } = origin.address() as AddressInfo;
  writeFileSync(
    file,
    `domain: { name: shop.test }
records:
  - { name: '@', type: A, destination: 127.0.0.1, scheme: Http, port: ${port}, proxied: true }
rules:
  - { id: 1, type: rate_limit, limit: 10, window_sec: 60, path_includes: [/limited], key: ip }
${more}`,
  );
}

beforeAll(async () => {
  await builtCli();
  origin = createServer((message, response) => {
    const answer = (): void => void response.end('from the origin');
    if (message.url === '/held') held.push(answer);
    else answer();
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  writeEdge();
}, 120_000);
afterAll(() => {
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
});

function end(node: WorkerNode): Promise<number | null> {
  if (isRunning(node.pid)) node.signal('SIGTERM');
  return node.ended;
}

function start(...args: string[]): Promise<WorkerNode> {
  const data = mkdtempSync(join(folder, 'data-'));
  return startWorkerNode(['--file', file, '--data', data, ...args], { cwd: folder });
}

const PATIENT = { timeout: 240_000 };

describe('a node of several workers', () => {
  let node: WorkerNode;
  beforeAll(async () => {
    const trusts = ['--trust-proxy', '127.0.0.9', '--proxy-protocol', '127.0.0.8'];
    node = await start('--workers', '4', '--log', '-', '--log-rate', '1', ...trusts);
  }, 90_000);
  afterAll(() => end(node), 60_000);

  test('enforces rate limits exactly per address, and reports one sum of metrics', PATIENT, async () => {
    expect(node.err()).toContain('4 workers; one client address always meets the same one\n');
    const { port } = node;
    for (const from of ['127.0.0.1', '127.0.0.2']) {
      const asked = Array.from({ length: 200 }, () => ask({ port, path: '/limited', from }));
      const statuses = (await Promise.all(asked)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(10);
      expect(statuses.filter((status) => status === 429)).toHaveLength(190);
    }
    expect(await node.metric('edgeplan_node_requests_total{action="forward",status="2xx"}')).toBe(20);
    expect(await node.metric('edgeplan_node_requests_total{action="block",status="4xx"}')).toBe(380);
    expect(await node.metric('edgeplan_node_request_duration_seconds_count')).toBe(400);
    expect(await node.metric('edgeplan_node_plans_installed')).toBe(1);
    for (const worker of ['0', '1', '2', '3']) {
      expect(await node.metric(`edgeplan_node_worker_up{worker="${worker}"}`)).toBe(1);
    }
  });

  test('prints the rate-limit caveat for proxies, and uses their forwarding headers', PATIENT, async () => {
    expect(node.err()).toContain('behind proxies a rate limit allows up to 4 times as much');
    const { port } = node;
    const statuses: number[] = [];
    for (let at = 0; at < 60; at++) {
      const headers = { 'x-forwarded-for': '203.0.113.9' };
      statuses.push((await ask({ port, path: '/limited', from: '127.0.0.9', headers })).status);
    }
    // Dealt out in turn: each of the four has counted to ten.
    expect(statuses.filter((status) => status === 200)).toHaveLength(40);
    // Without the header that is asked of it, a connection is ended.
    await expect(ask({ port, path: '/', from: '127.0.0.8' })).rejects.toThrow();
    expect((await ask({ port, path: '/', from: '127.0.0.7' })).status).toBe(200);
  });

  test('every worker serves a changed edge file, and none a broken one', PATIENT, async () => {
    const block = `  - { id: 2, type: drop, path_includes: [/closed], ips: ['0.0.0.0/0', '::/0'] }\n`;
    const statuses = async (): Promise<unknown> => {
      const answers = await askFromAll(node.port, '/closed');
      return [...new Set(answers.map(({ status }) => status))];
    };
    expect(await statuses()).toEqual([200]);
    writeEdge(block);
    await node.said(/shop\.test: revision 2 is served/);
    expect(await statuses()).toEqual([403]);
    writeEdge(`${block}  - { id: 3, type: nonsense }\n`);
    await node.said(/the last good plan is served on/);
    expect(await statuses()).toEqual([403]);
    writeEdge();
    await node.said(/shop\.test: revision 3 is served/);
    expect(await statuses()).toEqual([200]);
  });

  test('a stop answers running requests, ends all processes, and logs every request', PATIENT, async () => {
    const pids = NO_CHILDREN === null ? node.workers() : [];
    held.length = 0;
    const asked = ADDRESSES.slice(0, 12).map((from) => ask({ port: node.port, path: '/held', from }));
    await until(() => held.length === 12, 'the requests at the origin');
    node.signal('SIGTERM');
    await until(
      () =>
        ask({ port: node.port, path: '/' }).then(
          () => false,
          () => true,
        ),
      'the end of listening',
    );
    for (const answer of held) answer();
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(asked.map(() => 200));
    expect(await node.ended).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
    const lines = node.out().split('\n');
    const logged = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
    expect(new Set(logged.map(({ id }) => id)).size).toBe(logged.length);
    const count = (target: string): number =>
      logged.filter(({ request }) => request.target === target).length;
    expect([count('/limited'), count('/held')]).toEqual([460, 12]);
  });
});

test('refuses impossible numbers of workers, and prints why a worker cannot start', async () => {
  const run = (...args: string[]) => edgeplan(['node', '--file', file, ...args], { cwd: folder });
  const refusals = ['0', '-1', '257', 'many'].map(async (workers) => {
    const { code, err } = await run('--workers', workers);
    expect([code, err]).toEqual([2, expect.stringContaining('a number from 1 to 256, or `auto`')]);
  });
  const data = ['--data', join(folder, 'data'), '--port', '0', '--tls-port', '0'];
  const { code, err } = await run('--workers', '2', ...data, '--certificates', join(folder, 'nowhere'));
  const says = /^edgeplan: `\S+nowhere` is no folder.*\n.*--certificates/;
  expect([code, err]).toEqual([3, expect.stringMatching(says)]);
  await Promise.all(refusals);
});

/** An origin whose probes are unanswered until `answer`, and an edge file with a pool of it. */
async function startProbed() {
  const waiting: ServerResponse[] = [];
  let answersProbes = false;
  const probed = createServer((_, response) => {
    if (answersProbes) response.end();
    else waiting.push(response);
  });
  probed.listen(0, '127.0.0.1');
  await once(probed, 'listening');
  const { port } = probed.address() as AddressInfo;
  const records = `domain: { name: shop.test }
records:
  - { name: '@', type: A, destination: 127.0.0.1, scheme: Http, port: ${port}, proxied: true }
`;
  return {
    plain: records,
    pooled: `${records}rules:
  - id: 1
    type: origin_pool
    origins: [{ address: 127.0.0.1, port: ${port}, scheme: http }]
    health_check: { enabled: true, path: /healthz, interval_sec: 60, timeout_sec: 60 }
`,
    waiting,
    answer() {
      answersProbes = true;
      for (const response of waiting) response.end();
    },
    close() {
      probed.closeAllConnections();
      probed.close();
    },
  };
}

test('a node of several workers is ready once each has probed its pools', PATIENT, async () => {
  const probed = await startProbed();
  const pooled = join(folder, 'pooled.yaml');
  writeFileSync(pooled, probed.pooled);
  const data = mkdtempSync(join(folder, 'data-'));
  const node = await startWorkerNode(['--file', pooled, '--data', data, '--workers', '2'], { cwd: folder });
  try {
    await until(() => probed.waiting.length === 2, 'a probe of each worker');
    const early = await fetch(`${node.operations}/readyz`);
    expect([early.status, await early.text()]).toEqual([503, expect.stringContaining('first probes')]);
    probed.answer();
    await until(async () => (await node.status('/readyz')) === 200, 'the end of the first round');
    expect(await end(node)).toBe(0);
  } finally {
    probed.close();
  }
});

test.each([1, 2])(
  'a pool that is published later does not take a ready node of %i processes out of its balancer',
  PATIENT,
  async (workers) => {
    const probed = await startProbed();
    const later = join(folder, `later-${workers}.yaml`);
    writeFileSync(later, probed.plain);
    const data = mkdtempSync(join(folder, 'data-'));
    const args = ['--file', later, '--data', data, '--workers', String(workers)];
    const node = await startWorkerNode(args, { cwd: folder });
    try {
      await until(async () => (await node.status('/readyz')) === 200, 'the node to be ready');
      writeFileSync(later, probed.pooled);
      node.signal('SIGHUP');
      await until(() => probed.waiting.length === workers, 'a probe of each process');
      expect(await node.status('/readyz')).toBe(200);
    } finally {
      probed.answer();
      expect(await end(node)).toBe(0);
      probed.close();
    }
  },
);

describe('workers that fail', requires(NO_CHILDREN), () => {
  let node: WorkerNode;
  beforeAll(async () => {
    node = await start('--workers', '3');
  }, 90_000);
  afterAll(() => end(node), 60_000);

  test('a killed worker is replaced, and connections of other workers continue', PATIENT, async () => {
    const { port } = node;
    const connections = ADDRESSES.map((from) => ({ from, agent: oneConnection() }));
    const askOnAll = (): Promise<readonly number[]> =>
      Promise.all(
        connections.map(({ from, agent }) =>
          ask({ port, path: '/', from, agent }).then(
            ({ status }) => status,
            () => 0,
          ),
        ),
      );
    const socketsOf = () => connections.flatMap(({ agent }) => Object.values(agent.freeSockets).flat());
    expect(new Set(await askOnAll())).toEqual(new Set([200]));
    const sockets = socketsOf();
    const [victim, ...others] = node.workers();
    process.kill(victim!, 'SIGKILL');
    await node.said(/worker \d ended \(SIGKILL\); another one starts at once/);
    await until(() => sockets.some((socket) => socket?.destroyed), 'the lost connections');
    // They wait for its successor, once more where a busy machine takes longer to start it than they may.
    const isWhole = async (): Promise<boolean> => (await askOnAll()).every((status) => status === 200);
    await until(isWhole, 'answers to all', 60_000);
    await node.said(/worker \d serves again \(pid \d+\)/);
    const lost = sockets.filter((socket) => socket?.destroyed).length;
    expect(lost).toBeGreaterThan(0);
    expect(lost).toBeLessThan(ADDRESSES.length);
    expect(node.workers()).toEqual(expect.arrayContaining(others));
    expect(node.workers()).toHaveLength(3);
    await until(async () => (await node.status('/readyz')) === 200, 'the node to be ready again');
    expect(await node.status('/healthz')).toBe(200);
    expect(await node.metric('edgeplan_node_worker_restarts_total')).toBe(1);
    for (const { agent } of connections) agent.destroy();
  });

  test('a worker without heartbeats is killed and replaced', PATIENT, async () => {
    const [victim] = node.workers();
    const said = node.err().length;
    process.kill(victim!, 'SIGSTOP');
    // Those of its addresses wait for its successor, unless a busy machine takes longer to start it than they may.
    const asked = ADDRESSES.map((from) =>
      ask({ port: node.port, path: '/', from }).then(
        ({ status }) => status,
        () => 'refused',
      ),
    );
    await node.said(new RegExp(`worker \\d \\(pid ${victim}\\) has given no sign of life for 5 seconds`));
    const answers = new Set(await Promise.all(asked));
    await until(async () => (await node.status('/healthz')) === 200, 'a worker in its place');
    expect(isRunning(victim!)).toBe(false);
    expect(node.workers()).not.toContain(victim);
    const refused = node.err().slice(said).includes('was away or behind for too long; connections refused');
    expect([answers.has(200), answers.has('refused')]).toEqual([true, refused]);
    expect(new Set((await askFromAll(node.port, '/')).map(({ status }) => status))).toEqual(new Set([200]));
  });

  test('all end when the primary is killed', PATIENT, async () => {
    const pids = node.workers();
    expect(pids).toHaveLength(3);
    node.signal('SIGKILL');
    await until(() => pids.every((pid) => !isRunning(pid)), 'the end of the workers');
  });
});

test(
  'every worker has the certificates, resumes sessions, and follows their change',
  requires(OPENSSL_MISSING),
  async () => {
    const certs = join(folder, 'certs');
    const pair = { names: ['shop.test'], cert: join(certs, 'shop.crt'), key: join(certs, 'shop.key') };
    await makeCertificate(pair);
    const node = await start('--workers', '3', '--tls-port', '0', '--certificates', certs);
    const begin = (from: string, more: object = {}): TLSSocket => {
      return connectTls({
        socket: connect({ host: '127.0.0.1', port: node.tlsPort!, localAddress: from }),
        servername: 'shop.test',
        rejectUnauthorized: false,
        ...more,
      });
    };
    const open = async (from: string, more: object = {}): Promise<TLSSocket> => {
      const socket = begin(from, more);
      await once(socket, 'secureConnect');
      return socket;
    };
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const limits = { minVersion: version, maxVersion: version };
      const first = begin(ADDRESSES[0]!, limits);
      const session = once(first, 'session');
      first.end('GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n');
      first.resume();
      const [ticket] = (await session) as [Buffer];
      const resumed = ADDRESSES.map(async (from) => {
        const socket = await open(from, { ...limits, session: ticket });
        expect([from, socket.isSessionReused()]).toEqual([from, true]);
        socket.destroy();
      });
      await Promise.all(resumed);
    }
    const serials = async (): Promise<ReadonlySet<string>> => {
      const found = ADDRESSES.map(async (from) => {
        const socket = await open(from);
        const { serialNumber } = socket.getPeerCertificate();
        socket.destroy();
        return serialNumber;
      });
      return new Set(await Promise.all(found));
    };
    const before = await serials();
    expect(before.size).toBe(1);
    await makeCertificate(pair);
    node.signal('SIGHUP');
    await until(async () => {
      const after = await serials();
      return after.size === 1 && [...after].every((serial) => !before.has(serial));
    }, 'the new certificate at all workers');
    expect(await end(node)).toBe(0);
  },
);
