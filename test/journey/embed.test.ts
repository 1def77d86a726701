/** The edge inside applications of every kind, over real sockets. */
import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { type EdgeVerdict, PlanFault } from '../../src/edge/middleware/node/index.ts';
import { type Answer, ask, hand, type Sent, solve } from '../support/ask.ts';
import { sealedPlan, sealedSignatures } from '../support/embed.ts';
import { APPLICATIONS, type Application, type ApplicationOptions, type Seen } from '../support/embed-apps.ts';

const HTML = { accept: 'text/html' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const SIGNATURES = sealedSignatures();

const RULES = [
  {
    id: 1,
    type: 'drop',
    path_includes: ['/admin', '/admin/*'],
    ips: ['203.0.113.7'],
    ip_match_type: 'include',
  },
  { id: 2, type: 'rate_limit', path_includes: ['/busy'], limit: 2, window_sec: 3600 },
  { id: 3, type: 'waf', path_includes: ['/form'], paranoia: 1, threshold: 5, body_cap_kb: 128 },
  {
    id: 4,
    type: 'redirect',
    path_includes: ['/old/*'],
    target: '/new',
    preserve_path: false,
    preserve_query: true,
  },
  { id: 5, type: 'captcha', path_includes: ['/members/*'], ttl_sec: 120 },
  { id: 6, type: 'rewrite', path_includes: ['/moved'], path_target: '/there' },
  { id: 7, type: 'cache', path_includes: ['/kept'], edge_ttl_sec: 60 },
  { id: 8, type: 'origin_route', path_includes: ['/elsewhere'], address: '192.0.2.9' },
  {
    id: 9,
    type: 'bot_route',
    bot_kinds: ['gptbot'],
    action: 'alt_content',
    body: 'for bots',
    status: 200,
  },
  {
    id: 10,
    type: 'error_page',
    codes: [404, 500],
    mode: 'custom',
    content: { '404': '<p>nothing here</p>', '0': '<p>sorry</p>' },
  },
  { id: 11, type: 'rate_limit', path_includes: ['/paged'], limit: 1, window_sec: 3600 },
  {
    id: 12,
    type: 'error_page',
    path_includes: ['/paged'],
    codes: [429],
    mode: 'custom',
    content: { '0': '<p>slow down</p>' },
  },
];
const PLAN = sealedPlan({ rules: RULES, settings: { sec_strip_headers: true, sec_no_sniff: true } });

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Started extends Application {
  readonly verdicts: EdgeVerdict[];
  readonly faults: unknown[];
}

type Name = keyof typeof APPLICATIONS;

function listening(verdicts: EdgeVerdict[], faults: unknown[]): ApplicationOptions {
  return {
    plans: [PLAN],
    signatures: SIGNATURES,
    trustProxy: ['127.0.0.1'],
    botDns: false,
    onDecision: (verdict) => verdicts.push(verdict),
    onFault: (error) => faults.push(error),
  };
}

async function start(name: Name, options: ApplicationOptions = {}): Promise<Started> {
  const verdicts: EdgeVerdict[] = [];
  const faults: unknown[] = [];
  const started = await APPLICATIONS[name]({ ...listening(verdicts, faults), ...options });
  closing.push(started.close);
  return { ...started, verdicts, faults };
}

async function look(port: number, path: string, sent: Sent = {}): Promise<Seen> {
  const answer = await ask(port, path, sent);
  expect([path, answer.status]).toEqual([path, 200]);
  return JSON.parse(answer.body);
}

const NAMES = Object.keys(APPLICATIONS) as Name[];

/** A plan of its own: plans with such rules are of another version. */
const CHANGING = sealedPlan({
  rules: [
    { id: 1, type: 'drop', path_includes: ['/admin'] },
    {
      id: 2,
      type: 'error_page',
      codes: [404],
      mode: 'custom',
      content: { '0': '<p>nothing here</p>' },
    },
    {
      id: 3,
      type: 'headers',
      request: {
        set: { 'X-Client-IP': '${client_ip}', 'X-Id': '${request_id}', 'X-JA4': '${ja4}' },
        add: { 'X-More': 'ours' },
        remove: ['X-Gone'],
      },
      response: {
        set: { 'Strict-Transport-Security': 'max-age=1', 'X-Own': 'edge' },
        add: { Link: '</a.css>; rel=preload' },
        remove: ['X-Powered-By'],
      },
    },
  ],
});

describe.each(NAMES)('before %s', (name) => {
  test('changes the headers of requests, of responses and of its own answers by rules', async () => {
    const { port, faults } = await start(name, { plans: [CHANGING] });
    const headers = { 'x-more': 'theirs', 'x-gone': '1', 'x-ja4': 'spoofed', 'x-client-ip': '6.6.6.6' };
    const answer = await ask(port, '/a', { headers });
    const got: Seen = JSON.parse(answer.body);
    expect(got.headers).toMatchObject({
      'x-client-ip': '203.0.113.7',
      'x-id': got.id,
      'x-more': 'theirs, ours',
    });
    for (const absent of ['x-gone', 'x-ja4']) expect(got.headers).not.toHaveProperty(absent);
    expect(got.unenforced).toEqual([]);
    const changed = { 'strict-transport-security': 'max-age=1', link: '</a.css>; rel=preload' };
    expect(answer.headers).toMatchObject({ ...changed, 'x-own': 'edge' });
    expect(answer.headers).not.toHaveProperty('x-powered-by');
    for (const [path, status] of [
      ['/admin', 403],
      ['/status/404', 404],
      ['/status/410', 410],
      ['/boom', 500],
    ] as const) {
      const own = await ask(port, path);
      expect([path, own.status]).toEqual([path, status]);
      expect([path, own.headers]).toMatchObject([path, { ...changed, 'x-own': 'edge' }]);
    }
    expect(faults.length).toBeLessThanOrEqual(1);
  });

  test('forwards a request with its verdict, and adds the header fields of the settings', async () => {
    const { port, verdicts, faults } = await start(name);
    const answer = await ask(port, '/a?b=1');
    const got: Seen = JSON.parse(answer.body);
    expect(got).toMatchObject({
      method: 'GET',
      url: '/a?b=1',
      action: 'forward',
      ip: '203.0.113.7',
      unenforced: [],
    });
    expect(answer.headers).toMatchObject({ 'x-edgeplan-id': got.id, 'x-content-type-options': 'nosniff' });
    expect(answer.headers).not.toHaveProperty('x-powered-by');
    expect(verdicts.map(({ id, domain }) => [id, domain])).toEqual([[got.id, 'shop.localhost']]);
    expect(faults).toEqual([]);
  });

  test.each([
    ['in one piece', 1],
    ['in many', 50],
  ])('the application gets the whole of a body that rules looked into, sent %s', async (_how, pieces) => {
    const { port } = await start(name);
    const piece = `a=${'x'.repeat(Math.floor(100_000 / pieces))}&`;
    const whole = piece.repeat(pieces);
    for (const headers of [{ 'transfer-encoding': 'chunked' }, { 'content-length': String(whole.length) }]) {
      const sent: Answer = await new Promise((resolve, reject) => {
        const request = httpRequest(
          {
            host: '127.0.0.1',
            port,
            path: '/form',
            method: 'POST',
            agent: false,
            headers: { host: 'shop.localhost', ...FORM, ...headers },
          },
          async (response) => {
            let body = '';
            for await (const chunk of response) body += chunk;
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
          },
        );
        request.on('error', reject);
        for (let at = 0; at < pieces; at++) request.write(piece);
        request.end();
      });
      expect(sent.status).toBe(200);
      const digest = createHash('sha256').update(whole).digest('hex');
      expect(JSON.parse(sent.body)).toMatchObject({ octets: whole.length, digest });
    }
  });

  test('an empty body, and one longer than rules inspect, are forwarded unchanged', async () => {
    const { port } = await start(name);
    const headers = { ...FORM, 'transfer-encoding': 'chunked' };
    expect(await look(port, '/form', { method: 'POST', headers })).toMatchObject({ octets: 0 });
    const long = `a=${'y'.repeat(400_000)}`;
    expect(await look(port, '/form', { method: 'POST', headers: FORM, body: long })).toMatchObject({
      octets: long.length,
      digest: createHash('sha256').update(long).digest('hex'),
    });
  });

  test.each([131_000, 131_072, 131_090, 200_000])(
    'a body of %i octets that its coding makes no shorter is readable',
    async (octets) => {
      const { port, verdicts } = await start(name);
      const noise = createHash('shake256', { outputLength: octets }).update('noise').digest();
      const headers = { ...FORM, 'content-encoding': 'gzip' };
      const { status } = await ask(port, '/form', { method: 'POST', headers, body: gzipSync(noise) });
      expect(verdicts.at(-1)?.decision.waf).toMatchObject({
        bodyError: null,
        truncated: octets > 128 * 1_024,
      });
      expect(status).toBe(200);
    },
  );

  test.each([
    ['gzip, gzip', gzipSync(gzipSync('a=attack'))],
    ['deflate', deflateSync('a=attack')],
    ['deflate', deflateRawSync('a=attack')],
    ['deflate, identity, gzip', gzipSync(deflateRawSync('a=attack'))],
  ])('an attack in %s is refused', async (coding, body) => {
    const { port, verdicts } = await start(name);
    const headers = { ...FORM, 'content-encoding': coding };
    expect((await ask(port, '/form', { method: 'POST', headers, body })).status).toBe(403);
    expect(verdicts.at(-1)?.decision.waf).toMatchObject({ ids: [1], bodyError: null });
  });

  test('an empty body whose end arrives later is forwarded', async () => {
    const { port } = await start(name);
    const socket = connect(port, '127.0.0.1');
    const head = 'POST /form HTTP/1.1\r\nHost: shop.localhost\r\nConnection: close\r\n';
    socket.write(
      `${head}Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    setTimeout(() => socket.write('0\r\n\r\n'), 100);
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('refuses an attack at the end of 100 KB', async () => {
    const { port, verdicts } = await start(name);
    const body = `a=${'x'.repeat(100_000)}&b=attack`;
    const answer = await ask(port, '/form', { method: 'POST', headers: FORM, body });
    expect(answer.status).toBe(403);
    expect(verdicts.at(-1)?.decision.waf).toMatchObject({ score: 5, ids: [1] });
  });

  test('blocks with a page, and with JSON for clients that accept it', async () => {
    const { port } = await start(name);
    const page = await ask(port, '/admin', { headers: HTML });
    expect([page.status, page.headers['content-type']]).toEqual([403, 'text/html; charset=utf-8']);
    expect(page.body).toContain(`<code>${page.headers['x-edgeplan-id']}</code>`);
    const json = await ask(port, '/x/..%2fadmin');
    expect(JSON.parse(json.body)).toEqual({ error: 'access denied', id: json.headers['x-edgeplan-id'] });
    const head = await ask(port, '/admin', { method: 'HEAD', headers: HTML });
    expect([head.status, head.body, Number(head.headers['content-length'])]).toEqual([
      403,
      '',
      page.body.length,
    ]);
    expect((await ask(port, '/admin', { from: '203.0.113.8' })).status).not.toBe(403);
  });

  test('redirects, and answers bots with their own content', async () => {
    const { port } = await start(name);
    const moved = await ask(port, '/old/a?b=1');
    expect([moved.status, moved.headers['location']]).toEqual([302, '/new?b=1']);
    const bot = await ask(port, '/', { headers: { 'user-agent': 'GPTBot/1.2' } });
    expect([bot.status, bot.body]).toEqual([200, 'for bots']);
  });

  test('limits rates, sends Retry-After, and counts on under another plan', async () => {
    const { port, edge } = await start(name);
    await look(port, '/busy');
    edge.install(sealedPlan({ rules: RULES, revision: 2 }));
    await look(port, '/busy');
    const answer = await ask(port, '/busy');
    expect(answer.status).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(3_000);
    expect((await ask(port, '/busy', { from: '203.0.113.8' })).status).toBe(200);
    await ask(port, '/paged');
    const paged = await ask(port, '/paged');
    expect([paged.status, paged.body]).toEqual([429, '<p>slow down</p>']);
    expect(Number(paged.headers['retry-after'])).toBeGreaterThan(3_000);
  });

  test('a solved challenge lets the visitor in, and the application never gets the cookie', async () => {
    const { port } = await start(name);
    const page = await ask(port, '/members/a', { headers: HTML });
    expect(page.status).toBe(403);
    const handed = await hand(port, await solve(page));
    expect([handed.status, handed.headers['location']]).toEqual([303, '/members/a']);
    const cookie = handed.headers['set-cookie']![0]!.split(';', 1)[0]!;
    const got = await look(port, '/members/a', { headers: { cookie: `a=1; ${cookie}; b=2` } });
    expect(got.headers['cookie']?.replaceAll(' ', '')).toBe('a=1;b=2');
    expect((await look(port, '/members/a', { headers: { cookie } })).headers).not.toHaveProperty('cookie');
    expect((await ask(port, '/members/a', { headers: { cookie }, from: '198.51.100.1' })).status).toBe(403);
  });

  test('rewrites the target, or reports the rewrite as not enforced', async () => {
    const { port } = await start(name);
    const routed = name === 'Fastify, as a plugin' || name === 'Hono, as middleware';
    const moved = await look(port, '/moved?a=1');
    expect([moved.url, moved.unenforced]).toEqual(routed ? ['/moved?a=1', ['rewrite']] : ['/there?a=1', []]);
    const dots = await look(port, '/a/./b/../c');
    // A `Request` holds a URL that was parsed, so Hono has never seen the dots.
    const raw = name === 'Fastify, as a plugin';
    expect([dots.url, dots.unenforced]).toEqual(raw ? ['/a/./b/../c', ['rewrite']] : ['/a/c', []]);
  });

  test('reports what it does not enforce', async () => {
    const { port } = await start(name);
    expect((await look(port, '/kept')).unenforced).toEqual(['cache']);
    expect((await look(port, '/elsewhere')).unenforced).toEqual(['origin']);
  });

  test('replaces the application’s errors by the page of a rule, and no other response', async () => {
    const { port, faults } = await start(name);
    const none = await ask(port, '/status/404', { headers: HTML });
    expect([none.status, none.body]).toEqual([404, '<p>nothing here</p>']);
    // What does not describe the body stays (semantics §5 error_page).
    expect(none.headers['x-own']).toBe('yes');
    expect(none.headers['content-type']).toBe('text/html; charset=utf-8');
    const head = await ask(port, '/status/404', { method: 'HEAD' });
    expect([head.status, head.body]).toEqual([404, '']);
    const teapot = await ask(port, '/status/418');
    expect([teapot.status, teapot.body, teapot.headers['x-own']]).toEqual([
      418,
      'the application says',
      'yes',
    ]);
    expect(teapot.headers).not.toHaveProperty('x-powered-by');
    const boom = await ask(port, '/boom');
    expect([boom.status, boom.body]).toEqual([500, '<p>sorry</p>']);
    // What Express and Fastify catch themselves, they answer themselves.
    expect(faults.length).toBe(name === 'node:http' ? 1 : 0);
  });

  test('answers 421 for a host without a domain, and 400 for a malformed request', async () => {
    const refusals: number[] = [];
    const { port, verdicts } = await start(name, { onRefusal: ({ status }) => void refusals.push(status) });
    expect((await ask(port, '/', { host: 'other.test' })).status).toBe(421);
    expect((await ask(port, '/', { host: 'none.shop.localhost' })).status).toBe(421);
    expect((await ask(port, '/', { host: 'a b' })).status).toBe(400);
    // What makes no URL never becomes a `Request`: the platform answers it.
    expect(refusals).toEqual(name.startsWith('Hono') ? [421] : [421, 400]);
    expect(verdicts.map(({ decision }) => decision.status)).toEqual([421]);
  });

  test('uses X-Forwarded-For of trusted proxies only, and removes it otherwise', async () => {
    const { port } = await start(name, { trustProxy: [] });
    const headers = { 'x-forwarded-proto': 'https', forwarded: 'for=1.2.3.4', 'x-real-ip': '1.2.3.4' };
    const got = await look(port, '/admin', { from: '203.0.113.7', headers });
    expect(got.ip).toBe('127.0.0.1');
    for (const name of ['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'x-real-ip']) {
      expect(got.headers).not.toHaveProperty(name);
    }
    const trusting = await start(name);
    expect((await look(trusting.port, '/', { headers })).headers).toMatchObject({
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-proto': 'https',
    });
  });

  test('a request whose client aborts its body does not reach the application', async () => {
    let told: (status: number) => void;
    const refused = new Promise<number>((resolve) => {
      told = resolve;
    });
    const { port, verdicts, faults } = await start(name, { onRefusal: ({ status }) => told(status) });
    const socket = connect(port, '127.0.0.1');
    const head = ['POST /form HTTP/1.1', 'Host: shop.localhost', `Content-Type: ${FORM['content-type']}`];
    socket.write(`${head.join('\r\n')}\r\nContent-Length: 9000\r\n\r\na=1`, () => socket.destroy());
    expect(await refused).toBe(400);
    await look(port, '/after');
    expect(verdicts.map(({ request }) => request.target)).toEqual(['/after']);
    expect(faults).toEqual([]);
  });

  test('a plan replaces another as a whole, and bytes that are no plan change nothing', async () => {
    const { port, edge } = await start(name);
    expect((await ask(port, '/admin')).status).toBe(403);
    for (const bytes of [new Uint8Array(400), PLAN.slice(0, 200), damaged(PLAN)]) {
      expect(() => edge.install(bytes)).toThrow(PlanFault);
      expect((await ask(port, '/admin')).status).toBe(403);
    }
    expect(edge.install(sealedPlan({ revision: 7 }))).toEqual({ domain: 'shop.localhost', revision: 7 });
    expect((await ask(port, '/admin')).status).toBe(200);
    edge.install(sealedPlan({ domain: 'second.test', rules: RULES }));
    expect([edge.size, (await ask(port, '/admin', { host: 'second.test' })).status]).toEqual([2, 403]);
    edge.remove('second.test');
    expect((await ask(port, '/admin', { host: 'second.test' })).status).toBe(421);
  });
});

function damaged(plan: Uint8Array): Uint8Array {
  const bytes = plan.slice();
  bytes[bytes.length - 9]! ^= 1;
  return bytes;
}
