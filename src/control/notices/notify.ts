/**
 * Writes notifications in the transaction of what they report, so that neither is stored without the other: one entry in the
 * feed of each recipient, and one delivery for each of its targets. `deliver.ts` sends them later.
 */
import { assert } from '../../base/diagnostics/assert.ts';
import type { DeliveryRow, DomainRow, NotificationRow, NotifyChannel } from '../store/rows.ts';
import type { ReadTransaction, WriteTransaction } from '../store/store.ts';
import { KINDS, type KindData, type KindName } from './kinds.ts';
import { MAX_PER_HOUR, MAX_STORED, MAX_WAITING } from './limits.ts';
import { chosenChannels } from './preferences.ts';

/** One event to notify of. */
export interface Notice<Name extends KindName> {
  readonly kind: Name;
  readonly data: KindData<Name>;
  /** The domain that it is about; `null`: none. */
  readonly domain: Pick<DomainRow, 'id' | 'name' | 'user_id'> | null;
  /** The account that it is about, for kinds whose audience is an account. */
  readonly account_id?: number;
  /** The account that caused it: it gets the entry of the feed and no delivery. `null` or absent: none. */
  readonly actor_id?: number | null;
  /**
   * Deliveries of an hour, counted with all others, above which it is in the feed alone: where accounts unknown to the
   * recipient cause it. Absent: `MAX_PER_HOUR`.
   */
  readonly most?: Readonly<Record<NotifyChannel, number>>;
  /** It has no deliveries. */
  readonly feedOnly?: boolean;
  /** Milliseconds for which a recipient gets no second notification of this kind about this domain; absent: none. */
  readonly quietMs?: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Milliseconds of `MAX_PER_HOUR`. */
const HOUR_MS = 3_600_000;

/** Writes the notifications of an event to all its recipients. Returns their rows. */
export async function notify<Name extends KindName>(
  tx: WriteTransaction,
  notice: Notice<Name>,
): Promise<readonly NotificationRow[]> {
  const { kind, data, domain, now, quietMs } = notice;
  const data_json = JSON.stringify(KINDS[kind].data.parse(data));
  const written: NotificationRow[] = [];
  for (const account_id of await recipientsOf(tx, notice)) {
    const about = { account_id, domain_id: domain?.id ?? null, kind };
    const last = quietMs === undefined ? null : await tx.notifications.lastTo(about);
    if (last !== null && quietMs !== undefined && last > now - quietMs) continue;
    const entry = { ...about, domain: domain?.name ?? '', data_json, created_at: now, read_at: null };
    const row = await tx.notifications.insert(entry, MAX_STORED);
    written.push(row);
    const silent = notice.feedOnly === true || account_id === (notice.actor_id ?? null);
    if (!silent) await addDeliveries(tx, row, notice);
  }
  return written;
}

/** The accounts that receive a notice, each once, by id. */
async function recipientsOf<Name extends KindName>(
  tx: ReadTransaction,
  { kind, domain, account_id }: Notice<Name>,
): Promise<readonly number[]> {
  const { audience } = KINDS[kind];
  if (audience === 'operators') return tx.contacts.operators();
  if (audience === 'account') {
    assert(account_id !== undefined, 'a notice to an account names it');
    return [account_id];
  }
  assert(domain !== null, 'a notice to the people of a domain names it');
  if (audience === 'owner') return [domain.user_id];
  const members = await tx.members.list(domain.id);
  const admins = members.filter(({ role }) => role === 'admin').map((member) => member.account_id);
  return [...new Set([domain.user_id, ...admins])].sort((left, right) => left - right);
}

/** The targets of an account on one channel: ids of webhooks, or 0 for its only address. */
async function targetsOf(
  tx: ReadTransaction,
  accountId: number,
  channel: NotifyChannel,
): Promise<readonly number[]> {
  if (channel === 'webhook') return (await tx.contacts.webhooks(accountId)).map(({ id }) => id);
  const contact = await tx.contacts.get(accountId, channel);
  return contact === null || contact.address === '' ? [] : [0];
}

/** Adds the deliveries of one notification on the channels that its account has chosen. */
async function addDeliveries(
  tx: WriteTransaction,
  row: NotificationRow,
  { kind, most: bound = MAX_PER_HOUR }: Pick<Notice<KindName>, 'kind' | 'most'>,
): Promise<void> {
  const { account_id, created_at } = row;
  const choice = chosenChannels(kind, await tx.contacts.preferences(account_id));
  for (const channel of ['email', 'sms', 'webhook'] as const) {
    const targets = choice[channel] === true ? await targetsOf(tx, account_id, channel) : [];
    if (targets.length === 0) continue;
    const since = created_at - HOUR_MS;
    const sent = await tx.notifications.countDeliveries({ account_id, channel, since });
    const most = bound[channel];
    const common = { notification_id: row.id, account_id, channel, created_at, next_at: created_at };
    const deliveries: Omit<DeliveryRow, 'id' | 'leased_until' | 'tries'>[] = [];
    for (const target_id of targets) {
      const waiting = await tx.notifications.countWaitingFor({ account_id, channel, target_id });
      let last_error = '';
      if (waiting >= MAX_WAITING) last_error = `${MAX_WAITING} others wait for it to answer`;
      if (sent + targets.length > most) last_error = `more than ${most} within an hour`;
      const state = last_error === '' ? 'waiting' : 'skipped';
      deliveries.push({ ...common, target_id, state, last_error, delivered_at: null });
    }
    await tx.notifications.addDeliveries(deliveries);
  }
}
