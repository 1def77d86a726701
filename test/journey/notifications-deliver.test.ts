/** Notifications reach mailboxes, telephones and webhooks, again where a target fails, and wait for no other target. */
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ATTEMPTS_AT_ONCE, DELIVER_FOR_MS, MAX_PER_HOUR } from '../../src/control/notices/limits.ts';
import { newWebhookSecret } from '../../src/control/notices/outlets.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import { everyDatabase } from '../support/databases.ts';
import { type NotifyRig, openNotifyRig } from '../support/notify-rig.ts';
import { until } from '../support/until.ts';

describe.each(everyDatabase().map((database) => [database.kind, database] as const))(
  'on %s',
  (_, database) => {
    let rig: NotifyRig;

    beforeAll(async () => {
      rig = await openNotifyRig(database);
    });
    afterEach(() => rig.reset());
    afterAll(() => rig.close());

    test('a notification arrives as mail, SMS and signed webhook under one id', async () => {
      const ann = await rig.subject({ phone: true });
      const webhook = await rig.hook(ann.accountId, `${rig.receiver.url}/hook`);
      const [row] = await rig.outage(ann);
      rig.startWorker();
      expect(await rig.settled(row!.id, 'delivered')).toHaveLength(3);
      const [message] = rig.mail.mails;
      expect(rig.mail.mails).toHaveLength(1);
      expect(message).toMatchObject({ from: 'alerts@edge.example', to: [ann.email] });
      const id = /^X-Edgeplan-Notification: (ntf_\S+)\r$/m.exec(message!.raw)?.[1];
      expect(id).toBeDefined();
      expect(message!.raw).toContain(`Message-ID: <${id}@edge.example>`);
      expect(message!.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
      expect(message!.raw).toMatch(/multipart\/alternative/);
      expect(message!.raw).toContain(`Subject: Outage: the origin of ${ann.domain.name} fails`);
      const plain = message!.raw.replaceAll('=\r\n', '');
      expect(plain).toContain(`https://panel.example/${ann.domain.name}`);
      const sms = rig.receiver.calls.find(({ path }) => path === '/sms');
      expect(JSON.parse(sms!.body)).toEqual({
        id,
        to: '+4930123456',
        text: expect.stringContaining(`Outage: the origin of ${ann.domain.name} fails`),
      });
      const call = rig.receiver.calls.find(({ path }) => path === '/hook');
      expect(call!.headers['webhook-id']).toBe(id);
      const body = new Webhook(webhook.secret).verify(call!.body, call!.headers as Record<string, string>);
      expect(body).toMatchObject({
        type: 'outage.opened',
        timestamp: new Date(row!.created_at).toISOString(),
        data: {
          id,
          account: ann.name,
          domain: ann.domain.name,
          severity: 'critical',
          details: { errors: 9 },
        },
      });
      expect(() =>
        new Webhook(newWebhookSecret()).verify(call!.body, call!.headers as Record<string, string>),
      ).toThrow();
    });

    test('an endpoint that fails gets the same id again, and the mail does not wait for it', async () => {
      const ann = await rig.subject();
      await rig.hook(ann.accountId, `${rig.receiver.url}/down`);
      rig.receiver.answers.set('/down', 500);
      const [row] = await rig.ban(ann);
      rig.startWorker();
      await until(() => rig.mail.mails.length === 1, 'the mail');
      const failed = await until(
        async () => (await rig.deliveries(row!.id)).find(({ last_error }) => last_error !== ''),
        'the failure',
      );
      expect(failed).toMatchObject({ state: 'waiting', tries: 1, last_error: 'the endpoint answered 500' });
      expect(failed.next_at).toBeGreaterThan(rig.clock());
      rig.receiver.answers.clear();
      // The lease of an attempt under way would end with the time.
      await until(
        async () => (await rig.deliveries(row!.id)).some(({ state }) => state === 'delivered'),
        'the end of the mail',
      );
      rig.ahead = failed.next_at - Date.now() + 1;
      await rig.settled(row!.id, 'delivered');
      expect(rig.receiver.calls.map(({ headers }) => headers['webhook-id'])).toHaveLength(2);
      expect(new Set(rig.receiver.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      expect(rig.mail.mails).toHaveLength(1);
    });

    test('a delivery that fails for three days has failed, and says why', async () => {
      const ann = await rig.subject();
      await rig.hook(ann.accountId, `${rig.receiver.url}/down`);
      rig.receiver.answers.set('/down', 503);
      const [row] = await rig.ban(ann);
      rig.ahead = DELIVER_FOR_MS;
      rig.startWorker();
      const rows = await until(async () => {
        const found = await rig.deliveries(row!.id);
        return found.some(({ state }) => state === 'failed') ? found : null;
      }, 'the failure');
      expect(rows.find(({ channel }) => channel === 'webhook')).toMatchObject({
        state: 'failed',
        last_error: 'the endpoint answered 503',
      });
    });

    test('an endpoint that is gone, and an address that does not exist, are not asked again', async () => {
      const ann = await rig.subject();
      await rig.hook(ann.accountId, `${rig.receiver.url}/gone`);
      rig.receiver.answers.set('/gone', 410);
      rig.mail.refusals.set(ann.email, 550);
      const [row] = await rig.ban(ann);
      rig.startWorker();
      const rows = await rig.settled(row!.id, 'failed');
      expect(rows.map(({ last_error }) => last_error).sort()).toEqual([
        'the endpoint answered 410: it is gone',
        'the mail server refused the address with 550',
      ]);
    });

    test('a redirect is not followed, and a special address is not called', async () => {
      const ann = await rig.subject();
      await rig.hook(ann.accountId, `${rig.receiver.url}/moved`);
      rig.receiver.answers.set('/moved', { location: `${rig.receiver.url}/elsewhere` });
      const [row] = await rig.ban(ann);
      rig.startWorker();
      const moved = await until(
        async () => (await rig.deliveries(row!.id)).find(({ last_error }) => last_error !== ''),
        'the failure',
      );
      expect(moved.last_error).toBe('the endpoint answered 307; redirects are not followed');
      expect(rig.receiver.calls.map(({ path }) => path)).toEqual(['/moved']);
      await rig.stopWorkers();
      const bob = await rig.subject();
      const { port } = new URL(rig.receiver.url);
      await rig.hook(bob.accountId, `http://127.0.0.1:${port}/literal`);
      await rig.hook(bob.accountId, `http://localhost:${port}/name`);
      const [other] = await rig.ban(bob);
      rig.startWorker({ local: false });
      const refused = await until(async () => {
        const rows = (await rig.deliveries(other!.id)).filter(({ channel }) => channel === 'webhook');
        return rows.every(({ last_error }) => last_error !== '') ? rows : null;
      }, 'the refusals');
      expect(refused.map(({ last_error }) => last_error)).toEqual([
        'the endpoint has a loopback address',
        'the endpoint: the name leads to a loopback address',
      ]);
      expect(rig.receiver.calls).toHaveLength(1);
    });

    test('dead endpoints of one account leave places to others', async () => {
      const ann = await rig.subject();
      for (let at = 0; at < ATTEMPTS_AT_ONCE.webhook; at++) {
        rig.receiver.answers.set(`/dead${at}`, 'none');
        await rig.hook(ann.accountId, `${rig.receiver.url}/dead${at}`);
      }
      await rig.ban(ann);
      rig.startWorker();
      await until(() => rig.receiver.calls.length > 0, 'a dead endpoint to be called');
      const bob = await rig.subject();
      await rig.hook(bob.accountId, `${rig.receiver.url}/alive`);
      const [row] = await rig.ban(bob);
      await rig.settled(row!.id, 'delivered');
      expect(rig.receiver.calls.filter(({ path }) => path.startsWith('/dead')).length).toBeLessThanOrEqual(2);
    });

    test('notifications to one target arrive in order', async () => {
      const ann = await rig.subject();
      await rig.hook(ann.accountId, `${rig.receiver.url}/hook`);
      const ids: number[] = [];
      for (let at = 0; at < 8; at++) ids.push((await rig.ban(ann))[0]!.id);
      rig.startWorker();
      await until(() => rig.receiver.calls.length === ids.length, 'all calls');
      const order = rig.receiver.calls.map(({ headers }) =>
        Number(String(headers['webhook-id']).split('_')[1]),
      );
      expect(order).toEqual(ids);
    });

    test('what an account does not want, what is too much in an hour, and SMS outside of the plan are not sent', async () => {
      const ann = await rig.subject({ phone: true });
      await rig.store.write((tx) =>
        tx.contacts.putPreference({
          ...{ account_id: ann.accountId, kind: 'domain.banned', channel: 'email', enabled: false },
        }),
      );
      const [unwanted] = await rig.ban(ann);
      expect(await rig.deliveries(unwanted!.id)).toEqual([]);
      const [row] = await rig.outage(ann);
      rig.startWorker({ tier: 'free' });
      const rows = await until(async () => {
        const found = await rig.deliveries(row!.id);
        return found.every(({ state }) => state !== 'waiting') ? found : null;
      }, 'the outcomes');
      expect(rows.map(({ channel, state, last_error }) => [channel, state, last_error])).toEqual([
        ['email', 'delivered', ''],
        ['sms', 'skipped', 'the plan includes no SMS'],
      ]);
      for (let at = 1; at < MAX_PER_HOUR.sms; at++) await rig.outage(ann);
      const [last] = await rig.outage(ann);
      const sms = (await rig.deliveries(last!.id)).find(({ channel }) => channel === 'sms');
      expect(sms).toMatchObject({ state: 'waiting' });
    });

    test('an account gets at most so many mails an hour, and all of its feed', async () => {
      const ann = await rig.subject();
      const ids: number[] = [];
      for (let at = 0; at <= MAX_PER_HOUR.email; at++) ids.push((await rig.ban(ann))[0]!.id);
      expect(await rig.deliveries(ids.at(-2)!)).toMatchObject([{ state: 'waiting' }]);
      expect(await rig.deliveries(ids.at(-1)!)).toMatchObject([
        { state: 'skipped', last_error: `more than ${MAX_PER_HOUR.email} within an hour` },
      ]);
      expect(await rig.store.latest.notifications.countUnread(ann.accountId)).toBe(ids.length);
    });

    test('a mail server that is away is tried again', async () => {
      const ann = await rig.subject();
      const [row] = await rig.ban(ann);
      rig.startWorker({ smtp: 'smtp://127.0.0.1:1' });
      const failed = await until(
        async () => (await rig.deliveries(row!.id)).find(({ last_error }) => last_error !== ''),
        'the failure',
      );
      expect(failed).toMatchObject({
        state: 'waiting',
        last_error: expect.stringContaining('the mail server'),
      });
    });

    // One process has the embedded store alone.
    const several = database.kind === 'postgres' ? test : null;
    several?.('two processes deliver each notification once', async () => {
      const subjects = [await rig.subject(), await rig.subject(), await rig.subject()];
      for (const { accountId } of subjects) await rig.hook(accountId, `${rig.receiver.url}/${accountId}`);
      const other = await openStore({ database: rig.place.database });
      rig.startWorker();
      rig.startWorker({ own: other });
      const ids: number[] = [];
      for (let round = 0; round < 6; round++) {
        for (const one of subjects) ids.push((await rig.ban(one))[0]!.id);
      }
      await until(async () => {
        const rows = await rig.store.latest.notifications.deliveriesOf(ids);
        return rows.every(({ state }) => state === 'delivered');
      }, 'all deliveries');
      const calls = rig.receiver.calls.map(({ path, headers }) => `${path} ${headers['webhook-id']}`);
      expect(calls).toHaveLength(ids.length);
      expect(new Set(calls).size).toBe(ids.length);
      expect(rig.mail.mails).toHaveLength(ids.length);
      await rig.stopWorkers();
      await other.close();
    });
  },
);
