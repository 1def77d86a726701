/** Bodies of gateways at the edges that see bodies: what the operation takes is forwarded whole, the rest gets 400, 413 or 415. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Answer, Sent } from '../support/ask.ts';
import {
  type FileFor,
  fetchMiddleware,
  forwardAuthEdge,
  GATEWAY_HOST,
  type GatewayEdge,
  http2Edge,
  nodeEdge,
  nodeMiddleware,
} from '../support/gateway-edges.ts';
import { OPENSSL_MISSING } from '../support/make-certificate.ts';
import { requires } from '../support/requires.ts';

const SCHEMA = {
  type: 'object',
  required: ['item', 'count'],
  properties: { item: { type: 'string', pattern: '^[a-z]+$' }, count: { type: 'integer', minimum: 1 } },
  additionalProperties: false,
};
const body = {
  required: true,
  content: [{ type: 'application/json', schema: SCHEMA }, { type: 'text/csv' }],
};
const gateway = (name: string, validation: object) => ({
  ...{ name, base_path: `/${name}`, auth: { require: 'none' } },
  operations: [
    { methods: ['POST'], path: '/orders', body },
    { methods: ['GET', 'PUT'], path: '/orders' },
    { methods: ['GET'], path: '/search', body },
  ],
  validation: { body_cap_kb: 1, ...validation },
});
const FILE: FileFor = (port) =>
  JSON.stringify({
    domain: GATEWAY_HOST,
    records: [{ name: '@', type: 'A', destination: '127.0.0.1', port, scheme: 'Http', proxied: true }],
    gateways: [
      gateway('strict', {}),
      gateway('logs', { on_invalid: 'log', on_uninspected: 'log' }),
      gateway('passes', { on_invalid: 'pass' }),
    ],
  });

const VALID = '{"item":"tea","count":1.0}';
const json = (text: string | Uint8Array, headers: Record<string, string> = {}): Sent => ({
  ...{ method: 'POST', body: text },
  headers: { 'content-type': 'application/json', ...headers },
});

const EDGES: readonly [
  name: string,
  start: (file: FileFor) => Promise<GatewayEdge>,
  missing: string | null,
][] = [
  ['a node over HTTP/1.1', nodeEdge, OPENSSL_MISSING],
  ['a node over HTTP/2', http2Edge, OPENSSL_MISSING],
  ['the Node middleware', nodeMiddleware, null],
  ['the fetch middleware', fetchMiddleware, null],
];

type Case = readonly [what: string, sent: Sent, status: number, errors?: readonly object[]];
const wrong = (detail: string, pointer = '#') => [{ pointer, detail }];
const JSON_TEXT = wrong('must be valid JSON');

const CASES: readonly Case[] = [
  ['a valid body', json(VALID), 200],
  [
    'a valid body of a type with parameters',
    json(VALID, { 'content-type': 'Application/JSON; charset=utf-8' }),
    200,
  ],
  ['a compressed valid body', json(gzipSync(VALID), { 'content-encoding': 'gzip' }), 200],
  ['a type without a schema', json('a,b', { 'content-type': 'text/csv' }), 200],
  ['another type', json(VALID, { 'content-type': 'application/xml' }), 415],
  ['no type', { method: 'POST', body: VALID }, 415],
  ['JSON in Latin-1', json(VALID, { 'content-type': 'application/json; charset=iso-8859-1' }), 415],
  [
    'two charsets (swagger-inflector #450)',
    json(VALID, { 'content-type': 'application/json; charset=utf-8; charset=utf-7' }),
    415,
  ],
  ['UTF-16 without a charset', json(Buffer.from(VALID, 'utf16le')), 400, JSON_TEXT],
  ['no body', { method: 'POST', headers: { 'content-type': 'application/json' } }, 400, wrong('is missing')],
  ['an empty body', json(''), 400, wrong('is missing')],
  ['nothing, compressed', json(gzipSync(''), { 'content-encoding': 'gzip' }), 400, wrong('is missing')],
  [
    'a compressed body that breaks off before its first octet',
    json(gzipSync(VALID).subarray(0, 11), { 'content-encoding': 'gzip' }),
    415,
  ],
  ['a coding that is not known', json(VALID, { 'content-encoding': 'x-own' }), 415],
  ['a compressed invalid body', json(gzipSync('{}'), { 'content-encoding': 'gzip' }), 400],
  ['a body over the cap', json(`{"item":"${'a'.repeat(1_100)}","count":1}`), 413],
  [
    'a small body that inflates over the cap',
    json(gzipSync(' '.repeat(9_999)), { 'content-encoding': 'gzip' }),
    413,
  ],
  ['text that is no JSON', json('{"item":'), 400, JSON_TEXT],
  ['NaN', json('{"item":"tea","count":NaN}'), 400, JSON_TEXT],
  ['a byte order mark', json(`\ufeff${VALID}`), 400, JSON_TEXT],
  [
    'two members of one name',
    json('{"item":"tea","count":1,"c\\u006funt":0}'),
    400,
    wrong('must not have two members of one name'),
  ],
  [
    'octets that are no UTF-8',
    json(Buffer.from('{"item":"\xff"}', 'latin1')),
    400,
    wrong('must be valid UTF-8'),
  ],
  ['nesting too deep', json('['.repeat(33)), 415],
  [
    'several mistakes',
    json('{"item":"T1","count":0.5,"~/ ":"secret"}'),
    400,
    [
      { pointer: '#/item', detail: 'must match the pattern of the schema' },
      { pointer: '#/count', detail: 'must be integer' },
      { pointer: '#/count', detail: 'must be at least 1' },
      { pointer: '#/~0~1%20', detail: 'is not allowed' },
    ],
  ],
  [
    'a member `__proto__`',
    json('{"item":"tea","count":1,"__proto__":{}}'),
    400,
    wrong('is not allowed', '#/__proto__'),
  ],
];

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

    test.each(CASES.map(([what, sent, status, errors]) => [what, sent, status, errors] as const))(
      'answers %s',
      async (_what, sent, status, errors) => {
        const answer = await edge.ask('/strict/orders', sent);
        expect(answer.status).toBe(status);
        expect(edge.reached).toHaveLength(status === 200 ? 1 : 0);
        if (status === 200) return;
        expect(answer.headers['content-type']).toBe('application/problem+json');
        const problem = JSON.parse(answer.body) as { readonly errors?: unknown };
        if (errors !== undefined) expect(problem.errors).toEqual(errors);
        expect(answer.body).not.toContain('secret');
      },
    );

    test('names what it takes in 415', async () => {
      const type = await edge.ask('/strict/orders', json(VALID, { 'content-type': 'application/xml' }));
      expect(type.headers['accept']).toBe('application/json, text/csv');
      const coding = await edge.ask('/strict/orders', json(VALID, { 'content-encoding': 'x-own' }));
      expect(coding.headers['accept-encoding']).toBe('identity');
    });

    test('leaves bodies of operations without one alone', async () => {
      expect((await edge.ask('/strict/orders', { ...json('{'), method: 'PUT' })).status).toBe(200);
    });

    test.each([
      ['logs', 'body_invalid'],
      ['passes', 'admitted'],
    ])('forwards what is not valid where the gateway %s', async (name, reason) => {
      expect((await edge.ask(`/${name}/orders`, json('{}'))).status).toBe(200);
      expect(edge.reached).toHaveLength(1);
      // An edge inside an application has no log.
      if (edge.entries === null) return;
      await expect.poll(() => edge.entries!.at(-1)?.exchange?.decision?.gateway?.reason).toBe(reason);
    });

    test('has forwarded the body whole', async () => {
      const answer: Answer = await edge.ask('/logs/orders', json(`["${'x'.repeat(5_000)}"]`));
      expect(answer.status).toBe(200);
      expect(edge.faults).toEqual([]);
    });
  });
});

const HTTP_1 = EDGES.filter(([name]) => name !== 'a node over HTTP/2');

describe.each(HTTP_1)('%s that is asked over HTTP/1.1', (_name, start, missing) => {
  describe('before an application', requires(missing), () => {
    let edge: GatewayEdge;
    beforeAll(async () => {
      edge = await start(FILE);
    }, 60_000);
    afterAll(async () => {
      await edge?.close();
    });

    test('takes a chunked body without a chunk as missing', async () => {
      const answer = await edge.ask('/strict/orders', json('', { 'transfer-encoding': 'chunked' }));
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.body).errors).toEqual(wrong('is missing'));
    });

    test.each([
      ['application/json', 'text/csv'],
      ['text/csv; header=present', 'application/json'],
    ])('refuses the types `%s` and `%s` of one body', async (...types) => {
      const sent = { ...json('{}'), headers: { 'content-type': types, 'content-length': '2' } };
      expect([400, 415]).toContain((await edge.ask('/strict/orders', sent)).status);
      expect(edge.reached).toEqual([]);
    });
  });
});

test('a node compares the body of a GET, and misses it of a HEAD', requires(OPENSSL_MISSING), async () => {
  const edge = await nodeEdge(FILE);
  const statusOf = async (method: string, text: string): Promise<number> => {
    const { headers } = json(text, { 'content-length': `${text.length}` });
    return (await edge.ask('/strict/search', { method, headers: headers!, body: text })).status;
  };
  try {
    expect(await statusOf('GET', VALID)).toBe(200);
    expect(await statusOf('GET', '{}')).toBe(400);
    expect(await statusOf('GET', '')).toBe(400);
    expect(await statusOf('HEAD', '')).toBe(400);
  } finally {
    await edge.close();
  }
});

test.each([
  ['with a length', { 'content-length': '2' }],
  // As nginx and Traefik send it, and as HTTP/2 allows.
  ['without a length', {}],
])('an agent that sees no bodies forwards the request %s and names the body', async (_what, headers) => {
  const edge = await forwardAuthEdge('traefik')(FILE);
  try {
    const { status } = await edge.ask('/strict/orders', json('{}', headers));
    expect(status).toBe(200);
    expect(edge.unenforced()).toContain('body');
  } finally {
    await edge.close();
  }
});
