/** `edgeplan agent` with listening sockets of its parent, as systemd passes them (sd_listen_fds(3)), on TCP and unix. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { handleOf } from '../../src/edge/handover/sockets.ts';
import { builtCli } from '../support/built.ts';
import { until } from '../support/until.ts';
import { AGENT_SECRET, askHttp, openSpop, proxied } from '../support/upgraded-agent.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'edgeplan-agent-sockets-'));
const file = join(folder, 'edge.yaml');
const secret = join(folder, 'door.secret');
const open: { close(): unknown }[] = [];

beforeAll(async () => {
  await builtCli();
  writeFileSync(
    file,
    "domain: { name: shop.test }\nrecords:\n  - { name: '@', type: A, destination: 127.0.0.1, proxied: true }\n",
  );
  writeFileSync(secret, AGENT_SECRET);
}, 120_000);
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Passed {
  /** As a door prints it. */
  readonly address: string;
  readonly fd: number;
  readonly server: Server;
}

/** A listening server of this process. @param path of a unix socket; `null`: TCP */
async function listening(path: string | null): Promise<Passed> {
  const server = path === null ? createServer().listen(0, '127.0.0.1') : createServer().listen(path);
  await once(server, 'listening');
  open.push(server);
  const { fd } = handleOf(server) as { readonly fd: number };
  const address =
    path === null ? `tcp://127.0.0.1:${(server.address() as AddressInfo).port}` : `unix:${path}`;
  return { address, fd, server };
}

interface Started {
  readonly child: ChildProcess;
  text(): string;
}

/** Starts an agent with descriptors from 3 on. `exec` leaves the shell's process id to the agent, which LISTEN_PID names. */
async function start(fds: readonly number[], names: string, args: readonly string[] = []): Promise<Started> {
  const data = mkdtempSync(join(folder, 'data-'));
  const line = `LISTEN_FDNAMES=$NAMES LISTEN_FDS=${fds.length} LISTEN_PID=$$ exec "$@"`;
  const command = [process.execPath, MAIN, 'agent', '--file', file, '--data', data, '--drain', '0', ...args];
  const child = spawn('sh', ['-c', line, 'sh', ...command], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, NAMES: names },
    stdio: ['ignore', 'pipe', 'pipe', ...fds],
  });
  let text = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  }
  const ended = once(child, 'close');
  open.push({
    async close() {
      if (child.exitCode === null && child.kill('SIGKILL')) await ended;
    },
  });
  await until(() => /^process \d+$/m.test(text) || child.exitCode !== null, 'the agent', 60_000);
  if (child.exitCode !== null) await ended;
  return { child, text: () => text };
}

test('the doors are open on sockets of TCP and unix, without flags of theirs', async () => {
  const spop = await listening(join(folder, 'spop.sock'));
  const http = await listening(null);
  // Node removes the file of a server that closes.
  const again = join(folder, 'again.sock');
  linkSync(join(folder, 'spop.sock'), again);
  const agent = await start([spop.fd, http.fd], 'spop:forward-auth', ['--secret-file', secret]);
  for (const { server } of [spop, http]) server.close();
  expect(agent.text()).toContain(`SPOP at ${spop.address}`);
  expect(agent.text()).toContain(`HTTP at ${http.address}`);
  expect((await askHttp(http.address, { headers: proxied('/') })).status).toBe(200);
  const on = await openSpop(`unix:${again}`);
  expect(await on.ask('/')).toMatchObject({ action: 'forward' });
  on.close();
});

test.each([
  [
    'an unknown name',
    'http',
    [],
    /LISTEN_FDNAMES: a descriptor is for one of spop, forward-auth, ext-authz, ops/,
  ],
  ['a door with a flag and no socket', 'spop', ['--ext-authz', '127.0.0.1:0'], /no socket for ext-authz/],
])('%s is an error at the start', async (_, names, args, message) => {
  const { fd } = await listening(null);
  const agent = await start([fd], names, args);
  expect([agent.child.exitCode, agent.text()]).toEqual([2, expect.stringMatching(message)]);
});
