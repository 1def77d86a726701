/**
 * The repositories of notifications: the feed of each account with what is delivered from it, and where an account is
 * reached. Conventions as in `customer-repositories.ts`; no method locks a domain or an account.
 */
import type { PageBack } from './customer-repositories.ts';
import type { InvitationRow } from './tables/domains.ts';
import type {
  ContactRow,
  DeliveryRow,
  NotificationRow,
  NotifyChannel,
  PreferenceRow,
  WebhookRow,
} from './tables/notifications.ts';

/** A delivery with the notification that it carries. */
export interface ClaimedDelivery extends DeliveryRow {
  readonly notification: NotificationRow;
}

/** One recipient's notifications about one domain (`null`: about none), of one kind. */
export interface NoticeQuestion {
  readonly account_id: number;
  readonly domain_id: number | null;
  readonly kind: string;
}

/** Notifications by account, and their deliveries. */
export interface NotificationReads {
  /** Newest first; `unread`: those that were not read. */
  list(accountId: number, page: PageBack & { readonly unread: boolean }): Promise<readonly NotificationRow[]>;
  countUnread(accountId: number): Promise<number>;
  get(accountId: number, id: number): Promise<NotificationRow | null>;
  /** The deliveries of these notifications, by id. */
  deliveriesOf(ids: readonly number[]): Promise<readonly DeliveryRow[]>;
  /** The time of the newest such notification; `null`: no such notification is stored. */
  lastTo(question: NoticeQuestion): Promise<number | null>;
  /** Deliveries of an account on a channel that were created at `since` or later, skipped ones left out. */
  countDeliveries(question: {
    readonly account_id: number;
    readonly channel: NotifyChannel;
    readonly since: number;
  }): Promise<number>;
  /** The number of deliveries that wait: for metrics. */
  countWaiting(): Promise<number>;
  /** Deliveries to one target that are attempted, or attempted again. */
  countWaitingFor(target: Pick<DeliveryRow, 'account_id' | 'channel' | 'target_id'>): Promise<number>;
  /** Whether a delivery is due at `now`. */
  isDue(now: number): Promise<boolean>;
  /** Invitations that wait for their notification and name an existing account, with its id; at most `limit`. */
  invitationsToAnnounce(limit: number): Promise<readonly AnnouncedInvitation[]>;
}

/** An invitation whose account exists. */
export interface AnnouncedInvitation extends Pick<InvitationRow, 'id' | 'domain_id' | 'role' | 'expires_at'> {
  readonly account_id: number;
  /** The name of the domain. */
  readonly domain: string;
}

/** The outcome of one attempt. */
export interface DeliveryOutcome
  extends Pick<DeliveryRow, 'id' | 'tries' | 'state' | 'next_at' | 'last_error' | 'delivered_at'> {}

/** Changes of notifications and of their deliveries. */
export interface NotificationWrites {
  /** Inserts a notification, and removes the oldest ones of the account beyond `most`. */
  insert(notification: Omit<NotificationRow, 'id'>, most: number): Promise<NotificationRow>;
  addDeliveries(deliveries: readonly Omit<DeliveryRow, 'id' | 'leased_until' | 'tries'>[]): Promise<void>;
  /** Marks notifications of the account as read, all of them without `ids`; returns how many were unread. */
  markRead(
    accountId: number,
    change: { readonly ids: readonly number[] | null; readonly at: number },
  ): Promise<number>;
  /**
   * Claims due deliveries of a channel until `until`, the longest due first: one for each target, none for a target with a
   * claimed delivery, at most `perAccount` of an account with those that are claimed already. Counts an attempt of each. A claim that ends later than two
   * leases and 10 seconds from `now` is void: its clock was ahead.
   */
  claim(claim: {
    readonly channel: NotifyChannel;
    readonly now: number;
    readonly until: number;
    readonly limit: number;
    readonly perAccount: number;
  }): Promise<readonly ClaimedDelivery[]>;
  /** Ends a claim with its outcome; nothing where another process has claimed the delivery since. */
  settle(outcome: DeliveryOutcome): Promise<void>;
  /** Moves the other waiting deliveries of a target to `until`, unless they are due later. */
  postpone(target: Pick<DeliveryRow, 'account_id' | 'channel' | 'target_id'>, until: number): Promise<void>;
  /** Makes the waiting deliveries of a target due at `now`: it has answered again. */
  hasten(target: Pick<DeliveryRow, 'account_id' | 'channel' | 'target_id'>, now: number): Promise<void>;
  /** Removes notifications from before `before`, with their deliveries, at most `limit`. Returns how many. */
  prune(before: number, limit: number): Promise<number>;
  /** Records that a node was last seen at `seenAt` and is lost: true unless that was recorded before. */
  recordLoss(nodeId: number, seenAt: number): Promise<boolean>;
  /** Queues an invitation for `invitationsToAnnounce`, whether or not its account exists. */
  queueInvitation(invitationId: number): Promise<void>;
  /** Ends the wait of an invitation: true when it waited. */
  takeInvitation(invitationId: number): Promise<boolean>;
}

/** Where an account is reached, and what it wants on which channel. */
export interface ContactReads {
  /** The e-mail address and the phone number, by channel. */
  list(accountId: number): Promise<readonly ContactRow[]>;
  get(accountId: number, channel: ContactRow['channel']): Promise<ContactRow | null>;
  /** By id. */
  webhooks(accountId: number): Promise<readonly WebhookRow[]>;
  webhook(accountId: number, id: number): Promise<WebhookRow | null>;
  /** What differs from the defaults, by kind and channel. */
  preferences(accountId: number): Promise<readonly PreferenceRow[]>;
  /** Accounts that receive what concerns operators, by id. */
  operators(): Promise<readonly number[]>;
}

/** Changes of contacts, webhooks and preferences. */
export interface ContactWrites {
  /** Replaces the contact of the account and channel. `missing` when there is no such account. */
  put(contact: ContactRow): Promise<void>;
  remove(accountId: number, channel: ContactRow['channel']): Promise<boolean>;
  insertWebhook(webhook: Omit<WebhookRow, 'id'>): Promise<WebhookRow>;
  removeWebhook(accountId: number, id: number): Promise<boolean>;
  putPreference(preference: PreferenceRow): Promise<void>;
  setOperator(accountId: number, operator: boolean): Promise<void>;
}
