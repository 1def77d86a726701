/** Gateways over the API, on a real server and both databases: rules at a path of their own, operations, OpenAPI documents. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MAX_DOMAIN_SCHEMA_OCTETS } from '../../src/control/api/operation/limits.ts';
import { MAX_SCHEMA_OCTETS } from '../../src/rules/openapi/limits.ts';
import { type Answer, send, startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { testDatabases } from '../support/databases.ts';
import { storeTraffic } from '../support/traffic-requests.ts';

const AUTH = { api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } };
const DOCUMENT = `openapi: 3.1.0
info: { title: Orders, version: '1' }
servers: [{ url: https://api.example.com/v1 }]
paths:
  /orders:
    get: { operationId: listOrders, tags: [orders] }
    post: { operationId: addOrder }
  /orders/{id}:
    get: { operationId: readOrder }
`;

describe.each(testDatabases())('gateways on $kind', (database) => {
  let api: TestApi;
  let subject: Subject;

  beforeAll(async () => {
    api = await startApi(database);
  });
  afterAll(() => api.close());
  beforeEach(async () => {
    subject = await addSubject(api);
  });

  const good = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const answer = await subject.ask(method, path, body);
    expect(answer.status, answer.text).toBe(200);
    return answer;
  };
  const add = async (fields: object = {}): Promise<number> =>
    (await good('POST', '/gateways/', { auth: AUTH, ...fields })).body.id;
  const upload = (
    path: string,
    document: string,
    { method = 'PUT', type = 'application/yaml', ...headers }: Record<string, string> = {},
  ): Promise<Answer> =>
    send(api.port, {
      method,
      path: subject.at(path),
      body: Buffer.from(document),
      headers: { authorization: `Bearer ${subject.owner.key}`, 'content-type': type, ...headers },
    });
  const audited = async (): Promise<readonly string[]> => {
    const entries = await subject.audited();
    return entries.map((entry) => entry.split(' ')[0]!);
  };

  test('the analysis reports gateways and consumers with their places', async () => {
    await good('POST', '/records/', { name: '@', type: 'A', destination: '192.0.2.1', proxied: true });
    const operations = [{ operation_id: 'list', methods: ['GET'], path: '/orders' }];
    await add({ base_path: '/v1', operations });
    const found = async (): Promise<readonly string[]> =>
      (await good('GET', '/analysis')).body.map(
        ({ path, code }: { readonly path: string; readonly code: string }) => `${path} ${code}`,
      );
    expect(await found()).toEqual(['rules[0].auth closed_gateway']);
    const { id } = (await good('POST', '/consumers/', { username: 'acme', acl: ['lists'] })).body;
    await good('POST', '/usage-plans/', { name: 'gold' });
    expect(await found()).toEqual([
      'rules[0].auth closed_gateway',
      'consumers[0].acl[0] unknown_acl_entry',
      'consumers[0].username consumer_without_credentials',
      'usage_plans[0].name unused_usage_plan',
    ]);
    await good('POST', `/consumers/${id}/keys/`, {});
    await good('PUT', `/consumers/${id}`, { username: 'acme', acl: ['list'], usage_plan: 'gold' });
    expect(await found()).toEqual([]);
  });

  test('a gateway is made, listed, read, changed, toggled, ordered and deleted at `gateways/`', async () => {
    const made = await good('POST', '/gateways/', { auth: AUTH, base_path: '/v1', name: 'orders' });
    expect(made.body).toMatchObject({ type: 'gateway', base_path: '/v1', on_unknown_operation: 'block' });
    const one = `/gateways/${made.body.id}`;
    expect((await good('GET', one)).body).toEqual(made.body);
    expect((await good('GET', '/gateways/')).body).toEqual([made.body]);
    expect((await good('GET', '/rules/')).body).toEqual([made.body]);
    expect((await good('PUT', one, { name: 'shop' })).body.name).toBe('shop');
    expect((await good('PATCH', `${one}/toggle`)).body.enabled).toBe(false);
    const other = await add({ base_path: '/v2' });
    const ordered = await good('PUT', '/gateways/reorder', { ids: [other, made.body.id] });
    expect(ordered.body.map(({ priority }: { priority: number }) => priority)).toEqual([10, 20]);
    expect((await good('DELETE', one)).body).toEqual({ message: `rule gateway/${made.body.id} deleted` });
    expect((await subject.ask('GET', one)).status).toBe(404);
  });

  test('`null` removes an optional field of a gateway', async () => {
    const cors = { allow_origins: ['https://app.example.com'] };
    const one = `/gateways/${await add({ cors, upstream_headers: { set: { 'X-A': 'b' } } })}`;
    const changed = await good('PUT', one, { cors: null });
    expect(changed.body).not.toHaveProperty('cors');
    expect(changed.body).toHaveProperty('upstream_headers');
    expect((await good('PUT', one, { upstream_headers: null })).body).not.toHaveProperty('upstream_headers');
    expect((await subject.ask('PUT', one, { name: null })).status).toBe(400);
  });

  test('batches of gateways are at `gateways/`', async () => {
    const creates = [{ auth: AUTH }, { auth: {} }];
    const made = await good('POST', '/gateways/batch-create', { creates });
    expect(made.body).toMatchObject({ succeeded: 1, failed: 1 });
    const { id } = made.body.results[0];
    await good('POST', '/gateways/batch-update', { updates: [{ id, name: 'x' }] });
    expect((await good('POST', '/gateways/batch-delete', { ids: [id] })).body).toMatchObject({ failed: 0 });
  });

  test('no path of rules has gateways', async () => {
    const id = await add();
    for (const path of ['/rules/gateway/', `/rules/gateway/${id}`, `/rules/gateways/`, `/rules/drop/${id}`])
      expect((await subject.ask('GET', path)).status, path).toBe(404);
    expect((await subject.ask('POST', '/rules/gateway/', { auth: AUTH })).status).toBe(404);
  });

  test('operations are read and replaced as a whole', async () => {
    const one = `/gateways/${await add()}/operations/`;
    const empty = await good('GET', one);
    expect(empty.body).toEqual([]);
    const operations = [{ operation_id: 'a', methods: ['GET'], path: '/a/{id}' }];
    const put = await good('PUT', one, { operations });
    expect(put.body).toEqual(operations);
    expect((await good('GET', one)).body).toEqual(operations);
    expect((await audited())[0]).toBe('rule.update');
    const stale = await subject.ask('PUT', one, { operations: [] }, { 'if-match': empty.headers['etag']! });
    expect(stale.status).toBe(412);
    const fresh = await good('GET', one);
    const matched = { 'if-match': fresh.headers['etag']! };
    expect((await subject.ask('PUT', one, { operations: [] }, matched)).body).toEqual([]);
    for (const body of [operations, { operations, name: 'x' }, {}])
      expect((await subject.ask('PUT', one, body)).status).toBe(400);
    const refused = await subject.ask('PUT', one, { operations: [{ methods: ['GET'], path: 'a' }] });
    expect(refused.text).toContain('operations[0].path: must start with `/`');
  });

  test('a document gives the gateway its operations, and is answered as it was sent', async () => {
    const one = `/gateways/${await add({ base_path: '/v1' })}`;
    expect(await subject.ask('GET', `${one}/schema`)).toMatchObject({
      status: 404,
      body: { error: 'the gateway has no OpenAPI document' },
    });
    const put = await upload(`${one}/schema`, DOCUMENT);
    expect(put.status, put.text).toBe(200);
    expect(put.body).toEqual({
      valid: true,
      openapi: '3.1.0',
      base_paths: ['/v1'],
      operations: 3,
      added: ['GET /orders', 'POST /orders', 'GET /orders/{id}'],
      removed: [],
      changed: [],
      overridden: [],
      diagnostics: [],
    });
    expect((await good('GET', `${one}/operations/`)).body).toEqual([
      { operation_id: 'listOrders', methods: ['GET'], path: '/orders', tags: ['orders'], source: 'schema' },
      { operation_id: 'addOrder', methods: ['POST'], path: '/orders', source: 'schema' },
      { operation_id: 'readOrder', methods: ['GET'], path: '/orders/{id}', source: 'schema' },
    ]);
    const read = await good('GET', `${one}/schema`);
    expect(read.text).toBe(DOCUMENT);
    expect(read.headers['content-type']).toBe('application/yaml; charset=utf-8');
    expect(read.headers['etag']).toBe(put.headers['etag']);
    expect((await audited()).slice(0, 2)).toEqual(['gateway.schema', 'rule.update']);

    const again = await upload(`${one}/schema`, DOCUMENT);
    expect(again.body).toMatchObject({ added: [], removed: [], changed: [] });
    expect(await audited()).toHaveLength(4);
  });

  test('a document may be JSON', async () => {
    const one = `/gateways/${await add()}/schema`;
    const document = JSON.stringify({ openapi: '3.0.3', paths: { '/a': { get: {} } } });
    expect((await upload(one, document, { type: 'application/json' })).status).toBe(200);
    const read = await good('GET', one);
    expect(read.text).toBe(document);
    expect(read.headers['content-type']).toBe('application/json; charset=utf-8');
    expect((await upload(one, document, { type: 'application/xml' })).status).toBe(415);
  });

  test('a later document replaces the operations of the earlier one, and no others', async () => {
    const manual = { methods: ['DELETE', 'POST'], path: '/orders' };
    const one = `/gateways/${await add({ operations: [manual] })}`;
    expect((await upload(`${one}/schema`, DOCUMENT)).body.overridden).toEqual(['POST /orders']);
    const later = DOCUMENT.replace('operationId: listOrders, ', '').replace('/orders/{id}', '/orders/{id}/x');
    const before = await good('GET', one);
    const check = await upload(`${one}/schema/check`, later, { method: 'POST' });
    expect(check.body).toMatchObject({
      valid: true,
      added: ['GET /orders/{id}/x'],
      removed: ['GET /orders/{id}'],
      changed: ['GET /orders'],
      overridden: ['POST /orders'],
    });
    expect((await good('GET', one)).body).toEqual(before.body);
    const dry = await upload(`${one}/schema?validate_only=true`, later);
    expect(dry.body).toEqual(check.body);
    expect((await good('GET', one)).body).toEqual(before.body);
    expect((await good('GET', `${one}/schema`)).text).toBe(DOCUMENT);

    expect((await upload(`${one}/schema`, later)).body).toEqual(check.body);
    expect((await good('GET', `${one}/operations/`)).body).toEqual([
      manual,
      { methods: ['GET'], path: '/orders', tags: ['orders'], source: 'schema' },
      { operation_id: 'readOrder', methods: ['GET'], path: '/orders/{id}/x', source: 'schema' },
    ]);
  });

  test('a document with mistakes is refused with their lines, and the check answers the same', async () => {
    const one = `/gateways/${await add()}/schema`;
    const wrong = 'openapi: 3.1.0\npaths:\n  /a?b: { get: {} }\n  /c: { $ref: c.yaml }\n';
    const refused = await upload(one, wrong);
    expect(refused.status).toBe(400);
    expect(refused.body.error).toContain('line 3, column 3: paths["/a?b"]: has a query');
    expect(refused.body.error).toContain(
      'line 4, column 15: paths["/c"]["$ref"]: refers to another document',
    );
    const check = await upload(`${one}/check`, wrong, { method: 'POST' });
    expect(check.status).toBe(200);
    expect(check.body).toMatchObject({ valid: false, openapi: null, operations: 0 });
    expect(check.body.diagnostics[0]).toMatchObject({ code: 'openapi_path', line: 3, column: 3 });
    expect((await upload(one, "swagger: '2.0'\n")).body.error).toContain('is Swagger');
    expect((await upload(one, '\u0000')).body.error).toContain('must be UTF-8 text');
    expect((await upload(one, '')).status).toBe(400);
  });

  test('a check of a document answers what the gateway with its operations would be refused for', async () => {
    const manual = { operation_id: 'listOrders', methods: ['GET'], path: '/all' };
    const one = `/gateways/${await add({ operations: [manual] })}/schema`;
    const why = 'is the id of operations[0]';
    expect((await upload(one, DOCUMENT)).body.error).toContain(`operations[1].operation_id: ${why}`);
    const check = await upload(`${one}/check`, DOCUMENT, { method: 'POST' });
    expect(check.body).toMatchObject({ valid: false, openapi: null, operations: 0, added: [] });
    expect(check.body.diagnostics).toEqual([
      expect.objectContaining({ code: 'duplicate_entry', path: 'paths["/orders"].get', message: why }),
    ]);
  });

  test('a new document leaves limits and validation of its operations as they are', async () => {
    const gateway = `/gateways/${await add()}`;
    const limits = { rate: 5, per_sec: 1, burst: 0 };
    const validation = { on_invalid: 'log' };
    expect((await upload(`${gateway}/schema`, DOCUMENT)).status).toBe(200);
    const [first, ...rest] = (await good('GET', `${gateway}/operations/`)).body;
    await good('PUT', `${gateway}/operations/`, { operations: [{ ...first, limits, validation }, ...rest] });
    expect((await upload(`${gateway}/schema`, DOCUMENT)).status).toBe(200);
    const [after] = (await good('GET', `${gateway}/operations/`)).body;
    expect(after).toMatchObject({ operation_id: 'listOrders', source: 'schema', limits, validation });
  });

  test('a gateway that is not there is answered before its document is read', async () => {
    for (const [method, path] of [
      ['PUT', '/gateways/999/schema'],
      ['POST', '/gateways/999/schema/check'],
    ] as const)
      expect((await upload(path, 'none', { method })).status, path).toBe(404);
  });

  test('a document that does not match the ETag is refused', async () => {
    const one = `/gateways/${await add()}/schema`;
    // Without a document there is no ETag that a condition could match.
    expect((await upload(one, DOCUMENT, { 'if-match': '*' })).status).toBe(412);
    expect((await subject.ask('GET', one)).status).toBe(404);
    const first = await upload(one, DOCUMENT);
    const etag = first.headers['etag']!;
    const other = DOCUMENT.replace('Orders', 'Others');
    expect((await upload(one, other, { 'if-match': etag })).status).toBe(200);
    expect((await upload(one, DOCUMENT, { 'if-match': etag })).status).toBe(412);
  });

  test('documents are bounded, each and those of a domain together', async () => {
    const ids = [];
    for (let at = 0; at < 7; at++) ids.push(await add({ base_path: `/v${at}` }));
    const padded = (octets: number): string => DOCUMENT + '#'.repeat(octets - DOCUMENT.length);
    const long = await upload(`/gateways/${ids[0]}/schema`, padded(MAX_SCHEMA_OCTETS + 1));
    expect(long.status).toBe(400);
    expect(long.body.error).toContain(`at most ${MAX_SCHEMA_OCTETS} octets`);
    for (const id of ids.slice(0, 6))
      expect((await upload(`/gateways/${id}/schema`, padded(MAX_SCHEMA_OCTETS))).status).toBe(200);
    const over = await upload(`/gateways/${ids[6]}/schema`, padded(MAX_SCHEMA_OCTETS));
    expect(over.status).toBe(403);
    expect(over.body.error).toContain(`at most ${MAX_DOMAIN_SCHEMA_OCTETS} octets together`);
    await good('DELETE', `/gateways/${ids[0]}`);
    expect((await upload(`/gateways/${ids[6]}/schema`, padded(MAX_SCHEMA_OCTETS))).status).toBe(200);
  });

  test('a viewer reads and checks documents and changes none', async () => {
    const one = `/gateways/${await add()}`;
    await upload(`${one}/schema`, DOCUMENT);
    const viewer = await subject.member('viewer', 'viewer');
    const as = (method: string, path: string, body?: unknown) => viewer.call(method, subject.at(path), body);
    expect((await as('GET', `${one}/schema`)).text).toBe(DOCUMENT);
    expect((await as('GET', `${one}/operations/`)).body).toHaveLength(3);
    expect((await as('POST', `${one}/schema/check`, { openapi: '3.1.0' })).status).toBe(200);
    expect((await as('PUT', `${one}/schema`, { openapi: '3.1.0' })).status).toBe(404);
    expect((await as('PUT', `${one}/operations/`, { operations: [] })).status).toBe(404);
  });

  test('a quota of gateway requests that is used up refuses what would bring more, with the name of the quota', async () => {
    const [on, off, beside] = [await add({ base_path: '/a' }), await add({ base_path: '/b' }), await add()];
    await good('PATCH', `/gateways/${off}/toggle`);
    const consumer = (await good('POST', '/consumers/', { username: 'acme' })).body.id;
    const gateway = { gateway: on, operation: '', consumer: 'acme', key: null, isAdmitted: true };
    const send = (times: number): Promise<void> =>
      storeTraffic(
        api.store,
        subject.domain.id,
        Array.from({ length: times }, () => ({ at: api.now(), gateway })),
      );
    await subject.allow({ max_gateway_requests_30d: 3 });
    await send(2);
    await good('POST', '/consumers/', { username: 'beta' });
    await send(1);
    for (const [method, path, body] of [
      ['POST', '/gateways/', { auth: AUTH, base_path: '/c' }],
      ['POST', '/gateways/batch-create', { creates: [{ auth: AUTH, base_path: '/c' }] }],
      ['PATCH', `/gateways/${off}/toggle`, undefined],
      ['PUT', `/gateways/${off}`, { enabled: true }],
      ['POST', '/gateways/batch-update', { updates: [{ id: on }, { id: off, enabled: true }] }],
      ['POST', '/consumers/', { username: 'gamma' }],
    ] as const) {
      const answer = await subject.ask(method, path, body);
      expect(answer.status, `${method} ${path}: ${answer.text}`).toBe(429);
      expect(answer.body).toEqual({
        error:
          'plan `business` allows 3 gateway requests in 30 days (`max_gateway_requests_30d`), and there are 3; choose a larger plan, or wait until fewer are that recent',
        quota: 'max_gateway_requests_30d',
      });
      expect(answer.headers['retry-after']).toBeUndefined();
    }
    // What brings no more requests is accepted, a new key too: a stolen one must be replaced.
    await good('PUT', `/gateways/${on}`, { name: 'first', enabled: true });
    await good('PUT', `/gateways/${off}`, { name: 'second' });
    await good('PATCH', `/gateways/${beside}/toggle`);
    await good('POST', `/consumers/${consumer}/keys/`, { name: 'new' });
    await subject.allow({ max_gateway_requests_30d: 4 });
    await good('PATCH', `/gateways/${off}/toggle`);
    await good('POST', '/consumers/', { username: 'gamma' });
  });
});

describe('a plan without gateways', () => {
  test('refuses a gateway with a 403 that names the feature', async () => {
    const [database] = testDatabases();
    const api = await startApi(database!, { tier: 'free' });
    try {
      const subject = await addSubject(api);
      const refused = await subject.ask('POST', '/gateways/', { auth: AUTH });
      expect(refused.status).toBe(403);
      expect(refused.body.error).toContain('does not include gateways (`gateways_enabled`)');
    } finally {
      await api.close();
    }
  });
});
