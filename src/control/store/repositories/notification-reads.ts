/** Reads of notifications by account, and of their deliveries. */
import { idsIn, int, one, type PageBack, type Session, statement } from '../database/statement.ts';
import type { InvitationRow } from '../tables/domains.ts';
import type { DeliveryRow, NotificationRow, NotifyChannel } from '../tables/notifications.ts';

/** One recipient's notifications about one domain (`null`: about none), of one kind. */
export interface NoticeQuestion {
  readonly account_id: number;
  readonly domain_id: number | null;
  readonly kind: string;
}

/** An invitation whose account exists. */
export interface AnnouncedInvitation extends Pick<InvitationRow, 'id' | 'domain_id' | 'role' | 'expires_at'> {
  readonly account_id: number;
  /** The name of the domain. */
  readonly domain: string;
}

/** Above every id: the newest page begins here. */
const NEWEST = Number.MAX_SAFE_INTEGER;

const list = statement((builder, p: { account_id: number; before: number; limit: number }) =>
  builder
    .selectFrom('notifications')
    .selectAll()
    .where('account_id', '=', p.account_id)
    .where('id', '<', p.before)
    .orderBy('id', 'desc')
    .limit(p.limit),
);

/** Reads the partial index of unread notifications only. */
const listUnread = statement((builder, p: { account_id: number; before: number; limit: number }) =>
  builder
    .selectFrom('notifications')
    .selectAll()
    .where('account_id', '=', p.account_id)
    .where('read_at', 'is', null)
    .where('id', '<', p.before)
    .orderBy('id', 'desc')
    .limit(p.limit),
);

const countUnread = statement((builder, p: { account_id: number }) =>
  builder
    .selectFrom('notifications')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account_id', '=', p.account_id)
    .where('read_at', 'is', null),
);

/** By account and id: an id alone may be of another account. */
const get = statement((builder, p: { account_id: number; id: number }) =>
  builder
    .selectFrom('notifications')
    .selectAll()
    .where('account_id', '=', p.account_id)
    .where('id', '=', p.id),
);

const deliveriesOf = statement((builder, p: { ids: string }, flavour) =>
  builder
    .selectFrom('notification_deliveries')
    .selectAll()
    .where('notification_id', 'in', idsIn(p.ids, flavour))
    .orderBy('id'),
);

/** A notification about no domain has the domain id 0 here. */
const lastTo = statement((builder, p: { account_id: number; domain_id: number; kind: string }) =>
  builder
    .selectFrom('notifications')
    .select('created_at')
    .where('account_id', '=', p.account_id)
    .where((row) => row(row.fn.coalesce('domain_id', int(0)), '=', p.domain_id))
    .where('kind', '=', p.kind)
    .orderBy('id', 'desc')
    .limit(int(1)),
);

const countDeliveries = statement((builder, p: { account_id: number; channel: string; since: number }) =>
  builder
    .selectFrom('notification_deliveries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account_id', '=', p.account_id)
    .where('channel', '=', p.channel as DeliveryRow['channel'])
    .where('created_at', '>=', p.since)
    .where('state', '<>', 'skipped'),
);

const countWaiting = statement((builder, _: object) =>
  builder
    .selectFrom('notification_deliveries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('state', '=', 'waiting'),
);

const countWaitingFor = statement((builder, p: { account_id: number; channel: string; target_id: number }) =>
  builder
    .selectFrom('notification_deliveries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('state', '=', 'waiting')
    .where('channel', '=', p.channel as DeliveryRow['channel'])
    .where('account_id', '=', p.account_id)
    .where('target_id', '=', p.target_id),
);

const firstDue = statement((builder, p: { now: number }) =>
  builder
    .selectFrom('notification_deliveries')
    .select('id')
    .where('state', '=', 'waiting')
    .where('next_at', '<=', p.now)
    .limit(int(1)),
);

const invitationsToAnnounce = statement((builder, p: { limit: number }) =>
  builder
    .selectFrom('invitation_notices')
    .innerJoin('invitations', 'invitations.id', 'invitation_notices.invitation_id')
    .innerJoin('accounts', 'accounts.name', 'invitations.name')
    .innerJoin('domains', 'domains.id', 'invitations.domain_id')
    .select([
      'invitations.id',
      'invitations.domain_id',
      'invitations.role',
      'invitations.expires_at',
      'accounts.id as account_id',
      'domains.name as domain',
    ])
    .orderBy('invitations.id')
    .limit(p.limit),
);

/** Notifications by account, and their deliveries. */
export function notificationReads(session: Session) {
  return {
    /** Newest first; `unread`: those that were not read. */
    list(
      accountId: number,
      { before = NEWEST, limit, unread }: PageBack & { readonly unread: boolean },
    ): Promise<readonly NotificationRow[]> {
      const page = { account_id: accountId, before, limit };
      return unread ? listUnread(session, page) : list(session, page);
    },
    async countUnread(accountId: number): Promise<number> {
      return (await one(session, countUnread, { account_id: accountId }))!.count;
    },
    get: (accountId: number, id: number): Promise<NotificationRow | null> =>
      one(session, get, { account_id: accountId, id }),
    /** The deliveries of these notifications, by id. */
    deliveriesOf: (ids: readonly number[]): Promise<readonly DeliveryRow[]> =>
      deliveriesOf(session, { ids: JSON.stringify(ids) }),
    /** The time of the newest such notification; `null`: no such notification is stored. */
    async lastTo({ account_id, domain_id, kind }: NoticeQuestion): Promise<number | null> {
      const row = await one(session, lastTo, { account_id, domain_id: domain_id ?? 0, kind });
      return row?.created_at ?? null;
    },
    /** Deliveries of an account on a channel that were created at `since` or later, skipped ones left out. */
    async countDeliveries(question: {
      readonly account_id: number;
      readonly channel: NotifyChannel;
      readonly since: number;
    }): Promise<number> {
      return (await one(session, countDeliveries, question))!.count;
    },
    /** The number of deliveries that wait: for metrics. */
    async countWaiting(): Promise<number> {
      return (await one(session, countWaiting, {}))!.count;
    },
    /** Deliveries to one target that are attempted, or attempted again. */
    async countWaitingFor({
      account_id,
      channel,
      target_id,
    }: Pick<DeliveryRow, 'account_id' | 'channel' | 'target_id'>): Promise<number> {
      return (await one(session, countWaitingFor, { account_id, channel, target_id }))!.count;
    },
    /** Whether a delivery is due at `now`. */
    async isDue(now: number): Promise<boolean> {
      return (await one(session, firstDue, { now })) !== null;
    },
    /** Invitations that wait for their notification and name an existing account, with its id; at most `limit`. */
    invitationsToAnnounce: (limit: number): Promise<readonly AnnouncedInvitation[]> =>
      invitationsToAnnounce(session, { limit }),
  };
}
