/**
 * Logs that real servers write, nginx and HAProxy: a replay comes to what an evaluator decides about the same requests
 * one by one.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startNginx } from '../../bench/harness/nginx.ts';
import { compileEdge } from '../../src/edge/middleware/node/edge-input.ts';
import { type EdgeRequest, loadPlan } from '../../src/engine/evaluator/index.ts';
import { seal } from '../../src/engine/plan/seal.ts';
import { createAgentClassifier } from '../../src/workbench/replay/replay-requests.ts';
import { builtCli, edgeplan } from '../support/built.ts';
import { freePort } from '../support/free-ports.ts';
import { findProgram, missingProgram, requires } from '../support/requires.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-servers-'));
const EDGE = {
  domain: 'example.com',
  records: [
    { name: '@', type: 'A', destination: '192.0.2.1', proxied: true },
    { name: 'www', type: 'A', destination: '192.0.2.1', proxied: true },
  ],
  rules: [
    { key: 'admin', type: 'drop', path_includes: ['/admin*'] },
    { key: 'euro', type: 'drop', path_includes: ['/€*', '/"q"*'] },
    { key: 'rate', type: 'rate_limit', limit: 3, window_sec: 3_600, path_includes: ['/login'] },
    { key: 'bots', type: 'bot_route', bot_kinds: ['gptbot', 'generic-bot'], action: 'block' },
    {
      key: 'old',
      type: 'redirect',
      host_includes: ['www.example.com'],
      path_includes: ['/old*'],
      target: 'https://example.com/',
    },
  ],
};

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';

/** What clients send: host, target and User-Agent. */
const SENT: readonly { readonly host: string; readonly target: string; readonly agent: string }[] = [
  ...[
    '/',
    '/admin',
    '/admin/x?a=1&b=%20',
    '/a;v=1/b',
    '/%61dmin',
    '/"q"',
    '/%E2%82%AC',
    '/a\\b',
    '/a?q="x"',
  ].map((target) => ({ host: 'example.com', target, agent: BROWSER })),
  ...Array.from({ length: 6 }, () => ({ host: 'example.com', target: '/login', agent: BROWSER })),
  { host: 'www.example.com', target: '/old/page?x', agent: BROWSER },
  {
    host: 'example.com',
    target: '/',
    agent: 'Mozilla/5.0 (compatible; GPTBot/1.0; +https://openai.com/gptbot)',
  },
  { host: 'example.com', target: '/', agent: 'curl/8.1 "quoted" \\ back' },
  { host: 'other.test', target: '/', agent: BROWSER },
];

/** Sends one request and waits for the answer. */
async function send(port: number, text: string): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.end(text, 'latin1');
  socket.resume();
  await once(socket, 'close');
}

async function sendAll(port: number): Promise<void> {
  for (const { host, target, agent } of SENT)
    await send(
      port,
      `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: ${agent}\r\nConnection: close\r\n\r\n`,
    );
  // A TLS handshake at a port without TLS.
  await send(port, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n');
}

/** What an evaluator decides about the same requests, by outcome. */
function decided(): { readonly outcomes: Readonly<Record<string, number>>; readonly otherHosts: number } {
  const compiled = compileEdge(Buffer.from(JSON.stringify(EDGE)), 'edge.yaml');
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  const evaluator = loadPlan(seal(compiled.plan, { revision: 0 }), { random: () => 0 });
  const botOf = createAgentClassifier();
  const outcomes: Record<string, number> = {};
  let otherHosts = 0;
  for (const { host, target, agent } of SENT) {
    const request: EdgeRequest = {
      scheme: 'http',
      method: 'GET',
      host,
      target,
      headers: { 'user-agent': agent },
      ip: '127.0.0.1',
      bot: botOf(agent),
      body: null,
      now: Date.UTC(2026, 0, 1),
    };
    const { action, status, rule } = evaluator.evaluate(request);
    if (status === 421) {
      otherHosts++;
      continue;
    }
    const by = rule === null ? [] : [`by ${rule.type}/${rule.key ?? rule.id}`];
    const name = [action, ...(status === null ? [] : [status]), ...by].join(' ');
    outcomes[name] = (outcomes[name] ?? 0) + 1;
  }
  return { outcomes, otherHosts };
}

async function replayed(...args: string[]) {
  const { out, err } = await edgeplan(['replay', '--json', '--scheme', 'http', ...args], { cwd: folder });
  if (out === '') throw new Error(err);
  const report = JSON.parse(out) as {
    readonly outcomes: readonly { readonly outcome: string; readonly lines: number }[];
    readonly other_hosts: number;
    readonly no_request: number;
    readonly unreadable: { readonly count: number; readonly first: string | null };
  };
  const outcomes = Object.fromEntries(report.outcomes.map(({ outcome, lines }) => [outcome, lines]));
  return {
    outcomes,
    otherHosts: report.other_hosts,
    noRequest: report.no_request,
    unreadable: report.unreadable,
  };
}

/** Waits until a log has a line for each request and the handshake. */
async function logged(file: string): Promise<void> {
  const lines = (): number => readFileSync(join(folder, file), 'utf8').split('\n').length - 1;
  await until(() => lines() > SENT.length, `the lines of ${file}`);
}

beforeAll(async () => {
  await builtCli();
  writeFileSync(join(folder, 'edge.yaml'), JSON.stringify(EDGE));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe('nginx', requires(missingProgram('nginx')), () => {
  it('writes logs that come to what an evaluator decides, combined with hosts and as JSON', async () => {
    const fields = [
      ['msec', '$msec'],
      ['remote_addr', '$remote_addr'],
      ['host', '$host'],
      ['request', '$request'],
      ['status', '$status'],
      ['http_user_agent', '$http_user_agent'],
    ].map(([name, value]) => `"${name}":"${value}"`);
    const nginx = await startNginx({
      http: `
        log_format hosts '$host:$server_port $remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"';
        log_format fields escape=json '{${fields.join(',')}}';
`,
      // `access_log off` of the level above would hide them there.
      server: `
        access_log ${folder}/hosts.log hosts;
        access_log ${folder}/fields.json fields;
        access_log ${folder}/combined.log combined;
        location / { return 204; }`,
    });
    try {
      await sendAll(nginx.port);
      await Promise.all(['hosts.log', 'fields.json', 'combined.log'].map(logged));
    } finally {
      await nginx.stop();
    }
    const expected = { ...decided(), noRequest: 1, unreadable: { count: 0, first: null } };
    expect(await replayed('--log', 'fields.json')).toEqual(expected);
    expect(await replayed('--log', 'hosts.log')).toEqual(expected);
    const combined = await replayed('--log', 'combined.log', '--host', 'example.com');
    expect(combined).toMatchObject({ otherHosts: 0, noRequest: 1, unreadable: { count: 0 } });
    expect(combined.outcomes).toMatchObject({ 'block 429 by rate_limit/rate': 3 });
  });
});

describe('haproxy', requires(missingProgram('haproxy')), () => {
  it('writes a log that comes to what an evaluator decides', async () => {
    const port = await freePort();
    writeFileSync(
      join(folder, 'haproxy.cfg'),
      `global
  log stdout format raw daemon
defaults
  mode http
  log global
  option httplog
  timeout client 5s
  timeout server 5s
  timeout connect 5s
frontend shop
  bind 127.0.0.1:${port}
  option accept-invalid-http-request
  capture request header Host len 64
  capture request header User-Agent len 256
  http-request return status 204
`,
    );
    const child = spawn(findProgram('haproxy')!, ['-f', join(folder, 'haproxy.cfg')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const log = createWriteStream(join(folder, 'haproxy.log'));
    child.stdout.pipe(log);
    try {
      await answering(port, child);
      await sendAll(port);
      await logged('haproxy.log');
    } finally {
      child.kill('SIGKILL');
      await finished(log);
    }
    const { outcomes, otherHosts, unreadable } = await replayed(
      '--log',
      'haproxy.log',
      '--capture',
      'host,user-agent',
    );
    expect({ outcomes, otherHosts, unreadable }).toEqual({
      ...decided(),
      unreadable: { count: 0, first: null },
    });
    // HAProxy has answered by itself, and its termination state says so.
    const statuses = [
      'replay',
      '--json',
      '--compare-status',
      '--log',
      'haproxy.log',
      '--capture',
      'host,user-agent',
    ];
    const { code, out } = await edgeplan(statuses, { cwd: folder });
    const { groups } = JSON.parse(out) as { readonly groups: readonly { reason: string; was: string }[] };
    expect(code).toBe(1);
    expect(groups.find(({ reason }) => reason === 'answered_there')).toMatchObject({
      was: '204 by the proxy',
      now: 'forward',
      lines: outcomes['forward'],
    });
    expect(groups.find(({ reason }) => reason === 'limited_here')).toMatchObject({
      now: 'block 429 by rate_limit/rate',
      lines: 3,
    });
  });
});

/** Waits until a server accepts connections. */
async function answering(port: number, child: ChildProcess): Promise<void> {
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`haproxy ended with ${child.exitCode}`);
    const socket = connect(port, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return open;
  }, 'haproxy');
}
