/** Notifications by account, and the deliveries from them: one row for each target of a notification. */
import { sql } from 'kysely';
import { idsIn, int, one, raw, type Session, statement } from '../database/statement.ts';
import type { DeliveryRow, NotificationRow, NotifyChannel } from '../tables/notifications.ts';

/** A delivery with the notification that it carries. */
export interface ClaimedDelivery extends DeliveryRow {
  readonly notification: NotificationRow;
}

/** The outcome of one attempt. */
export interface DeliveryOutcome
  extends Pick<DeliveryRow, 'id' | 'tries' | 'state' | 'next_at' | 'last_error' | 'delivered_at'> {}

const insert = statement((builder, p: Omit<NotificationRow, 'id'>) =>
  builder
    .insertInto('notifications')
    .values({
      account_id: p.account_id,
      domain_id: p.domain_id,
      domain: p.domain,
      kind: p.kind,
      data_json: p.data_json,
      created_at: p.created_at,
      read_at: p.read_at,
    })
    .returning('id'),
);

/** The notification that `most` newer ones of the account follow, and those before it. */
const removeBeyond = statement((builder, p: { account_id: number; most: number }) =>
  builder
    .deleteFrom('notifications')
    .where('account_id', '=', p.account_id)
    .where('id', '<=', (row) =>
      row
        .selectFrom('notifications as newest')
        .select('newest.id')
        .where('newest.account_id', '=', p.account_id)
        .orderBy('newest.id', 'desc')
        .limit(int(1))
        .offset(p.most),
    ),
);

const addDelivery = statement((builder, p: Omit<DeliveryRow, 'id' | 'leased_until' | 'tries'>) =>
  builder.insertInto('notification_deliveries').values({
    notification_id: p.notification_id,
    account_id: p.account_id,
    channel: p.channel,
    target_id: p.target_id,
    state: p.state,
    tries: int(0),
    created_at: p.created_at,
    next_at: p.next_at,
    leased_until: int(0),
    last_error: p.last_error,
    delivered_at: p.delivered_at,
  }),
);

const markRead = statement((builder, p: { account_id: number; ids: string; at: number }, flavour) =>
  builder
    .updateTable('notifications')
    .set({ read_at: p.at })
    .where('account_id', '=', p.account_id)
    .where('id', 'in', idsIn(p.ids, flavour))
    .where('read_at', 'is', null)
    .returning('id'),
);

const markAllRead = statement((builder, p: { account_id: number; at: number }) =>
  builder
    .updateTable('notifications')
    .set({ read_at: p.at })
    .where('account_id', '=', p.account_id)
    .where('read_at', 'is', null)
    .returning('id'),
);

/** Milliseconds added to two leases: a claim that ends later than that was made by a clock that was ahead, and is void. */
const LONGEST_LEASE_MS = 10_000;

/** The parameters of a claim. */
interface Claim {
  readonly channel: string;
  readonly now: number;
  readonly until: number;
  readonly beyond: number;
  readonly limit: number;
  readonly per_account: number;
}

// `place` 1 is the delivery of a target with the fewest attempts, the oldest of those: one that fails again and again does
// not hold up the target's others. `share` counts what is claimed of the account already. The outer check of the lease is for PostgreSQL, where another process may have claimed
// the row between the choice and the update.
const claim = statement((builder, p: Claim) => {
  const busy = sql`busy.channel = ${p.channel} and busy.state = 'waiting' and busy.account_id = due.account_id
    and busy.leased_until > ${p.now} and busy.leased_until <= ${p.beyond}`;
  const free = sql`(leased_until <= ${p.now} or leased_until > ${p.beyond})`;
  return raw<{ id: number }>(
    sql`update notification_deliveries set leased_until = ${p.until}, tries = tries + 1
      where state = 'waiting' and ${free} and id in (
        select id from (
          select id, next_at, row_number() over (partition by account_id order by next_at, id)
            + (select count(*) from notification_deliveries as busy where ${busy}) as share from (
            select id, account_id, target_id, next_at,
              row_number() over (partition by account_id, target_id order by tries, id) as place
            from notification_deliveries
            where channel = ${p.channel} and state = 'waiting' and next_at <= ${p.now} and ${free}
          ) as due
          where place = 1 and not exists (
            select 1 from notification_deliveries as busy where busy.target_id = due.target_id and ${busy}
          )
        ) as targets
        where share <= ${p.per_account} order by next_at, id limit ${p.limit}
      ) returning id`,
    builder,
  );
});

const claimed = statement((builder, p: { ids: string }, flavour) =>
  builder
    .selectFrom('notification_deliveries as delivery')
    .innerJoin('notifications', 'notifications.id', 'delivery.notification_id')
    .selectAll('delivery')
    .select([
      'notifications.domain_id',
      'notifications.domain',
      'notifications.kind',
      'notifications.data_json',
      'notifications.created_at as notified_at',
      'notifications.read_at',
    ])
    .where('delivery.id', 'in', idsIn(p.ids, flavour))
    .orderBy('delivery.id'),
);

/** `tries` identifies the claim: a later one has more. */
const settle = statement((builder, p: DeliveryOutcome) =>
  builder
    .updateTable('notification_deliveries')
    .set({
      state: p.state,
      next_at: p.next_at,
      leased_until: int(0),
      last_error: p.last_error,
      delivered_at: p.delivered_at,
    })
    .where('id', '=', p.id)
    .where('tries', '=', p.tries)
    .where('state', '=', 'waiting'),
);

const postpone = statement(
  (builder, p: { account_id: number; channel: string; target_id: number; until: number }) =>
    builder
      .updateTable('notification_deliveries')
      .set({ next_at: p.until })
      .where('account_id', '=', p.account_id)
      .where('channel', '=', p.channel as DeliveryRow['channel'])
      .where('target_id', '=', p.target_id)
      .where('state', '=', 'waiting')
      .where('next_at', '<', p.until),
);

const hasten = statement(
  (builder, p: { account_id: number; channel: string; target_id: number; now: number }) =>
    builder
      .updateTable('notification_deliveries')
      .set({ next_at: p.now })
      .where('account_id', '=', p.account_id)
      .where('channel', '=', p.channel as DeliveryRow['channel'])
      .where('target_id', '=', p.target_id)
      .where('state', '=', 'waiting')
      .where('next_at', '>', p.now),
);

const prune = statement((builder, p: { before: number; limit: number }) =>
  builder
    .deleteFrom('notifications')
    .where('id', 'in', (row) =>
      row
        .selectFrom('notifications as old')
        .select('old.id')
        .where('old.created_at', '<', p.before)
        .orderBy('old.created_at')
        .limit(p.limit),
    )
    .returning('id'),
);

/** No row if the loss was recorded; of two processes, the second one's. */
const recordLoss = statement((builder, p: { node_id: number; seen_at: number }) =>
  builder
    .insertInto('node_losses')
    .values({ node_id: p.node_id, seen_at: p.seen_at })
    .onConflict((conflict) =>
      conflict
        .column('node_id')
        .doUpdateSet({ seen_at: p.seen_at })
        .where('node_losses.seen_at', '<>', p.seen_at),
    )
    .returning('node_id'),
);

const queueInvitation = statement((builder, p: { id: number }) =>
  builder
    .insertInto('invitation_notices')
    .values({ invitation_id: p.id })
    .onConflict((conflict) => conflict.column('invitation_id').doNothing()),
);

const takeInvitation = statement((builder, p: { id: number }) =>
  builder.deleteFrom('invitation_notices').where('invitation_id', '=', p.id).returning('invitation_id'),
);

/** A row of `claimed`. */
interface ClaimedRow extends DeliveryRow {
  readonly domain_id: number | null;
  readonly domain: string;
  readonly kind: string;
  readonly data_json: string;
  readonly notified_at: number;
  readonly read_at: number | null;
}

/** Separates the columns of the notification from those of its delivery. */
function withNotification(row: ClaimedRow): ClaimedDelivery {
  const { domain_id, domain, kind, data_json, notified_at, read_at, ...delivery } = row;
  const { notification_id: id, account_id } = delivery;
  const notification = {
    id,
    account_id,
    domain_id,
    domain,
    kind,
    data_json,
    created_at: notified_at,
    read_at,
  };
  return { ...delivery, notification };
}

/** Changes of notifications and of their deliveries. */
export function notificationWrites(session: Session) {
  return {
    /** Inserts a notification, and removes the oldest ones of the account beyond `most`. */
    async insert(notification: Omit<NotificationRow, 'id'>, most: number): Promise<NotificationRow> {
      const [row] = await insert(session, notification);
      await removeBeyond(session, { account_id: notification.account_id, most });
      return { ...notification, id: row!.id };
    },
    async addDeliveries(
      deliveries: readonly Omit<DeliveryRow, 'id' | 'leased_until' | 'tries'>[],
    ): Promise<void> {
      for (const delivery of deliveries) await addDelivery(session, delivery);
    },
    /** Marks notifications of the account as read, all of them without `ids`; returns how many were unread. */
    async markRead(
      accountId: number,
      { ids, at }: { readonly ids: readonly number[] | null; readonly at: number },
    ): Promise<number> {
      const rows =
        ids === null
          ? await markAllRead(session, { account_id: accountId, at })
          : await markRead(session, { account_id: accountId, ids: JSON.stringify(ids), at });
      return rows.length;
    },
    /**
     * Claims due deliveries of a channel until `until`, the longest due first: one for each target, none for a target with a
     * claimed delivery, at most `perAccount` of an account with those that are claimed already. Counts an attempt of each. A claim that ends later than two
     * leases and 10 seconds from `now` is void: its clock was ahead.
     */
    async claim({
      channel,
      now,
      until,
      limit,
      perAccount,
    }: {
      readonly channel: NotifyChannel;
      readonly now: number;
      readonly until: number;
      readonly limit: number;
      readonly perAccount: number;
    }): Promise<readonly ClaimedDelivery[]> {
      const beyond = now + 2 * (until - now) + LONGEST_LEASE_MS;
      const rows = await claim(session, { channel, now, until, beyond, limit, per_account: perAccount });
      if (rows.length === 0) return [];
      const full = await claimed(session, { ids: JSON.stringify(rows.map(({ id }) => id)) });
      return full.map(withNotification);
    },
    /** Ends a claim with its outcome; nothing where another process has claimed the delivery since. */
    async settle(outcome: DeliveryOutcome): Promise<void> {
      await settle(session, outcome);
    },
    /** Moves the other waiting deliveries of a target to `until`, unless they are due later. */
    async postpone(
      { account_id, channel, target_id }: Pick<DeliveryRow, 'account_id' | 'channel' | 'target_id'>,
      until: number,
    ): Promise<void> {
      await postpone(session, { account_id, channel, target_id, until });
    },
    /** Makes the waiting deliveries of a target due at `now`: it has answered again. */
    async hasten(
      { account_id, channel, target_id }: Pick<DeliveryRow, 'account_id' | 'channel' | 'target_id'>,
      now: number,
    ): Promise<void> {
      await hasten(session, { account_id, channel, target_id, now });
    },
    /** Removes notifications from before `before`, with their deliveries, at most `limit`. Returns how many. */
    async prune(before: number, limit: number): Promise<number> {
      return (await prune(session, { before, limit })).length;
    },
    /** Records that a node was last seen at `seenAt` and is lost: true unless that was recorded before. */
    async recordLoss(nodeId: number, seenAt: number): Promise<boolean> {
      return (await one(session, recordLoss, { node_id: nodeId, seen_at: seenAt })) !== null;
    },
    /** Queues an invitation for `invitationsToAnnounce`, whether or not its account exists. */
    async queueInvitation(invitationId: number): Promise<void> {
      await queueInvitation(session, { id: invitationId });
    },
    /** Ends the wait of an invitation: true when it waited. */
    async takeInvitation(invitationId: number): Promise<boolean> {
      return (await one(session, takeInvitation, { id: invitationId })) !== null;
    },
  };
}
