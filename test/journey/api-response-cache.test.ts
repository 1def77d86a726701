/** The response cache of the API: a cached answer has the same octets, and its key passes the same checks. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { dayOf } from '../../src/control/accounts/key-uses.ts';
import { revokeKey } from '../../src/control/accounts/keys.ts';
import { addMember, type Person, send, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';

const DAY = 86_400_000;
const RULES = '/domains/shop.example/rules/drop/';

describe.each(testDatabases().map((database) => [database.kind, database] as const))(
  'on %s',
  (kind, database) => {
    let api: TestApi;
    let owner: Person;
    let path: string;

    beforeAll(async () => {
      api = await startApi(database);
      owner = await api.person('owner');
      await owner.call('POST', '/domains/', { name: 'shop.example' });
      const made = await owner.call('POST', RULES, { ips: ['192.0.2.1'] });
      expect([made.status, made.text]).toEqual([200, made.text]);
      path = `${RULES}${made.body.id}`;
    });
    afterAll(() => api.close());

    const get = (headers: Record<string, string>, method = 'GET') =>
      send(api.port, { method, path, headers });
    /** Reads twice: the second answer comes from the cache where the store has a version. */
    const warm = async (person: Person) => {
      for (let time = 0; time < 2; time++) expect((await person.call('GET', path)).status).toBe(200);
    };

    test('a cached answer equals the first one and reads no row', async () => {
      const asked = vi.spyOn(api.store.latest.rules, 'get');
      const lines = api.log.length;
      const headers = { 'x-api-key': owner.key, 'x-request-id': 'mine' };
      const answers = [await get(headers), await get(headers), await get(headers)];
      const told = answers.map(({ status, text, headers: { date: _, ratelimit: __, ...sent } }) => [
        status,
        sent,
        text,
      ]);
      expect(told[1]).toEqual(told[0]);
      expect(told[2]).toEqual(told[0]);
      // PostgreSQL has no version that costs less than the read itself, so nothing is cached.
      expect(asked).toHaveBeenCalledTimes(kind === 'sqlite' ? 1 : 3);
      asked.mockRestore();
      await vi.waitFor(() => expect(api.log.length).toBe(lines + 3));
      const shown = api.log.slice(lines).map((line) => {
        const { time, ms, ...rest } = JSON.parse(line) as Record<string, unknown>;
        expect([typeof time, typeof ms]).toEqual(['number', 'number']);
        return rest;
      });
      expect(shown[1]).toEqual(shown[0]);
      expect(shown[2]).toMatchObject({ reqId: 'mine', method: 'GET', url: path, key: owner.keyId });
    });

    test('a read after a commit shows the change, whether the API or another writer made it', async () => {
      await warm(owner);
      await owner.call('PUT', path, { ips: ['192.0.2.2'] });
      expect((await owner.call('GET', path)).body.ips).toEqual(['192.0.2.2']);
      await warm(owner);
      const { id } = (await owner.call('GET', path)).body as { id: number };
      await api.store.write(async (tx) => {
        const domain = (await tx.domains.byName('shop.example'))!;
        await tx.rules.prioritise(domain.id, [{ id, priority: 4_711 }], Date.now());
      });
      expect((await owner.call('GET', path)).body.priority).toBe(4_711);
    });

    test('a condition, another method, a body or two keys get the answer of the router', async () => {
      await warm(owner);
      const key = { authorization: `Bearer ${owner.key}` };
      const { headers, text } = await get(key);
      const tag = headers['etag']!;
      expect((await get({ ...key, 'if-none-match': tag })).status).toBe(304);
      expect((await get(key, 'HEAD')).text).toBe('');
      expect((await get(key, 'OPTIONS')).status).toBe(204);
      expect((await get({})).status).toBe(401);
      expect((await get({ authorization: `bearer  ${owner.key}` })).status).toBe(200);
      expect((await get({ ...key, 'x-api-key': owner.key })).status).toBe(200);
      expect((await get({ ...key, 'x-api-key': `${owner.key}x` })).status).toBe(401);
      expect((await send(api.port, { method: 'GET', path, headers: key, body: { a: 1 } })).text).toBe(text);
    });

    test('a cached answer of one key is not sent to another', async () => {
      await warm(owner);
      const stranger = await api.person('stranger');
      for (let time = 0; time < 2; time++) expect((await stranger.call('GET', path)).status).toBe(404);
      await addMember(owner, { member: stranger, domain: 'shop.example', role: 'viewer' });
      await warm(stranger);
      await owner.call('DELETE', `/domains/shop.example/members/${stranger.account.id}`);
      expect((await stranger.call('GET', path)).status).toBe(404);
    });

    test('a revoked key is refused with 401 once its revocation is answered', async () => {
      const { key, id } = await owner.anotherKey();
      for (let time = 0; time < 3; time++) expect((await get({ 'x-api-key': key })).status).toBe(200);
      await revokeKey(api.store, { id, now: Date.now() });
      expect((await get({ 'x-api-key': key })).status).toBe(401);
    });

    test('an expired key is refused with 401 also when nothing was committed since', async () => {
      const { key } = await owner.anotherKey({ expiry: 30 });
      for (let time = 0; time < 3; time++) expect((await get({ 'x-api-key': key })).status).toBe(200);
      api.ahead = 30 * DAY;
      const late = await get({ 'x-api-key': key });
      api.ahead = 0;
      expect([late.status, late.body]).toEqual([401, { error: 'invalid API key' }]);
    });

    test('each cached answer counts as a use of its key', async () => {
      const { key, id } = await owner.anotherKey();
      for (let time = 0; time < 5; time++) await get({ 'x-api-key': key });
      await api.uses.flush();
      expect((await api.store.latest.keys.uses(id, dayOf(Date.now())))[0]?.requests).toBe(5);
    });
  },
);

describe.each(testDatabases().map((database) => [database.kind, database] as const))(
  'the budget, on %s',
  (_, database) => {
    let api: TestApi;
    beforeAll(async () => {
      api = await startApi(database, { budget: 10 });
    });
    afterAll(() => api.close());

    test('of a key is reduced by each cached answer', async () => {
      const owner = await api.person('owner');
      await owner.call('POST', '/domains/', { name: 'shop.example' });
      const { body } = await owner.call('POST', RULES, { ips: ['192.0.2.1'] });
      for (let sent = 2; sent < 10; sent++)
        expect((await owner.call('GET', `${RULES}${body.id}`)).status).toBe(200);
      const over = await owner.call('GET', `${RULES}${body.id}`);
      expect([over.status, over.body]).toEqual([429, { error: 'rate limit exceeded' }]);
      expect(Number(over.headers['retry-after'])).toBeGreaterThan(50);
    });
  },
);
