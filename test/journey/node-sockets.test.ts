/** `edgeplan node` with listening sockets of its parent, as systemd passes them (sd_listen_fds(3)), and `--ops-address`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { handleOf } from '../../src/edge/handover/sockets.ts';
import { builtCli, edgeplan } from '../support/built.ts';
import { until } from '../support/until.ts';
import { ask } from '../support/worker-node.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'edgeplan-node-sockets-'));
const file = join(folder, 'edge.yaml');
const open: { close(): unknown }[] = [];

beforeAll(async () => {
  await builtCli();
  writeFileSync(
    file,
    "domain: { name: shop.test }\nrecords:\n  - { name: '@', type: A, destination: 127.0.0.1, proxied: true }\n",
  );
}, 120_000);
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A listening server of this process, which accepts nothing once its descriptor is passed and it is closed. */
async function listening(): Promise<{ readonly port: number; readonly fd: number; readonly server: Server }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(server);
  const { fd } = handleOf(server) as { readonly fd: number };
  return { port: (server.address() as AddressInfo).port, fd, server };
}

interface Started {
  readonly child: ChildProcess;
  text(): string;
}

/** Starts a node with descriptors from 3 on. `exec` leaves the shell's process id to the node, which LISTEN_PID names. */
function start(fds: readonly number[], names: string | null, args: readonly string[] = []): Started {
  const data = mkdtempSync(join(folder, 'data-'));
  const line = `${names === null ? '' : 'LISTEN_FDNAMES=$NAMES '}LISTEN_FDS=${fds.length} LISTEN_PID=$$ exec "$@"`;
  const command = [process.execPath, MAIN, 'node', '--file', file, '--data', data, '--drain', '0', ...args];
  const child = spawn('sh', ['-c', line, 'sh', ...command], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, NAMES: names ?? '' },
    stdio: ['ignore', 'pipe', 'pipe', ...fds],
  });
  let text = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  }
  open.push({
    async close() {
      if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'close');
    },
  });
  return { child, text: () => text };
}

describe('sockets of the parent', () => {
  test.each([
    ['by their names', 'ops:http', ['ops', 'http']],
    ['by their order, with names that systemd gives units', 'node.socket:node.socket', ['http']],
    ['by their order, without names', null, ['http']],
  ])('the node listens on them %s', async (_, names, order) => {
    const sockets = await Promise.all(order.map(listening));
    const placed = names === 'node.socket:node.socket' ? 'node.socket' : names;
    const node = start(
      sockets.map(({ fd }) => fd),
      placed,
    );
    await until(() => /^plans from /m.test(node.text()) || node.child.exitCode !== null, 'the node');
    for (const { server } of sockets) server.close();
    const portOf = (name: string): number => sockets[order.indexOf(name)]!.port;
    expect(node.text()).toContain(`listening on http://127.0.0.1:${portOf('http')}`);
    expect((await ask({ port: portOf('http'), path: '/', headers: { host: 'other.test' } })).status).toBe(
      421,
    );
    if (!order.includes('ops')) return;
    const ready = await fetch(`http://127.0.0.1:${portOf('ops')}/readyz`);
    expect(ready.status).toBe(200);
  });

  test.each([
    [
      'an unknown name',
      'web',
      [],
      /LISTEN_FDNAMES: a descriptor is for one of http, https, ops; found `web`/,
    ],
    [
      'no socket for HTTPS',
      'http',
      ['--certificates', '.'],
      /LISTEN_FDS has no socket for https, found http/,
    ],
    ['no socket for HTTP', 'ops', [], /LISTEN_FDS has no socket for http, found ops/],
  ])('%s is an error at the start', async (_, names, args, message) => {
    const { fd } = await listening();
    const node = start([fd], names, args);
    await once(node.child, 'close');
    expect([node.child.exitCode, node.text()]).toEqual([2, expect.stringMatching(message)]);
  });

  test('a descriptor that does not listen is an error at the start', async () => {
    const fd = openSync('/dev/null', 'r');
    const node = start([fd], 'http');
    await once(node.child, 'close');
    closeSync(fd);
    expect([node.child.exitCode, node.text()]).toEqual([
      2,
      expect.stringMatching(/descriptor 3 of LISTEN_FDS, for `http`, is no socket/),
    ]);
  });

  test('two sockets for one listener are an error at the start', async () => {
    const [one, two] = [await listening(), await listening()];
    const node = start([one.fd, two.fd], 'http:http');
    await once(node.child, 'close');
    expect(node.text()).toContain('two are for the listener `http`');
  });
});

describe('--ops-address', () => {
  test('the health and metrics listener answers at the address, with a warning off loopback', async () => {
    const node = start([], null, ['--port', '0', '--ops-port', '0', '--ops-address', '0.0.0.0']);
    await until(() => /^plans from /m.test(node.text()) || node.child.exitCode !== null, 'the node');
    expect(node.text()).toContain('--ops-address 0.0.0.0: metrics have no authentication');
    const port = Number(/operators: http:\/\/0\.0\.0\.0:(\d+)\/metrics/.exec(node.text())![1]);
    // A probe elsewhere names the node as it knows it.
    const answer = await ask({ port, path: '/readyz', headers: { host: 'node-1.example.net' } });
    expect([answer.status, answer.text]).toEqual([200, 'ready\n']);
  });

  test.each([
    [['--ops-address', '0.0.0.0'], '--ops-address has no effect without --ops-port'],
    [['--ops-port', '0', '--ops-address', 'all'], 'an IPv4 or IPv6 address'],
  ])('%j is refused', async (args, message) => {
    const run = await edgeplan(['node', '--file', file, '--data', folder, ...args], { cwd: folder });
    expect([run.code, run.err]).toEqual([2, expect.stringContaining(message)]);
  });
});
