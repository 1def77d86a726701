/** `edgeplan agent` with listening sockets of its parent, as systemd passes them (sd_listen_fds(3)), on TCP and unix. */
import { linkSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  type ActivatedAgent,
  type PassedSocket,
  passSocket,
  startActivatedAgent,
} from '../support/activated-agent.ts';
import { builtCli } from '../support/built.ts';
import { AGENT_SECRET, askHttp, openSpop, proxied } from '../support/upgraded-agent.ts';

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

async function listening(path: string | null): Promise<PassedSocket> {
  const passed = await passSocket(path);
  open.push(passed.server);
  return passed;
}

async function start(
  fds: readonly number[],
  names: string,
  args: readonly string[] = [],
): Promise<ActivatedAgent> {
  const agent = await startActivatedAgent({ folder, file, fds, names }, args);
  open.push({ close: agent.end });
  return agent;
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
