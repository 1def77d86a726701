/** `edgeplan node --upgrade` and SIGUSR2 under load: no request fails, and a process that cannot take over changes nothing. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { requestUpgrade } from '../../src/edge/handover/control-socket.ts';
import { hand, solve } from '../support/ask.ts';
import { builtCli, edgeplan } from '../support/built.ts';
import { makeCertificate, OPENSSL_MISSING } from '../support/make-certificate.ts';
import { requires } from '../support/requires.ts';
import { sizeOf } from '../support/size.ts';
import { until } from '../support/until.ts';
import { startLoad, startUpgradedNode, type UpgradedNode } from '../support/upgraded-node.ts';
import { ask, isRunning } from '../support/worker-node.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-node-upgrade-'));
const file = join(folder, 'edge.yaml');
const certificates = join(folder, 'certificates');
/** What happens under load, and how often. */
const RESTARTS = sizeOf('EDGEPLAN_UPGRADES', { usual: 2, full: 20 });
const FLAG_CHANGES = sizeOf('EDGEPLAN_FLAG_CHANGES', { usual: 1, full: 5 });
/** Half of them at once, the others once the running process has released the folder. */
const FAILING_STARTS = sizeOf('EDGEPLAN_FAILING_STARTS', { usual: 2, full: 5 });
const STEPS = RESTARTS + FLAG_CHANGES + FAILING_STARTS;
/** Clients with one connection each: HTTP/1.1, HTTP/2, and WebSockets of each step. */
const HTTP1 = sizeOf('EDGEPLAN_UPGRADE_CLIENTS', { usual: 16, full: 64 });
const HTTP2 = HTTP1 / 4;
const WEBSOCKETS = 4;
/** Milliseconds that a client rests: a machine of two cores starts the next process beside the load. */
const REST_MS = 10;
/** Against hangs: each step starts a node beside the load. */
const LOADED = { ...requires(OPENSSL_MISSING), timeout: 120_000 + STEPS * 120_000 };
const HTML = { accept: 'text/html', 'user-agent': 'test/1' };

let origin: Server;
const nodes: UpgradedNode[] = [];

beforeAll(async () => {
  await builtCli();
  origin = createServer((_, response) => response.end('served'));
  origin.on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    socket.on('error', () => undefined).pipe(socket);
  });
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const { port } = origin.address() as AddressInfo;
  writeFileSync(
    file,
    `domain: { name: shop.test }
records:
  - { name: '@', type: A, destination: 127.0.0.1, scheme: Http, port: ${port}, proxied: true }
rules:
  - { id: 1, type: rate_limit, path_includes: ['/limited'], limit: 3, window_sec: 3600 }
  - { id: 2, type: captcha, path_includes: ['/members/*'], ttl_sec: 3600 }
  - { id: 3, type: rate_limit, path_includes: ['/steps'], limit: ${STEPS}, window_sec: 86400 }
`,
  );
  if (OPENSSL_MISSING !== null) return;
  const pair = { cert: join(certificates, 'shop.test.crt'), key: join(certificates, 'shop.test.key') };
  await makeCertificate({ names: ['shop.test'], ...pair });
}, 120_000);
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.end()));
});
afterAll(() => {
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(...args: readonly string[]): Promise<UpgradedNode> {
  const data = mkdtempSync(join(folder, 'data-'));
  const node = await startUpgradedNode(['--file', file, ...args], {
    cwd: folder,
    data,
    env: { NODE_OPTIONS: '--trace-warnings' },
  });
  nodes.push(node);
  return node;
}

/** A WebSocket through the node; sends octets and resolves with what comes back. */
async function openWebSocket(port: number): Promise<{ echo(text: string): Promise<string>; socket: Socket }> {
  const socket = connect(port, '127.0.0.1');
  let got = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    got += text;
  });
  socket.on('error', () => undefined);
  const lines = ['Host: shop.test', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  socket.write(['GET /ws HTTP/1.1', ...lines, 'Sec-WebSocket-Key: x', '\r\n'].join('\r\n'));
  await until(() => got.includes('\r\n\r\n'), 'the WebSocket');
  expect(got).toMatch(/^HTTP\/1\.1 101 /);
  return {
    socket,
    async echo(text) {
      got = '';
      socket.write(text, 'latin1');
      return until(() => got.length === text.length && got, 'the echo');
    },
  };
}

/** A visitor that has solved the challenge of `/members`. */
async function solveChallenge(port: number) {
  const sent = { host: 'shop.test', headers: HTML, from: null };
  const page = await ask({ port, path: '/members/a', headers: HTML });
  expect(page.status).toBe(403);
  const proof = await solve({ status: 403, headers: page.headers, body: page.text });
  const [cookie] = (await hand(port, proof, sent)).headers['set-cookie']![0]!.split(';', 1);
  return {
    /** The status of a page with the clearance. */
    cleared: async (): Promise<number> =>
      (await ask({ port, path: '/members/a', headers: { ...HTML, cookie: cookie! } })).status,
    /** Hands the same proof in again. @returns whether it counts */
    again: async (): Promise<boolean> => (await hand(port, proof, sent)).headers['set-cookie'] !== undefined,
  };
}

/** What is done to a running node; `at`: the number among steps of its kind. */
type Step = (node: UpgradedNode, at: number) => Promise<void>;

/** The same command again, or with another flag. */
function upgradeBy(flags: (at: number) => readonly string[]): Step {
  return async (node, at) => {
    const before = node.pid();
    const run = await node.upgrade(...flags(at));
    expect([run.code, run.err.split('\n').at(-2)]).toEqual([0, `process ${node.pid()} serves`]);
    expect(node.pid()).not.toBe(before);
  };
}

/** A build that ends at once, or one that cannot listen after it has got the folder. */
const failToStart: Step = async (node, at) => {
  const before = node.pid();
  if (at % 2 === 0) {
    const command = { program: process.execPath, args: ['-e', 'process.exit(7)'], folder, env: {} };
    const path = join(node.data, 'control.sock');
    const last = await requestUpgrade(path, { command, waitMs: 60_000 }, () => undefined);
    expect(last).toEqual({ kind: 'failed', reason: expect.stringContaining('exit code 7') });
  } else {
    const taken = createTcpServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const run = await node.upgrade('--port', String(port));
    taken.close();
    expect([run.code, run.err]).toEqual([4, expect.stringContaining(`port ${port} is taken`)]);
  }
  expect(node.pid()).toBe(before);
};

/** All steps, those of each kind spread over the whole. */
function stepsOf(): readonly ((node: UpgradedNode) => Promise<void>)[] {
  const kinds: readonly (readonly [number, Step])[] = [
    [RESTARTS, upgradeBy(() => [])],
    [FLAG_CHANGES, upgradeBy((at) => ['--idle', String(50 + at)])],
    [FAILING_STARTS, failToStart],
  ];
  return kinds
    .flatMap(([count, step]) =>
      Array.from({ length: count }, (_, at) => ({ place: (at + 0.5) / count, at, step })),
    )
    .sort((one, other) => one.place - other.place)
    .map(
      ({ at, step }) =>
        (node) =>
          step(node, at),
    );
}

describe.each(['1', '2'])('a node of %s processes', (workers) => {
  test(
    'restarts, changes of flags and failed upgrades fail no request and lose no count',
    LOADED,
    async () => {
      const tls = ['--tls-port', '0', '--certificates', certificates];
      const node = await start('--workers', workers, '--drain', '2', ...tls);
      const { port } = node.first;
      const { cleared, again } = await solveChallenge(port);
      const stepped = async (): Promise<number> => (await ask({ port, path: '/steps' })).status;
      const load = startLoad(node.first, { http1: HTTP1, http2: HTTP2, restMs: REST_MS });
      await until(() => load.answers() > 100, 'traffic');
      for (const step of stepsOf()) {
        const before = node.pid();
        const webSockets = await Promise.all(Array.from({ length: WEBSOCKETS }, () => openWebSocket(port)));
        const left = load.left();
        await step(node);
        for (const webSocket of webSockets) {
          // A ping without a body: the process before serves its WebSockets while it drains.
          expect(await webSocket.echo('\x89\x80\x01\x02\x03\x04')).toBe('\x89\x80\x01\x02\x03\x04');
          webSocket.socket.destroy();
        }
        const answers = load.answers();
        await until(() => load.answers() > answers + 100, 'further traffic');
        expect([await stepped(), await cleared(), await again()]).toEqual([200, 200, false]);
        if (node.pid() === before) continue;
        expect(load.left()).toBeGreaterThan(left);
        await until(() => !isRunning(before), 'the end of the process before');
      }
      await load.stop();
      expect(load.faults).toEqual([]);
      expect(load.answers()).toBeGreaterThan(STEPS * 100);
      // Each step counted one.
      expect(await stepped()).toBe(429);
      // All processes write to one stderr; Node's warnings, such as of listeners, come with a stack there.
      expect(node.first.err()).not.toMatch(/Warning/);
    },
  );

  test('counts of a rate limit, used proofs and clearances are valid after an upgrade', async () => {
    const node = await start('--workers', workers);
    const { port } = node.first;
    const limited = async (): Promise<number> => (await ask({ port, path: '/limited' })).status;
    const { cleared, again } = await solveChallenge(port);
    expect([await limited(), await limited(), await limited()]).toEqual([200, 200, 200]);
    expect(await cleared()).toBe(200);
    expect((await node.upgrade()).code).toBe(0);
    await until(() => !isRunning(node.first.pid), 'the end of the process before');
    expect(await limited()).toBe(429);
    expect(await cleared()).toBe(200);
    expect(await again()).toBe(false);
  });

  test('SIGUSR2 upgrades to the same command', async () => {
    const node = await start('--workers', workers);
    node.first.signal('SIGUSR2');
    await node.first.said(/process \d+ serves; this one, \d+, drains/);
    expect(node.pid()).not.toBe(node.first.pid);
    expect((await ask({ port: node.first.port, path: '/' })).status).toBe(200);
    await until(() => !isRunning(node.first.pid), 'the end of the process before');
    expect((await ask({ port: node.first.port, path: '/' })).status).toBe(200);
    expect(await node.first.status('/readyz')).toBe(200);
  });

  test('a process that is killed while it takes over leaves one that serves', async () => {
    const node = await start('--workers', workers);
    const { port, pid } = node.first;
    const code = await node.follow((line) => {
      const taking = /^process (\d+) takes over/.exec(line)?.[1];
      if (taking !== undefined) process.kill(Number(taking), 'SIGKILL');
    });
    expect(code).toBe(4);
    await node.first.said(/the upgrade failed, this process serves on: it ended with SIGKILL/);
    expect(node.pid()).toBe(pid);
    expect((await ask({ port, path: '/' })).status).toBe(200);
    // The folder is its own again, and so is the control socket.
    expect((await node.upgrade()).code).toBe(0);
    expect((await ask({ port, path: '/' })).status).toBe(200);
  });

  test('the end of a process by kill -9 while another takes over leaves that one', async () => {
    const node = await start('--workers', workers);
    const { port, pid } = node.first;
    await node.follow((line) => line.endsWith('takes over') && process.kill(pid, 'SIGKILL'));
    await until(() => node.pid() !== pid, 'the process that takes over');
    const answers = async (): Promise<boolean> => {
      const answer = await ask({ port, path: '/' }).catch(() => null);
      return answer?.status === 200 && !isRunning(pid);
    };
    await until(answers, 'an answer');
    await until(async () => (await node.first.status('/readyz').catch(() => 0)) === 200, 'readiness');
    expect((await node.upgrade()).code).toBe(0);
  });
});

describe('an upgrade that fails', () => {
  test('a wrong flag or file leaves the running process as it was', async () => {
    const node = await start();
    const { pid, port } = node.first;
    const flag = await node.upgrade('--bogus');
    expect([flag.code, flag.err]).toEqual([2, expect.stringContaining('--bogus')]);
    const missing = await node.upgrade('--file', 'none.yaml');
    expect([missing.code, missing.err]).toEqual([4, expect.stringContaining('there is no file `none.yaml`')]);
    expect(missing.err).toContain('the running process serves on');
    expect(node.pid()).toBe(pid);
    expect((await ask({ port, path: '/' })).status).toBe(200);
  });

  test('a port that is taken is the reason, and the folder goes back', async () => {
    const node = await start();
    const { pid, port } = node.first;
    const taken = createTcpServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const other = (taken.address() as AddressInfo).port;
    const run = await node.upgrade('--port', String(other));
    taken.close();
    expect([run.code, run.err]).toEqual([4, expect.stringContaining(`port ${other} is taken`)]);
    expect(node.pid()).toBe(pid);
    expect((await ask({ port, path: '/' })).status).toBe(200);
    expect((await node.upgrade()).code).toBe(0);
  });

  test.each([
    ['ends at once', ['-e', 'process.exit(7)'], 60_000, 'it ended with exit code 7'],
    [
      'never becomes ready',
      ['-e', 'setInterval(() => undefined, 1000)'],
      500,
      'it is not loaded after 0.5 s',
    ],
  ])('a command that %s is the reason', async (_, args, waitMs, reason) => {
    const node = await start();
    const path = join(node.data, 'control.sock');
    // For the user of the node alone.
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const command = { program: process.execPath, args, folder, env: {} };
    const last = await requestUpgrade(path, { command, waitMs }, () => undefined);
    expect(last).toEqual({ kind: 'failed', reason: expect.stringContaining(reason) });
    expect((await ask({ port: node.first.port, path: '/' })).status).toBe(200);
    expect((await node.upgrade()).code).toBe(0);
  });

  test('a folder without a node is named with the remedy', async () => {
    const data = mkdtempSync(join(folder, 'data-'));
    const run = await edgeplan(['node', '--file', file, '--data', data, '--upgrade'], { cwd: folder });
    expect([run.code, run.err]).toEqual([
      4,
      expect.stringContaining('no node that can be upgraded runs there'),
    ]);
  });
});
