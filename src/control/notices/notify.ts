/**
 * Writes notifications in the transaction of what they report, so that neither is stored without the other: one entry in the
 * feed of each recipient, and one delivery for each of its targets. `deliver.ts` sends them later.
 */
import { assert } from '../../base/diagnostics/assert.ts';
import type { ReadTransaction, Store, WriteTransaction } from '../store/store.ts';
import type { KeyRow } from '../store/tables/accounts.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import {
  type DeliveryRow,
  NOTIFY_CHANNELS,
  type NotificationRow,
  type NotifyChannel,
  type PreferenceRow,
} from '../store/tables/notifications.ts';
import { KIND_NAMES, KINDS, type KindData, type KindName } from './kinds.ts';
import { MAX_PER_HOUR, MAX_STORED, MAX_WAITING, PUBLICATION_QUIET_MS } from './limits.ts';

/** One event to notify of. */
export interface Notice<Name extends KindName> {
  readonly kind: Name;
  readonly data: KindData<Name>;
  /** The domain that it is about; `null`: none. */
  readonly domain: Pick<DomainRow, 'id' | 'name' | 'user_id'> | null;
  /** The account that it is about, for kinds whose audience is an account, or where it is about no domain. */
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
  if (audience === 'account' || (audience === 'domain' && domain === null)) {
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

// What an account wants on which channel: the defaults of the kinds, changed by its own preferences.

/** The channels of one kind; `null`: the kind never goes out on it. */
export type ChannelChoice = Readonly<Record<NotifyChannel, boolean | null>>;

/** The channels that an account has chosen for a kind. */
export function chosenChannels(name: KindName, stored: readonly PreferenceRow[]): ChannelChoice {
  const { usual } = KINDS[name];
  const choice = (channel: NotifyChannel): boolean | null => {
    if (usual[channel] === 'never') return null;
    const own = stored.find((row) => row.kind === name && row.channel === channel);
    return own?.enabled ?? usual[channel] === 'on';
  };
  return { email: choice('email'), sms: choice('sms'), webhook: choice('webhook') };
}

/** A change of the preferences of one kind; an absent channel stays as it is. */
export interface PreferenceChange {
  readonly kind: KindName;
  readonly channels: Readonly<Partial<Record<NotifyChannel, boolean | null | undefined>>>;
}

/** The rows of a change, or the channel that the kind never goes out on. `null` says that, and changes nothing. */
export function preferenceRows(
  accountId: number,
  { kind, channels }: PreferenceChange,
): { readonly rows: readonly PreferenceRow[] } | { readonly never: NotifyChannel } {
  const rows: PreferenceRow[] = [];
  for (const channel of NOTIFY_CHANNELS) {
    const enabled = channels[channel];
    if (enabled === undefined || enabled === null) continue;
    if (KINDS[kind].usual[channel] === 'never') {
      if (enabled) return { never: channel };
      continue;
    }
    rows.push({ account_id: accountId, kind, channel, enabled });
  }
  return { rows };
}

/** The choices of every kind that is sent, in the order of the kinds. */
export function allChoices(
  stored: readonly PreferenceRow[],
): readonly { readonly kind: KindName; readonly channels: ChannelChoice }[] {
  return KIND_NAMES.map((name) => ({ kind: name, channels: chosenChannels(name, stored) }));
}

// What other rooms call when something happens: one function for each event that has more to decide than its data.

/** A domain before and after a change of its lifecycle. */
export interface DomainChange {
  readonly before: DomainRow;
  readonly after: DomainRow;
  /** The event was requested by its owner or by an operator; otherwise the service found it. */
  readonly requested: boolean;
  /** Until when a domain is served that has moved, milliseconds since the epoch; `null`: no end is set. */
  readonly servedUntil: number | null;
  readonly reason: string | null;
  /** The account that made the change; `null`: the service or its operator. */
  readonly actor_id: number | null;
  readonly now: number;
}

/** Notifies the people of a domain of its new status and of its suspension. If both are unchanged, nobody is notified. */
export async function notifyDomainChange(tx: WriteTransaction, change: DomainChange): Promise<void> {
  const { before, after: domain, actor_id, reason, now } = change;
  const common = { domain, actor_id, now };
  if (domain.status !== before.status) await notifyStatus(tx, change);
  if (domain.suspended === before.suspended) return;
  if (domain.suspended) await notify(tx, { ...common, kind: 'domain.suspended', data: { reason } });
  else await notify(tx, { ...common, kind: 'domain.resumed', data: { reason } });
}

/** Notifies of a new status; `pending` and `unverified` are where a domain begins, which its owner has requested. */
async function notifyStatus(tx: WriteTransaction, change: DomainChange): Promise<void> {
  const { before, after: domain, requested, servedUntil, actor_id, reason, now } = change;
  const common = { domain, actor_id, now };
  switch (domain.status) {
    case 'active': {
      const data = { previous_status: before.status, reason };
      await notify(tx, { ...common, kind: 'domain.activated', data });
      return;
    }
    case 'moved': {
      const disabled_at = new Date(servedUntil ?? now).toISOString();
      await notify(tx, { ...common, kind: 'domain.moved', data: { dns_mode: domain.dns_mode, disabled_at } });
      return;
    }
    case 'disabled': {
      const cause = requested ? 'request' : 'grace_period';
      await notify(tx, { ...common, kind: 'domain.disabled', data: { cause, reason } });
      return;
    }
    case 'banned':
      await notify(tx, { ...common, kind: 'domain.banned', data: { reason } });
      return;
    default:
      return;
  }
}

/** Notifies an account of a new API key. */
export async function notifyKeyCreated(tx: WriteTransaction, key: KeyRow): Promise<void> {
  const { id: key_id, account_id, name, read_only, created_at: now, expires_at } = key;
  const end = expires_at === null ? null : new Date(expires_at).toISOString();
  const data = { key_id, name, read_only, expires_at: end };
  await notify(tx, { kind: 'key.created', data, domain: null, account_id, now });
}

/** Notifies an account that one of its API keys was revoked. */
export async function notifyKeyRevoked(tx: WriteTransaction, key: KeyRow, now: number): Promise<void> {
  const { id: key_id, account_id, name, read_only } = key;
  await notify(tx, { kind: 'key.revoked', data: { key_id, name, read_only }, domain: null, account_id, now });
}

/** A publication that has failed several times in a row. */
export interface FailedPublication {
  readonly domain_id: number;
  /** When the oldest change that waits was made, milliseconds since the epoch. */
  readonly since: number;
  readonly attempts: number;
  /** The code of the fault. */
  readonly code: string;
  readonly now: number;
}

/** Notifies the people of a domain that its changes are not published, at most once in `PUBLICATION_QUIET_MS`. */
export function notifyPublicationFailed(
  store: Store,
  { domain_id, since, attempts, code, now }: FailedPublication,
): Promise<readonly NotificationRow[]> {
  return store.write(async (tx) => {
    const domain = await tx.domains.get(domain_id);
    if (domain === null) return [];
    const data = { since: new Date(since).toISOString(), attempts, code };
    return notify(tx, { kind: 'publication.failed', data, domain, quietMs: PUBLICATION_QUIET_MS, now });
  });
}
