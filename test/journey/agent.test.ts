/** `edgeplan agent` as a process: its doors, its plans, what it refuses to start with; and `agent check` through a proxy. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { builtCli, edgeplan, startEdgeplan } from '../support/built.ts';
import { listenLocally } from '../support/embed.ts';
import { freePort } from '../support/free-ports.ts';
import { until } from '../support/until.ts';

const SECRET = 'a-secret-of-more-than-sixteen-octets';
const folder = mkdtempSync(join(tmpdir(), 'edgeplan-agent-'));
const file = join(folder, 'edge.yaml');
const secret = join(folder, 'door.secret');
const closing: (() => unknown)[] = [];

function rules(blocked: string): string {
  return [
    'domain: shop.test',
    'records:',
    "  - { name: '@', type: A, destination: 127.0.0.1, proxied: true }",
    'rules:',
    `  - { key: closed, type: drop, path_includes: [${blocked}, ${blocked}/*] }`,
    '  - { key: busy, type: rate_limit, path_includes: [/busy], limit: 2, window_sec: 600 }',
    '  - { key: moved, type: redirect, path_includes: [/old], target: /new }',
  ].join('\n');
}

beforeAll(async () => {
  await builtCli();
  writeFileSync(file, rules('/admin'));
  writeFileSync(secret, `# of the proxy\n${SECRET}\n`);
}, 120_000);
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Agent {
  readonly child: ChildProcessWithoutNullStreams;
  text(): string;
}

async function start(...args: readonly string[]): Promise<Agent> {
  const data = mkdtempSync(join(folder, 'data-'));
  const child = startEdgeplan(['agent', '--file', file, '--data', data, ...args], { cwd: folder });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  }
  closing.push(async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'close');
  });
  await until(() => /^process \d+$/m.test(text) || child.exitCode !== null, 'the start of the agent');
  return { child, text: () => text };
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

function get(
  options: { readonly port: number } | { readonly socketPath: string },
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', ...options, path, headers }, (response) => {
      let body = '';
      response.setEncoding('latin1').on('data', (part: string) => {
        body += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    sent.on('error', reject).end();
  });
}

/** What a proxy sends about a visitor's request. */
function asked(uri: string): Readonly<Record<string, string>> {
  return {
    'X-Edgeplan-Door': SECRET,
    'X-Forwarded-Method': 'GET',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Host': 'shop.test',
    'X-Forwarded-Uri': uri,
    'X-Forwarded-For': '192.0.2.7',
  };
}

describe('a running agent', () => {
  test('its HTTP door decides, follows the file, and is counted', async () => {
    const [door, operations] = [await freePort(), await freePort()];
    const log = join(folder, 'decisions.jsonl');
    const agent = await start(
      ...['--forward-auth', `127.0.0.1:${door}`, '--secret-file', secret],
      ...['--ops-port', String(operations), '--log', log],
    );
    expect(agent.text()).toContain(`HTTP at tcp://127.0.0.1:${door}`);
    expect(agent.text()).toContain('shop.test: revision 1 decides');
    const ask = (uri: string): Promise<Reply> => get({ port: door }, '/caddy', asked(uri));
    expect((await ask('/')).status).toBe(200);
    expect((await ask('/admin')).status).toBe(403);
    const moved = await ask('/old');
    expect([moved.status, moved.headers.location]).toEqual([302, '/new']);
    const busy = await Promise.all([ask('/busy'), ask('/busy'), ask('/busy')]);
    expect(busy.map(({ status }) => status).sort()).toEqual([200, 200, 429]);
    expect(
      (await get({ port: door }, '/caddy', { ...asked('/'), 'X-Edgeplan-Door': 'a wrong one' })).status,
    ).toBe(403);

    writeFileSync(file, rules('/private'));
    await until(async () => (await ask('/private')).status === 403, 'the changed file');
    expect((await ask('/admin')).status).toBe(200);
    writeFileSync(file, rules('/admin'));

    const metrics = (await get({ port: operations }, '/metrics')).body;
    expect(metrics).toMatch(/edgeplan_node_requests_total\{action="forward",status="0xx"\} [1-9]/);
    expect(metrics).toMatch(/edgeplan_agent_door_events\{door="HTTP",event="refusals.secret_wrong"\} 1/);
    expect((await get({ port: operations }, '/readyz')).status).toBe(200);

    agent.child.kill('SIGTERM');
    const [code] = (await once(agent.child, 'close')) as [number];
    expect(code).toBe(0);
  });

  test('a door on a unix socket, and a handshake of SPOP and of HTTP/2', async () => {
    const [http, spop, grpc] = ['http', 'spop', 'grpc'].map((name) => join(folder, `${name}.sock`)) as [
      string,
      string,
      string,
    ];
    await start(
      ...['--forward-auth', `unix:${http}`, '--secret-file', secret],
      ...['--spop', `unix:${spop}`, '--ext-authz', `unix:${grpc}`],
    );
    expect((await get({ socketPath: http }, '/traefik', asked('/admin'))).status).toBe(403);
    // A frame of no known type: the agent says AGENT-DISCONNECT (102).
    const answer = await firstOctets(spop, Buffer.from([0, 0, 0, 7, 99, 0, 0, 0, 1, 0, 0]));
    expect(answer[4]).toBe(102);
    // The preface of a client (RFC 9113 §3.4): the agent sends SETTINGS, a frame of type 4.
    const settings = await firstOctets(
      grpc,
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0'),
    );
    expect(settings[3]).toBe(4);
  });
});

async function firstOctets(path: string, sent: Uint8Array): Promise<Buffer> {
  const socket = connect(path);
  socket.write(sent);
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return chunk;
}

describe('what an agent does not start with', () => {
  test.each([
    ['no door', [], /an agent needs a door/],
    ['no secret', ['--forward-auth', '127.0.0.1:0'], /needs a secret/],
    [
      'a short secret',
      ['--forward-auth', '127.0.0.1:0', '--secret-file', 'short.secret'],
      /at least 16 are needed/,
    ],
    ['a file that is absent', ['--forward-auth', '127.0.0.1:0', '--secret-file', 'none'], /`none`/],
    ['an address without a port', ['--spop', '127.0.0.1'], /an address is written 127\.0\.0\.1:9000/],
    ['a name', ['--spop', 'proxy.example:9000'], /an address is written/],
    [
      'a secret without its door',
      ['--spop', '127.0.0.1:0', '--secret-file', 'door.secret'],
      /no effect without/,
    ],
    [
      'the path of a socket in no folder',
      ['--spop', 'unix:/no-such-folder/spop.sock'],
      /cannot listen at \/no-such-folder\/spop\.sock.*\n.*a folder that exists/,
    ],
    ['a path that is a file', ['--spop', `unix:${file}`], /is a file and no socket\n.*another path/],
    ['a path that the system would cut', ['--spop', `unix:/${'a'.repeat(95)}`], /at most 95 octets/],
    [
      'an address of another machine',
      ['--spop', '192.0.2.1:9000'],
      /cannot listen at 192\.0\.2\.1:9000.*\n.*an address of this machine/,
    ],
    ['two sources of plans', ['--spop', '127.0.0.1:0', '--control', 'http://127.0.0.1:1'], /not from both/],
  ])('%s', async (_, args, message) => {
    writeFileSync(join(folder, 'short.secret'), 'short\n');
    const run = await edgeplan(['agent', '--file', file, '--data', join(folder, 'none-yet'), ...args], {
      cwd: folder,
    });
    expect(run.code).not.toBe(0);
    expect(run.err).toMatch(message);
    expect(run.err).not.toContain('this is a bug');
    expect(run.err).not.toContain(SECRET);
  });

  test('an address that is taken', async () => {
    const taken = await listenLocally(createServer());
    closing.push(taken.close);
    const { text, child } = await start('--spop', `127.0.0.1:${taken.port}`);
    expect(child.exitCode).not.toBe(0);
    expect(text()).toContain(`the address 127.0.0.1:${taken.port} is taken`);
  });
});

describe('agent check', () => {
  test('names the attacks that get past a proxy which trusts its visitors', async () => {
    // A proxy that blocks by a header which visitors can send, as 14 lines of forward auth do.
    const naive = createServer(({ url, headers }, response) => {
      const uri = String(headers['x-forwarded-uri'] ?? url);
      response.writeHead(uri.startsWith('/admin') ? 403 : 200).end();
    });
    const { port, close } = await listenLocally(naive);
    closing.push(close);
    const args = [
      'agent',
      'check',
      '--through',
      'http://shop.test/admin',
      '--connect-to',
      `127.0.0.1:${port}`,
    ];
    const run = await edgeplan(args, { cwd: folder });
    expect(run.code).toBe(1);
    expect(run.out).toMatch(/^PASSED +200 +forged header X-Forwarded-Uri$/m);
    const json = await edgeplan([...args, '--json'], { cwd: folder });
    expect(JSON.parse(json.out)).toMatchObject({ attacks: expect.any(Array) });
  });

  test.each([
    ['a process that does not exist', ['--agent-pid', '999999999'], /no process has the id 999999999/],
    ['an id that is none', ['--agent-pid', '0'], /a whole number from 2/],
    ['an agent that runs and is away', ['--agent-pid', '2', '--agent-away'], /exclude each other/],
    ['no time', ['--agent-away', '--within', '0'], /a whole number from 1 to 600/],
  ])('%s is refused before any request', async (_, args, message) => {
    const run = await edgeplan(['agent', 'check', '--through', 'http://127.0.0.1:1/admin', ...args], {
      cwd: folder,
    });
    expect(run.code).toBe(2);
    expect(run.err).toMatch(message);
  });

  test('a URL that is not blocked is no subject of a check', async () => {
    const { port, close } = await listenLocally(createServer((_request, response) => response.end()));
    closing.push(close);
    const through = `http://127.0.0.1:${port}/admin`;
    const run = await edgeplan(['agent', 'check', '--through', through], { cwd: folder });
    expect(run.code).not.toBe(0);
    expect(run.err).toContain('is not blocked');
  });
});
