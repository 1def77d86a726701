/**
 * Notifications, what is delivered from them, and where accounts are reached. A notification outlives its domain. The
 * indexes of deliveries have waiting ones only, but for the one that counts those of an hour.
 */
import { accounts } from './accounts.ts';
import { flag, integer, json, type RowOf, shortId, table, text, time } from './describe.ts';
import { invitations } from './domains.ts';
import { nodes } from './nodes.ts';

/** How a notification reaches an account outside of its feed. */
export const NOTIFY_CHANNELS = ['email', 'sms', 'webhook'] as const;
/** One of NOTIFY_CHANNELS. */
export type NotifyChannel = (typeof NOTIFY_CHANNELS)[number];

/** The feeds of accounts. */
export const notifications = table(
  'notifications',
  14,
  {
    id: shortId(),
    account_id: integer().references(accounts),
    /** `null`: it is about no domain. The domain may be gone by now. */
    domain_id: integer().nullable(),
    /** The domain's name then; empty: it is about no domain. */
    domain: text(),
    /** As `control/notices/kinds.ts` lists them. */
    kind: text(),
    /** A JSON object by the schema of the kind. */
    data_json: json(),
    created_at: time(),
    read_at: time().nullable(),
  },
  {
    indexes: {
      notifications_by_account: ['account_id', 'id'],
      notifications_unread: { on: ['account_id', 'id'], where: 'read_at IS NULL' },
      notifications_by_kind: ['account_id', 'kind', 'id'],
      notifications_by_age: ['created_at'],
    },
  },
);

/** One entry of an account's feed of notifications. */
export interface NotificationRow extends RowOf<typeof notifications> {}

/** `waiting`: to be attempted at `next_at`; `skipped`: never attempted, `last_error` says why. */
export const DELIVERY_STATES = ['waiting', 'delivered', 'failed', 'skipped'] as const;
/** One of DELIVERY_STATES. */
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Notifications on their way to targets. */
export const notificationDeliveries = table(
  'notification_deliveries',
  14,
  {
    id: shortId(),
    notification_id: integer().references(notifications, 'cascade'),
    account_id: integer().references(accounts),
    channel: text<NotifyChannel>(),
    /** The id of the webhook; 0 where the account has one target of the channel. */
    target_id: integer(),
    state: text<DeliveryState>(),
    /** Attempts that were begun. */
    tries: integer(),
    created_at: time(),
    next_at: time(),
    /** Until then one process attempts it; 0: none. */
    leased_until: time(),
    /** Of the last attempt, for the account; empty: none failed. */
    last_error: text(),
    delivered_at: time().nullable(),
  },
  {
    indexes: {
      notification_deliveries_due: { on: ['next_at'], where: "state = 'waiting'" },
      notification_deliveries_by_target: {
        on: ['channel', 'account_id', 'target_id'],
        where: "state = 'waiting'",
      },
      notification_deliveries_by_account: ['account_id', 'channel', 'created_at'],
      notification_deliveries_by_notification: ['notification_id'],
    },
  },
);

/** A notification on its way to one target. */
export interface DeliveryRow extends RowOf<typeof notificationDeliveries> {}

/** E-mail addresses and phone numbers of accounts. */
export const accountContacts = table(
  'account_contacts',
  14,
  {
    account_id: integer().references(accounts),
    channel: text<'email' | 'sms'>(),
    /** The confirmed one; empty: none. */
    address: text(),
    /** One that a code was sent to; empty: none. */
    pending: text(),
    /** SHA-256 of that code, lower-case hex; empty: none. */
    code_hash: text(),
    code_expires_at: time(),
    /** Wrong codes since it was sent. */
    code_tries: integer(),
    /** Codes sent since `sends_since`. */
    sends: integer(),
    sends_since: time(),
    /** When the last code was sent. */
    sent_at: time(),
  },
  { key: ['account_id', 'channel'] },
);

/** The e-mail address or the phone number of an account. */
export interface ContactRow extends RowOf<typeof accountContacts> {}

/** Addresses that receive notifications of accounts as HTTP requests. */
export const accountWebhooks = table(
  'account_webhooks',
  14,
  {
    id: shortId(),
    account_id: integer().references(accounts),
    url: text(),
    /** The key of its signatures, `whsec_` and Base64. */
    secret: text(),
    created_at: time(),
  },
  { indexes: { account_webhooks_by_account: ['account_id'] } },
);

/** An address that receives notifications of an account as HTTP requests. */
export interface WebhookRow extends RowOf<typeof accountWebhooks> {}

/** What accounts want of which kind, where that differs from the default. */
export const notificationPreferences = table(
  'notification_preferences',
  14,
  {
    account_id: integer().references(accounts),
    kind: text(),
    channel: text<NotifyChannel>(),
    enabled: flag(),
  },
  { key: ['account_id', 'kind', 'channel'] },
);

/** Whether an account wants a kind on a channel, where that differs from the default. */
export interface PreferenceRow extends RowOf<typeof notificationPreferences> {}

/** Accounts that receive notifications for operators. */
export const operatorAccounts = table('operator_accounts', 14, {
  account_id: integer().key().references(accounts),
});

/** Nodes whose loss was notified, and when each was seen last before. */
export const nodeLosses = table('node_losses', 14, {
  node_id: integer().key().references(nodes),
  seen_at: time(),
});

/** Invitations that wait for their notification. */
export const invitationNotices = table('invitation_notices', 14, {
  invitation_id: integer().key().references(invitations, 'cascade'),
});
