/** Memberships over real sockets: offered, seen, accepted, declined, withdrawn, lapsed, bounded. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  MAX_INVITATIONS,
  MAX_INVITATIONS_OF_OWNER,
  MAX_SHARED,
} from '../../src/control/api/operation/limits.ts';
import { type Answer, addMember, type Person, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';

const DAY = 86_400_000;

describe.each(testDatabases().map((database) => [database.kind, database] as const))(
  'on %s',
  (_, database) => {
    let api: TestApi;
    let ann: Person;
    let made = 0;

    beforeAll(async () => {
      api = await startApi(database);
      ann = await api.person('ann');
    });
    afterEach(() => {
      api.ahead = 0;
    });
    afterAll(() => api.close());

    /** A fresh domain of the owner. */
    async function shop(owner = ann): Promise<{ readonly name: string; readonly path: string; id: number }> {
      made += 1;
      const name = `shop${made}.example`;
      const { body } = await owner.call('POST', '/domains/', { name });
      return { name, path: `/domains/${name}`, id: body.id };
    }

    const person = (): Promise<Person> => api.person(`person${++made}`);

    async function invite(path: string, name: string, { role = 'editor', by = ann } = {}): Promise<Answer> {
      return by.call('POST', `${path}/members/`, { name, role });
    }

    async function audited(id: number): Promise<readonly string[]> {
      const rows = await api.store.latest.audit.list(id, { limit: 100 });
      return rows.map((row) => `${row.action} ${row.subject}`.trim());
    }

    test('an invited account sees the invitation, accepts it and is a member', async () => {
      const { name, path, id: domainId } = await shop();
      const bob = await person();
      const { status, body } = await invite(path, bob.account.name);
      expect(status).toBe(202);
      expect(body).toMatchObject({ name: bob.account.name, role: 'editor' });
      expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(14 * DAY);
      expect((await ann.call('GET', `${path}/members/`)).body).toHaveLength(1);
      expect((await ann.call('GET', `${path}/invitations/`)).body).toEqual([body]);
      expect((await bob.call('GET', path)).status).toBe(404);
      const { name: _, ...common } = body;
      expect((await bob.call('GET', '/invitations/')).body).toEqual([{ ...common, domain: name }]);

      const dry = await bob.call('POST', `/invitations/${body.id}/accept?validate_only=true`);
      expect([dry.status, dry.body.role]).toEqual([200, 'editor']);
      expect((await bob.call('GET', path)).status).toBe(404);
      const accepted = await bob.call('POST', `/invitations/${body.id}/accept`);
      expect(accepted.body).toMatchObject({
        user_id: bob.account.id,
        name: bob.account.name,
        role: 'editor',
      });
      expect((await bob.call('GET', path)).body.my_role).toBe('editor');
      expect((await ann.call('GET', `${path}/members/`)).body[1]).toEqual(accepted.body);
      expect((await ann.call('GET', `${path}/invitations/`)).body).toEqual([]);
      expect((await bob.call('GET', '/invitations/')).body).toEqual([]);
      expect((await bob.call('POST', `/invitations/${body.id}/accept`)).status).toBe(404);

      expect(await audited(domainId)).toEqual([
        `invitation.accept invitation/${body.id}`,
        `invitation.create invitation/${body.id}`,
        'domain.create',
      ]);
      const [entry] = (await ann.call('GET', `${path}/audit/`)).body;
      expect(entry).toMatchObject({ user: bob.account.name, after: { role: 'editor' } });
    });

    test('a declined invitation is removed, and the account may be invited again', async () => {
      const { path, id: domainId } = await shop();
      const bob = await person();
      const { body } = await invite(path, bob.account.name);
      expect((await bob.call('POST', `/invitations/${body.id}/decline`)).status).toBe(200);
      expect((await bob.call('GET', '/invitations/')).body).toEqual([]);
      expect((await ann.call('GET', `${path}/invitations/`)).body).toEqual([]);
      expect((await audited(domainId))[0]).toBe(`invitation.decline invitation/${body.id}`);
      expect((await invite(path, bob.account.name)).status).toBe(202);
    });

    test('an account created after the invitation sees it and accepts it', async () => {
      const { path } = await shop();
      const { body } = await invite(path, 'later');
      const later = await api.person('later');
      expect((await later.call('GET', '/invitations/')).body).toMatchObject([{ id: body.id }]);
      expect((await later.call('POST', `/invitations/${body.id}/accept`)).status).toBe(200);
      expect((await later.call('GET', path)).body.my_role).toBe('editor');
    });

    test('no answer to the inviting side depends on whether the account exists', async () => {
      const { path } = await shop();
      const [bob, nobody] = [(await person()).account.name, `nobody${++made}`];
      const alike = ({ status, body, headers }: Answer, name: string) => {
        const { id: _, created_at: __, updated_at: ___, expires_at: ____, ...rest } = body;
        const { date: _____, 'x-request-id': ______, ratelimit: _______, ...sent } = headers;
        return JSON.stringify({ status, rest, sent })
          .replaceAll(name, 'NAME')
          .replace(/"content-length":"\d+"/, '');
      };
      for (const path_ of [`${path}/members/?validate_only=true`, `${path}/members/`, `${path}/members/`]) {
        const [first, second] = await Promise.all(
          [bob, nobody].map((name) => ann.call('POST', path_, { name, role: 'viewer' })),
        );
        expect(alike(first!, bob)).toBe(alike(second!, nobody));
        expect(first!.status).toBe(202);
      }
      const listed = (await ann.call('GET', `${path}/invitations/`)).body;
      expect(listed.map((one: object) => Object.keys(one))).toEqual([
        Object.keys(listed[0]),
        Object.keys(listed[0]),
      ]);
      for (const { id } of listed) {
        expect((await ann.call('POST', `/invitations/${id}/accept`)).body).toEqual({ error: 'not found' });
        const { status, body } = await ann.call('DELETE', `${path}/invitations/${id}`);
        expect([status, body]).toEqual([200, { message: 'invitation withdrawn' }]);
      }
    });

    test('inviting again replaces the role of the pending invitation', async () => {
      const { path, id: domainId } = await shop();
      const bob = await person();
      const first = (await invite(path, bob.account.name, { role: 'viewer' })).body;
      api.ahead = 5 * DAY;
      const second = (await invite(path, bob.account.name, { role: 'admin' })).body;
      expect(second).toMatchObject({ id: first.id, role: 'admin', created_at: first.created_at });
      expect(Date.parse(second.expires_at) - Date.parse(first.expires_at)).toBeGreaterThanOrEqual(5 * DAY);
      expect((await bob.call('GET', '/invitations/')).body).toMatchObject([{ role: 'admin' }]);
      expect((await audited(domainId))[0]).toBe(`invitation.update invitation/${first.id}`);
    });

    test('the owner and members cannot be invited, since the list of members shows them', async () => {
      const { name, path } = await shop();
      const bob = await person();
      await addMember(ann, { member: bob, domain: name, role: 'viewer' });
      const member = await invite(path, bob.account.name, { role: 'viewer' });
      expect(member.status).toBe(409);
      expect(member.body.error).toBe(
        `the account is a member already; PUT ${path}/members/${bob.account.id} changes its role`,
      );
      expect((await invite(path, 'ann')).body).toEqual({ error: 'the account owns this domain' });
    });

    test('an admin neither grants, replaces nor withdraws the role of an admin', async () => {
      const { name, path } = await shop();
      const admin = await person();
      await addMember(ann, { member: admin, domain: name, role: 'admin' });
      expect((await invite(path, 'x', { by: admin, role: 'admin' })).status).toBe(403);
      const { id } = (await invite(path, 'x', { role: 'admin' })).body;
      expect((await invite(path, 'x', { by: admin, role: 'viewer' })).status).toBe(403);
      expect((await admin.call('DELETE', `${path}/invitations/${id}`)).status).toBe(403);
      const other = (await invite(path, 'y', { by: admin, role: 'viewer' })).body;
      const wrong = await admin.call('DELETE', `${path}/invitations/${other.id}`, undefined, {
        'if-match': '"x"',
      });
      expect(wrong.status).toBe(412);
      expect((await admin.call('DELETE', `${path}/invitations/${other.id}`)).status).toBe(200);
      expect((await ann.call('DELETE', `${path}/invitations/${id}`)).status).toBe(200);
    });

    test("another's invitation is not found, whatever is asked of it", async () => {
      const [mine, other] = [await shop(), await shop(await person())];
      const bob = await person();
      const { id } = (await invite(mine.path, bob.account.name)).body;
      const eve = await person();
      for (const [method, path] of [
        ['POST', `/invitations/${id}/accept`],
        ['POST', `/invitations/${id}/decline`],
        ['POST', '/invitations/4000000000/accept'],
        ['DELETE', `${mine.path}/invitations/${id}`],
      ] as const) {
        const { status, body } = await eve.call(method, path);
        expect([path, status, body]).toEqual([path, 404, { error: 'not found' }]);
      }
      const hers = await shop(eve);
      expect((await eve.call('DELETE', `${hers.path}/invitations/${id}`)).status).toBe(404);
      expect((await ann.call('GET', `${other.path}/invitations/`)).status).toBe(404);
      expect((await bob.call('GET', '/invitations/')).body).toHaveLength(1);
    });

    test('an invitation lapses after 14 days, and a new one removes what has lapsed', async () => {
      const { path, id: domainId } = await shop();
      const bob = await person();
      const { id } = (await invite(path, bob.account.name)).body;
      api.ahead = 14 * DAY - 5_000;
      expect((await bob.call('GET', '/invitations/')).body).toHaveLength(1);
      api.ahead = 14 * DAY + 1_000;
      expect((await bob.call('GET', '/invitations/')).body).toEqual([]);
      expect((await ann.call('GET', `${path}/invitations/`)).body).toEqual([]);
      expect((await bob.call('POST', `/invitations/${id}/accept`)).status).toBe(404);
      expect((await bob.call('POST', `/invitations/${id}/decline`)).status).toBe(404);
      expect((await ann.call('DELETE', `${path}/invitations/${id}`)).status).toBe(404);
      const again = (await invite(path, bob.account.name)).body;
      expect(again.id).not.toBe(id);
      expect((await audited(domainId))[0]).toBe(`invitation.create invitation/${again.id}`);
      expect(await api.store.latest.invitations.get(domainId, id)).toBeNull();
      const elsewhere = await shop();
      await invite(elsewhere.path, 'z');
      api.ahead += 15 * DAY;
      await invite((await shop()).path, 'z2');
      expect(await api.store.latest.invitations.list(elsewhere.id, 0)).toEqual([]);
    });

    test('a domain has a bounded number of members and invitations together', async () => {
      const { name, path } = await shop();
      const bob = await person();
      await addMember(ann, { member: bob, domain: name, role: 'viewer' });
      for (let turn = 1; turn < MAX_SHARED; turn++)
        expect((await invite(path, `many${turn}`)).status).toBe(202);
      const { status, body } = await invite(path, 'one-more');
      expect([status, body.error]).toEqual([
        409,
        `the domain has ${MAX_SHARED} members and pending invitations of at most ${MAX_SHARED}; ` +
          'remove a member or withdraw an invitation first',
      ]);
      expect((await invite(path, 'many7', { role: 'viewer' })).status).toBe(202);
      api.ahead = 15 * DAY;
      expect((await invite(path, 'one-more')).status).toBe(202);
    });

    test('a stranger cannot flood a name, existing or not, and the refusal is the same', async () => {
      const bob = await person();
      const eve = await person();
      const owned = [];
      for (let turn = 0; turn <= MAX_INVITATIONS_OF_OWNER; turn++) owned.push(await shop(eve));
      const last = owned.pop()!;
      for (const name of [bob.account.name, 'absent']) {
        for (const { path } of owned) expect((await invite(path, name, { by: eve })).status).toBe(202);
        const { status, body } = await invite(last.path, name, { by: eve });
        expect([status, body.error]).toEqual([
          409,
          `\`${name}\` has 20 pending invitations to domains of this owner, and the most that one owner may have is 20; ` +
            'invite again once some are answered or have lapsed (14 days)',
        ]);
      }
      expect((await bob.call('GET', '/invitations/')).body).toHaveLength(MAX_INVITATIONS_OF_OWNER);
      expect((await invite((await shop()).path, bob.account.name)).status).toBe(202);
      const [first] = (await bob.call('GET', '/invitations/')).body;
      await bob.call('POST', `/invitations/${first.id}/decline`);
      expect((await invite(last.path, bob.account.name, { by: eve })).status).toBe(202);
    });

    test('a name has a bounded number of invitations of all owners', async () => {
      const name = `wanted${++made}`;
      const fill = await api.store.write(async (tx) => {
        const times = { created_at: api.now(), updated_at: api.now() };
        const ids = [];
        for (let turn = 0; turn < MAX_INVITATIONS; turn++) {
          const owner = await tx.accounts.insert({ name: `${name} owner ${turn}`, active: true, ...times });
          const like = (await tx.domains.byName('shop1.example'))!;
          const domain = await tx.domains.insert({
            ...like,
            name: `${name}-${turn}.example`,
            user_id: owner.id,
          });
          const row = { domain_id: domain.id, name, role: 'viewer' as const, ...times };
          ids.push((await tx.invitations.insert({ ...row, expires_at: api.now() + DAY })).id);
        }
        return ids;
      });
      expect(fill).toHaveLength(MAX_INVITATIONS);
      const { status, body } = await invite((await shop()).path, name);
      expect([status, body.error]).toEqual([
        409,
        `\`${name}\` has 200 pending invitations, and no name may have more; ` +
          'invite again once some are answered or have lapsed (14 days)',
      ]);
    });

    test('invitations remain when the account is disabled and are deleted with their domain', async () => {
      const { path, id: domainId } = await shop();
      const bob = await person();
      const { id } = (await invite(path, bob.account.name)).body;
      const setActive = (active: boolean) =>
        api.store.write((tx) => tx.accounts.setActive(bob.account.id, { active, at: api.now() }));
      await setActive(false);
      expect((await bob.call('GET', '/invitations/')).status).toBe(401);
      expect((await invite(path, bob.account.name)).status).toBe(202);
      await setActive(true);
      expect((await bob.call('GET', '/invitations/')).body).toMatchObject([{ id }]);
      await api.store.write((tx) => tx.domains.update(domainId, { status: 'disabled' }));
      const disabled = await bob.call('POST', `/invitations/${id}/accept`);
      expect([disabled.status, disabled.body]).toEqual([409, { error: 'domain is disabled' }]);
      expect((await invite(path, 'x')).status).toBe(409);
      expect((await ann.call('DELETE', path)).status).toBe(200);
      expect((await bob.call('GET', '/invitations/')).body).toEqual([]);
      expect((await bob.call('POST', `/invitations/${id}/accept`)).status).toBe(404);
    });

    test('of concurrent acceptances and withdrawals one succeeds', async () => {
      const { path } = await shop();
      const bob = await person();
      for (let turn = 0; turn < 5; turn++) {
        const { id } = (await invite(path, bob.account.name)).body;
        const answers = await Promise.all([
          bob.call('POST', `/invitations/${id}/accept`),
          ann.call('DELETE', `${path}/invitations/${id}`),
          bob.call('POST', `/invitations/${id}/decline`),
        ]);
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
        const member = `${path}/members/${bob.account.id}`;
        const joined = answers[0]!.status === 200;
        expect((await ann.call('GET', member)).status).toBe(joined ? 200 : 404);
        if (joined) await ann.call('DELETE', member);
      }
    });

    test.each(['a\u0007b', 'a\u202eb'])(
      'the name %j is refused, since no account can have it',
      async (name) => {
        const { status, body } = await invite((await shop()).path, name);
        expect([status, body.error]).toEqual([400, 'name: must be printable text']);
      },
    );
  },
);
