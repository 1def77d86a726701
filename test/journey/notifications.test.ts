/** Notifications over real sockets: what is written when, the feed, contacts, webhooks, preferences. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createSpecialJudge } from '../../src/base/addresses/special-addresses.ts';
import { createKey, revokeKey } from '../../src/control/accounts/keys.ts';
import { createHostNames } from '../../src/control/dns/host-names.ts';
import { applyEvent } from '../../src/control/domains/apply-event.ts';
import { newChallenge } from '../../src/control/domains/challenge.ts';
import type { LifecycleEvent } from '../../src/control/domains/state.ts';
import { KIND_NAMES } from '../../src/control/notices/kinds.ts';
import { MAX_WEBHOOKS, NODE_LOST_MS } from '../../src/control/notices/limits.ts';
import {
  notify,
  notifyKeyCreated,
  notifyKeyRevoked,
  notifyPublicationFailed,
} from '../../src/control/notices/notify.ts';
import { createOutlets } from '../../src/control/notices/outlets.ts';
import { announceInvitations, pruneNotifications, reportLostNodes } from '../../src/control/notices/watch.ts';
import { SERVICE } from '../../src/control/store/tables/accounts.ts';
import { addMember, type Person, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';
import { type MailServer, type Receiver, startMailServer, startReceiver } from '../support/outlets.ts';
import { SAMPLE_NOTICES } from '../support/sample-notices.ts';

describe.each(testDatabases().map((database) => [database.kind, database] as const))(
  'on %s',
  (_, database) => {
    let api: TestApi;
    let mail: MailServer;
    let gateway: Receiver;
    let made = 0;

    beforeAll(async () => {
      mail = await startMailServer();
      gateway = await startReceiver();
      const { codes } = createOutlets({
        smtp: { url: mail.url, from: 'alerts@edge.example' },
        sms: { url: `${gateway.url}/sms` },
        special: createSpecialJudge({ prefixes: [], local: false }),
        lookupFor: createHostNames().lookupFor,
        clock: Date.now,
      });
      api = await startApi(database, { codes });
    });
    afterEach(() => {
      api.ahead = 0;
      mail.mails.length = 0;
      gateway.answers.clear();
    });
    afterAll(async () => {
      await api.close();
      await mail.close();
      await gateway.close();
    });

    const person = (): Promise<Person> => api.person(`person${++made}`);

    async function shop(owner: Person): Promise<{ readonly name: string; readonly id: number }> {
      const name = `shop${++made}.example`;
      const { body } = await owner.call('POST', '/domains/', { name });
      return { name, id: body.id };
    }

    async function feed(of: Person, query = ''): Promise<readonly Record<string, unknown>[]> {
      return (await of.call('GET', `/notifications/${query}`)).body.notifications;
    }
    const kindsOf = async (of: Person) => (await feed(of)).map(({ kind }) => kind);

    const apply = (id: number, event: LifecycleEvent, reason?: string) =>
      api.store.write(async (tx) => {
        const domain = (await tx.domains.get(id))!;
        const now = api.now();
        return applyEvent(tx, domain, event, { author: SERVICE, now, ...(reason && { reason }) });
      });

    test('each change of a domain is in the feed of its owner and its admins, with its reason', async () => {
      const [ann, bob, eve] = [await person(), await person(), await person()];
      const { name, id } = await shop(ann);
      await addMember(ann, { member: bob, domain: name, role: 'admin' });
      await addMember(ann, { member: eve, domain: name, role: 'editor' });
      await apply(id, { kind: 'checked', result: 'delegated' });
      await apply(id, { kind: 'checked', result: 'other' });
      await apply(id, { kind: 'suspend' }, 'wallet below zero');
      await apply(id, { kind: 'resume' });
      await apply(id, { kind: 'disable' }, 'asked by its owner');
      await apply(id, { kind: 'ban' }, 'phishing');
      // Nothing changes, so nothing is notified.
      await apply(id, { kind: 'ban' }, 'again');
      const expected = [
        'domain.banned',
        'domain.disabled',
        'domain.resumed',
        'domain.suspended',
        'domain.moved',
        'domain.activated',
      ];
      expect(await kindsOf(ann)).toEqual([...expected, 'domain.shared', 'domain.shared']);
      expect(await kindsOf(bob)).toEqual(expected);
      expect(await kindsOf(eve)).toEqual([]);
      expect((await feed(ann))[0]).toMatchObject({
        kind: 'domain.banned',
        severity: 'critical',
        domain: name,
        message: `${name} is banned`,
        data: { reason: 'phishing' },
        read_at: null,
        deliveries: [],
      });
      const unbanned = {
        kind: 'unban',
        proof: 'holds',
        vouched: true,
        challenge: newChallenge(api.now()),
      } as const;
      await apply(id, unbanned, 'cleaned up');
      expect((await feed(ann))[0]).toMatchObject({
        kind: 'domain.activated',
        data: { previous_status: 'banned' },
      });
    });

    test('a write that fails or is only validated notifies nobody', async () => {
      const ann = await person();
      const { name, id } = await shop(ann);
      await apply(id, { kind: 'checked', result: 'delegated' });
      const before = await kindsOf(ann);
      await apply(id, { kind: 'disable' });
      api.dns.delegation = { state: 'delegated', set: ['ns1.edge.test', 'ns2.edge.test'], found: [] };
      const validated = await ann.call('POST', `/domains/${name}/enable?validate_only=true`);
      expect(validated.status).toBe(200);
      expect(await kindsOf(ann)).toEqual(['domain.disabled', ...before]);
      const failed = api.store.write(async (tx) => {
        const domain = (await tx.domains.get(id))!;
        await notify(tx, { kind: 'domain.banned', data: { reason: null }, domain, now: api.now() });
        throw new Error('undone');
      });
      await expect(failed).rejects.toThrow('undone');
      expect(await kindsOf(ann)).toEqual(['domain.disabled', ...before]);
    });

    test('who made a change has it in the feed and gets no message', async () => {
      const ann = await person();
      const { id } = await shop(ann);
      await ann.call('POST', '/webhooks/', { url: 'https://hooks.example.com/a' });
      await api.store.write(async (tx) => {
        const domain = (await tx.domains.get(id))!;
        const common = { kind: 'domain.banned', data: { reason: null }, domain, now: api.now() } as const;
        await notify(tx, { ...common, actor_id: ann.account.id });
        await notify(tx, common);
      });
      const rows = await feed(ann);
      expect(rows.map(({ deliveries }) => (deliveries as unknown[]).length)).toEqual([1, 0]);
    });

    test('an invitation is announced once its account exists, and its acceptance to the owner', async () => {
      const ann = await person();
      const { name } = await shop(ann);
      const invited = `person${made + 1}`;
      const invitation = await ann.call('POST', `/domains/${name}/members/`, {
        name: invited,
        role: 'editor',
      });
      await announceInvitations(api.store, api.now());
      const bob = await person();
      expect(bob.account.name).toBe(invited);
      expect(await announceInvitations(api.store, api.now())).toBe(1);
      expect(await announceInvitations(api.store, api.now())).toBe(0);
      const [row] = await feed(bob);
      expect(row).toMatchObject({
        kind: 'domain.shared',
        domain: name,
        message: `You are invited to work on ${name}`,
        data: { event: 'invited', role: 'editor', invitation_id: invitation.body.id },
      });
      // A withdrawn and repeated invitation is not announced again on the same day.
      await ann.call('DELETE', `/domains/${name}/invitations/${invitation.body.id}`);
      const again = await ann.call('POST', `/domains/${name}/members/`, { name: invited, role: 'viewer' });
      expect(await announceInvitations(api.store, api.now())).toBe(0);
      await bob.call('POST', `/invitations/${again.body.id}/accept`);
      expect((await feed(ann))[0]).toMatchObject({
        message: `${invited} is now viewer of ${name}`,
        data: { event: 'joined', account: invited },
      });
    });

    test('keys, failing publications and lost nodes are notified, each once', async () => {
      const ann = await person();
      const now = api.now();
      const made2 = await createKey(api.store, {
        ...{ account: ann.account.name, name: 'second', expiry: 30, readOnly: true, now },
        also: notifyKeyCreated,
      });
      if (!made2.ok) throw new Error(made2.reason);
      const revoke = () =>
        revokeKey(api.store, {
          ...{ id: made2.value.row.id, now },
          also: (tx, row) => notifyKeyRevoked(tx, row, now),
        });
      expect([await revoke(), await revoke()]).toEqual([true, false]);
      expect(await kindsOf(ann)).toEqual(['key.revoked', 'key.created']);
      expect(JSON.stringify(await feed(ann))).not.toContain(made2.value.key);
      const { id } = await shop(ann);
      const failure = { domain_id: id, since: now - 5_000, attempts: 3, code: 'compile', now };
      expect(await notifyPublicationFailed(api.store, failure)).toHaveLength(1);
      expect(await notifyPublicationFailed(api.store, { ...failure, attempts: 4 })).toEqual([]);
      expect(await notifyPublicationFailed(api.store, { ...failure, domain_id: 4_000_000 })).toEqual([]);
      await api.store.write(async (tx) => {
        await tx.contacts.setOperator(ann.account.id, true);
        const token_hash = 'f'.repeat(63) + made;
        const node = await tx.nodes.insert({
          name: `eu-${made}`,
          token_hash: token_hash.slice(-64),
          created_at: now,
        });
        await tx.nodes.touch(node.id, now);
      });
      expect(await reportLostNodes(api.store, now + NODE_LOST_MS - 1)).toEqual([]);
      const both = await Promise.all([
        reportLostNodes(api.store, now + NODE_LOST_MS),
        reportLostNodes(api.store, now + NODE_LOST_MS),
      ]);
      expect(both.flat()).toEqual([`eu-${made}`]);
      expect((await feed(ann))[0]).toMatchObject({
        kind: 'node.lost',
        domain: null,
        data: { node: `eu-${made}` },
      });
      await api.store.write((tx) => tx.contacts.setOperator(ann.account.id, false));
    });

    test('every kind is written, read over the API, and pruned', async () => {
      const ann = await person();
      const { name, id } = await shop(ann);
      await api.store.write(async (tx) => {
        const domain = (await tx.domains.get(id))!;
        await tx.contacts.setOperator(ann.account.id, true);
        for (const kind of KIND_NAMES) {
          const data = SAMPLE_NOTICES[kind];
          await notify(tx, { kind, data, domain, account_id: ann.account.id, now: api.now() } as never);
        }
        await tx.contacts.setOperator(ann.account.id, false);
      });
      const rows = await feed(ann);
      expect(rows.map(({ kind }) => kind)).toEqual([...KIND_NAMES].reverse());
      for (const row of rows)
        expect(row).toMatchObject({ domain: name, message: expect.stringMatching(/\w/) });
      await pruneNotifications(api.store, api.now() + 100 * 86_400_000);
      expect(await feed(ann)).toEqual([]);
    });

    test('the feed is paged, filtered and marked as read', async () => {
      const [ann, bob] = [await person(), await person()];
      for (let at = 0; at < 5; at++) await ann.call('POST', '/notifications/test');
      const first = await ann.call('GET', '/notifications/?limit=2');
      expect(first.body).toMatchObject({ unread: 5 });
      const ids: number[] = first.body.notifications.map(({ id }: { id: number }) => id);
      const second = await ann.call('GET', `/notifications/?limit=2&cursor=${first.body.next_cursor}`);
      const last = await ann.call('GET', `/notifications/?limit=2&cursor=${second.body.next_cursor}`);
      expect([second.body.notifications.length, last.body.notifications.length]).toEqual([2, 1]);
      expect(last.body.next_cursor).toBeNull();
      const read = await ann.call('PATCH', `/notifications/${ids[0]}/read`);
      expect(read.body).toMatchObject({ id: ids[0], kind: 'account.test', read_at: expect.any(String) });
      const again = await ann.call('PATCH', `/notifications/${ids[0]}/read`);
      expect(again.body.read_at).toBe(read.body.read_at);
      expect((await bob.call('PATCH', `/notifications/${ids[1]}/read`)).status).toBe(404);
      expect((await bob.call('POST', '/notifications/read', { ids: [ids[1]] })).body.message).toBe(
        '0 notifications marked as read',
      );
      expect((await ann.call('POST', '/notifications/read', { ids: [ids[1]] })).body.message).toBe(
        '1 notification marked as read',
      );
      expect(await feed(ann, '?unread=true')).toHaveLength(3);
      await ann.call('POST', '/notifications/read?validate_only=true', { all: true });
      expect(await feed(ann, '?unread=true')).toHaveLength(3);
      await ann.call('POST', '/notifications/read', { all: true });
      expect(await feed(ann, '?unread=true')).toEqual([]);
      for (const body of [{}, { all: true, ids: [1] }, { all: false }, { ids: ['x'] }])
        expect((await ann.call('POST', '/notifications/read', body)).status).toBe(400);
      expect((await ann.call('GET', '/notifications/?unred=true')).body.error).toContain(
        'did you mean `unread`?',
      );
      expect((await ann.call('GET', '/notifications/?limit=101')).status).toBe(400);
    });

    test('a read-only key reads the feed and changes nothing', async () => {
      const ann = await person();
      await ann.call('POST', '/notifications/test');
      const { key } = await ann.anotherKey({ readOnly: true });
      const headers = { authorization: `Bearer ${key}` };
      expect((await ann.call('GET', '/notifications/', undefined, headers)).status).toBe(200);
      for (const [method, path, body] of [
        ['POST', '/notifications/read', { all: true }],
        ['POST', '/notifications/test', undefined],
        ['PUT', '/notifications/contact', { email: 'a@x.example' }],
        ['POST', '/webhooks/', { url: 'https://hooks.example.com/' }],
        ['PUT', '/notifications/preferences', { preferences: [] }],
      ] as const)
        expect((await ann.call(method, path, body, headers)).status).toBe(403);
    });

    test('a new address is in use once its code was sent back', async () => {
      const ann = await person();
      const email = `${ann.account.name}@shop.example`;
      expect((await ann.call('PUT', '/notifications/contact?validate_only=true', { email })).status).toBe(
        200,
      );
      expect(mail.mails).toEqual([]);
      const set = await ann.call('PUT', '/notifications/contact', { email });
      expect(set.body.email).toMatchObject({ address: null, pending: email });
      expect(mail.mails).toHaveLength(1);
      expect(mail.mails[0]!.to).toEqual([email]);
      const code = /^Code: +(\d{8})\r?$/m.exec(mail.mails[0]!.raw)![1]!;
      expect(JSON.stringify(set.body)).not.toContain(code);
      expect(api.log.join('')).not.toContain(code);
      const soon = await ann.call('PUT', '/notifications/contact', { email: `b${email}` });
      expect(soon.status).toBe(429);
      expect(Number(soon.headers['retry-after'])).toBeGreaterThan(0);
      const wrong = code === '00000000' ? '00000001' : '00000000';
      const refused = await ann.call('POST', '/notifications/contact/confirm', {
        field: 'email',
        code: wrong,
      });
      expect([refused.status, refused.body.error]).toEqual([409, 'email: the code is wrong']);
      const test = await ann.call('POST', '/notifications/test');
      expect([test.status, test.body.deliveries]).toEqual([202, []]);
      const confirmed = await ann.call('POST', '/notifications/contact/confirm', { field: 'email', code });
      expect(confirmed.body.email).toEqual({ address: email, pending: null, code_expires_at: null });
      const sent = await ann.call('POST', '/notifications/test');
      expect(sent.body.deliveries).toMatchObject([{ channel: 'email', state: 'waiting', webhook_id: null }]);
      const removed = await ann.call('PUT', '/notifications/contact', { email: null });
      expect(removed.body.email.address).toBeNull();
      expect((await ann.call('PUT', '/notifications/contact', { email: 'ann' })).status).toBe(400);
    });

    test('a number needs a plan with SMS, and an outlet that fails is said', async () => {
      const ann = await person();
      const phone = '+49 30 123456';
      expect((await ann.call('PUT', '/notifications/contact', { phone })).status).toBe(403);
      await shop(ann);
      gateway.answers.set('/sms', 500);
      const failed = await ann.call('PUT', '/notifications/contact', { phone });
      expect([failed.status, failed.body.error]).toEqual([
        503,
        'phone: the code could not be sent: the SMS gateway answered 500; set the address again',
      ]);
      gateway.answers.clear();
      api.ahead = 61_000;
      const set = await ann.call('PUT', '/notifications/contact', { phone });
      expect(set.body.phone).toMatchObject({ address: null, pending: '+4930123456' });
      const { to, text } = JSON.parse(gateway.calls.at(-1)!.body);
      expect(to).toBe('+4930123456');
      const code = /\d{8}/.exec(text)![0];
      const confirmed = await ann.call('POST', '/notifications/contact/confirm', { field: 'phone', code });
      expect(confirmed.body.phone.address).toBe('+4930123456');
    });

    test('webhooks are bounded, unique, and show their secret once', async () => {
      const [ann, bob] = [await person(), await person()];
      const url = 'https://hooks.example.com/0';
      const added = await ann.call('POST', '/webhooks/', { url });
      expect(added.body).toMatchObject({ url, secret: expect.stringMatching(/^whsec_/) });
      expect((await ann.call('POST', '/webhooks/', { url })).status).toBe(409);
      for (let at = 1; at < MAX_WEBHOOKS; at++)
        await ann.call('POST', '/webhooks/', { url: `https://hooks.example.com/${at}` });
      const more = await ann.call('POST', '/webhooks/', { url: 'https://hooks.example.com/9' });
      expect([more.status, more.body.error]).toEqual([409, expect.stringContaining(String(MAX_WEBHOOKS))]);
      const listed = await ann.call('GET', '/webhooks/');
      expect(listed.body).toHaveLength(MAX_WEBHOOKS);
      expect(listed.text).not.toContain('whsec_');
      expect((await bob.call('DELETE', `/webhooks/${added.body.id}`)).status).toBe(404);
      expect((await ann.call('DELETE', `/webhooks/${added.body.id}`)).status).toBe(200);
      expect(api.log.join('')).not.toContain(added.body.secret);
      const bad = await ann.call('POST', '/webhooks/', { url: 'http://169.254.169.254/' });
      expect([bad.status, bad.body.error]).toEqual([
        400,
        'url: is a metadata address, which this server does not call',
      ]);
    });

    test('preferences are read, changed in part, and can be put back as they were read', async () => {
      const ann = await person();
      const before = await ann.call('GET', '/notifications/preferences');
      expect(before.body.preferences.map(({ kind }: { kind: string }) => kind)).toEqual([...KIND_NAMES]);
      const same = await ann.call('PUT', '/notifications/preferences', before.body);
      expect(same.body).toEqual(before.body);
      const change = { preferences: [{ kind: 'key.created', email: false }] };
      const after = await ann.call('PUT', '/notifications/preferences', change);
      const row = after.body.preferences.find(({ kind }: { kind: string }) => kind === 'key.created');
      expect(row).toMatchObject({ email: false, sms: null, webhook: true });
      const never = { preferences: [{ kind: 'key.created', sms: true }] };
      const refused = await ann.call('PUT', '/notifications/preferences', never);
      expect([refused.status, refused.body.error]).toEqual([
        400,
        'preferences[0].sms: `key.created` never goes out on this channel',
      ]);
      const unknown = { preferences: [{ kind: 'key.lost', email: true }] };
      expect((await ann.call('PUT', '/notifications/preferences', unknown)).status).toBe(400);
    });
  },
);
