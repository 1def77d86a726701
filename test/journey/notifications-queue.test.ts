/** Ten thousand deliveries that wait for endpoints without an answer hold up nobody else, are bounded, and outlive a restart. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ATTEMPTS_PER_ACCOUNT, MAX_WAITING } from '../../src/control/notices/limits.ts';
import { everyDatabase } from '../support/databases.ts';
import { type NotifyRig, openNotifyRig, type Subject } from '../support/notify-rig.ts';
import { until } from '../support/until.ts';

const ACCOUNTS = 20;
const QUEUED = 10_000;
const PAGE = 100;

describe.each(everyDatabase().map((database) => [database.kind, database] as const))(
  'on %s',
  (_, database) => {
    let rig: NotifyRig;
    let silent: Server;
    const sockets = new Set<Socket>();
    let connections = 0;

    beforeAll(async () => {
      rig = await openNotifyRig(database);
      silent = createServer((socket) => {
        connections++;
        sockets.add(socket);
        socket
          .on('error', () => undefined)
          .on('close', () => sockets.delete(socket))
          .resume();
      });
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    });
    afterEach(() => rig.reset());
    afterAll(async () => {
      await rig?.close();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => silent.close(resolve));
    });

    /** Queues webhooks of one account, as bans would in days. */
    async function queue({ accountId, domain }: Subject, url: string, count: number): Promise<number[]> {
      const { id: target_id } = await rig.hook(accountId, url);
      const at = rig.clock();
      const about = { account_id: accountId, domain_id: domain.id, domain: domain.name };
      const entry = { ...about, kind: 'domain.banned', data_json: '{"reason":"spam"}', created_at: at };
      const waiting = { state: 'waiting', next_at: at, last_error: '', delivered_at: null } as const;
      const common = { account_id: accountId, channel: 'webhook', target_id, created_at: at } as const;
      return rig.store.write(async ({ notifications }) => {
        const ids: number[] = [];
        for (let made = 0; made < count; made++) {
          const { id } = await notifications.insert({ ...entry, read_at: null }, 1_000);
          await notifications.addDeliveries([{ ...common, ...waiting, notification_id: id }]);
          ids.push(id);
        }
        return ids;
      });
    }

    test('a webhook of another account arrives while 10,000 wait, and what waits is delivered after a restart', {
      timeout: 120_000,
    }, async () => {
      const { port } = silent.address() as AddressInfo;
      const subjects: Subject[] = [];
      for (let made = 0; made < ACCOUNTS; made++) {
        const subject = await rig.subject();
        await queue(subject, `http://127.0.0.1:${port}/`, QUEUED / ACCOUNTS);
        subjects.push(subject);
      }
      const late = await rig.subject();
      rig.receiver.answers.set('/late', 'none');
      const owed = await queue(late, `${rig.receiver.url}/late`, 30);
      rig.startWorker();
      await until(() => connections === ACCOUNTS, 'an attempt to each endpoint');
      const honest = await rig.subject();
      await rig.hook(honest.accountId, `${rig.receiver.url}/honest`);
      for (let count = 1; count <= 5; count++) {
        await rig.ban(honest);
        const calls = () => rig.receiver.calls.filter(({ path }) => path === '/honest').length;
        await until(() => calls() === count, 'the webhook');
      }
      // One attempt for each endpoint, and no more: nothing was read again and again.
      expect(connections).toBeLessThanOrEqual(ACCOUNTS * ATTEMPTS_PER_ACCOUNT);
      const { notifications } = rig.store.latest;
      expect(await notifications.countWaiting()).toBeGreaterThanOrEqual(QUEUED);
      const seen: number[] = [];
      for (let before: number | undefined; ; before = seen.at(-1)) {
        const page = { limit: PAGE, unread: false, ...(before === undefined ? {} : { before }) };
        const rows = await notifications.list(subjects[0]!.accountId, page);
        seen.push(...rows.map(({ id }) => id));
        if (rows.length < PAGE) break;
      }
      expect([seen.length, new Set(seen).size]).toEqual([QUEUED / ACCOUNTS, QUEUED / ACCOUNTS]);

      // The end of the worker ends its attempts; another one begins where it was.
      await rig.stopWorkers();
      rig.receiver.answers.clear();
      rig.startWorker();
      await until(
        async () => (await notifications.deliveriesOf(owed)).every(({ state }) => state === 'delivered'),
        'what waited for the endpoint that answers again',
      );
      const calls = rig.receiver.calls.filter(({ path }) => path === '/late');
      const ids = new Set(calls.map(({ headers }) => headers['webhook-id']));
      // The one that was under way is repeated.
      expect([ids.size, calls.length - ids.size]).toEqual([owed.length, 1]);
    });

    test('more than the bound wait for no endpoint, and the feed says what was skipped', {
      timeout: 120_000,
    }, async () => {
      const ann = await rig.subject();
      await queue(ann, `${rig.receiver.url}/dead`, MAX_WAITING);
      const [row] = await rig.ban(ann);
      const webhook = async (id: number) =>
        (await rig.deliveries(id)).filter(({ channel }) => channel === 'webhook');
      expect(await webhook(row!.id)).toMatchObject([
        { state: 'skipped', last_error: `${MAX_WAITING} others wait for it to answer` },
      ]);
      // Another endpoint of the account gets it.
      await rig.hook(ann.accountId, `${rig.receiver.url}/alive`);
      const [next] = await rig.ban(ann);
      expect((await webhook(next!.id)).map(({ state }) => state)).toEqual(['skipped', 'waiting']);
    });
  },
);
