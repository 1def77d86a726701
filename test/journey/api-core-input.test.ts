/** Bad input over real sockets: whatever is sent, the answer has the one error shape, and nothing is half-written. */
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { isNodeRoute } from '../../src/control/api/operation/node-route.ts';
import { ROUTES } from '../../src/control/api/routes.ts';
import { type Person, send, startApi, type TestApi } from '../support/api.ts';
import { successOf } from '../support/api-shapes.ts';
import { testDatabases } from '../support/databases.ts';

/** Sends octets as they are and answers all that comes back until the server closes. */
function raw(port: number, octets: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(octets));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
}

describe.each(testDatabases().map((database) => [database.kind, database] as const))(
  'on %s',
  (_, database) => {
    let api: TestApi;
    let ann: Person;

    beforeAll(async () => {
      api = await startApi(database);
      ann = await api.person('ann');
      await ann.call('POST', '/domains/', { name: 'shop.example' });
    });
    afterAll(() => api.close());

    const put = (body: string | Buffer, headers: Record<string, string> = {}) =>
      ann.call('PUT', '/domains/shop.example', Buffer.from(body as string), headers);

    test.each([
      ['{', 'the body must be valid JSON'],
      ['', 'the body is missing'],
      [
        '{"sec_no_sniff":true,"sec_no_sniff":false}',
        'the body holds the field `sec_no_sniff` twice in one object',
      ],
      ['['.repeat(100_000), 'the body must nest objects and lists at most 32 deep'],
      ['{"__proto__":{"sec_no_sniff":true}}', '__proto__: is not a known field'],
      ['"text"', /^must be an object/],
      ['null', /^must be an object/],
      ['[]', /^must be an object/],
    ])('400 for the body %.40s', async (body, sentence) => {
      const { status, body: answer } = await put(body);
      expect(status).toBe(400);
      if (typeof sentence === 'string') expect(answer.error).toContain(sentence);
      else expect(answer.error).toMatch(sentence);
    });

    test.each([
      [
        'validate_onyl=true',
        '`validate_onyl`: is not a known query parameter; did you mean `validate_only`?',
      ],
      ['dry=1', '`dry`: is not a known query parameter; this operation takes `validate_only`, `wait`'],
      ['validate_only=true&validate_only=true', 'validate_only: is given more than once'],
      [
        'x%00y=1',
        '`x\\u0000y`: is not a known query parameter; this operation takes `validate_only`, `wait`',
      ],
    ])('a write with the query %s is refused and changes nothing', async (query, sentence) => {
      const path = '/domains/shop.example';
      const before = await ann.call('GET', path);
      const { status, body } = await ann.call('PUT', `${path}?${query}`, { sec_no_sniff: true });
      expect([status, body.error]).toEqual([400, sentence]);
      expect((await ann.call('GET', path)).body).toEqual(before.body);
    });

    test('every route refuses a query parameter that it does not have', async () => {
      const read = await ann.call('GET', '/domains/?limti=1');
      expect([read.status, read.body.error]).toEqual([
        400,
        '`limti`: is not a known query parameter; this operation takes none',
      ]);
      const audit = await ann.call('GET', '/domains/shop.example/audit/?limti=1');
      expect([audit.status, audit.body.error]).toEqual([
        400,
        '`limti`: is not a known query parameter; did you mean `limit`?',
      ]);
      const twice = await ann.call('GET', '/domains/shop.example/audit/?limit=1&limit=2');
      expect([twice.status, twice.body.error]).toEqual([400, 'limit: is given more than once']);
    });

    test.each(['a\u0000', '\ud800'])('a text that contains %j is 400', async (name) => {
      const { status, body } = await ann.call('POST', '/domains/shop.example/members/', {
        name,
        role: 'viewer',
      });
      expect(status).toBe(400);
      expect(body.error).toMatch(/^name: must (?:not hold a NUL character|be valid Unicode text)/);
    });

    test('a body that is not UTF-8 is 400', async () => {
      expect((await put(Buffer.from([0x7b, 0xff, 0x7d]))).status).toBe(400);
    });

    test.each([
      'text/plain',
      'application/xml',
      'multipart/form-data; boundary=x',
      'application/jsonx',
      'nonsense',
    ])('the content type %s is 415', async (type) => {
      const { status, body } = await put('{}', { 'content-type': type });
      expect([status, body.error]).toEqual([415, 'the content type must be `application/json`']);
    });

    test('a content type with a charset is accepted', async () => {
      expect((await put('{}', { 'content-type': 'application/json; charset=utf-8' })).status).toBe(200);
      expect((await put('{}', { 'content-type': 'Application/JSON' })).status).toBe(200);
    });

    test('a body is refused where the request takes none', async () => {
      const path = '/domains/shop.example/developer-mode?validate_only=true';
      expect((await ann.call('POST', path)).status).toBe(200);
      expect((await ann.call('POST', path, {})).status).toBe(200);
      const { status, body } = await ann.call('POST', path, { hours: 9 });
      expect([status, body.error]).toEqual([400, 'this request takes no body']);
    });

    test('a body of 100 MB is refused unread', async () => {
      const announced = await raw(
        api.port,
        `PUT /domains/shop.example HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${ann.key}\r\n` +
          'Content-Type: application/json\r\nContent-Length: 100000000\r\nConnection: close\r\n\r\n{"a":"',
      );
      expect(announced).toMatch(/^HTTP\/1\.1 413 /);
      expect(announced).toMatch(/\{"error":"the body must be at most 4194304 octets"\}$/);
    });

    test.each([5_000_000, 100_000_000])(
      'who sends %i octets is told why they were not taken',
      async (octets) => {
        const body = Buffer.alloc(octets, ' ');
        const headers = { 'x-api-key': ann.key, 'content-type': 'application/json' };
        for (const sent of [body, new Blob([body]).stream()]) {
          const init = { method: 'POST', headers, body: sent, duplex: 'half' };
          const answer = await fetch(`${api.url}/domains/`, init);
          expect([answer.status, await answer.json()]).toEqual([
            413,
            { error: 'the body must be at most 4194304 octets' },
          ]);
        }
      },
    );

    test.each([
      ['GET', '/domains', 404],
      ['GET', '/domains//', 404],
      ['GET', '//domains/', 404],
      ['GET', '/domains/shop.example/', 404],
      ['GET', '/domains//features', 400],
      ['GET', '/domains//records/', 404],
      ['GET', '/domains/shop.example/features/', 404],
      ['DELETE', '/domains/shop.example/cache', 404],
      ['GET', '/', 404],
      ['GET', '/Domains/', 404],
      ['GET', '/domains/%zz', 400],
      ['GET', '/domains/%', 400],
      ['GET', '/domains/%ff', 400],
      ['GET', '/domains/shop.example%2Ffeatures', 404],
      ['GET', '/domains/%2e%2e/x', 404],
      ['GET', '/domains/%00', 404],
      ['GET', '/domains/..', 404],
      ['GET', `/domains/${'a'.repeat(2_000)}`, 404],
      ['GET', '/domains/shop.example/members/0', 404],
      ['GET', '/domains/shop.example/members/1e3', 404],
      ['GET', '/domains/shop.example/members/99999999999', 404],
      ['GET', '/domains/sh%6fp.example', 200],
      ['GET', '/domains/?x=%zz', 400],
      ['GET', '/domains/;x', 404],
    ])('%s %.60s is %i', async (method, path, expected) => {
      expect((await ann.call(method, path)).status).toBe(expected);
    });

    test.each([
      ['PATCH', '/domains/shop.example', 'GET, HEAD, PUT, DELETE, OPTIONS'],
      ['DELETE', '/domains/', 'GET, HEAD, POST, OPTIONS'],
      ['POST', '/domains/ns-sets', 'GET, HEAD, PUT, DELETE, OPTIONS'],
      ['PROPFIND', '/domains/', 'GET, HEAD, POST, OPTIONS'],
      ['TRACE', '/domains/', 'GET, HEAD, POST, OPTIONS'],
      ['GET', '/domains/shop.example/verify', 'POST, OPTIONS'],
    ])('%s %s is 405 and says what the path takes', async (method, path, allow) => {
      const { status, headers, body } = await ann.call(method, path);
      expect([status, headers['allow']]).toEqual([405, allow]);
      expect(body.error).toBe(`this path takes ${allow}`);
      const options = await ann.call('OPTIONS', path);
      expect([options.status, options.headers['allow']]).toEqual([204, allow]);
    });

    test('a body with a content encoding is 415 and not read', async () => {
      const path = '/domains/';
      const body = Buffer.from('{"name":"packed.example"}');
      for (const encoding of ['gzip', 'br', 'zstd', 'gzip, identity', 'none']) {
        for (const octets of [body, gzipSync(body)]) {
          const answer = await ann.call('POST', path, octets, { 'content-encoding': encoding });
          expect([answer.status, answer.body]).toEqual([
            415,
            { error: 'the body must be sent without a content encoding' },
          ]);
          expect(answer.headers['accept-encoding']).toBe('identity');
        }
      }
      const zone = { 'content-type': 'text/dns', 'content-encoding': 'gzip' };
      const packed = await ann.call(
        'POST',
        '/domains/shop.example/records/import',
        gzipSync('@ A 192.0.2.1'),
        zone,
      );
      expect(packed.status).toBe(415);
      expect((await ann.call('POST', path, gzipSync(body))).status).toBe(400);
      expect((await ann.call('GET', '/domains/packed.example')).status).toBe(404);
      const plain = await ann.call('POST', path, body, { 'content-encoding': 'Identity' });
      expect(plain.status).toBe(200);
    });

    test('an unknown method is 405', async () => {
      const answer = await raw(api.port, 'FROB /domains/ HTTP/1.1\r\nHost: x\r\n\r\n');
      expect(answer).toMatch(/^HTTP\/1\.1 405 /);
      expect(answer).toMatch(/\r\nallow: GET, HEAD, POST, OPTIONS\r\n/);
      expect(await raw(api.port, 'FROB /nowhere HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/^HTTP\/1\.1 404 /);
    });

    test('octets that are not HTTP get an answer in the error shape', async () => {
      for (const octets of ['hello\r\n\r\n', '\u0000\u0001\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n'])
        expect(await raw(api.port, octets)).toMatch(/^HTTP\/1\.1 400 [\s\S]*\r\n\r\n\{"error":"[^"]+"\}$/);
      const long = `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`;
      expect(await raw(api.port, long)).toMatch(
        /^HTTP\/1\.1 431 [\s\S]*\{"error":"the headers must be at most 16384 octets"\}$/,
      );
    });

    test('an error that Node detects gets the error shape and a request id', async () => {
      const end = `X-Api-Key: ${ann.key}\r\nConnection: close\r\n\r\n`;
      const answers = [
        [`GET /domains/ HTTP/1.1\r\n${end}`, 400, 'the `Host` header is missing'],
        [`GET /domains/shop.example/rules/drop/ HTTP/1.1\r\n${end}`, 400, 'the `Host` header is missing'],
        [`GET /nowhere HTTP/1.1\r\nHost: x\r\nExpect: better\r\n${end}`, 404, 'not found'],
        ['hello\r\n\r\n', 400, 'this is not an HTTP request'],
      ] as const;
      const list = '/domains/shop.example/rules/drop/';
      for (let sent = 0; sent < 2; sent++) expect((await ann.call('GET', list)).status).toBe(200);
      for (const [request, status, error] of answers) {
        const answer = await raw(api.port, request);
        expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
        expect(answer.split('\r\n\r\n')[1]).toBe(JSON.stringify({ error }));
        expect(answer).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/);
      }
      const old = await raw(api.port, `GET /domains/ns-sets HTTP/1.0\r\nX-Api-Key: ${ann.key}\r\n\r\n`);
      expect(old).toMatch(/^HTTP\/1\.1 200 /);
    });

    test.each(['0', '1001', 'x', '1e3', '', '-1'])('the query limit=%s is 400', async (limit) => {
      const { status, body } = await ann.call('GET', `/domains/shop.example/audit/?limit=${limit}`);
      expect(status).toBe(400);
      expect(body.error).toMatch(/^limit: must be a whole number from 1 to 1000, found /);
    });

    test('the request id is the client’s where it is harmless', async () => {
      const own = await ann.call('GET', '/domains/', undefined, { 'x-request-id': 'deploy-7' });
      expect(own.headers['x-request-id']).toBe('deploy-7');
      for (const sent of ['a b', 'x'.repeat(200), '"'])
        expect(
          (await ann.call('GET', '/domains/', undefined, { 'x-request-id': sent })).headers['x-request-id'],
        ).toMatch(/^[0-9a-f-]{36}$/);
    });

    test('HEAD has the headers of GET, without a body', async () => {
      for (const path of ['/domains/', '/domains/shop.example', '/domains/shop.example/audit/', '/nowhere']) {
        const get = await ann.call('GET', path);
        const head = await ann.call('HEAD', path);
        expect([head.status, head.text, head.headers['etag']]).toEqual([get.status, '', get.headers['etag']]);
        expect(head.headers['content-length']).toBe(get.headers['content-length']);
      }
    });

    test('the OpenAPI document needs no key and lists every route', async () => {
      const { status, text, headers } = await send(api.port, { method: 'GET', path: '/docs/openapi.yaml' });
      expect(status).toBe(200);
      expect(headers['content-type']).toMatch(/^application\/yaml/);
      const document = parse(text);
      expect(document.openapi).toMatch(/^3\.1\./);
      expect(document.info.version).toBe('1.0.0');
      const ids = new Set<string>();
      for (const route of ROUTES) {
        const { method, path, body } = route;
        const one = document.paths[path]?.[method.toLowerCase()];
        expect(one, `${method} ${path}`).toBeTruthy();
        expect(Object.keys(one.responses)).toEqual(
          expect.arrayContaining([String(successOf(route)), '401', '503']),
        );
        // Nodes have no budget but where their route states one, and nothing but their own token opens what is theirs.
        const isLimited = !isNodeRoute(route) || route.statuses?.includes(429) === true;
        expect(Object.hasOwn(one.responses, '429'), path).toBe(isLimited);
        expect(one.security, path).toEqual(isNodeRoute(route) ? [{ nodeToken: [] }] : undefined);
        const hasBody = body !== undefined || (isNodeRoute(route) && route.octets !== undefined);
        expect(one.requestBody !== undefined, `${method} ${path}`).toBe(hasBody);
        ids.add(one.operationId);
      }
      expect(ids.size).toBe(ROUTES.length);
      expect(Object.keys(document.components.schemas)).toEqual(
        expect.arrayContaining(['Domain', 'Error', 'Message']),
      );
      expect(
        Object.keys(document.components.schemas).filter(
          (name) => !text.includes(`#/components/schemas/${name}`),
        ),
      ).toEqual([]);
    });
  },
);
