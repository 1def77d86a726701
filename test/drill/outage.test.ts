/**
 * An outage from end to end: a real origin ends behind a real node; one incident opens and resolves, one e-mail and one
 * webhook report each, and restarts of server and node in between change nothing. It takes as long as an outage does, since
 * minutes are judged some minutes after their end.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { type MailServer, type Receiver, startMailServer, startReceiver } from '../support/outlets.ts';
import { type Served, serve } from '../support/served.ts';
import { until } from '../support/until.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

/** Against hangs: what is waited for takes some six minutes. */
const PATIENCE_MS = 20 * 60_000;
const NAME = 'shop.test';

let folder: string;
let mail: MailServer;
let receiver: Receiver;
let webhook: Webhook;
/** Calls by their id, verified when they arrive: a signature is valid for five minutes. */
const verified = new Map<unknown, { readonly type: string }>();
let served: Served;
let nodeEnv: Readonly<Record<string, string>>;
let node: WorkerNode;
let origin: Server;
let originPort: number;

beforeAll(async () => {
  await builtCli();
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-outage-'));
  mail = await startMailServer();
  receiver = await startReceiver(({ body, headers }) => {
    const call = webhook.verify(body, headers as Record<string, string>) as { readonly type: string };
    verified.set(headers['webhook-id'], call);
  });
  origin = startOrigin(0);
  await once(origin, 'listening');
  originPort = (origin.address() as AddressInfo).port;
  await startServer(0);
  nodeEnv = await served.node('node-1');
  await startNode();
}, PATIENCE_MS);
afterAll(async () => {
  await stopNode();
  await served.stop();
  await stopOrigin();
  await Promise.all([mail.close(), receiver.close()]);
  rmSync(folder, { recursive: true, force: true });
}, PATIENCE_MS);

function startOrigin(port: number): Server {
  return createServer((_, response) => response.end('shop')).listen(port, '127.0.0.1');
}

async function stopOrigin(): Promise<void> {
  if (!origin.listening) return;
  origin.closeAllConnections();
  origin.close();
  await once(origin, 'close');
}

async function startServer(port: number): Promise<void> {
  const outlets = ['--smtp', mail.url, '--mail-from', 'alerts@edge.example'];
  const args = ['--port', String(port), '--allow-origins', '127.0.0.0/8', ...outlets];
  served = await serve({ database: join(folder, 'data'), args });
}

/** The second process has the port of the first, which the node knows. */
async function restartServer(): Promise<void> {
  const { port } = served;
  process.kill(served.pid, 'SIGKILL');
  await served.stop();
  await startServer(port);
}

async function startNode(): Promise<void> {
  const args = ['--control', served.url, '--data', join(folder, 'node')];
  node = await startWorkerNode(args, {
    cwd: folder,
    env: { EDGEPLAN_NODE_TOKEN: nodeEnv['EDGEPLAN_NODE_TOKEN']! },
  });
}

async function stopNode(): Promise<void> {
  node.signal('SIGTERM');
  await node.ended;
}

/** The status of one request; 0: no response. */
function ask(): Promise<number> {
  return new Promise((resolve) => {
    const place = { host: '127.0.0.1', port: node.port, agent: false, headers: { host: NAME } };
    const sent = request(place, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!));
    });
    sent.on('error', () => resolve(0)).end();
  });
}

/** Asks until so many requests in a row had a status. */
async function askUntil(status: number, count: number): Promise<void> {
  let row = 0;
  await until(
    async () => {
      row = (await ask()) === status ? row + 1 : 0;
      return row >= count;
    },
    `${count} responses of ${status}`,
    PATIENCE_MS,
  );
}

const minuteNow = (): number => Math.floor(Date.now() / 60_000);

async function nextMinute(): Promise<void> {
  const minute = minuteNow();
  await until(() => minuteNow() > minute, 'the next minute', PATIENCE_MS);
}

async function startOriginAgain(): Promise<void> {
  origin = startOrigin(originPort);
  await once(origin, 'listening');
}

/** Ends the origin so that most requests of the minute fail. On a machine that needs longer than a minute: the next one. */
async function failInOneMinute(): Promise<void> {
  for (;;) {
    await nextMinute();
    const minute = minuteNow();
    await askUntil(200, 5);
    await stopOrigin();
    await askUntil(502, 100);
    if (minuteNow() === minute) return;
    await startOriginAgain();
  }
}

interface ShownIncident {
  readonly began_at: string;
  readonly resolved_at: string | null;
  readonly resolution: string | null;
  readonly errors: number;
}

/** Milliseconds between two requests: a key has 300 a minute. */
const PAUSE_MS = 500;

async function read<Body>(path: string): Promise<Body> {
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  const { status, body, text } = await served.call('GET', `/domains/${NAME}/uptime/${path}`);
  expect([status, text]).toEqual([200, expect.anything()]);
  return body as Body;
}

const incidents = (): Promise<readonly ShownIncident[]> => read('incidents/');

/**
 * Subjects of mails about the outage. A mail is sent at least once: one whose delivery a kill has cut off arrives again under
 * its Message-ID.
 */
function subjects(): readonly string[] {
  const byId = new Map(
    mail.mails.map(({ raw }) => [
      /^Message-ID: (.*)$/im.exec(raw)?.[1],
      /^Subject: (.*)$/m.exec(raw)?.[1]?.trim() ?? '',
    ]),
  );
  return [...byId.values()].filter((subject) => subject.includes(NAME));
}

test('an origin that ends is one incident with one e-mail and one webhook, whatever is restarted in between', {
  timeout: PATIENCE_MS,
}, async () => {
  await served.domain(NAME);
  const settings = {
    uptime_threshold_pct: 50,
    uptime_window_min: 2,
    uptime_min_requests: 10,
    uptime_min_active_min: 1,
    uptime_recover_min: 1,
  };
  expect((await served.call('PUT', `/domains/${NAME}`, settings)).status).toBe(200);
  const place = { type: 'A', destination: '127.0.0.1', scheme: 'Http', port: originPort };
  const record = { name: '@', ...place, proxied: true, monitor: true };
  expect((await served.call('POST', `/domains/${NAME}/records/?wait=published`, record)).status).toBe(200);
  const contact = ['account', 'contact', 'owner', '--email', 'ann@shop.example', ...served.data];
  expect((await served.run(contact)).code).toBe(0);
  const added = await served.run(['notifications', 'webhooks', 'add', `${receiver.url}/hook`]);
  webhook = new Webhook(added.out.trim());

  await failInOneMinute();
  // The minute is stored and not judged, then the incident is open: nothing of either is in memory alone.
  await stopNode();
  await restartServer();
  await startNode();
  await nextMinute();
  await startOriginAgain();
  await askUntil(200, 20);
  const lasting = setInterval(() => void ask(), 200);
  try {
    await until(async () => (await incidents()).length > 0, 'the incident', PATIENCE_MS);
    await restartServer();
    await until(async () => (await incidents())[0]!.resolved_at !== null, 'its end', PATIENCE_MS);
    await until(
      () => subjects().some((subject) => subject.includes('answers again')),
      'the mails',
      PATIENCE_MS,
    );
    await until(
      () => receiver.calls.some(({ body }) => body.includes('outage.resolved')),
      'the webhooks',
      PATIENCE_MS,
    );
    await restartServer();
    const judged = async (): Promise<number> =>
      Date.parse((await read<{ readonly judged_through: string }>('')).judged_through);
    const before = await judged();
    await until(async () => (await judged()) > before, 'another minute', PATIENCE_MS);
  } finally {
    clearInterval(lasting);
  }
  const [incident, ...others] = await incidents();
  expect(others).toEqual([]);
  expect(incident).toMatchObject({ resolution: 'recovered' });
  expect(incident!.errors).toBeGreaterThanOrEqual(100);
  expect(subjects()).toEqual([
    expect.stringContaining(`Outage: the origin of ${NAME} fails`),
    expect.stringContaining(`${NAME} answers again`),
  ]);
  const calls = [...verified.values()].filter(({ type }) => type.startsWith('outage.'));
  expect(calls).toMatchObject([
    { type: 'outage.opened', data: { domain: NAME } },
    { type: 'outage.resolved', data: { domain: NAME, details: { cause: 'recovered' } } },
  ]);
});
