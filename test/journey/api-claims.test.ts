/** Names that several accounts claim: who sees what, who gets the name, what lapses. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createDns } from '../../src/control/dns/resolver.ts';
import { applyEvent } from '../../src/control/domains/apply-event.ts';
import { newChallenge } from '../../src/control/domains/challenge.ts';
import { createLifecycle } from '../../src/control/domains/lifecycle.ts';
import { MAX_UNPROVED_OF_ACCOUNT, MAX_UNPROVED_OF_NAME } from '../../src/control/domains/limits.ts';
import type { LifecycleEvent } from '../../src/control/domains/state.ts';
import { createPublisher, type Publisher } from '../../src/control/publishing/publisher.ts';
import { SERVICE } from '../../src/control/store/tables/accounts.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import { type Answer, addMember, type Person, SETS, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';

const DAY = 86_400_000;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const REGISTERED = 'domain already registered on this or another account';
/** The 409 for a name of a domain that the account sees, and for one that another account has proved. */
const SEEN = { error: `${REGISTERED}; GET /domains/ lists it` };
const PROVED = {
  error: `${REGISTERED}; its owner has proved the name and can share the domain or delete it`,
};

describe.each(testDatabases().map((database) => [database.kind, database] as const))(
  'on %s',
  (_, database) => {
    let api: TestApi;
    let publisher: Publisher;
    let made = 0;

    beforeAll(async () => {
      api = await startApi(database, {
        publication: { waitForOutbox: (domain, id, signal) => publisher.waitForOutbox(domain, id, signal) },
      });
      publisher = createPublisher({ store: api.store, log: quiet, pollMs: 50 });
      publisher.start();
    });
    afterEach(() => {
      api.ahead = 0;
      api.dns.delegation = { state: 'none', set: null, found: [] };
      api.dns.challenge = { state: 'absent', found: [] };
    });
    afterAll(async () => {
      await publisher.stop();
      await api.close();
    });

    const person = (): Promise<Person> => api.person(`person${++made}`);
    const freshName = (): string => `claimed${++made}.example`;

    function claim(
      who: Person,
      name: string,
      dns_mode: 'managed' | 'external' = 'external',
    ): Promise<Answer> {
      return who.call('POST', '/domains/?claim=true', { name, dns_mode });
    }

    /** Two accounts with a domain of one name. */
    async function two(mode: 'managed' | 'external' = 'external') {
      const [ann, bob, name] = [await person(), await person(), freshName()];
      const [first, second] = [await claim(ann, name, mode), await claim(bob, name, mode)];
      expect([first.status, second.status]).toEqual([200, 200]);
      const path = `/domains/${name}`;
      return { ann, bob, name, path, ids: { ann: first.body.id, bob: second.body.id } as const };
    }

    const row = (id: number): Promise<DomainRow | null> => api.store.latest.domains.get(id);

    async function happen(id: number, event: LifecycleEvent): Promise<DomainRow> {
      const applied = await api.store.write(async (tx) =>
        applyEvent(tx, (await tx.domains.get(id))!, event, { author: SERVICE, now: api.now() }),
      );
      return applied.domain;
    }

    /** What the service does by itself. */
    async function removeLapsed(): Promise<number> {
      const life = createLifecycle({ store: api.store, dns: createDns({}), sets: SETS, clock: api.now });
      let removed = 0;
      for (let more = -1; more !== 0; removed += more) more = await life.removeLapsed();
      await life.stop();
      return removed;
    }

    test.each(['external', 'managed'] as const)(
      'each account sees its own %s domain of the name',
      async (mode) => {
        const { ann, bob, name, path, ids } = await two(mode);
        expect(ids.ann).not.toBe(ids.bob);
        const values = [];
        for (const [who, id] of [
          [ann, ids.ann],
          [bob, ids.bob],
        ] as const) {
          const { body, text } = await who.call('GET', path);
          expect(body).toMatchObject({ id, name, user_id: who.account.id, my_role: 'owner', dns_mode: mode });
          expect(body.verification).toMatchObject({ type: 'TXT', verified: false });
          values.push(body.verification.value);
          expect((await who.call('GET', '/domains/')).body.map((one: DomainRow) => one.id)).toEqual([id]);
          const other = who === ann ? bob : ann;
          const audit = (await who.call('GET', `${path}/audit/`)).text;
          expect(text + audit).not.toContain(other.account.name);
        }
        expect(new Set(values).size).toBe(2);
        const made = await ann.call('POST', `${path}/rules/drop/`, { ips: ['192.0.2.1'] });
        expect(made.status).toBe(200);
        expect((await bob.call('GET', `${path}/rules/drop/`)).body).toEqual([]);
        expect((await bob.call('GET', `${path}/rules/drop/${made.body.id}`)).status).toBe(404);
        expect((await bob.call('DELETE', path)).status).toBe(200);
        expect((await ann.call('GET', path)).body.id).toBe(ids.ann);
      },
    );

    test.each(['external', 'managed'] as const)(
      'a %s name of another account is a 409 that names the claim, and the claim is answered with its TXT record',
      async (dns_mode) => {
        const [ann, bob, name] = [await person(), await person(), freshName()];
        const add = (who: Person, query = '') => who.call('POST', `/domains/${query}`, { name, dns_mode });
        expect((await add(ann)).status).toBe(200);
        for (const query of ['', '?claim=false', '?validate_only=true']) {
          const { status, body } = await add(bob, query);
          expect([status, body.error]).toEqual([
            409,
            expect.stringContaining('add `?claim=true` to claim it'),
          ]);
          expect(body.error).toContain(`${REGISTERED}; nobody has proved the name`);
        }
        expect((await bob.call('GET', '/domains/')).body).toEqual([]);
        const claimed = await add(bob, '?claim=true');
        expect([claimed.status, claimed.body.verification]).toMatchObject([
          200,
          { type: 'TXT', verified: false },
        ]);
        api.dns.challenge = { state: 'verified' };
        expect((await bob.call('POST', `/domains/${name}/verify`)).status).toBe(200);
        expect((await ann.call('GET', `/domains/${name}`)).status).toBe(404);
        for (const query of ['', '?claim=true'])
          expect(await add(ann, query)).toMatchObject({ status: 409, body: PROVED });
      },
    );

    test('a name that nobody has is added with ?claim=true as without it, and is free for others once it lapsed', async () => {
      const [ann, bob, name] = [await person(), await person(), freshName()];
      const first = await ann.call('POST', '/domains/?claim=true', { name, dns_mode: 'managed' });
      expect([first.status, first.body.verification]).toEqual([200, undefined]);
      api.ahead = 14 * DAY + 60_000;
      expect((await bob.call('POST', '/domains/', { name })).status).toBe(200);
    });

    /** Runs requests while no row of `domains` can be written: each has judged before any has stored. */
    async function atOnce(requests: readonly (() => Promise<Answer>)[]): Promise<number[]> {
      if (database.kind === 'sqlite') return statuses(requests.map((request) => request()));
      const operator = new pg.Client({ connectionString: api.database });
      await operator.connect();
      try {
        await operator.query('BEGIN; LOCK TABLE domains IN SHARE MODE');
        const answers = requests.map((request) => request());
        const waiting = 'SELECT count(*)::int AS all FROM pg_locks WHERE NOT granted';
        await expect
          .poll(async () => (await operator.query(waiting)).rows[0].all)
          .toBeGreaterThanOrEqual(requests.length);
        await operator.query('COMMIT');
        return await statuses(answers);
      } finally {
        await operator.end();
      }
    }

    async function statuses(answers: readonly Promise<Answer>[]): Promise<number[]> {
      return (await Promise.all(answers)).map(({ status }) => status).sort();
    }

    test('of accounts that add a name at once without a claim one gets it', async () => {
      const name = freshName();
      const people = await Promise.all(Array.from({ length: 6 }, person));
      const add = people.map((who) => () => who.call('POST', '/domains/', { name }));
      expect(await atOnce(add)).toEqual([200, 409, 409, 409, 409, 409]);
    });

    test('claims that come at once each have the TXT record that decides between them', async () => {
      const name = freshName();
      const people = await Promise.all(Array.from({ length: 3 }, person));
      expect(await atOnce(people.map((who) => () => claim(who, name, 'managed')))).toEqual([200, 200, 200]);
      for (const who of people) {
        const { verification } = (await who.call('GET', `/domains/${name}`)).body;
        expect(verification).toMatchObject({
          type: 'TXT',
          value: expect.stringMatching(/./),
        });
      }
    });

    test('additions of one account that come at once stay within its bound', async () => {
      const ann = await person();
      const like = (
        await ann.call('POST', '/domains/', {
          name: freshName(),
          dns_mode: 'external',
        })
      ).body.id;
      const { id: _, ...row } = (await api.store.latest.domains.get(like))!;
      await api.store.write(async (tx) => {
        for (let at = 2; at < MAX_UNPROVED_OF_ACCOUNT; at++) {
          await tx.domains.insert({ ...row, name: freshName() });
        }
      });
      const names = Array.from({ length: 4 }, freshName);
      const added = await atOnce(names.map((name) => () => ann.call('POST', '/domains/', { name })));
      expect(added).toEqual([200, 409, 409, 409]);
    });

    test('an account that sees a domain of the name cannot add another', async () => {
      const { ann, name } = await two();
      expect(await claim(ann, name)).toMatchObject({ status: 409, body: SEEN });
      const guest = await person();
      await addMember(ann, { member: guest, domain: name, role: 'viewer' });
      expect(await claim(guest, name)).toMatchObject({ status: 409, body: SEEN });
    });

    test('the first account that proves the name gets it, and the other domain is deleted', async () => {
      const { ann, bob, name, path, ids } = await two();
      await ann.call('POST', `${path}/rules/drop/`, { ips: ['192.0.2.1'] });
      api.dns.challenge = { state: 'verified' };
      const verified = await bob.call('POST', `${path}/verify`);
      expect([verified.status, verified.body.status]).toEqual([200, 'active']);
      expect((await ann.call('GET', path)).status).toBe(404);
      expect((await ann.call('POST', `${path}/verify`)).status).toBe(404);
      expect(await row(ids.ann)).toBeNull();
      expect(await api.store.latest.rules.listAll(ids.ann)).toEqual([]);
      const [entry] = await api.store.latest.audit.list(ids.ann, { limit: 1 });
      expect(entry).toMatchObject({ action: 'domain.delete', account_id: null });
      expect(JSON.parse(entry!.after_json!)).toEqual({ reason: 'another account has proved the name' });
      expect((await bob.call('GET', `${path}/audit/`)).text).not.toContain(ann.account.name);
      expect(await claim(ann, name)).toMatchObject({ status: 409, body: PROVED });
      expect(await claim(bob, name)).toMatchObject({ status: 409, body: SEEN });
      // The other's tombstone comes before the plan, or the plan comes again after it.
      await expect.poll(async () => (await api.store.latest.outbox.backlog()).rows).toBe(0);
      const current = await api.store.latest.plans.current(name);
      expect(current).toMatchObject({ domain_id: ids.bob, digest: expect.any(String) });
    });

    test('between managed domains of one name the TXT record decides, not the delegation', async () => {
      const { ann, bob, name, path, ids } = await two('managed');
      api.dns.delegation = { state: 'delegated', set: SETS[0], found: SETS[0] };
      const checked = await ann.call('POST', `${path}/check-ns`);
      expect(checked.body).toMatchObject({ state: 'contested', status: 'pending' });
      expect((await happen(ids.ann, { kind: 'checked', result: 'delegated' })).status).toBe('pending');
      await happen(ids.bob, { kind: 'disable' });
      const enabled = await bob.call('POST', `${path}/enable`);
      expect([enabled.status, enabled.body.status]).toEqual([200, 'pending']);
      expect((await bob.call('POST', `${path}/verify`)).body.error).toBe('the TXT record was not found');
      api.dns.challenge = { state: 'verified' };
      const proved = await bob.call('POST', `${path}/verify`);
      expect([proved.status, proved.body.status]).toEqual([200, 'pending']);
      expect(proved.body.verification).toBeUndefined();
      expect((await ann.call('GET', path)).status).toBe(404);
      expect(await claim(ann, name)).toMatchObject({ status: 409, body: PROVED });
      api.ahead = 20 * DAY;
      await removeLapsed();
      const after = await bob.call('POST', `${path}/check-ns`);
      expect(after.body).toMatchObject({ state: 'delegated', status: 'active' });
    });

    test("the operator's word beats the claims of others", async () => {
      const { bob, path, ids } = await two('managed');
      await happen(ids.bob, { kind: 'disable' });
      const challenge = newChallenge(api.now());
      const proved = await happen(ids.bob, { kind: 'enable', proof: 'holds', challenge, vouched: true });
      expect(proved.status).toBe('active');
      expect(await row(ids.ann)).toBeNull();
      expect((await bob.call('GET', path)).body.status).toBe('active');
    });

    test('a name that one account claims needs no TXT record where it is delegated', async () => {
      const [ann, name] = [await person(), freshName()];
      const { body } = await claim(ann, name, 'managed');
      expect(body.verification).toBeUndefined();
      const refused = await ann.call('POST', `/domains/${name}/verify`);
      expect(refused.status).toBe(409);
      api.dns.delegation = { state: 'delegated', set: SETS[0], found: SETS[0] };
      const checked = await ann.call('POST', `/domains/${name}/check-ns`);
      expect(checked.body).toMatchObject({ state: 'delegated', status: 'active' });
      expect(await claim(await person(), name)).toMatchObject({ status: 409, body: PROVED });
    });

    test('a delegation proves the name once the other domain is deleted or has lapsed', async () => {
      for (const end of ['delete', 'lapse'] as const) {
        const { ann, bob, path, ids } = await two('managed');
        api.dns.delegation = { state: 'delegated', set: SETS[0], found: SETS[0] };
        if (end === 'delete') await bob.call('DELETE', path);
        else {
          const unproved_since = api.now() - 14 * DAY;
          await api.store.write((tx) => tx.domains.update(ids.bob, { unproved_since }));
        }
        const { body } = await ann.call('POST', `${path}/check-ns`);
        expect([end, body.state, body.status]).toEqual([end, 'delegated', 'active']);
        expect(await row(ids.bob)).toBeNull();
      }
    });

    test('an unproved name is free after 14 days, whatever was changed in between', async () => {
      const [ann, name] = [await person(), freshName()];
      const { id } = (await claim(ann, name)).body;
      const path = `/domains/${name}`;
      await ann.call('POST', `${path}/rules/drop/`, { ips: ['192.0.2.1'] });
      api.ahead = 8 * DAY;
      // The value has expired: the refusal brings a new one.
      expect((await ann.call('POST', `${path}/verify`)).status).toBe(409);
      for (const dns_mode of ['managed', 'external'])
        expect((await ann.call('PUT', path, { dns_mode })).status).toBe(200);
      api.ahead = 14 * DAY - 60_000;
      await removeLapsed();
      expect((await ann.call('GET', path)).status).toBe(200);
      api.ahead = 14 * DAY + 60_000;
      expect(await removeLapsed()).toBeGreaterThanOrEqual(1);
      expect((await ann.call('GET', path)).status).toBe(404);
      expect(await api.store.latest.rules.listAll(id)).toEqual([]);
      const [entry] = await api.store.latest.audit.list(id, { limit: 1 });
      expect(JSON.parse(entry!.after_json!)).toEqual({ reason: 'nobody proved the name within 14 days' });
      await expect.poll(async () => (await api.store.latest.plans.current(name))?.digest).toBeNull();
      expect((await claim(ann, name)).status).toBe(200);
    });

    test('a domain that loses its proof lapses 14 days later; a served or banned one never lapses', async () => {
      const [ann, name] = [await person(), freshName()];
      const { id } = (await claim(ann, name)).body;
      api.dns.challenge = { state: 'verified' };
      expect((await ann.call('POST', `/domains/${name}/verify`)).status).toBe(200);
      api.dns.challenge = { state: 'absent', found: [] };
      api.ahead = 30 * DAY;
      await removeLapsed();
      await happen(id, { kind: 'disable' });
      expect(await claim(await person(), name)).toMatchObject({ status: 409, body: PROVED });
      expect((await ann.call('POST', `/domains/${name}/enable`)).body.status).toBe('unverified');
      api.ahead = 43 * DAY;
      await removeLapsed();
      const bob = await person();
      const second = await claim(bob, name);
      expect(second.status).toBe(200);
      // What was served once is what the name stands for until somebody proves it.
      expect((await api.store.latest.domains.byName(name))?.id).toBe(id);
      api.ahead = 45 * DAY;
      await removeLapsed();
      expect(await row(id)).toBeNull();
      expect((await api.store.latest.domains.byName(name))?.id).toBe(second.body.id);
      const banned = await claim(await person(), name);
      await happen(second.body.id, { kind: 'ban' });
      expect(await row(banned.body.id)).toBeNull();
      api.ahead = 90 * DAY;
      await removeLapsed();
      expect(await claim(await person(), name)).toMatchObject({ status: 409, body: PROVED });
    });

    test('all concurrent claims of a name succeed, and of concurrent proofs one does', async () => {
      const name = freshName();
      const people = await Promise.all(Array.from({ length: 6 }, person));
      const claims = await Promise.all(people.map((who) => claim(who, name)));
      expect(claims.map(({ status }) => status)).toEqual(people.map(() => 200));
      const twice = await Promise.all(people.map((who) => claim(who, name)));
      expect(twice.map(({ status }) => status)).toEqual(people.map(() => 409));
      api.dns.challenge = { state: 'verified' };
      const proofs = await Promise.all(people.map((who) => who.call('POST', `/domains/${name}/verify`)));
      expect(proofs.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(proofs.filter(({ status }) => status === 404)).toHaveLength(5);
      expect(await api.store.latest.domains.named(name)).toHaveLength(1);
    });

    test('two concurrent claims of one account create one domain', async () => {
      const [ann, name] = [await person(), freshName()];
      const answers = await Promise.all(Array.from({ length: 5 }, () => claim(ann, name)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    });

    test('the number of claims of one name is bounded, lapsed ones not counted', async () => {
      const name = freshName();
      const people = await Promise.all(Array.from({ length: MAX_UNPROVED_OF_NAME }, person));
      for (const who of people) expect((await claim(who, name)).status).toBe(200);
      const late = await person();
      const { status, body } = await claim(late, name);
      expect([status, body.error]).toEqual([
        409,
        '20 accounts claim the name and none has proved it, the most there may be; each lapses within 14 days',
      ]);
      api.ahead = 14 * DAY + 60_000;
      expect((await claim(late, name)).status).toBe(200);
    });

    test('the number of unproved domains of one account is bounded', async () => {
      const ann = await person();
      const { id } = (await claim(ann, freshName())).body;
      await api.store.write(async (tx) => {
        const { id: _, ...like } = (await tx.domains.get(id))!;
        for (let turn = 1; turn < MAX_UNPROVED_OF_ACCOUNT; turn++)
          await tx.domains.insert({ ...like, name: `bulk${made}-${turn}.example` });
      });
      const { status, body } = await claim(ann, freshName());
      expect([status, body.error]).toEqual([
        409,
        'the account has 1000 domains that are not proved, the most there may be; prove or delete some first',
      ]);
    });

    test('a name too long for a TXT record can be claimed once only', async () => {
      const labels = [
        `l${++made}`,
        'a'.repeat(60),
        'b'.repeat(60),
        'c'.repeat(60),
        'd'.repeat(50),
        'example',
      ];
      const name = labels.join('.');
      expect((await claim(await person(), name, 'managed')).status).toBe(200);
      const { status, body } = await claim(await person(), name, 'managed');
      expect([status, body.error]).toEqual([
        409,
        'another account claims the name, and the name leaves no room for the TXT record that would prove it',
      ]);
    });
  },
);
