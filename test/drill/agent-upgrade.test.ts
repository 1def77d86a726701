/** `edgeplan agent --upgrade` and SIGUSR2 under load: no decision fails, and a process that cannot take over changes nothing. */
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { requestUpgrade } from '../../src/edge/handover/control-socket.ts';
import { builtCli, edgeplan } from '../support/built.ts';
import { sizeOf } from '../support/size.ts';
import { until } from '../support/until.ts';
import {
  AGENT_SECRET,
  askHttp,
  openSpop,
  type ProxyLoad,
  proxied,
  startProxies,
  startUpgradedAgent,
  type UpgradedAgent,
} from '../support/upgraded-agent.ts';
import { isRunning } from '../support/worker-node.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-agent-upgrade-'));
const file = join(folder, 'edge.yaml');
const secret = join(folder, 'door.secret');
/** Upgrades in a row under load. */
const ROUNDS = sizeOf('EDGEPLAN_UPGRADES', { usual: 3, full: 20 });
/** Against hangs: each round starts an agent beside the load. */
const LOADED = { timeout: 120_000 + ROUNDS * 120_000 };
const agents: UpgradedAgent[] = [];

beforeAll(async () => {
  await builtCli();
  writeFileSync(
    file,
    `domain: { name: shop.test }
records:
  - { name: '@', type: A, destination: 127.0.0.1, proxied: true }
rules:
  - { id: 1, type: rate_limit, path_includes: ['/limited'], limit: 20, window_sec: 3600 }
  - { id: 2, type: drop, path_includes: ['/admin'] }
`,
  );
  writeFileSync(secret, `${AGENT_SECRET}\n`);
}, 120_000);
afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.end()));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Kind = 'TCP' | 'unix sockets';

async function start(kind: Kind, ...args: readonly string[]): Promise<UpgradedAgent> {
  const data = mkdtempSync(join(folder, 'data-'));
  const place = (name: string): string =>
    kind === 'TCP' ? '127.0.0.1:0' : `unix:${join(data, `${name}.s`)}`;
  const doors = ['--spop', place('spop'), '--forward-auth', place('http'), '--ext-authz', place('grpc')];
  const all = ['--file', file, '--secret-file', secret, '--ops-port', '0', ...doors, ...args];
  const agent = await startUpgradedAgent(all, { cwd: folder, data });
  agents.push(agent);
  return agent;
}

/** The statuses of the decisions about so many requests; `null`: forwarded. */
async function askedTimes(agent: UpgradedAgent, count: number): Promise<readonly unknown[]> {
  const on = await openSpop(agent.doors.spop);
  const statuses: unknown[] = [];
  for (let index = 0; index < count; index++) statuses.push((await on.ask('/limited')).status ?? null);
  on.close();
  return statuses;
}

/** Waits until every door has decided again. */
async function moves({ decided }: ProxyLoad, what: string): Promise<void> {
  const before = Object.values(decided).map((count) => count());
  const isMoving = (): boolean => Object.values(decided).every((count, at) => count() > before[at]! + 50);
  await until(isMoving, what, 60_000);
}

describe.each(['TCP', 'unix sockets'] as const)('an agent on %s', (kind) => {
  test('upgrades, changes of flags and failed upgrades fail no decision', LOADED, async () => {
    const agent = await start(kind, '--drain', '2');
    const load = startProxies(agent.doors, 4);
    const flows = (what: string): Promise<void> => moves(load, what);
    await flows('traffic');
    for (let round = 0; round < ROUNDS; round++) {
      const before = agent.pid();
      if (round % 3 === 2) {
        agent.signal('SIGUSR2');
        await until(() => agent.pid() !== before, 'the next process', 60_000);
      } else {
        const run = await agent.upgrade(...(round % 3 === 0 ? [] : ['--log-rate', '0.5']));
        expect([run.code, run.err.split('\n').at(-2)]).toEqual([0, `process ${agent.pid()} serves`]);
      }
      expect(agent.pid()).not.toBe(before);
      await flows('traffic at the new process');
      await until(() => !isRunning(before), 'the end of the process before', 60_000);
      await flows('traffic without the process before');
      const failed = await agent.upgrade('--file', 'none.yaml');
      expect([failed.code, failed.err]).toEqual([
        4,
        expect.stringContaining('the running process serves on'),
      ]);
      await flows('traffic after an upgrade that failed');
    }
    await load.stop();
    expect(load.faults).toEqual([]);
  });

  test('an upgrade while the process before still drains fails no decision', LOADED, async () => {
    const agent = await start(kind, '--drain', '600');
    const load = startProxies(agent.doors, 2);
    const pids = [agent.first];
    for (const which of ['second', 'third']) {
      expect((await agent.upgrade()).code).toBe(0);
      pids.push(agent.pid());
      await moves(load, `traffic at the ${which} process`);
    }
    expect(pids.map(isRunning)).toEqual([true, true, true]);
    // The end of the first process changes nothing for the two others.
    process.kill(pids[0]!, 'SIGKILL');
    await until(() => !isRunning(pids[0]!), 'the end of the first process', 60_000);
    await moves(load, 'traffic without the first process');
    await load.stop();
    expect(load.faults).toEqual([]);
    const on = await openSpop(agent.doors.spop);
    const headers = {
      'X-Edgeplan-Door': AGENT_SECRET,
      'X-Edgeplan-Ticket': String((await on.ask('/admin')).ticket),
    };
    on.close();
    expect((await askHttp(agent.doors.http, { path: '/edgeplan/page', headers })).status).toBe(403);
  });

  test('a rate limit is exact across an upgrade, while requests go on', LOADED, async () => {
    const agent = await start(kind);
    const on = await openSpop(agent.doors.spop);
    const statuses: unknown[] = [];
    let stopping = false;
    const asking = (async () => {
      while (!stopping) {
        statuses.push((await on.ask('/limited')).status ?? null);
        await until(() => true, 'the next request');
      }
    })();
    await until(() => statuses.length >= 5, 'requests');
    expect((await agent.upgrade()).code).toBe(0);
    const seen = statuses.length;
    await until(() => statuses.length > seen + 20, 'requests at the new process', 60_000);
    stopping = true;
    await asking;
    expect(on.isClosed()).toBe(false);
    on.close();
    expect(statuses.filter((status) => status === null)).toHaveLength(20);
    expect(new Set(statuses.slice(20))).toEqual(new Set([429]));
  });

  test('a ticket of the process before is redeemed once at the new one', async () => {
    const agent = await start(kind);
    const on = await openSpop(agent.doors.spop);
    const ticketOf = async (): Promise<string> => String((await on.ask('/admin')).ticket);
    const page = (ticket: string) =>
      askHttp(agent.doors.http, {
        path: '/edgeplan/page',
        headers: { 'X-Edgeplan-Door': AGENT_SECRET, 'X-Edgeplan-Ticket': ticket },
      });
    // A ticket is valid for 10 s, which an upgrade may take on a busy machine: one is issued while the next process starts.
    const issued: string[] = [];
    let stopping = false;
    const asking = (async () => {
      while (!stopping) issued.push(await ticketOf());
    })();
    const [run] = await Promise.all([agent.upgrade(), until(() => issued.length > 0, 'a ticket')]);
    expect(run.code).toBe(0);
    const last = issued.length;
    await until(() => issued.length > last, 'a ticket of the new process', 60_000);
    stopping = true;
    await asking;
    const statuses = await Promise.all(issued.slice(-40).map(page));
    expect(new Set(statuses.map(({ status }) => status))).toEqual(new Set([403]));
    expect((await page(issued.at(-1)!)).status).toBe(503);
    on.close();
  });

  test('SIGTERM after an upgrade ends in order, and removes the files of sockets', async () => {
    const agent = await start(kind, '--drain', '0');
    const { spop } = agent.doors;
    expect((await agent.upgrade()).code).toBe(0);
    await until(() => !isRunning(agent.first), 'the end of the process before', 60_000);
    if (kind === 'unix sockets') expect(statSync(spop.slice(5)).mode & 0o777).toBe(0o660);
    expect(await askedTimes(agent, 1)).toEqual([null]);
    const now = agent.pid();
    agent.signal('SIGTERM');
    await until(() => !isRunning(now), 'the end of the agent', 60_000);
    if (kind === 'unix sockets') expect(existsSync(spop.slice(5))).toBe(false);
  });

  test('a command that fails leaves the running process as it was', async () => {
    const agent = await start(kind);
    const command = { program: process.execPath, args: ['-e', 'process.exit(7)'], folder, env: {} };
    const path = join(agent.data, 'control.sock');
    const last = await requestUpgrade(path, { command, waitMs: 60_000 }, () => undefined);
    expect(last).toEqual({ kind: 'failed', reason: expect.stringContaining('it ended with exit code 7') });
    expect(agent.pid()).toBe(agent.first);
    expect(await askedTimes(agent, 1)).toEqual([null]);
    expect((await askHttp(agent.doors.http, { headers: proxied('/admin') })).status).toBe(403);
    expect((await agent.upgrade()).code).toBe(0);
    expect(await askedTimes(agent, 1)).toEqual([null]);
  });

  test('a door at an address that is taken is the reason, and the other doors are served on', async () => {
    const agent = await start(kind);
    const other = await start(kind);
    const taken = kind === 'TCP' ? other.doors.http.slice('tcp://'.length) : other.doors.http;
    const run = await agent.upgrade('--forward-auth', taken);
    expect([run.code, run.err]).toEqual([4, expect.stringMatching(/is taken|served by another process/)]);
    expect(await askedTimes(agent, 1)).toEqual([null]);
    if (kind === 'unix sockets') expect(existsSync(agent.doors.spop.slice(5))).toBe(true);
    expect((await agent.upgrade()).code).toBe(0);
    expect(await askedTimes(agent, 1)).toEqual([null]);
  });
});

test('the file of a unix socket that the next process does not use is removed', async () => {
  const agent = await start('unix sockets', '--drain', '0');
  const before = agent.doors.grpc.slice('unix:'.length);
  expect((await agent.upgrade('--ext-authz', '127.0.0.1:0')).code).toBe(0);
  await until(() => !existsSync(before), 'the end of the file', 60_000);
  expect(await askedTimes(agent, 1)).toEqual([null]);
});

test('a folder without an agent is named with the remedy', async () => {
  const data = mkdtempSync(join(folder, 'data-'));
  const run = await edgeplan(
    ['agent', '--file', file, '--spop', '127.0.0.1:0', '--data', data, '--upgrade'],
    {
      cwd: folder,
    },
  );
  expect([run.code, run.err]).toEqual([
    4,
    expect.stringContaining('no agent that can be upgraded runs there'),
  ]);
});
