/** The HTTP door, asked as each proxy asks: what it reads, what it refuses, and what each flavour gets of a decision. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { REPLY_HEADERS } from '../../../../../src/edge/doors/http/answers.ts';
import { sealedPlan, sealedSignatures } from '../../../../support/embed.ts';
import {
  DOOR_SECRET,
  openTestDoor,
  type TestDoor,
  type TestDoorOptions,
} from '../../../../support/http-door.ts';
import { statusesOf, textOf } from '../../../../support/raw.ts';
import { until } from '../../../../support/until.ts';

const RULES = [
  { id: 1, type: 'drop', path_includes: ['/admin'] },
  { id: 2, type: 'redirect', path_includes: ['/moved'], target: '/here', status_code: 302 },
  { id: 3, type: 'rate_limit', path_includes: ['/busy'], limit: 1, window_sec: 90 },
  { id: 4, type: 'waf', paranoia: 1, threshold: 5, body_cap_kb: 1, path_includes: ['/form'] },
  {
    id: 5,
    type: 'bot_route',
    bot_kinds: ['googlebot'],
    action: 'alt_content',
    body: 'for bots',
    status: 200,
  },
  {
    ...{ id: 6, type: 'bot_route', bot_kinds: ['bingbot'], action: 'alt_content' },
    ...{ body: 'later', status: 503 },
  },
  { id: 7, type: 'drop', path_includes: ['/secure'], ips: ['192.0.2.0/24'], ip_match_type: 'include' },
  { id: 8, type: 'drop', path_includes: ['/gone'], status: 410 },
  { id: 9, type: 'drop', path_includes: ['/down'], status: 503 },
];

/** What Traefik sends (`pkg/middlewares/auth/forward.go`): the visitor's headers, its own five, the secret of a middleware before. */
const FACTS: Readonly<Record<string, string>> = {
  'X-Edgeplan-Door': DOOR_SECRET,
  'X-Forwarded-Method': 'GET',
  'X-Forwarded-Proto': 'https',
  'X-Forwarded-Host': 'shop.localhost',
  'X-Forwarded-Uri': '/a?b=c',
  'X-Forwarded-For': '203.0.113.7',
};

let door: TestDoor | null = null;
afterEach(async () => {
  expect(door?.faults ?? []).toEqual([]);
  await door?.close();
  door = null;
});

async function open(options: Partial<TestDoorOptions> = {}): Promise<TestDoor> {
  door = await openTestDoor({
    plans: [sealedPlan({ rules: RULES })],
    signatures: sealedSignatures(),
    ...options,
  });
  return door;
}

interface Reply {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

interface Question {
  readonly path?: string;
  readonly method?: string;
  /** In place of, or besides, `FACTS`; `null`: without it. A list is sent as several lines. */
  readonly headers?: Readonly<Record<string, string | string[] | null>>;
  readonly body?: string;
}

function ask({ path = '/traefik', method = 'GET', headers = {}, body }: Question): Promise<Reply> {
  const all = Object.entries({ host: 'agent', ...FACTS, ...headers });
  const sent = Object.fromEntries(all.filter(([, value]) => value !== null)) as Record<string, string>;
  return new Promise((resolve, reject) => {
    const options = { socketPath: door!.path, path, method, headers: sent, agent: false };
    const request = httpRequest(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

describe('the contract', () => {
  test.each<[string, string, Readonly<Record<string, string | string[] | null>>]>([
    ['no secret', 'secret_missing', { 'X-Edgeplan-Door': null }],
    ['an empty secret', 'secret_missing', { 'X-Edgeplan-Door': '' }],
    ['another secret', 'secret_wrong', { 'X-Edgeplan-Door': `${DOOR_SECRET}x` }],
    [
      'another secret of the same length',
      'secret_wrong',
      { 'X-Edgeplan-Door': DOOR_SECRET.replace('f', 'e') },
    ],
    ['a doubled secret', 'doubled', { 'X-Edgeplan-Door': [DOOR_SECRET, DOOR_SECRET] }],
    ['no method', 'missing', { 'X-Forwarded-Method': null }],
    ['an empty method', 'missing', { 'X-Forwarded-Method': '' }],
    ['no scheme', 'missing', { 'X-Forwarded-Proto': null }],
    ['no host', 'missing', { 'X-Forwarded-Host': null }],
    ['no target', 'missing', { 'X-Forwarded-Uri': null }],
    ['no address', 'missing', { 'X-Forwarded-For': null }],
    ['a doubled target', 'doubled', { 'X-Forwarded-Uri': ['/a', '/a'] }],
    ['a doubled optional one', 'doubled', { 'X-Edgeplan-Port': ['1', '1'] }],
    ['underscores', 'alias', { X_Forwarded_Uri: '/b' }],
    ['dots', 'alias', { 'X.Forwarded.Uri': '/b' }],
    ['one underscore', 'alias', { 'x-forwarded_URI': '/b' }],
    ['an alias of an optional one', 'alias', { X_Edgeplan_Country: 'DE' }],
    ['an alias of the family', 'alias', { X_Forwarded_Prefix: '/b' }],
    ['a method that is none', 'malformed', { 'X-Forwarded-Method': 'get' }],
    ['a scheme that is none', 'malformed', { 'X-Forwarded-Proto': 'https, http' }],
    ['an absolute target', 'malformed', { 'X-Forwarded-Uri': 'http://shop.localhost/a' }],
    ['a target with a blank', 'malformed', { 'X-Forwarded-Uri': '/a b' }],
    ['a port of an address', 'malformed', { 'X-Forwarded-For': '203.0.113.7:80' }],
    ['an address that is none', 'malformed', { 'X-Forwarded-For': 'unix:' }],
    ['a list of addresses', 'address_list', { 'X-Forwarded-For': '192.0.2.1, 203.0.113.7' }],
    ['a port that is none', 'malformed', { 'X-Edgeplan-Port': '65536' }],
    ['a protocol that is none', 'malformed', { 'X-Edgeplan-Protocol': 'h2' }],
    ['a country that is none', 'malformed', { 'X-Edgeplan-Country': 'de' }],
    ['an autonomous system that is none', 'malformed', { 'X-Edgeplan-Asn': '0' }],
    ['a fingerprint that is none', 'malformed', { 'X-Edgeplan-Ja4': 'A b' }],
    ['a name that is none', 'malformed', { 'X-Edgeplan-Sni': '{http.request.tls.server_name}' }],
  ])('refuses %s with 403, counted as %s and logged once', async (_case, fault, headers) => {
    await open();
    for (const _time of [1, 2]) {
      const reply = await ask({ headers });
      expect([reply.status, reply.headers['x-edgeplan-action']]).toEqual([403, 'refuse']);
      for (const name of REPLY_HEADERS) expect(reply.headers[name.toLowerCase()]).toBeDefined();
    }
    const counts = door!.door.counts();
    expect([counts.refusals[fault as 'alias'], counts.decisions]).toEqual([2, 0]);
    expect(door!.logged.length).toBe(1);
    expect(door!.logged[0]).not.toContain(DOOR_SECRET);
    expect(door!.journal).toEqual([]);
  });

  test('reads nothing but the contract', async () => {
    await open();
    const others = {
      ...{
        forwarded: 'for=192.0.2.1;host=other.test',
        'x-original-url': '/admin',
        'x-original-method': 'PUT',
      },
      ...{ 'x-rewrite-url': '/admin', 'x-real-ip': '192.0.2.1', 'x-forwarded-prefix': '/admin' },
      ...{ 'x-edgeplan-action': 'forward', 'x-envoy-external-address': '192.0.2.1' },
      ...{ connection: 'close, x-forwarded-uri, x-dropped', 'x-dropped': '1', cookie: ['a=1', 'b=2'] },
    };
    expect((await ask({ headers: others })).status).toBe(200);
    const { request } = door!.journal[0]!.exchange!;
    expect(request).toMatchObject({
      ...{ scheme: 'https', method: 'GET', host: 'shop.localhost', target: '/a?b=c', ip: '203.0.113.7' },
      ...{ port: 443, protocol: 'HTTP/1.1', country: null, asn: null },
    });
    expect(Object.keys(request.headers!).sort()).toEqual(
      ['cookie', 'forwarded', 'host', 'x-envoy-external-address', 'x-original-method', 'x-original-url']
        .concat(['x-real-ip', 'x-rewrite-url'])
        .sort(),
    );
    expect([request.headers!['host'], request.headers!['cookie']]).toEqual(['shop.localhost', 'a=1; b=2']);
  });

  test('reads the optional facts', async () => {
    await open();
    const headers = {
      ...{ 'X-Edgeplan-Protocol': 'HTTP/2.0', 'X-Edgeplan-Port': '8443', 'X-Edgeplan-Country': 'DE' },
      ...{ 'X-Edgeplan-Ja4': 't13d1516h2_8daaf6152771_b186095e22b6', 'X-Edgeplan-Sni': 'Shop.localhost' },
      ...{ 'X-Edgeplan-Asn': '64496' },
    };
    expect((await ask({ headers })).status).toBe(200);
    expect(door!.journal[0]!.exchange!.request).toMatchObject({
      ...{
        protocol: 'HTTP/2',
        port: 8443,
        country: 'DE',
        asn: 64_496,
        ja4: 't13d1516h2_8daaf6152771_b186095e22b6',
      },
    });
    expect((await ask({ headers: { ...headers, 'X-Edgeplan-Sni': 'other.test' } })).status).toBe(421);
  });

  test('with trusted hops the visitor is so many elements before the last', async () => {
    await open({ trustedHops: 1 });
    const from = (list: string): Promise<Reply> =>
      ask({ headers: { 'X-Forwarded-Uri': '/secure', 'X-Forwarded-For': list } });
    expect((await from('203.0.113.9, 192.0.2.7, 10.0.0.1')).status).toBe(403);
    expect(door!.journal[0]!.exchange!.request.ip).toBe('192.0.2.7');
    expect((await from('192.0.2.7, 203.0.113.9,10.0.0.1')).status).toBe(200);
    expect((await from('192.0.2.7')).status).toBe(403);
    expect(door!.door.counts().refusals.address_list).toBe(1);
  });

  test('an endpoint that does not exist is refused', async () => {
    await open();
    for (const path of ['/', '/nginx/', '/apache', '/envoy', '/x/../.well-known/edgeplan/proof', '*']) {
      expect((await ask({ path, method: path === '*' ? 'OPTIONS' : 'GET' })).status, path).toBe(403);
    }
    expect(door!.door.counts().refusals.endpoint).toBe(6);
  });
});

describe('what each flavour gets', () => {
  test.each(['/nginx', '/caddy?x=1', '/traefik'])(
    'of a forward: 200 and all headers, at %s',
    async (path) => {
      await open();
      const headers = { cookie: 'a=1; edgeplan_clear_captcha_1=x' };
      const reply = await ask({ path, headers });
      expect([reply.status, reply.body]).toEqual([200, '']);
      for (const name of REPLY_HEADERS) expect(reply.headers[name.toLowerCase()], name).toBeDefined();
      expect(reply.headers).toMatchObject({
        ...{ 'x-edgeplan-action': 'forward', 'x-edgeplan-target': '/a?b=c', 'x-edgeplan-cookie': 'a=1' },
        ...{ 'x-edgeplan-ticket': '', 'x-edgeplan-status': '', 'x-edgeplan-origin': 'https://127.0.0.1:443' },
      });
      expect(reply.headers['x-edgeplan-id']).toBe(door!.journal[0]!.id);
    },
  );

  test('nginx: 403 for a block and 401 for all else, with a ticket that works once', async () => {
    await open();
    const at = (uri: string): Promise<Reply> =>
      ask({ path: '/nginx', headers: { 'X-Forwarded-Uri': uri, accept: 'text/html' } });
    const block = await at('/admin');
    expect([block.status, block.body, block.headers['x-edgeplan-status']]).toEqual([403, '', '403']);
    const moved = await at('/moved');
    expect(moved.status).toBe(401);
    expect(moved.headers).toMatchObject({ 'x-edgeplan-action': 'redirect', 'x-edgeplan-location': '/here' });
    await at('/busy');
    const busy = await at('/busy');
    expect([busy.status, busy.headers['x-edgeplan-status']]).toEqual([401, '429']);
    expect(Number(busy.headers['x-edgeplan-retry-after'])).toBeGreaterThan(0);
    const path = `/edgeplan/page?ticket=${block.headers['x-edgeplan-ticket'] as string}`;
    const page = await ask({ path });
    expect([page.status, page.body.includes('Access denied')]).toEqual([403, true]);
    expect((await ask({ path })).status).toBe(503);
    const byHeader = { 'X-Edgeplan-Ticket': moved.headers['x-edgeplan-ticket'] as string };
    const redirect = await ask({ path: '/edgeplan/page', headers: byHeader });
    expect([redirect.status, redirect.headers['location']]).toEqual([302, '/here']);
    const unsaid = { ...byHeader, 'X-Edgeplan-Door': null };
    expect((await ask({ path: '/edgeplan/page', headers: unsaid })).status).toBe(403);
  });

  test('Traefik: the whole answer, its Location absolute', async () => {
    await open();
    const moved = await ask({ headers: { 'X-Forwarded-Uri': '/moved' } });
    expect([moved.status, moved.headers['location']]).toEqual([302, 'https://shop.localhost/here']);
    const block = await ask({ headers: { 'X-Forwarded-Uri': '/admin', accept: 'text/html' } });
    expect([block.status, block.body.includes('Access denied')]).toEqual([403, true]);
    expect((await ask({ headers: { cookie: 'a=1' } })).headers['cookie']).toBe('a=1');
  });

  test.each(['/caddy', '/traefik', '/envoy/'])(
    'content of the edge’s own never passes as permission, at %s',
    async (path) => {
      await open();
      const reply = await ask({ path, headers: { host: 'shop.localhost', 'user-agent': 'Googlebot/2.1' } });
      expect([reply.status, reply.body, reply.headers['x-edgeplan-status']]).toEqual([
        403,
        'for bots',
        '200',
      ]);
    },
  );

  test('Envoy: a 5xx of the decision is 403, since Envoy takes 5xx for a failure of the agent', async () => {
    await open();
    const headers = { host: 'shop.localhost', 'user-agent': 'bingbot/2.0' };
    const reply = await ask({ path: '/envoy/', headers });
    expect([reply.status, reply.body, reply.headers['x-edgeplan-status']]).toEqual([403, 'later', '503']);
  });

  test.each([
    ['/nginx', 401, 401],
    ['/caddy', 410, 503],
    ['/traefik', 410, 503],
    ['/envoy/', 410, 403],
  ])(
    '%s: the status of a drop rule is that of the response, as far as the proxy takes it',
    async (path, gone, down) => {
      await open();
      const at = async (target: string): Promise<readonly unknown[]> => {
        const envoy = path === '/envoy/' ? { host: 'shop.localhost' } : {};
        const uri = { 'X-Forwarded-Uri': target, accept: 'text/html', ...envoy };
        const reply = await ask({ path: path === '/envoy/' ? `/envoy${target}` : path, headers: uri });
        const ticket = reply.headers['x-edgeplan-ticket'];
        const page = ticket === '' ? reply : await ask({ path: `/edgeplan/page?ticket=${String(ticket)}` });
        expect(reply.headers['x-edgeplan-retry-after']).toBe('');
        const { body } = page;
        return [
          reply.status,
          reply.headers['x-edgeplan-status'],
          /<h1>(.*)<\/h1>/.exec(body)?.[1],
          page.status,
        ];
      };
      const paged = (status: number, whole: number): number => (path === '/nginx' ? whole : status);
      expect(await at('/gone')).toEqual([gone, '410', 'This is no longer here', paged(gone, 410)]);
      expect(await at('/down')).toEqual([down, '503', 'The site is not available', paged(down, 503)]);
    },
  );

  test('Envoy: method, host and path are those of the request, behind the prefix', async () => {
    await open();
    const envoy = { ...NO_LINE, host: 'shop.localhost' };
    expect((await ask({ path: '/envoy/a?x', method: 'PUT', headers: envoy })).status).toBe(200);
    expect(door!.journal[0]!.exchange!.request).toMatchObject({
      method: 'PUT',
      target: '/a?x',
      ip: '203.0.113.7',
    });
    expect((await ask({ path: '/envoy/admin', headers: envoy })).status).toBe(403);
    expect((await ask({ path: '/envoy//admin', headers: envoy })).status).toBe(403);
    const forged = { ...envoy, 'X-Forwarded-Uri': '/a', 'X-Forwarded-Host': 'other.test' };
    const reply = await ask({ path: '/envoy/admin', headers: forged });
    expect([reply.status, reply.headers['x-edgeplan-action']]).toEqual([403, 'block']);
  });

  test('a fault is 503 without an action, which no proxy takes for a decision', async () => {
    await open({ decide: () => ({ kind: 'fault', id: 'some', fault: 'failed' }) });
    const reply = await ask({ path: '/nginx' });
    expect([reply.status, reply.headers['x-edgeplan-action']]).toEqual([503, '']);
  });
});

/** Envoy sends no header of the visitor's request line. */
const NO_LINE = { 'X-Forwarded-Method': null, 'X-Forwarded-Host': null, 'X-Forwarded-Uri': null };

describe('bodies', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded', host: 'shop.localhost' };

  test('a body that is passed on is inspected', async () => {
    await open({ passesBodies: true });
    const post = { path: '/envoy/form', method: 'POST', headers: { ...NO_LINE, ...form } };
    expect((await ask({ ...post, body: 'a=fine' })).status).toBe(200);
    expect((await ask({ ...post, body: 'a=attack' })).status).toBe(403);
    expect((await ask({ ...post, body: '' })).status).toBe(200);
    expect(door!.journal.map(({ unenforced }) => unenforced)).toEqual([[], [], []]);
    const traefik = { ...form, 'X-Forwarded-Method': 'POST', 'X-Forwarded-Uri': '/form' };
    expect(
      (await ask({ headers: { ...traefik, 'transfer-encoding': 'chunked' }, body: 'a=attack' })).status,
    ).toBe(403);
  });

  test('a body that is not passed on, or cut, is named as not enforced', async () => {
    await open({ maxBodyOctets: 64 });
    const post = { path: '/envoy/form', method: 'POST', headers: { ...NO_LINE, ...form } };
    await ask({ ...post, body: `a=${'x'.repeat(500_000)}` });
    await ask({ ...post, headers: { ...post.headers, 'x-envoy-auth-partial-body': 'true' }, body: 'a=1' });
    await ask({ headers: { 'X-Forwarded-Method': 'POST', 'X-Forwarded-Uri': '/form' } });
    await ask({ headers: { 'X-Forwarded-Uri': '/form', 'X-Edgeplan-Body': '12' } });
    await ask({
      headers: { 'X-Forwarded-Method': 'POST', 'X-Forwarded-Uri': '/form', 'X-Edgeplan-Body': '0' },
    });
    expect(door!.journal.map(({ unenforced }) => unenforced)).toEqual([
      ['body'],
      ['body'],
      ['body'],
      ['body'],
      [],
    ]);
  });

  test('the edge’s own addresses are answered with their body, and others are not', async () => {
    await open();
    const headers = { ...NO_LINE, ...form };
    const proof = { path: '/.well-known/edgeplan/proof', method: 'POST', headers };
    expect((await ask({ ...proof, body: 'proof=x' })).status).toBeGreaterThanOrEqual(400);
    expect((await ask({ ...proof, body: 'x'.repeat(9_000) })).status).toBe(413);
    expect(
      (await ask({ ...proof, headers: { ...headers, 'X-Edgeplan-Door': null }, body: 'proof=x' })).status,
    ).toBe(403);
    expect((await ask({ ...proof, path: '/.well-known/edgeplan/../../a' })).status).toBe(404);
  });
});

describe('connections', () => {
  /** The head of a question, as text. */
  const head = (more = '', line = 'GET /nginx HTTP/1.1'): string =>
    [
      line,
      'Host: a',
      ...Object.entries(FACTS).map(([name, value]) => `${name}: ${value}`),
      `${more}\r\n`,
    ].join('\r\n');

  test('many questions on one connection are answered in order', async () => {
    await open();
    const socket = connect(door!.path);
    const text = textOf(socket);
    for (let at = 0; at < 50; at++) socket.write(head(`X-At: ${at}\r\n`));
    socket.write(head('Connection: close\r\n'));
    expect(statusesOf(await text)).toEqual(Array.from({ length: 51 }, () => 200));
  });

  test('a name of the contract in two cases is doubled', async () => {
    await open();
    const socket = connect(door!.path);
    const text = textOf(socket);
    socket.write(head('x-FORWARDED-uri: /b\r\nConnection: close\r\n'));
    expect(statusesOf(await text)).toEqual([403]);
    expect(door!.door.counts().refusals.doubled).toBe(1);
  });

  test.each([
    ['an expectation', 'Connection: close\r\nExpect: 100-continue'],
    ['another expectation', 'Connection: close\r\nExpect: other'],
    ['an upgrade', 'Connection: Upgrade\r\nUpgrade: websocket'],
  ])('%s of the visitor is ignored', async (_case, lines) => {
    await open();
    const socket = connect(door!.path);
    const text = textOf(socket);
    socket.write(head(`${lines}\r\n`));
    // The door ends the connection of an upgrade itself.
    expect(statusesOf(await text)).toEqual([200]);
  });

  test('a silent connection, half a head and a large one disturb no other', async () => {
    await open();
    const silent = connect(door!.path);
    const half = connect(door!.path);
    await Promise.all([once(silent, 'connect'), once(half, 'connect')]);
    half.write('GET /nginx HTTP/1.1\r\nHost:');
    const large = connect(door!.path);
    const refused = textOf(large);
    large.write(head(`X-Large: ${'x'.repeat(70_000)}\r\n`));
    expect((await ask({})).status).toBe(200);
    expect(statusesOf(await refused)).toEqual([400]);
    expect((await ask({ headers: { 'X-Many': Array.from({ length: 300 }, () => 'x') } })).status).toBe(403);
    expect(door!.door.counts()).toMatchObject({ protocolErrors: 1, refusals: { headers: 1 } });
    silent.destroy();
    half.destroy();
    await until(() => door!.door.counts().connections === 0, 'the connections to end');
  });

  test('a retired door accepts no connection, and answers on those that exist', async () => {
    await open();
    const socket = connect(door!.path);
    const text = textOf(socket);
    await once(socket, 'connect');
    await until(() => door!.door.counts().connections === 1, 'the connection');
    door!.door.retire();
    await expect(ask({})).rejects.toThrow();
    socket.write(head());
    const answered = await text;
    expect([statusesOf(answered), answered.includes('\r\nConnection: close\r\n')]).toEqual([[200], true]);
  });
});

describe('customers’ texts in headers', () => {
  // Node refuses a header with a character above U+00FF; the request would get 503 by its own rule.
  const RULES_BEYOND_LATIN = [
    { id: 1, type: 'redirect', path_includes: ['/old'], target: '/größe/☃?q=☃#☃', status_code: 302 },
    {
      ...{ id: 2, type: 'redirect', path_includes: ['/kept/*'], preserve_path: true },
      ...{ target: 'https://other.test/☃', status_code: 302 },
    },
    { id: 3, type: 'rewrite', path_includes: ['/from'], path_target: '/größe/☃' },
    { id: 4, type: 'rate_limit', path_includes: ['/from'], limit: 100, window_sec: 90 },
  ];

  test.each([
    ['a redirect', '/old', 'x-edgeplan-location', '/gr%C3%B6%C3%9Fe/%E2%98%83?q=%E2%98%83#%E2%98%83'],
    ['a redirect with the path', '/kept/%e2%98%83', 'x-edgeplan-location', 'https://other.test/%E2%98%83'],
    ['a rewrite', '/from', 'x-edgeplan-target', '/gr%C3%B6%C3%9Fe/%E2%98%83'],
  ])('%s has them percent-encoded', async (_, uri, header, value) => {
    await open({ plans: [sealedPlan({ rules: RULES_BEYOND_LATIN })] });
    for (const path of ['/nginx', '/caddy']) {
      const reply = await ask({ path, headers: { 'X-Forwarded-Uri': uri } });
      expect(reply.headers[header], path).toContain(value);
    }
  });
});
