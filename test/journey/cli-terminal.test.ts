/** A terminal interprets nothing that commands and nodes print of others: texts of a server's answers, and of visitors. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtCli, edgeplan, type Run } from '../support/built.ts';
import { type ControlProxy, startControlProxy } from '../support/control-proxy.ts';
import { say } from '../support/raw.ts';
import { type Served, serve } from '../support/served.ts';
import { until } from '../support/until.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const HOST = 'shop.test';
/** Sets the title of a terminal, clears it by a control of C1, turns the direction of text, and begins a line of its own. */
const HOSTILE = '\u001b]0;owned\u0007\u009b2J\u202e\r\nowned';
// The commands' own lines end with a line feed.
const INTERPRETED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|^owned/mu;
const PATIENCE_MS = 60_000;

let server: Served;
let proxy: ControlProxy;
let origin: Server;
let node: WorkerNode;

/** A copy of an answer in which every text but times ends hostile. */
function poisoned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(poisoned);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, key === 'format' ? one : poisoned(one)]),
    );
  if (typeof value !== 'string' || /^\d{4}-\d\d-\d\dT/.test(value)) return value;
  return `${value}${HOSTILE}`;
}

function poisonedBody(_path: string, body: Buffer): Buffer {
  // The head says how it is encoded; by the magic number of gzip (RFC 1952, §2.3.1).
  const isGzip = body[0] === 0x1f && body[1] === 0x8b;
  const plain = (isGzip ? gunzipSync(body) : body).toString('utf8');
  const hostile = Buffer.from(JSON.stringify(poisoned(JSON.parse(plain))));
  return isGzip ? gzipSync(hostile) : hostile;
}

function run(line: string): Promise<Run> {
  return edgeplan(line.split(' '), {
    cwd: server.folder,
    env: { ...server.env, EDGEPLAN_SERVER: proxy.url },
  });
}

/** What of the output a terminal would interpret; `null`: nothing. */
function interpreted({ out, err }: Run): string | null {
  return (INTERPRETED.exec(out) ?? INTERPRETED.exec(err))?.[0] ?? null;
}

beforeAll(async () => {
  await builtCli();
  origin = createServer((request, response) => request.resume().on('end', () => response.end('origin')));
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const { port } = origin.address() as AddressInfo;
  server = await serve({ tier: 'business' });
  proxy = await startControlProxy(server.port);
  await server.domain(HOST);
  const post = async (path: string, body: unknown): Promise<void> => {
    const answer = await server.call('POST', path, body);
    expect([200, 201, 202], answer.text).toContain(answer.status);
  };
  const record = { name: '@', type: 'A', destination: '127.0.0.1', port, scheme: 'Http', proxied: true };
  await post(`/domains/${HOST}/records/`, record);
  await post(`/domains/${HOST}/rules/drop/`, { path_includes: ['/x*'] });
  await post('/tickets/', { subject: 'help', message: 'a text', domain: HOST });
  await post(`/domains/${HOST}/members/`, { name: 'other', role: 'editor' });
  await post('/webhooks/', { url: 'https://example.com/hook' });
  await post('/notifications/test', {});
  const env = { ...(await server.node('eu-1')), EDGEPLAN_CONTROL: server.url };
  node = await startWorkerNode(['--data', 'node', '--log', '-', '--log-rate', '1'], {
    cwd: server.folder,
    env,
  });
  const visit = (path: string): Promise<string> =>
    say(
      node.port,
      `GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\nUser-Agent: a\x9b2J\x85b\r\nConnection: close\r\n\r\n`,
    );
  await until(async () => (await visit('/')).includes(' 200 '), 'the plan on the node', PATIENCE_MS);
  await visit('/x?a=%1b%5b2J');
  await until(async () => (await run(`logs ${HOST} --json`)).out.includes('2J'), 'the entry', PATIENCE_MS);
}, 180_000);
afterAll(async () => {
  node?.signal('SIGTERM');
  await node?.ended;
  await proxy?.close();
  await server?.stop();
  origin?.closeAllConnections();
  await new Promise((resolve) => origin.close(resolve));
});

test('a visitor reaches no terminal: by the log of a node, by logs, and by explain', async () => {
  await until(() => node.out().includes('"/x'), 'the line of the node', PATIENCE_MS);
  expect(INTERPRETED.exec(node.out())).toBeNull();
  // What was sent is there, escaped, and reads as it was sent.
  const lines = node
    .out()
    .split('\n')
    .filter((line) => line.startsWith('{'));
  const agents = lines.map((line) => JSON.parse(line).request?.headers?.['user-agent']);
  expect(agents).toContain('a\u009b2J\u0085b');
  const { id } = JSON.parse(lines.find((line) => line.includes('"/x'))!);
  for (const line of [`logs ${HOST}`, `logs ${HOST} --json`, `explain ${id} --domain ${HOST}`]) {
    const found = await run(line);
    expect([line, found.code, interpreted(found)]).toEqual([line, 0, null]);
  }
});

const COMMANDS = [
  ...['audit shop.test', 'audit shop.test --json', 'cache show shop.test', 'cache entries shop.test'],
  ...['cache purge shop.test', 'draft show shop.test', 'draft diff shop.test', 'draft require shop.test'],
  ...[
    'draft mode shop.test manual',
    'draft publish shop.test',
    'draft discard shop.test',
    'draft mode shop.test automatic',
  ],
  ...['export shop.test', 'hits shop.test', 'invitation list', 'logs shop.test', 'logs shop.test --json'],
  ...['member list shop.test', 'member invite shop.test third --role editor', 'notifications list'],
  ...['notifications list --json', 'notifications test', 'notifications contact'],
  ...['notifications webhooks list', 'notifications webhooks add https://example.com/two'],
  ...['notifications preferences', 'publish shop.test', 'recommend shop.test', 'rollback shop.test 1'],
  ...['ssl list shop.test', 'support list', 'support show 1', 'support open --subject x --message y'],
  ...['traffic shop.test', 'uptime shop.test', 'zones show shop.test', 'zones check shop.test'],
  ...['billing wallet', 'billing invoices', 'billing subscriptions'],
];

test.each(COMMANDS)('%s escapes the texts of a server', { timeout: 240_000 }, async (line) => {
  const asked = proxy.asked.length;
  proxy.rewrite = poisonedBody;
  const found = await run(line).finally(() => {
    proxy.rewrite = null;
  });
  expect(proxy.asked.length, 'requests of the command').toBeGreaterThan(asked);
  expect(interpreted(found)).toBeNull();
  // A text in place of a word of the API is no reason to fail without a message.
  expect(found.err).not.toMatch(/^\s+at /m);
});
