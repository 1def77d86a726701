/** Notifications reach mailboxes, telephones and webhooks, again where a target fails, and wait for no other target. */
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createSpecialJudge } from '../../src/base/special-addresses.ts';
import { confirmedContact, emptyContact } from '../../src/notify/contact.ts';
import { createDeliveryWorker, type DeliveryWorker } from '../../src/notify/deliver.ts';
import { ATTEMPTS_AT_ONCE, DELIVER_FOR_MS, MAX_PER_HOUR } from '../../src/notify/limits.ts';
import { notify } from '../../src/notify/notify.ts';
import { createOutlets } from '../../src/notify/outlets.ts';
import { newWebhookSecret } from '../../src/notify/webhook.ts';
import { openStore } from '../../src/store/open.ts';
import type { DeliveryRow, DomainRow, WebhookRow } from '../../src/store/rows.ts';
import type { Store } from '../../src/store/store.ts';
import { everyDatabase } from '../support/databases.ts';
import { type MailServer, type Receiver, startMailServer, startReceiver } from '../support/outlets.ts';
import { seed } from '../support/sample-rows.ts';
import { until } from '../support/until.ts';

const SILENT = { info: () => undefined, warn: () => undefined };

describe.each(everyDatabase().map((database) => [database.kind, database] as const))(
  'on %s',
  (_, database) => {
    let store: Store;
    let place: Awaited<ReturnType<typeof database.make>>;
    let mail: MailServer;
    let receiver: Receiver;
    const workers: DeliveryWorker[] = [];
    /** Milliseconds that the clock is ahead. */
    let ahead = 0;
    let made = 0;
    const clock = (): number => Date.now() + ahead;

    beforeAll(async () => {
      place = await database.make();
      store = await openStore({ database: place.database });
      mail = await startMailServer();
      receiver = await startReceiver();
    });
    afterEach(async () => {
      await Promise.all(workers.splice(0).map((worker) => worker.stop()));
      await store.write((tx) => tx.notifications.prune(Number.MAX_SAFE_INTEGER, 10_000));
      ahead = 0;
      mail.mails.length = 0;
      mail.refusals.clear();
      receiver.calls.length = 0;
      receiver.answers.clear();
    });
    afterAll(async () => {
      await mail.close();
      await receiver.close();
      await store.close();
      await place.drop();
    });

    function startWorker({
      own = store,
      local = true,
      smtp = mail.url,
      tier = 'enterprise' as 'enterprise' | 'free',
    } = {}): DeliveryWorker {
      const { senders } = createOutlets({
        smtp: { url: smtp, from: 'Edge <alerts@edge.example>' },
        sms: { url: `${receiver.url}/sms` },
        special: createSpecialJudge({ prefixes: [], local }),
        clock,
      });
      const common = { store: own, senders, clock, tier, log: SILENT, pollMs: 20 };
      const worker = createDeliveryWorker({ ...common, publicUrl: 'https://panel.example/{domain}' });
      workers.push(worker);
      worker.start();
      return worker;
    }

    interface Subject {
      readonly accountId: number;
      readonly name: string;
      readonly domain: DomainRow;
      readonly email: string;
    }

    async function subject({ phone = false } = {}): Promise<Subject> {
      made += 1;
      const email = `ann${made}@shop.example`;
      return store.write(async (tx) => {
        const { account, domain } = await seed(tx, `shop${made}.example`);
        await tx.contacts.put(confirmedContact(emptyContact(account.id, 'email'), email));
        if (phone) await tx.contacts.put(confirmedContact(emptyContact(account.id, 'sms'), '+4930123456'));
        return { accountId: account.id, name: account.name, domain, email };
      });
    }

    const hook = (accountId: number, url: string): Promise<WebhookRow> =>
      store.write((tx) =>
        tx.contacts.insertWebhook({
          account_id: accountId,
          url,
          secret: newWebhookSecret(),
          created_at: clock(),
        }),
      );

    /** Notifies of a ban, or of an outage, which goes out by SMS. */
    const ban = ({ domain }: Subject) =>
      store.write((tx) =>
        notify(tx, { kind: 'domain.banned', data: { reason: 'spam' }, domain, now: clock() }),
      );
    const outage = ({ domain }: Subject) =>
      store.write((tx) => {
        const data = {
          incident_id: 1,
          since: new Date().toISOString(),
          window_min: 5,
          requests: 9,
          errors: 9,
        };
        return notify(tx, {
          kind: 'outage.opened',
          data: { ...data, last_error: null },
          domain,
          now: clock(),
        });
      });

    async function deliveries(id: number): Promise<readonly DeliveryRow[]> {
      return store.latest.notifications.deliveriesOf([id]);
    }
    const settled = (id: number, state: DeliveryRow['state']) =>
      until(async () => {
        const rows = await deliveries(id);
        return rows.length > 0 && rows.every((row) => row.state === state) ? rows : null;
      }, `${id} to be ${state}`);

    test('a notification arrives as mail, SMS and signed webhook under one id', async () => {
      const ann = await subject({ phone: true });
      const webhook = await hook(ann.accountId, `${receiver.url}/hook`);
      const [row] = await outage(ann);
      startWorker();
      expect(await settled(row!.id, 'delivered')).toHaveLength(3);
      const [message] = mail.mails;
      expect(mail.mails).toHaveLength(1);
      expect(message).toMatchObject({ from: 'alerts@edge.example', to: [ann.email] });
      const id = /^X-Edgeplan-Notification: (ntf_\S+)\r$/m.exec(message!.raw)?.[1];
      expect(id).toBeDefined();
      expect(message!.raw).toContain(`Message-ID: <${id}@edge.example>`);
      expect(message!.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m);
      expect(message!.raw).toMatch(/multipart\/alternative/);
      expect(message!.raw).toContain(`Subject: Outage: the origin of ${ann.domain.name} fails`);
      const plain = message!.raw.replaceAll('=\r\n', '');
      expect(plain).toContain(`https://panel.example/${ann.domain.name}`);
      const sms = receiver.calls.find(({ path }) => path === '/sms');
      expect(JSON.parse(sms!.body)).toEqual({
        id,
        to: '+4930123456',
        text: expect.stringContaining(`Outage: the origin of ${ann.domain.name} fails`),
      });
      const call = receiver.calls.find(({ path }) => path === '/hook');
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
      const ann = await subject();
      await hook(ann.accountId, `${receiver.url}/down`);
      receiver.answers.set('/down', 500);
      const [row] = await ban(ann);
      startWorker();
      await until(() => mail.mails.length === 1, 'the mail');
      const failed = await until(
        async () => (await deliveries(row!.id)).find(({ last_error }) => last_error !== ''),
        'the failure',
      );
      expect(failed).toMatchObject({ state: 'waiting', tries: 1, last_error: 'the endpoint answered 500' });
      expect(failed.next_at).toBeGreaterThan(clock());
      receiver.answers.clear();
      ahead = failed.next_at - Date.now() + 1;
      await settled(row!.id, 'delivered');
      expect(receiver.calls.map(({ headers }) => headers['webhook-id'])).toHaveLength(2);
      expect(new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      expect(mail.mails).toHaveLength(1);
    });

    test('a delivery that fails for three days has failed, and says why', async () => {
      const ann = await subject();
      await hook(ann.accountId, `${receiver.url}/down`);
      receiver.answers.set('/down', 503);
      const [row] = await ban(ann);
      ahead = DELIVER_FOR_MS;
      startWorker();
      const rows = await until(async () => {
        const found = await deliveries(row!.id);
        return found.some(({ state }) => state === 'failed') ? found : null;
      }, 'the failure');
      expect(rows.find(({ channel }) => channel === 'webhook')).toMatchObject({
        state: 'failed',
        last_error: 'the endpoint answered 503',
      });
    });

    test('an endpoint that is gone, and an address that does not exist, are not asked again', async () => {
      const ann = await subject();
      await hook(ann.accountId, `${receiver.url}/gone`);
      receiver.answers.set('/gone', 410);
      mail.refusals.set(ann.email, 550);
      const [row] = await ban(ann);
      startWorker();
      const rows = await settled(row!.id, 'failed');
      expect(rows.map(({ last_error }) => last_error).sort()).toEqual([
        'the endpoint answered 410: it is gone',
        'the mail server refused the address with 550',
      ]);
    });

    test('a redirect is not followed, and a special address is not called', async () => {
      const ann = await subject();
      await hook(ann.accountId, `${receiver.url}/moved`);
      receiver.answers.set('/moved', { location: `${receiver.url}/elsewhere` });
      const [row] = await ban(ann);
      startWorker();
      const moved = await until(
        async () => (await deliveries(row!.id)).find(({ last_error }) => last_error !== ''),
        'the failure',
      );
      expect(moved.last_error).toBe('the endpoint answered 307; redirects are not followed');
      expect(receiver.calls.map(({ path }) => path)).toEqual(['/moved']);
      await workers.splice(0)[0]!.stop();
      const bob = await subject();
      const { port } = new URL(receiver.url);
      await hook(bob.accountId, `http://127.0.0.1:${port}/literal`);
      await hook(bob.accountId, `http://localhost:${port}/name`);
      const [other] = await ban(bob);
      startWorker({ local: false });
      const refused = await until(async () => {
        const rows = (await deliveries(other!.id)).filter(({ channel }) => channel === 'webhook');
        return rows.every(({ last_error }) => last_error !== '') ? rows : null;
      }, 'the refusals');
      expect(refused.map(({ last_error }) => last_error)).toEqual([
        'the endpoint has a loopback address',
        'the endpoint: the name leads to a loopback address',
      ]);
      expect(receiver.calls).toHaveLength(1);
    });

    test('dead endpoints of one account leave places to others', async () => {
      const ann = await subject();
      for (let at = 0; at < ATTEMPTS_AT_ONCE.webhook; at++) {
        receiver.answers.set(`/dead${at}`, 'none');
        await hook(ann.accountId, `${receiver.url}/dead${at}`);
      }
      await ban(ann);
      startWorker();
      await until(() => receiver.calls.length > 0, 'a dead endpoint to be called');
      const bob = await subject();
      await hook(bob.accountId, `${receiver.url}/alive`);
      const [row] = await ban(bob);
      await settled(row!.id, 'delivered');
      expect(receiver.calls.filter(({ path }) => path.startsWith('/dead')).length).toBeLessThanOrEqual(2);
    });

    test('notifications to one target arrive in order', async () => {
      const ann = await subject();
      await hook(ann.accountId, `${receiver.url}/hook`);
      const ids: number[] = [];
      for (let at = 0; at < 8; at++) ids.push((await ban(ann))[0]!.id);
      startWorker();
      await until(() => receiver.calls.length === ids.length, 'all calls');
      const order = receiver.calls.map(({ headers }) => Number(String(headers['webhook-id']).split('_')[1]));
      expect(order).toEqual(ids);
    });

    test('what an account does not want, what is too much in an hour, and SMS outside of the plan are not sent', async () => {
      const ann = await subject({ phone: true });
      await store.write((tx) =>
        tx.contacts.putPreference({
          ...{ account_id: ann.accountId, kind: 'domain.banned', channel: 'email', enabled: false },
        }),
      );
      const [unwanted] = await ban(ann);
      expect(await deliveries(unwanted!.id)).toEqual([]);
      const [row] = await outage(ann);
      startWorker({ tier: 'free' });
      const rows = await until(async () => {
        const found = await deliveries(row!.id);
        return found.every(({ state }) => state !== 'waiting') ? found : null;
      }, 'the outcomes');
      expect(rows.map(({ channel, state, last_error }) => [channel, state, last_error])).toEqual([
        ['email', 'delivered', ''],
        ['sms', 'skipped', 'the plan includes no SMS'],
      ]);
      for (let at = 1; at < MAX_PER_HOUR.sms; at++) await outage(ann);
      const [last] = await outage(ann);
      const sms = (await deliveries(last!.id)).find(({ channel }) => channel === 'sms');
      expect(sms).toMatchObject({ state: 'waiting' });
    });

    test('an account gets at most so many mails an hour, and all of its feed', async () => {
      const ann = await subject();
      const ids: number[] = [];
      for (let at = 0; at <= MAX_PER_HOUR.email; at++) ids.push((await ban(ann))[0]!.id);
      expect(await deliveries(ids.at(-2)!)).toMatchObject([{ state: 'waiting' }]);
      expect(await deliveries(ids.at(-1)!)).toMatchObject([
        { state: 'skipped', last_error: `more than ${MAX_PER_HOUR.email} within an hour` },
      ]);
      expect(await store.latest.notifications.countUnread(ann.accountId)).toBe(ids.length);
    });

    test('a mail server that is away is tried again', async () => {
      const ann = await subject();
      const [row] = await ban(ann);
      startWorker({ smtp: 'smtp://127.0.0.1:1' });
      const failed = await until(
        async () => (await deliveries(row!.id)).find(({ last_error }) => last_error !== ''),
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
      const subjects = [await subject(), await subject(), await subject()];
      for (const { accountId } of subjects) await hook(accountId, `${receiver.url}/${accountId}`);
      const other = await openStore({ database: place.database });
      startWorker();
      startWorker({ own: other });
      const ids: number[] = [];
      for (let round = 0; round < 6; round++) {
        for (const one of subjects) ids.push((await ban(one))[0]!.id);
      }
      await until(async () => {
        const rows = await store.latest.notifications.deliveriesOf(ids);
        return rows.every(({ state }) => state === 'delivered');
      }, 'all deliveries');
      const calls = receiver.calls.map(({ path, headers }) => `${path} ${headers['webhook-id']}`);
      expect(calls).toHaveLength(ids.length);
      expect(new Set(calls).size).toBe(ids.length);
      expect(mail.mails).toHaveLength(ids.length);
      await Promise.all(workers.splice(0).map((worker) => worker.stop()));
      await other.close();
    });
  },
);
