/** Questions about a domain over real sockets, on both stores: what a request would meet, and what looks like a mistake. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPublisher } from '../../src/control/publishing/publisher.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { testDatabases } from '../support/databases.ts';

const SILENT = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  debug: () => undefined,
};

describe.each(testDatabases())('questions on $kind', (database) => {
  let api: TestApi;
  let subject: Subject;
  let ruleId: number;

  async function publish(): Promise<void> {
    const publisher = createPublisher({ store: api.store, log: SILENT });
    await publisher.publishNow();
    await publisher.stop();
  }
  beforeAll(async () => {
    api = await startApi(database);
    subject = await addSubject(api);
    const record = { name: '@', type: 'A', destination: '192.0.2.1', proxied: true };
    expect((await subject.ask('POST', '/records/', record)).status).toBe(200);
    const rule = { path_includes: ['/admin*'], ips: ['203.0.113.0/24'] };
    ruleId = (await subject.ask('POST', '/rules/drop/', rule)).body.id;
  });
  afterAll(() => api.close());

  const ask = (body: unknown) => subject.ask('POST', '/simulate', body);

  test('a simulation without a published plan is 409', async () => {
    const fresh = await addSubject(api);
    expect(await fresh.ask('POST', '/simulate', { request: {} })).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('no published plan') },
    });
  });

  test('a simulation uses the plan that nodes should serve', async () => {
    await publish();
    const blocked = await ask({ request: { target: '/admin/x', ip: '203.0.113.9' } });
    expect(blocked.status, blocked.text).toBe(200);
    expect(blocked.body.decision).toMatchObject({ action: 'block', by: { type: 'drop', id: ruleId } });
    const passed = await ask({ request: { target: '/admin/x', ip: '198.51.100.1' } });
    expect(passed.body.decision).toMatchObject({ action: 'forward' });
    const [drop] = passed.body.phases.find(({ name }: { name: string }) => name === 'drop').rules;
    expect(drop).toMatchObject({ id: ruleId, outcome: 'skipped' });
  });

  test('a simulation takes whose request it is, and names gateway, operation and reason', async () => {
    const shop = await addSubject(api);
    await shop.ask('POST', '/records/', { name: '@', type: 'A', destination: '192.0.2.1', proxied: true });
    const auth = { api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } };
    const operations = [
      { operation_id: 'health', methods: ['GET'], path: '/health', auth: 'none' },
      { operation_id: 'listOrders', methods: ['GET'], path: '/orders' },
    ];
    const gateway = await shop.ask('POST', '/gateways/', { base_path: '/v1', auth, operations });
    expect(gateway.status, gateway.text).toBe(200);
    await publish();
    const by = { type: 'gateway', id: gateway.body.id };
    const identity = { consumer: null, failure: 'expired' };
    const refused = await shop.ask('POST', '/simulate', { request: { target: '/v1/orders', identity } });
    expect(refused.status, refused.text).toBe(200);
    expect(refused.body.request.identity).toEqual(identity);
    expect(refused.body.decision).toMatchObject({ action: 'respond', status: 401, by });
    expect(refused.text).toContain('operation listOrders, credentials: expired');
    const open = await shop.ask('POST', '/simulate', { request: { target: '/v1/health' } });
    expect(open.body.decision).toMatchObject({ action: 'forward' });
    const wrong = await shop.ask('POST', '/simulate', { request: { identity: { name: 'acme' } } });
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('`identity` must be null, or an object like');
  });

  test('a stranger gets 404, and a simulation changes nothing', async () => {
    const before = await subject.audited();
    expect((await ask({ request: {} })).status).toBe(200);
    const stranger = await api.person('stranger');
    expect((await stranger.call('POST', subject.at('/simulate'), { request: {} })).status).toBe(404);
    expect(await subject.audited()).toEqual(before);
  });

  test.each([
    [{}, 'request'],
    [{ request: { contry: 'NO' } }, 'did you mean `country`?'],
    [{ request: { ip: 7 } }, '`ip` must be'],
    [{ request: {}, status: 200 }, 'status'],
    [{ request: {}, more: 1 }, 'the body must be'],
  ])('%j is refused with a sentence', async (body, said) => {
    const answer = await ask(body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(said);
  });

  test('the analysis reports likely mistakes with their place', async () => {
    // Of a rule that an id names no key is asked for.
    expect((await subject.ask('POST', '/rules/rate-limit/', { limit: 5 })).status).toBe(200);
    expect((await subject.ask('GET', '/analysis')).body).toEqual([]);
    const rule = { path_includes: ['/a'], path_excludes: ['/*'], target: '/b' };
    expect((await subject.ask('POST', '/rules/redirect/', rule)).status).toBe(200);
    const [finding] = (await subject.ask('GET', '/analysis')).body;
    expect(finding).toMatchObject({ severity: expect.any(String), path: expect.stringMatching(/^rules/) });
  });
});
