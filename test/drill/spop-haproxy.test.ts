/**
 * HAProxy 2.6 with the shipped configuration, and an agent with real plans: generated requests get the outcome that `evaluate`
 * says, and none passes unfiltered while the agent is away, stopped, slow, or asked for more than it can do.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTickets } from '../../src/edge/doors/tickets.ts';
import { loadSignatures } from '../../src/edge/middleware/check-options.ts';
import { type EdgeRequest, loadPlan } from '../../src/engine/evaluator/index.ts';
import { type ScriptedServer, startDnsServer } from '../support/dns-server.ts';
import { sealedPlan, sealedSignatures } from '../support/embed.ts';
import { freePort } from '../support/free-ports.ts';
import { type Random, seeded } from '../support/generate-random.ts';
import { missingProgram, requires } from '../support/requires.ts';
import { sizeOf } from '../support/size.ts';
import {
  DOOR_SECRET,
  openTestSpopDoor,
  type RunningHaproxy,
  replaced,
  type SeenServer,
  startHaproxy,
  startNamedOrigin,
  startPages,
  type TestSpopDoor,
} from '../support/spop-door.ts';
import { until } from '../support/until.ts';

const HAPROXY = missingProgram('haproxy');
/** Generated requests. */
const REQUESTS = sizeOf('EDGEPLAN_PROXIED', { usual: 3_000, full: 20_000 });

/** Requests beyond the capacity of an agent. */
const OVERLOAD = sizeOf('EDGEPLAN_OVERLOAD', { usual: 3_000, full: 20_000 });

const HOST = 'shop.localhost';
/** A cookie of the edge's own. */
const OWN_COOKIE = 'edgeplan_clear_captcha_2';

interface Sent {
  readonly method?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  /** The address that it is sent from, within 127.0.0.0/8. */
  readonly from?: string;
}

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const agents = new Map<string, Agent>();

/** One request through HAProxy, on a reused connection of its address. */
function ask(
  port: number,
  path: string,
  { method = 'GET', host = HOST, headers, body, from = '127.0.0.1' }: Sent = {},
) {
  const agent = agents.get(from) ?? new Agent({ keepAlive: true, maxSockets: 1_000 });
  agents.set(from, agent);
  return new Promise<Got>((resolve, reject) => {
    const sent = { host, 'user-agent': 'test/1', ...headers } as Record<string, string | string[]>;
    const request = httpRequest(
      { host: '127.0.0.1', port, path, method, headers: sent, agent, localAddress: from },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode!, headers: response.headers, body: text }),
        );
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

function rules(port: number): readonly Readonly<Record<string, unknown>>[] {
  const redirect = { type: 'redirect', preserve_query: true };
  return [
    { id: 1, type: 'drop', path_includes: ['/admin*'] },
    { id: 2, type: 'captcha', path_includes: ['/members/*'] },
    { id: 3, type: 'rate_limit', path_includes: ['/busy'], limit: 2, window_sec: 3_600 },
    { id: 4, ...redirect, path_includes: ['/old/1'], target: 'https://shop.localhost/new', status_code: 301 },
    { id: 5, ...redirect, path_includes: ['/old/2'], target: 'https://shop.localhost/new', status_code: 302 },
    { id: 6, ...redirect, path_includes: ['/old/7'], target: 'https://shop.localhost/new', status_code: 307 },
    { id: 7, ...redirect, path_includes: ['/old/8'], target: 'https://shop.localhost/new', status_code: 308 },
    { id: 8, type: 'origin_route', path_includes: ['/api/*'], address: '127.0.0.1', port, scheme: 'http' },
    {
      id: 9,
      type: 'rewrite',
      path_match_type: 'regex',
      path_includes: ['^/api/v1/(.*)$'],
      path_target: '/v2/$1',
    },
    { id: 10, type: 'rewrite', path_includes: ['/item'], path_target: '/item/list', query_mode: 'strip' },
    { id: 11, type: 'waf', path_includes: ['/form*'], paranoia: 1, threshold: 5, body_cap_kb: 64 },
    { id: 12, type: 'bot_route', bot_kinds: ['bytespider'], action: 'block' },
    {
      id: 13,
      type: 'bot_route',
      bot_kinds: ['gptbot'],
      action: 'alt_content',
      status: 403,
      body: 'by arrangement',
    },
    { id: 14, type: 'drop', ips: ['127.0.0.66'] },
    {
      id: 15,
      type: 'origin_route',
      path_includes: ['/named/*'],
      address: 'named.test',
      port,
      scheme: 'http',
    },
  ];
}

const PATHS = [
  ...[
    '/',
    '/plain',
    '/admin',
    '/admin/x',
    '/members/a',
    '/old/1',
    '/old/2',
    '/old/7',
    '/old/8',
    '/api/a',
    '/api/v1/b/c',
  ],
  ...[
    '/api/v1/',
    '/item',
    '/form',
    '/named',
    '/%61dmin',
    '/x/../admin',
    '/x/%2e%2e/admin/',
    '/;/admin',
    '//admin',
    '/ADMIN',
  ],
  ...[
    '/admin;p=1',
    '/a%2fb',
    '/%ff',
    '/%',
    '/%zz',
    '/a%00b',
    '/api/v1/%7Ex',
    "/o'k!()*",
    '/a"b',
    '/[x]',
    '/a|b',
    '/a\\b',
  ],
  ...['/x\\..\\admin', '/.well-known/acme-challenge/tok_EN-1', '/.well-known//edgeplan/solve'],
];
const QUERIES = ['', '', '?', '?a=1', '?a=attack', '?q=%20x&y', '?a=1?b', '?a=%'];
const AGENTS = [
  'test/1',
  'Mozilla/5.0 (X11; Linux) Firefox/130.0',
  'Mozilla/5.0 (compatible; Bytespider)',
  'GPTBot/1.2',
];
const ADDRESSES = ['127.0.0.1', '127.0.0.2', '127.0.0.66'];
const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'DELETE', 'PROPFIND'];

interface Generated extends Sent {
  readonly path: string;
  readonly method: string;
  readonly from: string;
  readonly headers: Readonly<Record<string, string>>;
}

function generate(random: Random): Generated {
  const accept = random.pick(['text/html,*/*', '*/*']);
  const cookie = random.pick(['', 'a=b', 'edgeplan_clear_captcha_2=x; a=b']);
  return {
    path: random.pick(PATHS) + random.pick(QUERIES),
    method: random.pick(METHODS),
    host: random.pick([HOST, HOST, HOST, HOST.toUpperCase(), `${HOST}:80`, 'other.test']),
    from: random.pick(ADDRESSES),
    headers: { accept, 'user-agent': random.pick(AGENTS), ...(cookie === '' ? {} : { cookie }) },
  };
}

/** Runs `each` for many items, some at a time. */
async function parallel<T>(items: readonly T[], each: (item: T) => Promise<void>, lanes = 32): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) await each(items[next++]!);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

describe('HAProxy 2.6 with the shipped configuration', requires(HAPROXY), () => {
  let agent: TestSpopDoor;
  let pages: SeenServer;
  let servers: SeenServer;
  let chosen: SeenServer;
  let haproxy: RunningHaproxy;
  let dns: ScriptedServer;
  let plan: Uint8Array;

  beforeAll(async () => {
    servers = await startNamedOrigin('servers');
    chosen = await startNamedOrigin('chosen');
    dns = await startDnsServer('127.0.0.1', 0, ({ name, type }) => ({
      answers: name === 'named.test' && type === 'A' ? [{ name, type: 'A', ttl: 60, data: '127.0.0.1' }] : [],
    }));
    const record = { id: 5, name: '@', type: 'A', destination: '127.0.0.1', scheme: 'Http', proxied: true };
    plan = sealedPlan({
      records: [{ ...record, port: servers.port }],
      settings: { sec_no_sniff: true },
      rules: rules(chosen.port),
    });
    agent = await openTestSpopDoor({ plans: [plan], signatures: sealedSignatures() });
    pages = await startPages(agent.tickets);
    haproxy = await startHaproxy({
      door: portOf(agent),
      pages: pages.port,
      servers: servers.port,
      patient: true,
      change: replaced('parse-resolv-conf', `nameserver scripted 127.0.0.1:${dns.port}`),
    });
  });
  afterAll(async () => {
    if (HAPROXY !== null) return;
    for (const one of agents.values()) one.destroy();
    await haproxy.close();
    await agent.door.stop(0);
    for (const one of [pages, servers, chosen]) await one.close();
    await dns.stop();
  });

  test(`${REQUESTS} generated requests get the outcome that \`evaluate\` says`, async () => {
    const evaluator = loadPlan(plan, { waf: loadSignatures(sealedSignatures()) });
    const random = seeded(Number(process.env['EDGEPLAN_SEED'] ?? 1));
    const outcomes = new Map<string, number>();
    await parallel(
      random.times(REQUESTS, () => generate(random)),
      async (sent) => {
        const { path, method, host, from, headers } = sent;
        const request: EdgeRequest = {
          scheme: 'http',
          method,
          host: host!,
          target: path,
          headers: { host: host!, ...headers },
          ip: from,
          body: null,
          now: Date.now(),
        };
        const { action, status, location, origin, rule, ...decision } = evaluator.evaluate(request);
        outcomes.set(action, (outcomes.get(action) ?? 0) + 1);
        const got = await ask(haproxy.port, path, sent);
        // The edge's own addresses: their status follows from the proof that is posted.
        if (action === 'respond' && rule === null) {
          expect(got.headers['x-origin']).toBeUndefined();
          return;
        }
        const what = `${method} ${host} ${path} from ${from} as ${headers['user-agent']}: ${action}`;
        const target = decision.query === null ? decision.path : `${decision.path}?${decision.query}`;
        const expected =
          action === 'forward'
            ? {
                status: 200,
                origin: origin!.port === chosen.port ? 'chosen' : 'servers',
                target: encodeURIComponent(target!),
              }
            : { status, ...(action === 'redirect' ? { location } : {}) };
        const { 'x-origin': by, 'x-target': seen, location: to } = got.headers;
        const seenOutcome =
          action === 'forward'
            ? { status: got.status, origin: by, target: seen }
            : { status: got.status, ...(action === 'redirect' ? { location: to } : {}) };
        expect(seenOutcome, what).toEqual(expected);
        expect(got.headers['x-edgeplan-id'], what).toMatch(/^[0-9a-f-]{36}$/);
      },
    );
    for (const action of ['forward', 'block', 'redirect', 'challenge', 'respond']) {
      expect(outcomes.get(action), action).toBeGreaterThan(REQUESTS / 200);
    }
    expect(agent.faults).toEqual([]);
    expect(agent.door.counts()).toMatchObject({
      faults: 0,
      longAnswers: 0,
      arguments: {},
      protocolErrors: {},
    });
  });

  test('a block has the page of the edge, in the form that the client accepts, and none for HEAD', async () => {
    const html = await ask(haproxy.port, '/admin', { headers: { accept: 'text/html' } });
    expect(html).toMatchObject({ status: 403, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(html.body).toContain(html.headers['x-edgeplan-id']);
    expect(html.headers['x-content-type-options']).toBe('nosniff');
    const json = await ask(haproxy.port, '/admin', { method: 'POST', body: 'a=b' });
    expect(JSON.parse(json.body)).toMatchObject({
      error: 'access denied',
      id: json.headers['x-edgeplan-id'],
    });
    expect(await ask(haproxy.port, '/admin', { method: 'HEAD' })).toMatchObject({ status: 403, body: '' });
  });

  test('a challenge is a page with its puzzle, and proofs reach the agent with headers of HAProxy alone', async () => {
    const page = await ask(haproxy.port, '/members/a', { headers: { accept: 'text/html' } });
    expect(page.status).toBe(403);
    expect(page.body).toContain('<script type="application/json" id="challenge">');
    const before = pages.seen.length;
    await ask(haproxy.port, '/.well-known/edgeplan/solve?x=1', {
      method: 'POST',
      body: 'proof',
      headers: {
        'x-forwarded-uri': '/forged',
        x_forwarded_host: 'forged.test',
        'x.forwarded.for': '192.0.2.1',
        forwarded: 'for=192.0.2.1',
        'x-edgeplan-door': 'guessed',
        x_edgeplan_door: 'guessed',
      },
    });
    const { headers, method, url } = pages.seen[before]!;
    expect({ method, url, body: pages.bodies[before]!.toString() }).toEqual({
      method: 'POST',
      url: '/.well-known/edgeplan/solve?x=1',
      body: 'proof',
    });
    const set = Object.entries(headers).filter(([name]) => /forwarded|edgeplan/.test(name));
    expect(Object.fromEntries(set)).toEqual({
      'x-forwarded-method': 'POST',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': HOST,
      'x-forwarded-uri': '/.well-known/edgeplan/solve?x=1',
      'x-forwarded-for': '127.0.0.1',
      'x-edgeplan-port': String(haproxy.port),
      'x-edgeplan-door': DOOR_SECRET,
    });
  });

  test('a rate limit answers 429 with Retry-After', async () => {
    const got: Got[] = [];
    for (let time = 0; time < 3; time++) got.push(await ask(haproxy.port, '/busy', { from: '127.0.0.9' }));
    expect(got.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(Number(got[2]!.headers['retry-after'])).toBeGreaterThan(0);
  });

  test('the origin gets no cookie of the edge, no header that names the edge, and the visitor of HAProxy', async () => {
    const before = servers.seen.length;
    await ask(haproxy.port, '/plain', {
      from: '127.0.0.2',
      headers: {
        cookie: `${OWN_COOKIE}=x; a=b`,
        'x-edgeplan-action': 'forward',
        x_edgeplan_tags: 'forged',
        'X.Edgeplan.Id': 'forged',
        'x-forwarded-for': '192.0.2.1',
      },
    });
    await ask(haproxy.port, '/plain', { headers: { cookie: `${OWN_COOKIE}=x` } });
    const [first, second] = servers.seen.slice(before);
    expect(first!.headers).toMatchObject({ cookie: 'a=b', 'x-forwarded-for': '127.0.0.2' });
    expect(Object.keys(first!.headers).filter((name) => name.includes('edgeplan'))).toEqual([]);
    expect(second!.headers.cookie).toBeUndefined();
  });

  test('an origin with a name is resolved', async () => {
    const got = await ask(haproxy.port, '/named/a');
    expect(got).toMatchObject({ status: 200, headers: { 'x-origin': 'chosen', 'x-target': '%2Fnamed%2Fa' } });
  });

  describe('bodies', () => {
    /** Without `response`, which every decision of a domain with `sec_no_sniff` names. */
    const unenforced = (): readonly string[] =>
      agent.journal.at(-1)!.unenforced!.filter((part) => part !== 'response');
    const post = (body: string, headers: Sent['headers'] = {}): Promise<Got> =>
      ask(haproxy.port, '/form', {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      });

    test.each([
      ['with a length', {}],
      ['in chunks', { 'transfer-encoding': 'chunked' }],
    ])('a body %s is inspected, and reaches the origin', async (_, headers) => {
      expect((await post('a=attack', headers)).status).toBe(403);
      expect((await post('a=fine', headers)).status).toBe(200);
      expect(servers.bodies.at(-1)!.toString()).toBe('a=fine');
      expect(unenforced()).toEqual([]);
    });

    test('a body beyond the buffer is inspected as far as the buffer goes, and the decision says so', async () => {
      const long = 'b'.repeat(200_000);
      expect((await post(`a=attack&b=${long}`)).status).toBe(403);
      expect((await post(`b=${long}&a=attack`)).status).toBe(200);
      expect(servers.bodies.at(-1)!.length).toBe(200_011);
      expect(unenforced()).toEqual(['body']);
      expect((await post(`b=${'b'.repeat(20_000)}&a=attack`)).status).toBe(403);
    });

    test('the longest headers, target and body that HAProxy takes fit one frame', async () => {
      const got = await ask(haproxy.port, `/form?${'q'.repeat(7_000)}`, {
        method: 'POST',
        body: `a=${'b'.repeat(60_000)}`,
        headers: { 'x-long': 'h'.repeat(8_000), 'content-type': 'application/x-www-form-urlencoded' },
      });
      expect(got.status).toBe(200);
      expect((await ask(haproxy.port, `/form?${'q'.repeat(7_200)}`)).status).toBe(414);
    });
  });

  test('health checks are answered', async () => {
    await until(() => agent.door.counts().healthChecks > 0, 'a health check');
    expect(agent.door.counts().protocolErrors).toEqual({});
  });

  test('a reload lets nothing pass', async () => {
    let reloaded = false;
    const statuses = new Map<string, number>();
    const forwarded = servers.seen.length;
    const work = parallel(
      Array.from({ length: 400 }, (_, index) => (index % 2 === 0 ? '/plain' : '/admin/x')),
      async (path) => {
        if (!reloaded && statuses.size > 0) {
          reloaded = true;
          process.kill(haproxy.pid, 'SIGUSR2');
        }
        const { status } = await ask(haproxy.port, path, { headers: { connection: 'close' } });
        statuses.set(`${path} ${status}`, (statuses.get(`${path} ${status}`) ?? 0) + 1);
      },
    );
    await work;
    expect(new Set(statuses.keys())).toEqual(new Set(['/plain 200', '/admin/x 403']));
    expect(servers.seen.slice(forwarded).some(({ url }) => url === '/admin/x')).toBe(false);
    await until(() => haproxy.printed().match(/New worker/g)!.length === 2, 'the new worker');
  });
});

describe('an agent that does not decide', requires(HAPROXY), () => {
  const opened: { close(): Promise<unknown> }[] = [];
  let origin: SeenServer;

  beforeAll(async () => {
    if (HAPROXY === null) origin = await startNamedOrigin('servers');
  });
  afterAll(async () => {
    for (const one of opened.reverse()) await one.close();
    await origin?.close();
  });

  async function through(door: number, tickets = createTickets()): Promise<RunningHaproxy> {
    const pages = await startPages(tickets);
    const haproxy = await startHaproxy({ door, pages: pages.port, servers: origin.port });
    opened.push(pages, haproxy);
    return haproxy;
  }

  /** Sends many requests at once; returns how often each status came. Nothing may reach the origin. */
  async function refused(haproxy: RunningHaproxy, count = 40): Promise<ReadonlySet<number>> {
    const before = origin.seen.length;
    const statuses = new Set<number>();
    const each = async (path: string): Promise<void> =>
      void statuses.add((await ask(haproxy.port, path)).status);
    await parallel(Array<string>(count).fill('/plain'), each);
    expect(origin.seen.length).toBe(before);
    return statuses;
  }

  test('is away: every request is refused with 503', async () => {
    const haproxy = await through(await freePort());
    expect(await refused(haproxy)).toEqual(new Set([503]));
  });

  test('is stopped by a signal: every request is refused with 503', async () => {
    const program = `require('net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port); })`;
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    child.kill('SIGSTOP');
    const ended = once(child, 'exit');
    opened.push({
      close() {
        child.kill('SIGKILL');
        return ended;
      },
    });
    expect(await refused(await through(Number(said)))).toEqual(new Set([503]));
  });

  test('accepts, and never answers: every request is refused with 503 after `timeout processing`', async () => {
    const agent = await openTestSpopDoor({ decide: () => () => new Promise(() => undefined) });
    opened.push({ close: () => agent.door.stop(0) });
    expect(await refused(await through(portOf(agent)))).toEqual(new Set([503]));
    expect(agent.door.counts().pending).toBeGreaterThan(0);
  });

  test('fails by a bug: every request is refused with 503', async () => {
    const agent = await openTestSpopDoor({
      decide: () => () => ({ kind: 'fault', id: 'none', fault: 'failed' }),
    });
    opened.push({ close: () => agent.door.stop(0) });
    expect(await refused(await through(portOf(agent)))).toEqual(new Set([503]));
  });

  test('speaks another protocol: every request is refused with 503', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.resume();
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    opened.push({ close: () => new Promise((resolve) => server.close(resolve)) });
    expect(await refused(await through((server.address() as AddressInfo).port))).toEqual(new Set([503]));
  });

  test('gets more requests than it can decide: none passes unfiltered, and it decides again afterwards', {
    // Against hangs: a request is refused after half a second, a thousand at a time.
    timeout: 180_000 + 20 * OVERLOAD,
  }, async () => {
    const record = { id: 5, name: '@', type: 'A', destination: '127.0.0.1', scheme: 'Http', proxied: true };
    const plan = sealedPlan({
      records: [{ ...record, port: origin.port }],
      rules: [{ id: 1, type: 'drop', path_includes: ['/admin*'] }],
    });
    // One decision at a time, 5 ms each: 200 a second.
    let last: Promise<unknown> = Promise.resolve();
    const agent = await openTestSpopDoor({
      plans: [plan],
      decide: (real) => (request) => {
        const turn = last.then(() => new Promise((resolve) => setTimeout(resolve, 5)));
        last = turn;
        return turn.then(() => real(request));
      },
    });
    opened.push({ close: () => agent.door.stop(0) });
    const haproxy = await through(portOf(agent), agent.tickets);
    const before = origin.seen.length;
    const got = new Map<string, number>();
    const paths = Array.from({ length: OVERLOAD }, (_, index) => (index % 2 === 0 ? '/plain' : '/admin/x'));
    await parallel(
      paths,
      async (path) => {
        const { status } = await ask(haproxy.port, path, { headers: { connection: 'close' } });
        got.set(`${path} ${status}`, (got.get(`${path} ${status}`) ?? 0) + 1);
      },
      1_000,
    );
    for (const outcome of got.keys()) {
      expect(['/plain 200', '/plain 503', '/admin/x 403', '/admin/x 503']).toContain(outcome);
    }
    expect(got.get('/admin/x 503'), [...got].join(' ')).toBeGreaterThan(0);
    expect(origin.seen.slice(before).some(({ url }) => url === '/admin/x')).toBe(false);
    // The decisions that HAProxy has given up are still made, 5 ms each.
    const isDecided = async (): Promise<boolean> => (await ask(haproxy.port, '/admin/x')).status === 403;
    await until(isDecided, 'a decision', 60_000 + 10 * OVERLOAD);
  });
});

function portOf({ door }: TestSpopDoor): number {
  return Number(new URL(door.address).port);
}
