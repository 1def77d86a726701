/** Log entries over the API: nodes ship them, customers whose subscription includes it search them. */
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NODE_BURST_OCTETS, NODE_OCTETS_PER_SEC } from '../../src/control/logs/limits.ts';
import { createNodeRates } from '../../src/control/logs/take-batch.ts';
import { createNode } from '../../src/control/publishing/nodes.ts';
import { type Answer, addMember, type Person, send, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';
import { batchOf, countedOf, lineOf } from '../support/log-lines.ts';
import { activeDomain } from '../support/sample-rows.ts';

describe.each(testDatabases())('log entries on $kind', (database) => {
  let api: TestApi;
  let anna: Person;
  let bob: Person;
  let token: string;
  beforeAll(async () => {
    api = await startApi(database, { tier: 'business' });
    anna = await api.person('anna');
    bob = await api.person('bob');
    for (const name of ['shop.test', 'plain.test', 'far.test']) await addDomain(name);
    token = (await api.store.write((tx) => createNode(tx, 'eu-1', api.now()))).token;
  });
  afterAll(() => api.close());

  async function addDomain(name: string): Promise<number> {
    const created_at = api.now() - 3_600_000;
    const domain = await api.store.write((tx) =>
      tx.domains.insert(activeDomain(name, anna.account.id, { created_at, updated_at: created_at })),
    );
    return domain.id;
  }
  function ship(body: Buffer, headers: Record<string, string> = {}): Promise<Answer> {
    return send(api.port, {
      method: 'POST',
      path: '/nodes/logs',
      body,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/x-ndjson',
        'content-encoding': 'gzip',
        ...headers,
      },
    });
  }

  test('a shipped entry is found by every filter, with the name of its node', async () => {
    const at = api.now() - 60_000;
    const line = lineOf({
      domain: 'shop.test',
      at,
      rule: 'drop/7',
      matches: ['drop/7', 'waf/42'],
      target: '/a/b?c',
    });
    const answer = await ship(gzipSync(batchOf([line])));
    expect([answer.status, answer.body]).toEqual([200, { stored: 1, repeated: 0, dropped: 0 }]);
    expect((await ship(gzipSync(batchOf([line])))).body).toEqual({ stored: 0, repeated: 1, dropped: 0 });
    const from = new Date(at).toISOString();
    const found = [
      '',
      'action=block',
      'rule=waf/42',
      'rule=drop/7',
      'ip=192.0.2.0/24',
      'path=/a',
      'path=*/b',
      `id=${line.id}`,
      `from=${from}`,
      `action=block&rule=drop/7&ip=192.0.2.1&path=/a/*&from=${from}&limit=1`,
    ];
    for (const query of found) {
      const { status, body } = await anna.call('GET', `/domains/shop.test/logs/?${query}`);
      expect([query, status]).toEqual([query, 200]);
      expect(body.entries).toEqual([{ ...line, node: 'eu-1' }]);
    }
    const missed = [
      'action=challenge',
      'action=would-block',
      'rule=drop/70',
      'ip=192.0.3.0/24',
      'path=/b',
      'action=fault',
      `to=${from}`,
    ];
    for (const query of missed) {
      const { body } = await anna.call('GET', `/domains/shop.test/logs/?${query}`);
      expect([query, body]).toEqual([query, { entries: [], next: null, complete: true }]);
    }
    const one = await anna.call('GET', `/domains/shop.test/logs/${line.id}`);
    expect(one.body).toEqual({ ...line, node: 'eu-1' });
    expect((await anna.call('GET', `/domains/plain.test/logs/${line.id}`)).status).toBe(404);
    expect((await anna.call('GET', '/domains/shop.test/logs/7')).status).toBe(404);
  });

  test('a counted line is found by its filters and read by its id, and has no explanation', async () => {
    const at = api.now() - 60_000;
    await addDomain('counted.test');
    const line = countedOf({ domain: 'counted.test', at });
    expect((await ship(gzipSync(batchOf([line])))).body).toMatchObject({ stored: 1 });
    const path = '/domains/counted.test/logs/';
    for (const query of ['', 'action=block&rule=drop/7&ip=192.0.2.9', 'action=counted', `id=${line.id}`]) {
      const { body } = await anna.call('GET', `${path}?${query}`);
      expect([query, body.entries]).toEqual([query, [{ ...line, node: 'eu-1' }]]);
    }
    expect((await anna.call('GET', `${path}${line.id}`)).body).toEqual({ ...line, node: 'eu-1' });
    const trace = await anna.call('GET', `${path}${line.id}/trace`);
    expect([trace.status, trace.text]).toEqual([409, expect.stringContaining('counts requests')]);
  });

  test('pages continue at their cursor to the last entry', async () => {
    await addDomain('pages.test');
    const lines = Array.from({ length: 25 }, (_, number) =>
      lineOf({ domain: 'pages.test', at: api.now() - 1_000 * number }),
    );
    await ship(gzipSync(batchOf(lines)));
    const ids: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await anna.call('GET', `/domains/pages.test/logs/?limit=10${cursor}`);
      ids.push(...body.entries.map((entry: { id: string }) => entry.id));
      if (body.next === null) break;
      cursor = `&cursor=${body.next}`;
    }
    expect(ids).toEqual(lines.map(({ id }) => id));
  });

  test('a wrong filter is a 400 that names it', async () => {
    const wrong: readonly [string, RegExp][] = [
      ['action=drop', /^action: /],
      ['rule=7', /^rule: must be the type and id/],
      ['ip=nobody', /^ip: /],
      ['path=a', /^path: must begin with/],
      ['from=yesterday', /^from: must be an RFC 3339 time/],
      ['from=2026-11-25&to=2026-11-24', /^from: must be before/],
      ['cursor=x', /^cursor: must be `next`/],
      ['limit=5000', /^limit: must be a whole number from 1 to 200/],
      ['id=7&action=block', /^action: goes without `id`/],
      ['limits=5', /did you mean `limit`/],
    ];
    for (const [query, message] of wrong) {
      const { status, body } = await anna.call('GET', `/domains/shop.test/logs/?${query}`);
      expect([query, status]).toEqual([query, 400]);
      expect(body.error).toMatch(message);
    }
  });

  test('a batch that cannot be right is a 400, 413 or 415, and stores nothing', async () => {
    const line = lineOf({ domain: 'plain.test', at: api.now() });
    const cases: readonly [Promise<Answer>, number, RegExp][] = [
      [ship(gzipSync(batchOf([line, { ...line, id: 'x' }]))), 400, /line 3: `id` must be a UUID/],
      [ship(Buffer.from('plain')), 400, /must be gzip/],
      [ship(gzipSync(Buffer.from('{}\n'))), 400, /line 1: `format`/],
      [ship(gzipSync(batchOf([line])), { 'content-encoding': 'identity' }), 415, /must be sent in gzip/],
      [
        ship(gzipSync(batchOf([line])), { 'content-type': 'application/json' }),
        415,
        /without a content encoding/,
      ],
      [ship(gzipSync(Buffer.alloc(3_000_000, 32))), 413, /at most 2097152 octets/],
      [ship(gzipSync(batchOf([line])), { authorization: 'Bearer edn_x' }), 401, /invalid node token/],
    ];
    for (const [sent, status, message] of cases) {
      const answer = await sent;
      expect([answer.status, answer.body.error]).toEqual([status, expect.stringMatching(message)]);
    }
    expect((await anna.call('GET', '/domains/plain.test/logs/')).body.entries).toEqual([]);
  });

  test('a node cannot ship entries of a domain that is in none of its groups', async () => {
    const far = (await api.store.latest.domains.byName('far.test'))!;
    await api.store.write((tx) => tx.groups.setDomain(far.id, 'us'));
    const answer = await ship(gzipSync(batchOf([lineOf({ domain: 'far.test', at: api.now() })])));
    expect([answer.status, answer.body.error]).toEqual([
      400,
      'line 1: `far.test` is in no group of this node',
    ]);
    const gone = await ship(gzipSync(batchOf([lineOf({ domain: 'nobody.test', at: api.now() })])));
    expect(gone.body).toEqual({ stored: 0, repeated: 0, dropped: 1 });
  });

  test('a domain that is deleted and made again does not show the entries of the one before', async () => {
    await addDomain('again.test');
    await ship(gzipSync(batchOf([lineOf({ domain: 'again.test', at: api.now() - 1_000 })])));
    expect((await anna.call('GET', '/domains/again.test/logs/')).body.entries).toHaveLength(1);
    await anna.call('DELETE', '/domains/again.test');
    await addDomain('again.test');
    expect((await anna.call('GET', '/domains/again.test/logs/')).body.entries).toEqual([]);
  });

  test('a member with a role sees entries, a stranger gets 404, and a tier without logs gets 403 that names the gate', async () => {
    expect((await bob.call('GET', '/domains/shop.test/logs/')).status).toBe(404);
    await addMember(anna, { member: bob, domain: 'shop.test', role: 'viewer' });
    expect((await bob.call('GET', '/domains/shop.test/logs/')).status).toBe(200);
    const { id } = (await api.store.latest.domains.byName('plain.test'))!;
    await api.store.write((tx) =>
      tx.subscriptions.put({
        domain_id: id,
        plan_slug: 'pro',
        plan_term_id: 1,
        active: true,
        started_at: 0,
        ends_at: null,
        overrides_json: '{}',
      }),
    );
    for (const path of ['', randomUUID(), `${randomUUID()}/trace`]) {
      const { status, body } = await anna.call('GET', `/domains/plain.test/logs/${path}`);
      expect([status, body.error]).toEqual([403, expect.stringContaining('`logs_enabled`')]);
    }
  });

  test('an entry from before its domain was made is neither found nor read', async () => {
    const id = await addDomain('restored.test');
    const line = lineOf({ domain: 'restored.test', at: api.now() - 7_200_000 });
    const domains = [{ name: 'restored.test', id, since: 0 }];
    await api.logs.append({ nodeId: 1, bytes: batchOf([line]), domains, now: api.now() });
    const from = new Date(api.now() - 86_400_000).toISOString();
    const { body } = await anna.call('GET', `/domains/restored.test/logs/?from=${from}`);
    expect(body.entries).toEqual([]);
    expect((await anna.call('GET', `/domains/restored.test/logs/${line.id}`)).status).toBe(404);
  });

  test('an entry whose plan is not stored cannot be explained, which is a 409', async () => {
    const line = lineOf({ domain: 'shop.test', at: api.now() });
    await ship(gzipSync(batchOf([line])));
    const { status, body } = await anna.call('GET', `/domains/shop.test/logs/${line.id}/trace`);
    expect([status, body.error]).toEqual([409, 'the plan of revision 1 is not stored any more']);
  });
});

test('a node may send its burst at once, and then its rate, whatever others send', () => {
  let now = 0;
  const rates = createNodeRates(() => now);
  expect(rates.take(1, NODE_BURST_OCTETS)).toBe(0);
  expect(rates.take(1, NODE_OCTETS_PER_SEC)).toBe(1);
  expect(rates.take(2, NODE_OCTETS_PER_SEC)).toBe(0);
  now = 1_000;
  expect(rates.take(1, NODE_OCTETS_PER_SEC)).toBe(0);
  expect(rates.take(1, 3 * NODE_OCTETS_PER_SEC)).toBe(3);
});
