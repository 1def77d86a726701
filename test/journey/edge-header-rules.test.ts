/** What headers rules do at a node, over real sockets: the request of the origin, and every response. */
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import {
  CACHE_HOST,
  type CacheNode,
  type CacheNodeOptions,
  startCacheNode,
  startCacheOrigin,
} from '../support/edge-cache.ts';
import { get } from '../support/edge-cache-client.ts';
import { startEdge } from '../support/edge-node.ts';
import { say } from '../support/raw.ts';

const clean: (() => unknown)[] = [];

afterEach(async () => {
  for (const one of clean.splice(0).reverse()) await one();
});

async function place(answer: RequestListener, options: Partial<CacheNodeOptions>): Promise<CacheNode> {
  const origin = await startCacheOrigin(answer);
  clean.push(() => {
    origin.server.closeAllConnections();
    origin.server.close();
  });
  const node = await startCacheNode({ originPort: origin.port, ...options });
  clean.push(() => node.stop());
  return node;
}

const headersRule = (id: number, fields: Readonly<Record<string, unknown>>) => ({
  id,
  type: 'headers',
  ...fields,
});

test('the origin gets the request as all matching rules have changed it, the later one last', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const raw: string[][] = [];
  const { port, faults } = await place(
    (request, response) => {
      seen.push(request.headers);
      raw.push(request.rawHeaders);
      response.end('ok');
    },
    {
      rule: { mode: 'bypass' },
      rules: [
        headersRule(2, {
          priority: 20,
          request: { set: { 'X-Stage': 'second ${scheme} ${method} ${host}' }, remove: ['cookie'] },
        }),
        headersRule(3, {
          priority: 10,
          request: {
            set: {
              'X-Stage': 'first',
              'X-Client-IP': '${client_ip}',
              'X-Id': '${request_id}',
              'X-JA4': '${ja4}',
            },
            add: { 'X-More': 'ours' },
          },
        }),
        headersRule(4, { path_includes: ['/other'], request: { set: { 'X-Other': '1' } } }),
      ],
    },
  );
  const headers = { 'x-more': 'theirs', cookie: 'a=b', 'x-client-ip': '6.6.6.6', 'x-ja4': 'spoofed' };
  const answer = await get(port, '/a', { headers });
  expect(seen[0]).toMatchObject({
    'x-stage': `second http GET ${CACHE_HOST}`,
    'x-client-ip': '127.0.0.1',
    'x-more': 'theirs, ours',
    'x-id': answer.headers['x-edgeplan-id'],
    host: CACHE_HOST,
  });
  for (const absent of ['cookie', 'x-ja4', 'x-other']) expect(seen[0]).not.toHaveProperty(absent);
  // In the spelling of the rule.
  expect(raw[0]).toContain('X-Client-IP');
  expect(faults).toEqual([]);
});

test('the visitor gets a response that is changed on its way from the origin and from the cache, which stores neither', async () => {
  let fetches = 0;
  const { port, entries, install } = await place(
    (_request, response) => {
      fetches++;
      response.setHeader('X-Powered-By', 'origin');
      response.setHeader('Cache-Control', 'max-age=60');
      response.setHeader('X-Frame-Options', 'ALLOWALL');
      response.end('ok');
    },
    {
      rules: [
        headersRule(2, {
          path_includes: ['/a'],
          response: {
            set: { 'X-Frame-Options': 'DENY', 'X-Request': '${request_id}' },
            add: { 'Set-Cookie': 'seen=1' },
            remove: ['X-Powered-By'],
          },
        }),
      ],
    },
  );
  const answers = [await get(port, '/a'), await get(port, '/a'), await get(port, '/a')];
  for (const { headers } of answers) {
    expect(headers['x-frame-options']).toBe('DENY');
    expect(headers['set-cookie']).toEqual(['seen=1']);
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers['x-request']).toBe(headers['x-edgeplan-id']);
  }
  expect(new Set(answers.map(({ headers }) => headers['x-request'])).size).toBe(3);
  expect(fetches).toBe(1);
  expect(entries.map(({ cache }) => cache)).toEqual(['miss', 'hit', 'hit']);
  // The stored response is that of the origin.
  install({ rule: {} });
  const { headers } = await get(port, '/b');
  expect(headers).toMatchObject({ 'x-powered-by': 'origin', 'x-frame-options': 'ALLOWALL' });
});

test('every answer of the edge itself is changed, error pages after they are chosen', async () => {
  const paths = (path: string) => ({ path_includes: [path] });
  const { port, faults } = await place(
    (request, response) => {
      if (request.url === '/unreached') return void response.destroy();
      response.writeHead(404, { 'X-Frame-Options': 'ALLOWALL' }).end('the body of the origin');
    },
    {
      domain: { sec_no_sniff: true, websockets_off: true },
      rules: [
        { id: 2, type: 'drop', ...paths('/drop') },
        { id: 3, type: 'redirect', target: '/b', ...paths('/redirect') },
        { id: 4, type: 'captcha', ...paths('/captcha') },
        { id: 5, type: 'bot_route', bot_kinds: ['gptbot'], action: 'alt_content', body: 'bots' },
        { id: 6, type: 'error_page', mode: 'custom', codes: [404], content: { '0': '<p>gone' } },
        headersRule(7, {
          response: { set: { 'X-Frame-Options': 'DENY' }, remove: ['X-Content-Type-Options'] },
        }),
      ],
    },
  );
  const found: Record<string, readonly unknown[]> = {};
  for (const path of ['/drop', '/redirect', '/captcha', '/missing', '/unreached', '/%zz']) {
    const { status, headers } = await get(port, path);
    found[path] = [status, headers['x-frame-options'] ?? null, headers['x-content-type-options'] ?? null];
  }
  const bot = await get(port, '/', { headers: { 'user-agent': 'GPTBot' } });
  expect([bot.status, bot.body, bot.headers['x-frame-options']]).toEqual([200, 'bots', 'DENY']);
  expect(found).toEqual({
    '/drop': [403, 'DENY', null],
    '/redirect': [302, 'DENY', null],
    '/captcha': [403, 'DENY', null],
    '/missing': [404, 'DENY', null],
    '/unreached': [502, 'DENY', null],
    // Refused before any rule is evaluated.
    '/%zz': [400, null, 'nosniff'],
  });
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13';
  const refused = await say(port, `GET /drop HTTP/1.1\r\nHost: ${CACHE_HOST}\r\n${upgrade}\r\n\r\n`);
  expect(refused).toContain('X-Frame-Options: DENY');
  expect(faults).toEqual([]);
});

const CHALLENGING = `
domain: shop.test
records:
  - { name: '@', type: A, destination: 127.0.0.1, port: ORIGIN, scheme: Http, proxied: true }
rules:
  - { type: captcha, path_includes: [/members] }
  - type: headers
    response:
      set: { Content-Security-Policy: "default-src 'none'", X-Own: '1' }
      remove: [Set-Cookie]
`;

test('a challenge stays one that a browser can solve: its policy and its cookie are not changed', async () => {
  const edge = await startEdge({ file: CHALLENGING });
  clean.push(() => edge.close());
  const head = 'Host: shop.test\r\nConnection: close\r\n';
  const asked = await say(edge.port, `GET /members HTTP/1.1\r\n${head}Accept: text/html\r\n\r\n`);
  expect(asked).toContain('HTTP/1.1 403');
  expect(asked).toMatch(/Content-Security-Policy: default-src 'none'; script-src 'sha256-/);
  expect(asked).toContain('X-Own: 1');
  const passed = await say(edge.port, `GET / HTTP/1.1\r\n${head}\r\n`);
  expect(passed).toContain("Content-Security-Policy: default-src 'none'\r\n");
  expect(edge.faults).toEqual([]);
});

test('a response that varies by a header that a rule sets is stored for each of its values', async () => {
  const { port } = await place(
    (request, response) => {
      response.setHeader('Cache-Control', 'max-age=60');
      response.setHeader('Vary', 'X-Device');
      response.end(String(request.headers['x-device']));
    },
    {
      rules: [
        headersRule(2, { request: { set: { 'X-Device': 'desktop' } } }),
        headersRule(3, {
          conditions: { user_agents: { includes: ['*mobile*'] } },
          request: { set: { 'X-Device': 'phone' } },
        }),
      ],
    },
  );
  const device = async (agent: string) => (await get(port, '/', { headers: { 'user-agent': agent } })).body;
  expect([await device('a'), await device('mobile'), await device('b'), await device('a mobile')]).toEqual([
    ...['desktop', 'phone', 'desktop', 'phone'],
  ]);
});

test('a WebSocket is opened with the headers that rules set, on both sides', async () => {
  const edge = await startEdge({
    file: `
domain: shop.test
records:
  - { name: '@', type: A, destination: 127.0.0.1, port: ORIGIN, scheme: Http, proxied: true }
rules:
  - type: headers
    response: { set: { X-Own: 'socket' } }
`,
  });
  clean.push(() => edge.close());
  const head =
    'Host: shop.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';
  const answer = await say(edge.port, `GET / HTTP/1.1\r\n${head}\r\n`);
  expect(answer).toContain('HTTP/1.1 101');
  expect(answer).toContain('X-Own: socket');
});

test('the decision log names the headers and withholds their values', async () => {
  const { decisionLine } = await import('../../src/edge/proxy/log/line.ts');
  const { port, entries } = await place((_request, response) => response.end('ok'), {
    rules: [
      headersRule(2, {
        request: { set: { Authorization: 'Bearer s3cret' } },
        response: { remove: ['Server'] },
      }),
    ],
  });
  await get(port, '/');
  const line = decisionLine(entries[0]!, null);
  expect(line.decision).toMatchObject({
    request_headers: ['set Authorization'],
    response_headers: ['remove Server'],
  });
  expect(JSON.stringify(line)).not.toContain('s3cret');
});
