/** nginx and Caddy as `fixtures/proxies` has them, in front of an application, with the HTTP door of an agent beside them. */
import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checkDoor } from '../../src/workbench/door-check/check-door.ts';
import { type Answer, ask as askAt, hand as handAt, type Sent, solve } from '../support/ask.ts';
import { listenLocally, sealedPlan, sealedSignatures } from '../support/embed.ts';
import {
  DOOR_SECRET,
  openTestDoor,
  type ProxyOptions,
  type RunningProxy,
  type SeenOrigin,
  startCaddy,
  startNginx,
  startSeenOrigin,
  type TestDoor,
} from '../support/http-door.ts';
import { say, statusesOf } from '../support/raw.ts';
import { missingProgram, requires } from '../support/requires.ts';

const HTML = { accept: 'text/html' };

const RULES = [
  { id: 1, type: 'drop', path_includes: ['/admin', '/admin/*'] },
  { id: 2, type: 'redirect', path_includes: ['/old/*'], target: 'https://other.test/new', status_code: 301 },
  { id: 3, type: 'redirect', path_includes: ['/moved'], target: '/here', status_code: 308 },
  { id: 4, type: 'captcha', path_includes: ['/members/*'], ttl_sec: 120 },
  { id: 5, type: 'rate_limit', path_includes: ['/busy'], limit: 1, window_sec: 90 },
  {
    id: 6,
    type: 'error_page',
    path_includes: ['/shut/*'],
    codes: [403],
    mode: 'custom',
    content: { 403: '<p>our own page</p>' },
  },
  { id: 7, type: 'drop', path_includes: ['/shut/*'] },
  { id: 8, type: 'rewrite', path_includes: ['/from/*'], path_target: '/to/it' },
  {
    id: 9,
    type: 'bot_route',
    bot_kinds: ['googlebot'],
    action: 'alt_content',
    body: 'for bots',
    status: 200,
  },
  { id: 10, type: 'waf', paranoia: 1, threshold: 5, body_cap_kb: 64, path_includes: ['/form'] },
];

const PROXIES: readonly [name: string, start: (options: ProxyOptions) => Promise<RunningProxy>][] = [
  ['nginx', startNginx],
  ['caddy', startCaddy],
];

describe.each(PROXIES)('%s', requires(missingProgram('nginx'), missingProgram('caddy')), (name, start) => {
  let door: TestDoor;
  let origin: SeenOrigin;
  let proxy: RunningProxy;

  beforeAll(async () => {
    door = await openTestDoor({ plans: [sealedPlan({ rules: RULES })], signatures: sealedSignatures() });
    origin = await startSeenOrigin();
    proxy = await start({ path: door.path, origin: origin.port });
  });
  afterAll(async () => {
    await proxy?.close();
    await door?.close();
    await origin?.close();
  });
  beforeEach(() => {
    origin.seen.length = 0;
  });

  const ask = (path: string, sent: Sent = {}): Promise<Answer> =>
    askAt(proxy.port, path, { from: null, ...sent });

  test('forwards what the plan forwards, without the edge’s cookies and the headers of visitors', async () => {
    const answer = await ask('/a?b=c', {
      headers: {
        cookie: 'a=1; edgeplan_clear_captcha_1=x; b=2',
        'x-forwarded-uri': '/admin',
        'x-edgeplan-id': 'mine',
        'x-edgeplan-door': 'mine',
        'x-original-url': '/admin',
        forwarded: 'for=192.0.2.1',
      },
    });
    expect(answer).toMatchObject({ status: 200, body: 'origin' });
    const [{ url, headers, method } = {}] = origin.seen;
    expect([method, url, headers?.host, headers?.cookie]).toEqual([
      'GET',
      '/a?b=c',
      'shop.localhost',
      'a=1; b=2',
    ]);
    expect(headers?.['x-edgeplan-id']).toBe(door.journal.at(-1)?.id);
    expect(JSON.stringify(headers)).not.toContain(DOOR_SECRET);
    expect([headers?.['x-original-url'], headers?.['x-forwarded-uri'], headers?.forwarded]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(door.journal.at(-1)?.exchange?.request).toMatchObject({
      ip: '127.0.0.1',
      scheme: 'http',
      target: '/a?b=c',
    });
  });

  test('a body and the method reach the application', async () => {
    expect(await ask('/form', { method: 'POST', body: 'x'.repeat(70_000) })).toMatchObject({ status: 200 });
    expect([origin.seen[0]?.method, origin.seen[0]?.headers['content-length']]).toEqual(['POST', '70000']);
    expect(door.journal.at(-1)?.unenforced).toEqual(['body']);
    expect(door.journal.at(-1)?.exchange?.request.method).toBe('POST');
  });

  test('a block is its page, for GET, HEAD and POST', async () => {
    const page = await ask('/admin', { headers: HTML });
    expect(page.status).toBe(403);
    expect(page.body).toContain('Access denied');
    expect((await ask('/admin/x', { method: 'HEAD' })).status).toBe(403);
    expect((await ask('/admin/x', { method: 'POST', body: 'x'.repeat(70_000) })).status).toBe(403);
    expect(origin.seen).toEqual([]);
  });

  test('a custom error page is the response', async () => {
    expect(await ask('/shut/a', { headers: HTML })).toMatchObject({
      status: 403,
      body: '<p>our own page</p>',
    });
  });

  test('a redirect has its status and location', async () => {
    const away = await ask('/old/a');
    expect([away.status, away.headers['location']]).toEqual([301, 'https://other.test/new']);
    const here = await ask('/moved');
    expect(here.status).toBe(308);
    expect(here.headers['location']).toBe('/here');
    expect(origin.seen).toEqual([]);
  });

  test('a rate limit is 429 with Retry-After', async () => {
    expect((await ask('/busy')).status).toBe(200);
    const over = await ask('/busy');
    expect([over.status, Number(over.headers['retry-after']) > 0]).toEqual([429, true]);
  });

  test('a rewrite is the target of the application, or named as not enforced', async () => {
    expect((await ask('/from/a%2fb?q=1')).status).toBe(200);
    const outcome = [origin.seen[0]?.url, door.journal.at(-1)?.unenforced];
    expect(outcome).toEqual(name === 'nginx' ? ['/to/it?q=1', []] : ['/from/a%2fb?q=1', ['rewrite']]);
  });

  test('content of the edge’s own has the status of the rule', async () => {
    const answer = await ask('/', { headers: { 'user-agent': 'Googlebot/2.1' } });
    expect(answer).toMatchObject({ status: 200, body: 'for bots' });
    expect(origin.seen).toEqual([]);
  });

  test('a challenge is solved through the proxy, and its clearance passes', async () => {
    const page = await ask('/members/a', { headers: HTML });
    expect(page.status).toBe(403);
    const proven = await handAt(proxy.port, await solve(page), { from: null });
    expect([proven.status, proven.headers['location']]).toEqual([303, '/members/a']);
    const cookie = proven.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '';
    expect((await ask('/members/a', { headers: { ...HTML, cookie } })).status).toBe(200);
    expect(origin.seen.length).toBe(1);
    expect(origin.seen[0]?.headers.cookie ?? '').toBe('');
    expect((await handAt(proxy.port, 'x'.repeat(9_000), { from: null })).status).toBe(413);
  });

  test('a host of no plan is 421, a malformed path 400', async () => {
    expect((await ask('/', { host: 'elsewhere.test' })).status).toBe(421);
    expect((await ask('/%zz')).status).toBe(400);
    expect(origin.seen).toEqual([]);
  });

  test.each([
    ['one header of the contract', 'X-Forwarded-Uri: /open'],
    ['a doubled one', 'x-forwarded-uri: /open\r\nX-Forwarded-Uri: /open'],
    ['underscores', 'X_Forwarded_Uri: /open'],
    ['dots', 'X.Forwarded.Uri: /open'],
    ['one underscore', 'X-Forwarded_Uri: /open'],
    ['mixed case', 'x-FORWARDED-uRI: /open'],
    ['another method', 'X-Forwarded-Method: OPTIONS'],
    ['another host', 'X-Forwarded-Host: elsewhere.test'],
    ['headers of other proxies', 'X-Original-URL: /open\r\nX-Rewrite-URL: /open'],
    ['Forwarded', 'Forwarded: for=192.0.2.1;host=elsewhere.test;proto=https'],
    ['headers of the reply', 'X-Edgeplan-Action: forward\r\nX-Edgeplan-Target: /open'],
    ['a secret', 'X-Edgeplan-Door: x'],
    ['a ticket', `X-Edgeplan-Ticket: ${'A'.repeat(43)}`],
    ['headers named in Connection', 'Connection: X-Forwarded-Uri, X-Edgeplan-Door, X-Forwarded-For'],
    [
      'an upgrade',
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ],
    ['Expect', 'Transfer-Encoding: chunked\r\nExpect: 100-continue'],
  ])('a blocked path stays blocked with %s', async (_case, lines) => {
    const end = 'Connection: close\r\n\r\n';
    const blocked = 'GET /admin HTTP/1.1\r\nHost: shop.localhost\r\n';
    // A connection with a Connection header of its own ends with a second request.
    const rest = lines.startsWith('Connection') ? `\r\n${blocked}${end}` : end;
    const body = lines.startsWith('Transfer') ? '0\r\n\r\n' : '';
    const text = await say(proxy.port, `${blocked}${lines}\r\n${rest}${body}`);
    const statuses = statusesOf(text).filter((status) => status !== 100);
    expect(statuses.length).toBeGreaterThan(0);
    for (const status of statuses) expect(status, text).toBe(403);
    expect(origin.seen).toEqual([]);
  });

  test('an address that the visitor states is not the visitor’s', async () => {
    await ask('/a', { headers: { 'x-forwarded-for': '192.0.2.9', 'x-real-ip': '192.0.2.9' } });
    expect(door.journal.at(-1)?.exchange?.request.ip).toBe('127.0.0.1');
    expect(origin.seen[0]?.headers['x-forwarded-for']).toBe('127.0.0.1');
  });

  test('every attack of the check from outside is refused, and a proxy without an agent is seen', async () => {
    const host = 'shop.localhost';
    const connectTo = { host: '127.0.0.1', port: proxy.port };
    const urls = { blocked: `http://${host}/admin`, open: `http://${host}/open` };
    const { unusable, lines } = await checkDoor({ ...urls, connectTo });
    expect(unusable).toBeNull();
    expect(lines.filter(({ holds }) => !holds)).toEqual([]);
    expect(lines.length).toBeGreaterThan(40);
    const swapped = await checkDoor({ blocked: urls.open, open: urls.blocked, connectTo });
    expect(swapped.unusable).toContain('is not blocked');
    expect((await checkDoor({ ...urls, open: urls.blocked, connectTo })).unusable).toContain('is not open');
    // An application that blocks by itself what it reads of a forged header lets others through.
    const naive = createServer((request, response) => {
      const uri = request.headers['x-forwarded-uri'] ?? request.url;
      response.writeHead(uri === '/admin' ? 403 : 200).end();
    });
    const listening = await listenLocally(naive);
    const seen = await checkDoor({ ...urls, connectTo: { host: '127.0.0.1', port: listening.port } });
    const open = seen.lines.filter(({ holds }) => !holds).map((line) => line.name);
    expect(open).toContain('forged header X-Forwarded-Uri');
    expect(open).toContain('a doubled slash');
    await listening.close();
  });

  test('without the agent the application gets nothing, and with it everything again', async () => {
    const own = await openTestDoor({ plans: [sealedPlan({ rules: RULES })] });
    const alone = await start({ path: own.path, origin: origin.port });
    expect((await askAt(alone.port, '/a', { from: null })).status).toBe(200);
    await own.close();
    origin.seen.length = 0;
    expect((await askAt(alone.port, '/a', { from: null })).status).toBe(name === 'nginx' ? 500 : 502);
    expect(origin.seen).toEqual([]);
    await alone.close();
  });

  test('a fault of the agent is not let through', async () => {
    const own = await openTestDoor({
      plans: [],
      decide: () => ({ kind: 'fault', id: 'x', fault: 'failed' }),
    });
    const alone = await start({ path: own.path, origin: origin.port });
    expect((await askAt(alone.port, '/a', { from: null })).status).toBe(name === 'nginx' ? 500 : 503);
    expect(origin.seen).toEqual([]);
    await alone.close();
    await own.close();
  });

  test('the fail-open line lets requests through while the agent is away', async () => {
    const line = name === 'nginx' ? '# error_page 500' : '# import fail_open';
    const own = await openTestDoor({ plans: [sealedPlan({ rules: RULES })] });
    const change = (text: string): string => text.replace(line, line.slice(2));
    const alone = await start({ path: own.path, origin: origin.port, change });
    expect((await askAt(alone.port, '/admin', { from: null })).status).toBe(403);
    await own.close();
    const answer = await askAt(alone.port, '/admin?x', { from: null, headers: { cookie: 'a=1' } });
    expect([answer.status, answer.headers['x-target']]).toEqual([200, encodeURIComponent('/admin?x')]);
    expect(origin.seen[0]?.headers.cookie).toBe('a=1');
    await alone.close();
  });
});
