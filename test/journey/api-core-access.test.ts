/** Who may do what: keys, roles, budgets, and the order in which a request is judged (semantics §6). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey } from '../../src/control/accounts/authenticate.ts';
import { dayOf } from '../../src/control/accounts/key-uses.ts';
import { revokeKey } from '../../src/control/accounts/keys.ts';
import { MEMBER_ROLES } from '../../src/control/store/tables/domains.ts';
import { addMember, type Person, send, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';

const DAY = 86_400_000;

describe.each(testDatabases().map((database) => [database.kind, database] as const))(
  'on %s',
  (_, database) => {
    let api: TestApi;
    let owner: Person;

    beforeAll(async () => {
      api = await startApi(database);
      owner = await api.person('owner');
      await owner.call('POST', '/domains/', { name: 'shop.example' });
    });
    afterAll(() => api.close());

    const bare = (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) =>
      send(api.port, { method, path, headers, body });

    describe('401', () => {
      test.each([
        [{}],
        [{ authorization: 'Bearer' }],
        [{ authorization: `Bearer svc_${'a'.repeat(65)}` }],
        [{ 'x-api-key': 'svc_1' }],
      ])('for %j', async (headers) => {
        for (const path of ['/domains/', '/domains/shop.example', '/nowhere', '/users/me', '/domains/%zz']) {
          const { status, body, headers: answered } = await bare('GET', path, headers);
          expect([path, status, body]).toEqual([path, 401, { error: 'invalid API key' }]);
          expect(answered['x-request-id']).toBeTruthy();
        }
      });

      test('for a key that is expired, revoked, or whose account is inactive', async () => {
        const person = await api.person('leaving');
        const { key } = await person.anotherKey({ expiry: 30, now: Date.now() - 30 * DAY - 1 });
        const gone = await person.anotherKey();
        expect((await bare('GET', '/domains/', { 'x-api-key': key })).status).toBe(401);
        expect((await bare('GET', '/domains/', { 'x-api-key': gone.key })).status).toBe(200);
        expect(await revokeKey(api.store, { id: gone.id, now: Date.now() })).toBe(true);
        expect((await bare('GET', '/domains/', { 'x-api-key': gone.key })).status).toBe(401);
        const { id } = person.account;
        await api.store.write((tx) => tx.accounts.setActive(id, { active: false, at: Date.now() }));
        expect((await person.call('GET', '/domains/')).status).toBe(401);
      });

      test('the challenge distinguishes an invalid key from a missing one (RFC 6750 §3)', async () => {
        const wrong = { 'x-api-key': makeKey() };
        const basic = { authorization: 'Basic YTpi' };
        for (const path of ['/domains/', '/nowhere', '/domains/%zz']) {
          const told = async (headers: Record<string, string>) =>
            (await bare('GET', path, headers)).headers['www-authenticate'];
          expect([await told({}), await told(basic)]).toEqual(['Bearer', 'Bearer']);
          for (const headers of [
            wrong,
            { authorization: 'Bearer svc_1' },
            { ...wrong, authorization: 'Bearer x' },
          ])
            expect(await told(headers)).toBe('Bearer error="invalid_token"');
        }
        const headersOf = async (headers: Record<string, string>) =>
          (await bare('GET', '/nodes/self', headers)).headers['www-authenticate'];
        expect(await headersOf({})).toBe('Bearer');
        expect(await headersOf({ authorization: 'Bearer x' })).toBe('Bearer error="invalid_token"');
      });

      test('both headers authenticate the same key', async () => {
        for (const headers of [{ authorization: `Bearer ${owner.key}` }, { 'x-api-key': owner.key }])
          expect((await bare('GET', '/domains/', headers)).status).toBe(200);
      });
    });

    test('a key that is revoked during a request commits nothing', async () => {
      const person = await api.person('racing');
      await person.call('POST', '/domains/', { name: 'race.example' });
      api.dns.delegation = { state: 'delegated', set: [], found: [] };
      api.dns.meanwhile = async () => {
        await revokeKey(api.store, { id: person.keyId, now: Date.now() });
      };
      const answer = await person.call('POST', '/domains/race.example/check-ns');
      api.dns.meanwhile = async () => undefined;
      expect([answer.status, answer.body.error]).toEqual([401, 'invalid API key']);
      expect((await api.store.latest.domains.byName('race.example'))?.status).toBe('pending');
    });

    test('a key that is revoked during a read gets a 401', async () => {
      const person = await api.person('reading');
      for (const path of ['/domains/', '/nodes/']) expect((await person.call('GET', path)).status).toBe(200);
      api.beforeRead = async () => {
        await revokeKey(api.store, { id: person.keyId, now: Date.now() });
      };
      const { status, body } = await person.call('GET', '/domains/');
      expect([status, body]).toEqual([401, { error: 'invalid API key' }]);
    });

    describe('a read-only key', () => {
      test('can read everywhere, and write nowhere', async () => {
        const { key } = await owner.anotherKey({ readOnly: true });
        const headers = { 'x-api-key': key };
        for (const method of ['GET', 'HEAD', 'OPTIONS'])
          expect((await bare(method, '/domains/shop.example', headers)).status).toBeLessThan(300);
        for (const [method, path] of [
          ['POST', '/domains/'],
          ['PUT', '/domains/shop.example'],
          ['DELETE', '/domains/shop.example'],
          ['PATCH', '/nowhere'],
          ['POST', '/users/me'],
          ['POST', '/domains/not-visible.example/verify'],
          ['POST', '/domains/shop.example/simulate'],
        ] as const) {
          const { status, body } = await bare(method, path, headers);
          expect([path, status, body]).toEqual([path, 403, { error: 'read-only API key' }]);
        }
      });
    });

    test('blocked surfaces are closed to every key, whatever the method', async () => {
      for (const [method, path] of [
        ['GET', '/users/me'],
        ['POST', '/auth/login'],
        ['GET', '/%75sers/me'],
        ['GET', '/users/%zz'],
        ['POST', '/domains/%ff/subscriptions/switch'],
        ['GET', '/billing/plans'],
        ['DELETE', '/admin/x'],
        ['POST', '/wallet/topup'],
        ['POST', '/domains/shop.example/subscriptions/purchase'],
      ] as const) {
        const { status, body } = await owner.call(method, path);
        expect([path, status]).toEqual([path, 403]);
        expect(body.error).toMatch(/^no key may /);
      }
      expect((await owner.call('GET', '/wallet/topup')).status).toBe(404);
    });

    describe('roles', () => {
      const people = new Map<string, Person>();
      beforeAll(async () => {
        for (const role of MEMBER_ROLES) {
          const member = await api.person(role);
          people.set(role, member);
          await addMember(owner, { member, domain: 'shop.example', role });
        }
        people.set('stranger', await api.person('stranger'));
        people.set('owner', owner);
      });

      // Each request with who may make it; the rest get 403, strangers 404.
      const requests = [
        ['GET', '', undefined, ['viewer', 'editor', 'admin', 'owner']],
        ['GET', '/features', undefined, ['viewer', 'editor', 'admin', 'owner']],
        ['GET', '/members/', undefined, ['viewer', 'editor', 'admin', 'owner']],
        ['GET', '/audit/', undefined, ['viewer', 'editor', 'admin', 'owner']],
        ['DELETE', '/cache/', undefined, ['editor', 'admin', 'owner']],
        ['PUT', '', { sec_no_sniff: true }, ['admin', 'owner']],
        ['POST', '/developer-mode', undefined, ['admin', 'owner']],
        ['POST', '/members/', { name: 'stranger', role: 'viewer' }, ['admin', 'owner']],
        ['GET', '/invitations/', undefined, ['admin', 'owner']],
      ] as const;
      test.each(requests)('%s /domains/shop.example%s', async (method, path, body, allowed) => {
        for (const [name, person] of people) {
          const target = `/domains/shop.example${path}${method === 'GET' ? '' : '?validate_only=true'}`;
          const { status, body: answer } = await person.call(method, target, body);
          const done = path === '/members/' && method === 'POST' ? 202 : 200;
          const expected =
            name === 'stranger' ? 404 : (allowed as readonly string[]).includes(name) ? done : 403;
          expect([name, status]).toEqual([name, expected]);
          if (status === 404) expect(answer).toEqual({ error: 'not found' });
          if (status === 403)
            expect(answer.error).toMatch(new RegExp(`^role \`${name}\` lacks the permission`));
        }
      });

      test('only the owner may delete, and the detail shows it', async () => {
        for (const [name, person] of people) {
          if (name === 'stranger') continue;
          const { body } = await person.call('GET', '/domains/shop.example');
          expect(body.my_role).toBe(name);
          expect(body.permissions.includes('domain.delete')).toBe(name === 'owner');
          const { status } = await person.call('DELETE', '/domains/shop.example?validate_only=true');
          expect([name, status]).toEqual([name, name === 'owner' ? 200 : 403]);
        }
      });

      test('an admin grants only roles below admin, and every member may leave', async () => {
        const admin = people.get('admin')!;
        const viewer = people.get('viewer')!;
        const stranger = people.get('stranger')!;
        const members = '/domains/shop.example/members/';
        expect((await admin.call('POST', members, { name: 'stranger', role: 'admin' })).status).toBe(403);
        expect((await admin.call('POST', members, { name: 'owner', role: 'viewer' })).status).toBe(409);
        expect((await admin.call('POST', members, { name: 'viewer', role: 'viewer' })).status).toBe(409);
        // What a role may not do comes before what stands in its way.
        expect((await admin.call('POST', members, { name: 'viewer', role: 'admin' })).status).toBe(403);
        expect((await viewer.call('DELETE', `${members}${owner.account.id}`)).status).toBe(403);
        await addMember(admin, { member: stranger, domain: 'shop.example', role: 'viewer' });
        const one = `${members}${stranger.account.id}`;
        const tag = (await admin.call('GET', one)).headers['etag']!;
        expect((await admin.call('PUT', one, { role: 'editor' }, { 'if-match': '"other"' })).status).toBe(
          412,
        );
        expect((await admin.call('PUT', one, { role: 'editor' }, { 'if-match': tag })).status).toBe(200);
        expect((await stranger.call('GET', '/domains/shop.example')).body.my_role).toBe('editor');
        expect((await viewer.call('DELETE', one)).status).toBe(403);
        expect((await stranger.call('DELETE', one)).status).toBe(200);
        expect((await stranger.call('GET', '/domains/shop.example')).status).toBe(404);
        expect((await owner.call('DELETE', one)).status).toBe(404);
        const own = `${members}${owner.account.id}`;
        const [listed] = (await viewer.call('GET', members)).body;
        expect((await viewer.call('GET', own)).body).toEqual(listed);
        for (const method of ['PUT', 'DELETE']) {
          const { status, body: refused } = await admin.call(
            method,
            own,
            method === 'PUT' ? { role: 'viewer' } : undefined,
          );
          expect([method, status, refused.error]).toEqual([method, 409, 'the account owns this domain']);
        }
        const { body } = await viewer.call('GET', members);
        expect(body.map((member: { name: string }) => member.name).sort()).toEqual([
          'admin',
          'editor',
          'owner',
          'viewer',
        ]);
      });

      test('the role is checked before the body, and the body before a disabled domain', async () => {
        const nonsense = { nonsense: true };
        const path = '/domains/shop.example';
        expect((await people.get('stranger')!.call('PUT', path, nonsense)).status).toBe(404);
        expect((await people.get('viewer')!.call('PUT', path, nonsense)).status).toBe(403);
        const { id } = (await api.store.latest.domains.byName('shop.example'))!;
        await api.store.write((tx) => tx.domains.update(id, { status: 'disabled' }));
        expect((await owner.call('PUT', path, nonsense)).status).toBe(400);
        const refused = await owner.call('PUT', path, { sec_no_sniff: true });
        expect([refused.status, refused.body]).toEqual([409, { error: 'domain is disabled' }]);
        expect((await owner.call('GET', path)).body.sec_no_sniff).toBe(false);
        await api.store.write((tx) => tx.domains.update(id, { status: 'pending' }));
      });
    });

    test('entitlements are checked before the body; ceilings of its values after it', async () => {
      const { id } = (await api.store.latest.domains.byName('shop.example'))!;
      const put = (overrides: object) =>
        api.store.write((tx) =>
          tx.subscriptions.put({
            domain_id: id,
            plan_slug: 'free',
            plan_term_id: null,
            active: true,
            started_at: Date.now(),
            ends_at: null,
            overrides_json: JSON.stringify(overrides),
          }),
        );
      await put({ cache_purge_enabled: false });
      const purge = await owner.call('DELETE', '/domains/shop.example/cache/');
      expect([purge.status, purge.body.error]).toEqual([
        403,
        'plan `free` does not include cache purge (`cache_purge_enabled`)',
      ]);
      const path = '/domains/shop.example';
      const above = await owner.call('PUT', path, { cache_cap_mb: 512 });
      expect([above.status, above.body.error]).toEqual([
        403,
        'plan `free` allows `cache_cap_mb` up to 128 (`max_cache_cap_mb`), found 512',
      ]);
      expect((await owner.call('PUT', path, { cache_cap_mb: 512, cache_l2_ttl_days: 8 })).status).toBe(400);
      expect((await owner.call('PUT', path, { cache_l2_max_gb: 2 })).body.error).toMatch(/max_cache_disk_gb/);
      expect((await owner.call('PUT', path, { cache_l2_ttl_days: 2 })).body.error).toMatch(
        /max_cache_ttl_days/,
      );
      const features = (await owner.call('GET', `${path}/features`)).body;
      expect(features).toMatchObject({ plan_slug: 'free', has_active_plan: true, max_cache_cap_mb: 128 });
      expect(features.plan_term_id).toBe(1);
      expect(features.domain_usage[0]).toEqual({ name: 'max_records', used: 0, limit: 100 });
      await api.store.write((tx) => tx.subscriptions.remove(id));
    });

    test('the last use and the requests of a day are stored', async () => {
      const person = await api.person('counted');
      for (let sent = 0; sent < 5; sent++) await person.call('GET', '/domains/');
      await person.call('GET', '/nowhere');
      await api.uses.flush();
      const [use] = await api.store.latest.keys.uses(person.keyId, dayOf(Date.now()));
      expect(use?.requests).toBe(6);
      expect((await api.store.latest.keys.get(person.keyId))?.last_used_at).toBeGreaterThan(
        Date.now() - 60_000,
      );
    });

    test('an account has at most ten active keys', async () => {
      const person = await api.person('collector');
      const keys = [person.keyId];
      while (keys.length < 10) keys.push((await person.anotherKey()).id);
      await expect(person.anotherKey()).rejects.toThrow('has 10 active keys, and 10 is the most');
      await revokeKey(api.store, { id: keys[3]!, now: Date.now() });
      await expect(person.anotherKey()).resolves.toBeTruthy();
      await expect(person.anotherKey()).rejects.toThrow('active keys');
    });

    test('the log contains no key', async () => {
      await bare('GET', `/domains/?key=${owner.key}`, { 'x-api-key': owner.key });
      expect(api.log.length).toBeGreaterThan(10);
      expect(api.log.filter((line) => line.includes(owner.key))).toEqual([]);
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

    test('a key beyond its requests a minute gets 429 with Retry-After', async () => {
      const person = await api.person('busy');
      for (let sent = 0; sent < 10; sent++) expect((await person.call('GET', '/domains/')).status).toBe(200);
      const over = await person.call('GET', '/domains/');
      expect([over.status, over.body]).toEqual([429, { error: 'rate limit exceeded' }]);
      const wait = Number(over.headers['retry-after']);
      expect(wait).toBeGreaterThan(50);
      expect(wait).toBeLessThanOrEqual(60);
      // 429 comes before everything but 401.
      expect((await person.call('POST', '/users/me')).status).toBe(429);
      const { key } = await person.anotherKey();
      expect(
        (await send(api.port, { method: 'GET', path: '/domains/', headers: { 'x-api-key': key } })).status,
      ).toBe(200);
      api.ahead = wait * 1_000;
      expect((await person.call('GET', '/domains/')).status).toBe(200);
      await revokeKey(api.store, { id: person.keyId, now: Date.now() });
      expect((await person.call('GET', '/domains/')).status).toBe(401);
    });
  },
);
