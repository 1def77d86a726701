/**
 * One edge file with gateways, consumers, usage plans and a token issuer, at every kind of edge: a request gets the same answer
 * from each, the application gets admitted requests alone, and what an edge cannot change is named.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sha256Hex } from '../../src/base/platform/cryptography.ts';
import { decisionLine } from '../../src/edge/proxy/log/line.ts';
import type { Answer, Sent } from '../support/ask.ts';
import {
  envoyGrpcEdge,
  type FileFor,
  fetchMiddleware,
  forwardAuthEdge,
  GATEWAY_HOST,
  type GatewayEdge,
  haproxyEdge,
  http2Edge,
  nginxEdge,
  nodeEdge,
  nodeMiddleware,
} from '../support/gateway-edges.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { missingProgram, requires } from '../support/requires.ts';
import { makeKey, partOf, signHmac, signToken } from '../support/tokens.ts';

const keyOf = (name: string): string => `epk_${name}`.padEnd(47, 'x');
const listed = (name: string, more: object = {}) => ({ sha256: sha256Hex(keyOf(name)), ...more });
const PAST = '2020-01-01T00:00:00Z';

const ISSUER = 'https://login.example/';
const AUDIENCE = 'https://api.example';
const ISSUER_KEY = makeKey('ES256', 'one');
/** A key of somebody else, under the same `kid`. */
const OTHER_KEY = makeKey('ES256', 'one');
/** A claim that no log may have. */
const CLAIM = 'jane.doe@claims.example';

const nowSec = Math.floor(Date.now() / 1_000);
const claims = (more: object = {}) => ({
  ...{ iss: ISSUER, aud: AUDIENCE, sub: 'acme', email: CLAIM },
  ...{ iat: nowSec - 10, exp: nowSec + 3_600, ...more },
});
const tokenOf = (more: object = {}): string =>
  signToken({ alg: 'ES256', kid: 'one' }, claims(more), ISSUER_KEY.privateKey);
const bearer = (token: string): Sent => ({ headers: { authorization: `Bearer ${token}` } });

const FILE: FileFor = (port) =>
  JSON.stringify({
    domain: GATEWAY_HOST,
    records: [{ name: '@', type: 'A', destination: '127.0.0.1', port, scheme: 'Http', proxied: true }],
    consumers: [
      { username: 'acme', keys: [listed('acme'), listed('expired', { expires_at: PAST })] },
      { username: 'beta', keys: [listed('beta')] },
      { username: 'narrow', acl: ['reports'], keys: [listed('narrow')] },
      { username: 'slow', usage_plan: 'slow', keys: [listed('slow')] },
      { username: 'disabled', enabled: false, keys: [listed('disabled')] },
      { username: 'former', expires_at: PAST, keys: [listed('former')] },
    ],
    usage_plans: [
      { name: 'wide', throttle: { rate: 10_000, per_sec: 60 } },
      { name: 'slow', throttle: { rate: 1, per_sec: 600 } },
    ],
    token_issuers: [
      {
        ...{ name: 'login', issuer: ISSUER, audiences: [AUDIENCE], algorithms: ['ES256'] },
        keys: [ISSUER_KEY.jwk],
      },
    ],
    gateways: [
      {
        ...{ name: 'orders', base_path: '/v1', default_plan: 'wide' },
        auth: {
          api_key: {
            sources: [
              { in: 'header', name: 'X-Api-Key' },
              { in: 'query', name: 'api_key' },
              { in: 'cookie', name: 'key' },
            ],
          },
          jwt: { issuers: ['login'] },
        },
        operations: [
          { operation_id: 'listOrders', methods: ['GET'], path: '/orders' },
          { operation_id: 'addOrder', methods: ['POST'], path: '/orders', scopes: ['orders:write'] },
          { operation_id: 'listReports', methods: ['GET'], path: '/reports', tags: ['reports'] },
          { operation_id: 'readStatus', methods: ['GET'], path: '/open', auth: 'none' },
        ],
        cors: { allow_origins: ['https://app.example.com'], expose_headers: ['RateLimit'] },
        upstream_headers: { set: { 'X-Consumer': '${consumer}', 'X-Email': '${claim(email)}' } },
      },
      {
        ...{ name: 'both', base_path: '/both' },
        auth: {
          require: 'all',
          api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] },
          jwt: { issuers: ['login'] },
        },
      },
    ],
  });

const PLACES: Readonly<Record<string, (...keys: readonly string[]) => [path: string, sent: Sent]>> = {
  header: (...keys) => ['/v1/orders', { headers: { 'x-api-key': [...keys] } }],
  query: (...keys) => [`/v1/orders?a=1&${keys.map((key) => `api_key=${key}`).join('&')}`, {}],
  cookie: (...keys) => [
    '/v1/orders',
    { headers: { cookie: ['theme=dark', ...keys.map((key) => `key=${key}`)].join('; ') } },
  ],
};

type Case = readonly [name: string, path: string, sent: Sent];

/** Credentials that are present and refused. */
const REFUSED: readonly Case[] = [
  ...Object.entries(PLACES).flatMap(([place, sentBy]): Case[] => [
    [`an expired key in ${place}`, ...sentBy(keyOf('expired'))],
    [`a doubled key in ${place}`, ...sentBy(keyOf('acme'), keyOf('acme'))],
    [`an unknown key in ${place}`, ...sentBy(keyOf('nobody'))],
  ]),
  [
    'two keys that differ, in header and query',
    `/v1/orders?api_key=${keyOf('beta')}`,
    { headers: { 'x-api-key': keyOf('acme') } },
  ],
  [
    'two keys that differ, in cookie and query',
    `/v1/orders?api_key=${keyOf('beta')}`,
    { headers: { cookie: `key=${keyOf('acme')}` } },
  ],
  ['an expired token', '/v1/orders', bearer(tokenOf({ exp: nowSec - 3_600 }))],
  ['a token for another audience', '/v1/orders', bearer(tokenOf({ aud: 'https://other.example' }))],
  ['a token of another issuer', '/v1/orders', bearer(tokenOf({ iss: 'https://other.example/' }))],
  [
    'a token signed with the public key as an HMAC secret',
    '/v1/orders',
    bearer(
      signHmac(
        { alg: 'HS256', kid: 'one' },
        claims(),
        ISSUER_KEY.publicKey.export({ type: 'spki', format: 'pem' }) as string,
      ),
    ),
  ],
  ['a token without a signature', '/v1/orders', bearer(`${partOf({ alg: 'none' })}.${partOf(claims())}.`)],
  [
    'a token signed with another key of the same kid',
    '/v1/orders',
    bearer(signToken({ alg: 'ES256', kid: 'one' }, claims(), OTHER_KEY.privateKey)),
  ],
  ['a token of an unknown subject', '/v1/orders', bearer(tokenOf({ sub: 'nobody' }))],
  [
    'a key and a token of two consumers',
    '/v1/orders',
    { headers: { ...bearer(tokenOf()).headers, 'x-api-key': keyOf('beta') } },
  ],
  [
    'an unknown key beside a valid token',
    '/v1/orders',
    { headers: { ...bearer(tokenOf()).headers, 'x-api-key': keyOf('nobody') } },
  ],
];

/** Credentials of acme that are admitted. */
const ADMITTED: readonly Case[] = [
  ...Object.entries(PLACES).map(([place, sentBy]): Case => [`a key in ${place}`, ...sentBy(keyOf('acme'))]),
  ['a token', '/v1/orders', bearer(tokenOf())],
  [
    'a key and a token of one consumer',
    '/both/a',
    { headers: { ...bearer(tokenOf()).headers, 'x-api-key': keyOf('acme') } },
  ],
];

const NGINX = missingProgram('nginx');
const HAPROXY = missingProgram('haproxy');
const EDGES: readonly [
  name: string,
  start: (file: FileFor) => Promise<GatewayEdge>,
  missing: string | null,
][] = [
  ['a node over HTTP/1.1', nodeEdge, OPENSSL_MISSING],
  ['a node over HTTP/2', http2Edge, OPENSSL_MISSING],
  ['an agent behind nginx', nginxEdge, NGINX],
  ['an agent behind HAProxy', haproxyEdge, HAPROXY],
  ['an agent behind ext_authz over HTTP', forwardAuthEdge('envoy'), null],
  ['an agent that Traefik asks', forwardAuthEdge('traefik'), null],
  ['an agent that Caddy asks', forwardAuthEdge('caddy'), null],
  ['an agent behind ext_authz over gRPC', envoyGrpcEdge, null],
  ['the Node middleware', nodeMiddleware, null],
  ['the fetch middleware', fetchMiddleware, null],
];

/** A problem as every edge answers it. */
function expectProblem(
  edge: GatewayEdge,
  answer: Answer,
  problem: readonly [status: number, title: string, detail: string],
) {
  const [status, title, detail] = problem;
  expect([answer.status, answer.body.slice(0, 300)]).toEqual([
    status,
    `${JSON.stringify({ type: 'about:blank', title, status, detail, instance: answer.headers['x-edgeplan-id'] })}\n`,
  ]);
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(edge.reached).toEqual([]);
}

const UNAUTHORIZED = [401, 'Unauthorized', 'valid credentials are required'] as const;
const NO_SCOPE = [403, 'Forbidden', 'the credentials lack a scope of this operation'] as const;
const NOT_ACTIVE = [403, 'Forbidden', 'the consumer is not active'] as const;

describe.each(EDGES)('%s', (_name, start, missing) => {
  describe('before an application', requires(missing), () => {
    let edge: GatewayEdge;
    beforeAll(async () => {
      edge = await start(FILE);
    }, 60_000);
    afterAll(async () => {
      await edge?.close();
    });
    beforeEach(() => {
      edge.reached.length = 0;
    });

    /** A request with a name that only the edge may state. */
    const ask = (path: string, { headers, ...sent }: Sent = {}): Promise<Answer> =>
      edge.ask(path, { ...sent, headers: { 'x-consumer': 'forged', ...headers } });

    test.each(REFUSED)('refuses %s', async (_case, path, sent) => {
      const answer = await ask(path, sent);
      expectProblem(edge, answer, UNAUTHORIZED);
      expect(answer.headers['www-authenticate']).toBe(
        'ApiKey realm="orders", Bearer realm="orders", error="invalid_token"',
      );
    });

    test('refuses a request without credentials', async () => {
      const answer = await ask('/v1/orders');
      expectProblem(edge, answer, UNAUTHORIZED);
      expect(answer.headers['www-authenticate']).toBe('ApiKey realm="orders", Bearer realm="orders"');
    });

    test('refuses two Authorization headers', async () => {
      if (edge.doubled === null) return;
      const answer = await ask('/v1/orders', {
        headers: { authorization: [`Bearer ${tokenOf()}`, `Bearer ${tokenOf()}`] },
      });
      expect(answer.status).toBe(edge.doubled);
      expect(edge.reached).toEqual([]);
    });

    test('refuses a WebSocket without credentials', async () => {
      // HTTP/2 has no such request.
      if (edge.doubled === null) return;
      const answer = await ask('/v1/orders', {
        headers: {
          ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
          'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        },
      });
      expectProblem(edge, answer, UNAUTHORIZED);
    });

    test('refuses one of two kinds where all are required', async () => {
      expectProblem(edge, await ask('/both', bearer(tokenOf())), UNAUTHORIZED);
      expectProblem(edge, await ask('/both', { headers: { 'x-api-key': keyOf('acme') } }), UNAUTHORIZED);
    });

    test.each(ADMITTED)('forwards %s, which the application does not get', async (_case, path, sent) => {
      const answer = await ask(path, sent);
      expect([answer.status, answer.body, edge.reached.length]).toEqual([200, 'origin', 1]);
      const { url, headers } = edge.reached[0]!;
      expect(url).toBe(edge.rewrite ? path.replace(/&api_key=.*/, '') : path);
      if (!edge.request) {
        expect(edge.unenforced()).toContain('request');
        return;
      }
      const expected = path.startsWith('/both') ? 'forged' : 'acme';
      expect([headers['x-consumer'], headers['x-api-key']]).toEqual([expected, undefined]);
      expect(JSON.stringify([url, headers])).not.toContain('epk_');
    });

    test('removes a key among cookies, and the cookies of the edge', async () => {
      const cookie = `edgeplan_clear_captcha_1=x; theme=dark; key=${keyOf('acme')}`;
      expect((await ask('/v1/orders', { headers: { cookie } })).status).toBe(200);
      const sent = edge.reached[0]!.headers['cookie'];
      if (edge.request) expect(sent).toBe('theme=dark');
      else expect(sent).not.toContain('edgeplan_clear_');
    });

    test('removes the name of a consumer that a visitor states where there is no consumer', async () => {
      expect((await ask('/v1/open')).status).toBe(200);
      if (edge.request) expect(edge.reached[0]!.headers['x-consumer']).toBeUndefined();
      else expect(edge.unenforced()).toContain('request');
    });

    test('refuses paths and methods that no operation describes', async () => {
      const key = { headers: { 'x-api-key': keyOf('acme') } };
      expectProblem(edge, await ask('/v1/nothing', key), [404, 'Not Found', 'the API has no such path']);
      const other = await ask('/v1/orders', { ...key, method: 'DELETE' });
      expectProblem(edge, other, [405, 'Method Not Allowed', 'the API does not take this method here']);
      expect(other.headers['allow']).toBe('GET, POST, HEAD');
    });

    test('asks for the scopes of an operation', async () => {
      const post = { method: 'POST', body: '{}' };
      for (const sent of [
        bearer(tokenOf({ scope: 'orders:read' })),
        { headers: { 'x-api-key': keyOf('acme') } },
      ]) {
        const answer = await ask('/v1/orders', { ...post, ...sent });
        expectProblem(edge, answer, NO_SCOPE);
        expect(answer.headers['www-authenticate']).toBe(
          'Bearer realm="orders", error="insufficient_scope", scope="orders:write"',
        );
      }
      const written = await ask('/v1/orders', { ...post, ...bearer(tokenOf({ scope: 'orders:write a' })) });
      expect([written.status, edge.reached.length]).toEqual([200, 1]);
    });

    test('asks for the acl, the state and the end of a consumer', async () => {
      const by = (name: string, path = '/v1/orders') => ask(path, { headers: { 'x-api-key': keyOf(name) } });
      const answer = await by('narrow');
      expectProblem(edge, answer, [403, 'Forbidden', 'the consumer may not call this operation']);
      expect(answer.headers['www-authenticate']).toBeUndefined();
      expectProblem(edge, await by('disabled'), NOT_ACTIVE);
      expectProblem(edge, await by('former'), NOT_ACTIVE);
      expect((await by('narrow', '/v1/reports')).status).toBe(200);
    });

    test('counts by the usage plan, and states it', async () => {
      const slow = { headers: { 'x-api-key': keyOf('slow') } };
      const first = await ask('/v1/orders', slow);
      expect(first.status).toBe(200);
      if (edge.response) expect(first.headers['ratelimit']).toMatch(/r=0/);
      else expect(edge.unenforced()).toContain('response');
      edge.reached.length = 0;
      const over = await ask('/v1/orders', slow);
      expectProblem(edge, over, [429, 'Too Many Requests', 'the usage plan allows no more requests now']);
      expect(Number(over.headers['retry-after'])).toBeGreaterThan(0);
      expect(over.headers['ratelimit']).toMatch(/r=0/);
      expect(over.headers['ratelimit-policy']).toMatch(/q=1;w=600/);
    });

    test('answers preflights, and lets pages of a listed origin read answers and responses', async () => {
      const origin = 'https://app.example.com';
      const asked = { origin, 'access-control-request-method': 'POST' };
      const preflight = await ask('/v1/orders', { method: 'OPTIONS', headers: asked });
      expect(edge.reached).toEqual([]);
      expect(preflight.status).toBe(edge.ownSuccess ? 204 : 403);
      expect(preflight.headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, POST, HEAD',
      });
      const refused = await ask('/v1/orders', { headers: { origin } });
      expectProblem(edge, refused, UNAUTHORIZED);
      expect(refused.headers['access-control-allow-origin']).toBe(origin);
      const read = await ask('/v1/orders', { headers: { origin, 'x-api-key': keyOf('acme') } });
      expect(read.status).toBe(200);
      if (edge.response) {
        expect(read.headers['access-control-allow-origin']).toBe(origin);
        expect(read.headers['access-control-expose-headers']).toBe('RateLimit');
        expect(String(read.headers['vary'])).toContain('Origin');
      } else expect(edge.unenforced()).toContain('response');
      const stranger = await ask('/v1/orders', { headers: { origin: 'https://evil.example' } });
      expect(stranger.headers['access-control-allow-origin']).toBeUndefined();
    });

    // Kong/kong#4886: what an application allows to all pages would be allowed, whatever the gateway lists.
    test('lets no page read a response that the application alone allows', async () => {
      for (const origin of ['https://app.example.com', 'https://evil.example']) {
        const { status, headers } = await ask('/v1/orders', {
          headers: { origin, 'x-api-key': keyOf('acme') },
        });
        expect(status).toBe(200);
        if (!edge.response) {
          expect(edge.unenforced()).toContain('response');
          continue;
        }
        const allowed = origin === 'https://app.example.com';
        expect(headers['access-control-allow-origin']).toBe(allowed ? origin : undefined);
        expect(headers['access-control-allow-credentials']).toBeUndefined();
        expect(headers['access-control-expose-headers']).toBe(allowed ? 'RateLimit' : undefined);
      }
    });

    test('logs who asked and what the gateway said, and no credential', async () => {
      const { entries } = edge;
      if (entries === null) return;
      const token = tokenOf({ sub: 'acme' });
      const line = () => JSON.stringify(decisionLine(entries.at(-1)!, null));
      await ask(`/v1/orders?api_key=${keyOf('acme')}`, bearer(token));
      const admitted = line();
      expect(JSON.parse(admitted)).toMatchObject({
        decision: { gateway: { reason: 'admitted', operation: 'listOrders', consumer: 'acme' } },
        request: { identity: { consumer: 'acme', verified: ['api_key', 'jwt'] } },
      });
      const wrong = tokenOf({ aud: 'https://other.example' });
      await ask('/v1/orders', { headers: { ...bearer(wrong).headers, cookie: `key=${keyOf('beta')}` } });
      const refused = line();
      expect(JSON.parse(refused)).toMatchObject({
        decision: { action: 'respond', gateway: { reason: 'credentials', consumer: null } },
        request: { identity: { consumer: null } },
      });
      for (const text of [admitted, refused]) {
        for (const secret of ['epk_', token, wrong, token.split('.')[1]!, CLAIM, 'claims.example'])
          expect(text).not.toContain(secret);
      }
    });

    test('has no fault', () => expect(edge.faults).toEqual([]));
  });
});
