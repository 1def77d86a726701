/** PostgreSQL is killed, cut off and hangs while webhooks are delivered and nodes ship decisions: neither is lost. */
import { execFileSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../support/ask.ts';
import { builtCli } from '../support/built.ts';
import { type Receiver, startReceiver } from '../support/outlets.ts';
import { missingOwnPostgres, type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';
import { until } from '../support/until.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const MISSING = missingOwnPostgres();
const HOST = 'shop.test';
/** Longer than a lease and the wait after a failure. */
const PATIENCE_MS = 150_000;
/** Octets of memory that the server may gain: it queues nothing of what PostgreSQL does not take. */
const MOST_GAINED = 100 * 1_048_576;

let own: OwnPostgres;
let server: Served;
let node: WorkerNode;
let receiver: Receiver;
let origin: Server;

beforeAll(async () => {
  if (MISSING !== null) return;
  await builtCli();
  own = await startOwnPostgres();
  await own.admin("CREATE ROLE plans LOGIN PASSWORD 'one'");
  await own.admin('CREATE DATABASE plans OWNER plans');
  origin = createServer((request, response) => request.resume().on('end', () => response.end('origin')));
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const { port } = origin.address() as AddressInfo;
  receiver = await startReceiver();
  const database = `postgres://plans:one@127.0.0.1:${own.port}/plans`;
  server = await serve({ database, args: ['--requests-per-minute', '1000000'], tier: 'business' });
  await server.domain(HOST);
  const record = { name: '@', type: 'A', destination: '127.0.0.1', port, scheme: 'Http', proxied: true };
  expect((await server.call('POST', `/domains/${HOST}/records/`, record)).status).toBe(200);
  expect((await server.call('POST', '/webhooks/', { url: `${receiver.url}/hook` })).status).toBe(200);
  const env = { ...(await server.node('eu-1')), EDGEPLAN_CONTROL: server.url };
  const flags = ['--data', 'node', '--log-rate', '1', '--ship-lines', '1000', '--trust-proxy', '127.0.0.0/8'];
  node = await startWorkerNode(flags, { cwd: server.folder, env });
  await until(async () => (await visit()).status === 200, 'the plan on the node', 60_000);
}, 240_000);
afterAll(async () => {
  node?.signal('SIGTERM');
  await node?.ended;
  await server?.stop();
  await receiver?.close();
  origin?.closeAllConnections();
  if (origin !== undefined) await new Promise((resolve) => origin.close(resolve));
  await own?.close();
}, 60_000);

async function visit(): Promise<{ readonly status: number; readonly id: string }> {
  const { status, headers } = await ask(node.port, '/', { host: HOST });
  return { status, id: String(headers['x-edgeplan-id']) };
}

function residentOctets(): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(server.pid)], { encoding: 'utf8' })) * 1_024;
}

/** What customers and visitors have been answered. */
interface Traffic {
  /** Message ids of notifications that were acknowledged. */
  readonly owed: string[];
  /** Requests for a notification whose outcome is not known. */
  open: number;
  /** Ids of decisions. */
  readonly visits: string[];
  readonly wrong: string[];
  end(): Promise<void>;
}

function startTraffic(): Traffic {
  let working = true;
  const traffic: Traffic = { owed: [], open: 0, visits: [], wrong: [], end };
  const notify = async (): Promise<void> => {
    while (working) {
      const { status, body, text } = await server.call('POST', '/notifications/test');
      if (status === 202) traffic.owed.push(body.message_id);
      else if (status !== 503) traffic.wrong.push(`${status} ${text}`);
      else if (!text.includes('nothing was changed')) traffic.open++;
      await wait(250);
    }
  };
  const visitAll = async (): Promise<void> => {
    for (; working; await wait(50)) {
      const { status, id } = await visit();
      if (status === 200) traffic.visits.push(id);
      else traffic.wrong.push(`a visitor got ${status}`);
    }
  };
  const all = [notify(), visitAll()];
  async function end(): Promise<void> {
    working = false;
    await Promise.all(all);
  }
  return traffic;
}

function calls(): readonly string[] {
  return receiver.calls.map(({ headers }) => String(headers['webhook-id']));
}

/** Ids of the decisions that the server has, with repeats. */
async function loggedIds(): Promise<readonly string[]> {
  const { code, out, err } = await server.run(['logs', HOST, '--json', '--limit', '10000']);
  expect([code, err]).toEqual([0, expect.not.stringContaining('older')]);
  return out.split('\n').flatMap((line) => (line === '' ? [] : [String(JSON.parse(line).id)]));
}

const CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plans'";

test('every acknowledged notification is delivered and every decision is stored, each decision once', {
  ...requires(MISSING),
  timeout: 480_000,
}, async () => {
  const traffic = startTraffic();
  const goesOn = async (): Promise<void> => {
    const [owed, called] = [traffic.owed.length, calls().length];
    await until(
      () => traffic.owed.length > owed + 3 && calls().length > called + 3,
      'deliveries',
      PATIENCE_MS,
    );
  };
  await goesOn();
  const before = residentOctets();
  let interruptions = 0;
  for (; interruptions < 2; interruptions++) {
    await own.kill();
    await wait(3_000);
    await own.start();
    await goesOn();
  }
  for (; interruptions < 22; interruptions++) {
    await own.admin(CUT);
    await wait(100);
  }
  await goesOn();
  const pids = execFileSync('pgrep', ['-P', String(own.pid())], { encoding: 'utf8' });
  const all = [own.pid(), ...pids.trim().split('\n').map(Number)];
  for (const pid of all) process.kill(pid, 'SIGSTOP');
  await wait(15_000);
  // Some have ended meanwhile, and their connections with them.
  for (const pid of all) process.kill(pid, 'SIGCONT');
  interruptions++;
  await goesOn();
  await traffic.end();
  expect(traffic.wrong).toEqual([]);

  await until(
    () => traffic.owed.every((id) => calls().includes(id)),
    'every acknowledged notification',
    PATIENCE_MS,
  );
  const got = calls();
  const others = new Set(got.filter((id) => !traffic.owed.includes(id)));
  expect(others.size).toBeLessThanOrEqual(traffic.open);
  // One attempt to the endpoint is under way at a time, so an interruption repeats one at most.
  expect(got.length - new Set(got).size).toBeLessThanOrEqual(interruptions);
  await until(
    async () => {
      const ids = new Set(await loggedIds());
      return traffic.visits.every((id) => ids.has(id));
    },
    'every decision',
    PATIENCE_MS,
  );
  const ids = await loggedIds();
  expect(ids.length).toBe(new Set(ids).size);

  expect(residentOctets() - before).toBeLessThan(MOST_GAINED);
  for (const text of [server.logged(), node.err()])
    expect(text).not.toMatch(/unhandled|internal error|\n\s+at /i);
});
