/** Notifications, their deliveries and contacts, on both databases. */
import { beforeEach, describe, expect, test } from 'vitest';
import { isStoreFault } from '../../../src/base/storage/fault.ts';
import { emptyContact } from '../../../src/control/notices/contact.ts';
import type { Store } from '../../../src/control/store/store.ts';
import type { DomainRow } from '../../../src/control/store/tables/domains.ts';
import type { DeliveryRow, NotifyChannel } from '../../../src/control/store/tables/notifications.ts';
import { seed, T } from '../../support/sample-rows.ts';
import { kinds, openForAll } from './databases.ts';

describe.each(kinds)('$name', (kind) => {
  let store: Store;
  let count = 0;
  let domain: DomainRow;
  let ownerId: number;

  openForAll(kind, (opened) => {
    ({ store } = opened);
  });
  beforeEach(async () => {
    count += 1;
    const made = await store.write((tx) => seed(tx, `n${count}.example`));
    domain = made.domain;
    ownerId = made.account.id;
    // What an earlier test left would be claimed and removed here.
    await store.write((tx) => tx.notifications.prune(Number.MAX_SAFE_INTEGER, 1_000));
  });

  async function add(at = T, most = 1_000, accountId = ownerId) {
    const about = { account_id: accountId, domain_id: domain.id, domain: domain.name };
    const row = { ...about, kind: 'domain.active', data_json: '{"ü":1}', created_at: at, read_at: null };
    return store.write((tx) => tx.notifications.insert(row, most));
  }

  async function deliver(
    channel: NotifyChannel,
    target_id = 0,
    { at = T, accountId = ownerId } = {},
  ): Promise<number> {
    const { id } = await add(at, 1_000, accountId);
    const state = { state: 'waiting', next_at: at, last_error: '', delivered_at: null } as const;
    const row = { notification_id: id, account_id: accountId, channel, target_id, created_at: at, ...state };
    await store.write((tx) => tx.notifications.addDeliveries([row]));
    return id;
  }

  const claim = (channel: NotifyChannel, now: number, options: object = {}) =>
    store.write((tx) =>
      tx.notifications.claim({ channel, now, until: now + 1_000, limit: 10, perAccount: 10, ...options }),
    );

  const settle = (row: DeliveryRow, change: Partial<DeliveryRow>) =>
    store.write((tx) => tx.notifications.settle({ ...row, ...change }));

  test('notifications are stored by account, listed newest first and marked as read', async () => {
    const rows = [await add(T), await add(T + 1), await add(T + 2)];
    const page = { limit: 2, unread: false };
    const { notifications } = store.latest;
    expect(await notifications.list(ownerId, page)).toEqual([rows[2], rows[1]]);
    expect(await notifications.list(ownerId, { ...page, before: rows[1]!.id })).toEqual([rows[0]]);
    expect(await notifications.get(ownerId, rows[0]!.id)).toEqual(rows[0]);
    expect(await notifications.get(ownerId + 1_000, rows[0]!.id)).toBeNull();
    const mark = (ids: readonly number[] | null, accountId = ownerId) =>
      store.write((tx) => tx.notifications.markRead(accountId, { ids, at: T + 9 }));
    expect(await mark([rows[0]!.id], ownerId + 1_000)).toBe(0);
    expect(await mark([rows[1]!.id, 4_000_000])).toBe(1);
    expect(await notifications.countUnread(ownerId)).toBe(2);
    expect(await notifications.list(ownerId, { ...page, unread: true })).toEqual([rows[2], rows[0]]);
    expect(await mark(null)).toBe(2);
    expect(await notifications.get(ownerId, rows[1]!.id)).toMatchObject({ read_at: T + 9 });
    const about = { account_id: ownerId, domain_id: domain.id, kind: 'domain.active' };
    expect(await notifications.lastTo(about)).toBe(T + 2);
    expect(await notifications.lastTo({ ...about, domain_id: null })).toBeNull();
  });

  test('the oldest notifications of an account beyond the bound are removed, and those that are too old', async () => {
    for (let at = 0; at < 5; at++) await add(T + at, 3);
    const rows = await store.latest.notifications.list(ownerId, { limit: 10, unread: false });
    expect(rows.map((row) => row.created_at)).toEqual([T + 4, T + 3, T + 2]);
    expect(await store.write((tx) => tx.notifications.prune(T + 4, 10))).toBe(2);
    expect(await store.latest.notifications.countUnread(ownerId)).toBe(1);
  });

  test('a notification outlives its domain', async () => {
    const row = await add();
    await store.write((tx) => tx.domains.remove(domain.id));
    expect(await store.latest.notifications.get(ownerId, row.id)).toEqual(row);
  });

  test('a delivery is claimed once, settled, and attempted again after its lease or at its time', async () => {
    const id = await deliver('email');
    expect(await store.latest.notifications.isDue(T - 1)).toBe(false);
    expect(await claim('email', T - 1)).toEqual([]);
    expect(await claim('webhook', T)).toEqual([]);
    expect(await store.latest.notifications.isDue(T)).toBe(true);
    const [first] = await claim('email', T);
    expect(first).toMatchObject({ notification_id: id, tries: 1, notification: { id, created_at: T } });
    expect(first!.notification).toEqual(await store.latest.notifications.get(ownerId, id));
    expect(await claim('email', T + 999)).toEqual([]);
    const [second] = await claim('email', T + 1_000);
    expect(second).toMatchObject({ id: first!.id, tries: 2 });
    // The process whose lease has ended cannot settle what another one has claimed since.
    await settle(first!, { state: 'delivered', delivered_at: T });
    expect((await store.latest.notifications.deliveriesOf([id]))[0]).toMatchObject({ state: 'waiting' });
    await settle(second!, { next_at: T + 5_000, last_error: 'busy' });
    expect(await claim('email', T + 4_999)).toEqual([]);
    const [third] = await claim('email', T + 5_000);
    await settle(third!, { state: 'delivered', delivered_at: T + 5_001, last_error: '' });
    expect(await store.latest.notifications.deliveriesOf([id])).toMatchObject([
      { state: 'delivered', tries: 3, delivered_at: T + 5_001, leased_until: 0, last_error: '' },
    ]);
    expect(await store.latest.notifications.isDue(T + 1_000_000)).toBe(false);
  });

  test('a claim by a clock that was ahead is void once the clock is right', async () => {
    await deliver('sms');
    expect(await claim('sms', T + 86_400_000)).toHaveLength(1);
    expect(await claim('sms', T)).toHaveLength(1);
  });

  test('one delivery of a target is claimed at a time, in order, and others first where one fails again', async () => {
    const ids = [await deliver('webhook', 7), await deliver('webhook', 7), await deliver('webhook', 8)];
    const first = await claim('webhook', T);
    expect(first.map((row) => row.notification_id)).toEqual([ids[0], ids[2]]);
    expect(await claim('webhook', T)).toEqual([]);
    await settle(first[0]!, { next_at: T + 50 });
    await store.write((tx) => tx.notifications.postpone(first[0]!, T + 50));
    expect(await claim('webhook', T + 49)).toEqual([]);
    const [second] = await claim('webhook', T + 50);
    expect(second).toMatchObject({ notification_id: ids[1], tries: 1 });
    await settle(second!, { state: 'delivered', delivered_at: T + 50 });
    await settle(first[1]!, { next_at: T + 90_000 });
    await store.write((tx) => tx.notifications.hasten(first[1]!, T + 60));
    expect((await claim('webhook', T + 60)).map((row) => row.notification_id)).toEqual([ids[0], ids[2]]);
  });

  test('a claim takes the longest due first, and few of one account', async () => {
    const other = await store.write((tx) => seed(tx, `other${count}.example`));
    for (let target = 1; target <= 4; target++) await deliver('webhook', target);
    const late = await deliver('webhook', 1, { at: T + 5, accountId: other.account.id });
    const claimed = await claim('webhook', T + 10, { perAccount: 2, limit: 3 });
    expect(claimed.map((row) => row.target_id).sort()).toEqual([1, 1, 2]);
    expect(claimed.map((row) => row.notification_id)).toContain(late);
    expect(await claim('webhook', T + 11, { perAccount: 2 })).toEqual([]);
  });

  test('two claims at the same moment share what is due', async () => {
    for (let target = 1; target <= 6; target++) await deliver('webhook', target);
    const both = await Promise.all([claim('webhook', T), claim('webhook', T)]);
    const ids = both.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const rest = await claim('webhook', T);
    expect(ids.length + rest.length).toBe(6);
  });

  test('deliveries of an hour are counted without those that were skipped', async () => {
    await deliver('email', 0, { at: T - 1 });
    const id = await deliver('email');
    const skipped = { state: 'skipped', next_at: T, last_error: 'many', delivered_at: null } as const;
    const row = {
      notification_id: id,
      account_id: ownerId,
      channel: 'email',
      target_id: 0,
      created_at: T,
    } as const;
    await store.write((tx) => tx.notifications.addDeliveries([{ ...row, ...skipped }]));
    const question = { account_id: ownerId, channel: 'email', since: T } as const;
    expect(await store.latest.notifications.countDeliveries(question)).toBe(1);
    expect(await store.latest.notifications.countWaiting()).toBe(2);
    const target = { account_id: ownerId, channel: 'email', target_id: 0 } as const;
    expect(await store.latest.notifications.countWaitingFor(target)).toBe(2);
    expect(await store.latest.notifications.countWaitingFor({ ...target, target_id: 1 })).toBe(0);
  });

  test('the loss of a node is recorded once for each time it was seen', async () => {
    const token_hash = `${count}`.padStart(64, '0');
    const node = await store.write((tx) =>
      tx.nodes.insert({ name: `node${count}`, token_hash, created_at: T }),
    );
    const record = (at: number) => store.write((tx) => tx.notifications.recordLoss(node.id, at));
    expect([await record(T), await record(T), await record(T + 1)]).toEqual([true, false, true]);
  });

  test('an invitation waits for its account, and for nothing once it was withdrawn', async () => {
    const invite = async (name: string): Promise<number> =>
      store.write(async (tx) => {
        const times = { created_at: T, updated_at: T, expires_at: T + 9 };
        const row = { domain_id: domain.id, name, role: 'editor', ...times } as const;
        const { id } = await tx.invitations.insert(row);
        await tx.notifications.queueInvitation(id);
        await tx.notifications.queueInvitation(id);
        return id;
      });
    const waiting = () => store.latest.notifications.invitationsToAnnounce(10);
    const [early, withdrawn] = [await invite(`late ${count}`), await invite(`gone ${count}`)];
    expect(await waiting()).toEqual([]);
    const made = await store.write(async (tx) => {
      const times = { created_at: T, updated_at: T };
      await tx.accounts.insert({ name: `gone ${count}`, active: true, ...times });
      return tx.accounts.insert({ name: `late ${count}`, active: true, ...times });
    });
    await store.write((tx) => tx.invitations.remove(domain.id, withdrawn));
    const about = { domain_id: domain.id, domain: domain.name, role: 'editor', expires_at: T + 9 };
    expect(await waiting()).toEqual([{ id: early, account_id: made.id, ...about }]);
    const take = () => store.write((tx) => tx.notifications.takeInvitation(early));
    expect([await take(), await take(), await waiting()]).toEqual([true, false, []]);
  });

  test('contacts, webhooks, preferences and operators are stored and removed', async () => {
    const { contacts } = store.latest;
    const contact = { ...emptyContact(ownerId, 'email'), address: 'a@x.example' };
    await store.write((tx) => tx.contacts.put(contact));
    await store.write((tx) => tx.contacts.put({ ...contact, pending: 'b@x.example' }));
    expect(await contacts.get(ownerId, 'email')).toEqual({ ...contact, pending: 'b@x.example' });
    expect(await contacts.list(ownerId)).toHaveLength(1);
    expect(await contacts.get(ownerId, 'sms')).toBeNull();
    expect(await store.write((tx) => tx.contacts.remove(ownerId, 'email'))).toBe(true);
    expect(await contacts.list(ownerId)).toEqual([]);
    const hook = { account_id: ownerId, url: 'https://x.example/', secret: 'whsec_a', created_at: T };
    const row = await store.write((tx) => tx.contacts.insertWebhook(hook));
    expect(await contacts.webhooks(ownerId)).toEqual([row]);
    expect(await contacts.webhook(ownerId + 1_000, row.id)).toBeNull();
    expect(await store.write((tx) => tx.contacts.removeWebhook(ownerId, row.id))).toBe(true);
    const choice = { account_id: ownerId, kind: 'key.created', channel: 'email', enabled: false } as const;
    await store.write((tx) => tx.contacts.putPreference({ ...choice, enabled: true }));
    await store.write((tx) => tx.contacts.putPreference(choice));
    expect(await contacts.preferences(ownerId)).toEqual([choice]);
    await store.write((tx) => tx.contacts.setOperator(ownerId, true));
    await store.write((tx) => tx.contacts.setOperator(ownerId, true));
    expect(await contacts.operators()).toContain(ownerId);
    await store.write((tx) => tx.contacts.setOperator(ownerId, false));
    expect(await contacts.operators()).not.toContain(ownerId);
    const missing = store.write((tx) => tx.contacts.put({ ...contact, account_id: 4_000_000 }));
    await expect(missing).rejects.toSatisfy((error) => isStoreFault(error, 'missing'));
  });
});
