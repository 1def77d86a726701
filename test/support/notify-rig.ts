/** A store with accounts that are notified, real receivers on this machine, and workers that deliver to them. */
import { createSpecialJudge } from '../../src/base/addresses/special-addresses.ts';
import { createHostNames, type HostNamesOptions } from '../../src/control/dns/host-names.ts';
import { confirmedContact, emptyContact } from '../../src/control/notices/contact.ts';
import { createDeliveryWorker, type DeliveryWorker } from '../../src/control/notices/deliver.ts';
import { notify } from '../../src/control/notices/notify.ts';
import { createOutlets, newWebhookSecret } from '../../src/control/notices/outlets.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import type { Store } from '../../src/control/store/store.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import type {
  DeliveryRow,
  NotificationRow,
  WebhookRow,
} from '../../src/control/store/tables/notifications.ts';
import type { TestDatabase } from './databases.ts';
import { type MailServer, type Receiver, startMailServer, startReceiver } from './outlets.ts';
import { seed } from './sample-rows.ts';
import { until } from './until.ts';

const SILENT = { info: () => undefined, warn: () => undefined };

/** An account with a domain and an e-mail address. */
export interface Subject {
  readonly accountId: number;
  readonly name: string;
  readonly domain: DomainRow;
  readonly email: string;
}

/** Options of a worker. */
interface WorkerOptions {
  readonly own?: Store;
  /** Whether webhooks may have local addresses. */
  readonly local?: boolean;
  readonly smtp?: string;
  readonly tier?: 'enterprise' | 'free';
  /** Where names are resolved. Default: as the system does. */
  readonly names?: HostNamesOptions;
}

/** The rig. */
export interface NotifyRig {
  readonly store: Store;
  readonly place: Awaited<ReturnType<TestDatabase['make']>>;
  readonly mail: MailServer;
  readonly receiver: Receiver;
  /** Milliseconds that the clock is ahead. */
  ahead: number;
  clock(): number;
  startWorker(options?: WorkerOptions): DeliveryWorker;
  stopWorkers(): Promise<void>;
  subject(options?: { readonly phone?: boolean }): Promise<Subject>;
  hook(accountId: number, url: string): Promise<WebhookRow>;
  /** Notifies of a ban. */
  ban(subject: Subject, reason?: string): Promise<readonly NotificationRow[]>;
  /** Notifies of an outage, which goes out by SMS. */
  outage(subject: Subject): Promise<readonly NotificationRow[]>;
  deliveries(id: number): Promise<readonly DeliveryRow[]>;
  /** The deliveries of a notification once all are in a state. */
  settled(id: number, state: DeliveryRow['state']): Promise<readonly DeliveryRow[]>;
  /** The first delivery of a notification that has failed once. */
  failure(id: number): Promise<DeliveryRow>;
  /** Ends workers, and forgets what was sent and received. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a rig on a new database. */
export async function openNotifyRig(database: TestDatabase): Promise<NotifyRig> {
  const place = await database.make();
  const store = await openStore({ database: place.database });
  const mail = await startMailServer();
  const receiver = await startReceiver();
  const workers: DeliveryWorker[] = [];
  let made = 0;
  const rig: NotifyRig = {
    ...{ store, place, mail, receiver },
    ahead: 0,
    clock: () => Date.now() + rig.ahead,
    startWorker({ own = store, local = true, smtp = mail.url, tier = 'enterprise', names = {} } = {}) {
      const { senders } = createOutlets({
        smtp: { url: smtp, from: 'Edge <alerts@edge.example>' },
        sms: { url: `${receiver.url}/sms` },
        special: createSpecialJudge({ prefixes: [], local }),
        lookupFor: createHostNames(names).lookupFor,
        clock: rig.clock,
      });
      const common = { store: own, senders, clock: rig.clock, tier, log: SILENT, pollMs: 20 };
      const worker = createDeliveryWorker({ ...common, publicUrl: 'https://panel.example/{domain}' });
      workers.push(worker);
      worker.start();
      return worker;
    },
    async stopWorkers() {
      await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    },
    subject({ phone = false } = {}) {
      made += 1;
      const email = `ann${made}@shop.example`;
      return store.write(async (tx) => {
        const { account, domain } = await seed(tx, `shop${made}.example`);
        await tx.contacts.put(confirmedContact(emptyContact(account.id, 'email'), email));
        if (phone) await tx.contacts.put(confirmedContact(emptyContact(account.id, 'sms'), '+4930123456'));
        return { accountId: account.id, name: account.name, domain, email };
      });
    },
    hook(account_id, url) {
      const row = { account_id, url, secret: newWebhookSecret(), created_at: rig.clock() };
      return store.write((tx) => tx.contacts.insertWebhook(row));
    },
    ban: ({ domain }, reason = 'spam') =>
      store.write((tx) => notify(tx, { kind: 'domain.banned', data: { reason }, domain, now: rig.clock() })),
    outage({ domain }) {
      const since = new Date().toISOString();
      const counts = { incident_id: 1, window_min: 5, requests: 9, errors: 9 };
      const data = { ...counts, since };
      return store.write((tx) => notify(tx, { kind: 'outage.opened', data, domain, now: rig.clock() }));
    },
    deliveries: (id) => store.latest.notifications.deliveriesOf([id]),
    settled: (id, state) =>
      until(async () => {
        const rows = await rig.deliveries(id);
        return rows.length > 0 && rows.every((row) => row.state === state) ? rows : null;
      }, `${id} to be ${state}`),
    failure: (id) =>
      until(
        async () => (await rig.deliveries(id)).find(({ last_error }) => last_error !== '') ?? null,
        `a failure of ${id}`,
      ),
    async reset() {
      await rig.stopWorkers();
      await store.write((tx) => tx.notifications.prune(Number.MAX_SAFE_INTEGER, 10_000));
      rig.ahead = 0;
      mail.mails.length = 0;
      mail.refusals.clear();
      receiver.calls.length = 0;
      receiver.answers.clear();
    },
    async close() {
      await mail.close();
      await receiver.close();
      await store.close();
      await place.drop();
    },
  };
  return rig;
}
