/** The feed of an account's notifications: what happened to its domains, keys and nodes, and how it was delivered. */
import { z } from 'zod';
import { id as idField, list as listOf } from '../../model/fields.ts';
import { crossCheck, form } from '../../model/form.ts';
import { SEVERITIES } from '../../notify/kind.ts';
import { publicId, readNotification } from '../../notify/kinds.ts';
import { MAX_FEED_PAGE, MAX_PER_HOUR, MAX_READ_IDS, USUAL_FEED_PAGE } from '../../notify/limits.ts';
import { notify } from '../../notify/notify.ts';
import {
  DELIVERY_STATES,
  type DeliveryRow,
  NOTIFY_CHANNELS,
  type NotificationRow,
} from '../../store/rows.ts';
import type { ReadTransaction } from '../../store/store.ts';
import { timeText } from '../domain-shape.ts';
import { idOf } from '../paths.ts';
import { queryNumber } from '../query.ts';
import { formBody } from '../read-body.ts';
import { notFound } from '../refusal.ts';
import { message, ok, operation } from '../route.ts';
import { messageShape } from '../shapes.ts';

/** How a notification reached one target. */
const DELIVERY = z
  .object({
    channel: z.enum(NOTIFY_CHANNELS).describe('how it is sent'),
    webhook_id: z.int().nullable().describe('the webhook; `null`: the address or number of the account'),
    state: z
      .enum(DELIVERY_STATES)
      .describe('`waiting`: it is attempted, or attempted again; `skipped`: it is not attempted'),
    tries: z.int().describe('attempts so far'),
    next_at: z.iso.datetime().nullable().describe('the next attempt; `null`: none'),
    delivered_at: z.iso.datetime().nullable().describe('when the target accepted it; `null`: not yet'),
    error: z
      .string()
      .nullable()
      .describe('why the last attempt failed, or it was skipped; `null`: nothing failed'),
  })
  .meta({ id: 'NotificationDelivery' });

/** One entry of the feed. */
const NOTIFICATION = z
  .object({
    id: z.int().describe('the id of the notification; later ones have higher ids'),
    message_id: z
      .string()
      .describe('the id that e-mails, SMS and webhooks carry, the same at each attempt')
      .meta({ examples: ['ntf_17_mi3x2k1s'] }),
    kind: z
      .string()
      .describe('what happened')
      .meta({ examples: ['domain.activated'] }),
    severity: z.enum(SEVERITIES).describe('`critical`: act now; `warning`: act soon; `info`: nothing to do'),
    domain: z.string().nullable().describe('the domain that it is about; `null`: none'),
    message: z.string().describe('what happened, as one line'),
    text: z.array(z.string()).describe('the details, a paragraph each'),
    actions: z.array(z.string()).describe('what to do, in order; empty: nothing'),
    data: z.record(z.string(), z.unknown()).describe('the details as fields, which differ by kind'),
    created_at: z.iso.datetime().describe('when it happened'),
    read_at: z.iso.datetime().nullable().describe('when it was marked as read; `null`: it is unread'),
    deliveries: z.array(DELIVERY).describe('how it was sent; empty: it is in the feed only'),
  })
  .meta({ id: 'Notification' });

/** A time, or `null`. */
function time(at: number | null): string | null {
  return at === null ? null : timeText(at);
}

/** A delivery in the form of the API. */
function showDelivery(row: DeliveryRow): z.output<typeof DELIVERY> {
  return {
    channel: row.channel,
    webhook_id: row.channel === 'webhook' ? row.target_id : null,
    state: row.state,
    tries: row.tries,
    next_at: row.state === 'waiting' ? timeText(row.next_at) : null,
    delivered_at: time(row.delivered_at),
    error: row.last_error === '' ? null : row.last_error,
  };
}

/** Notifications in the form of the API, with their deliveries. */
async function show(
  tx: ReadTransaction,
  rows: readonly NotificationRow[],
): Promise<z.output<typeof NOTIFICATION>[]> {
  const deliveries = rows.length === 0 ? [] : await tx.notifications.deliveriesOf(rows.map(({ id }) => id));
  return rows.map((row) => {
    const { kind, data, letter } = readNotification(row);
    return {
      id: row.id,
      message_id: publicId(row),
      kind: row.kind,
      severity: kind?.severity ?? 'info',
      domain: row.domain === '' ? null : row.domain,
      message: letter.headline,
      text: [...letter.paragraphs],
      actions: [...letter.steps],
      data: data as Record<string, unknown>,
      created_at: timeText(row.created_at),
      read_at: time(row.read_at),
      deliveries: deliveries.filter(({ notification_id }) => notification_id === row.id).map(showDelivery),
    };
  });
}

/** `GET /notifications/`: newest first, page by page. */
export const list = operation({
  summary: 'Notifications of the account, newest first; `cursor` is the `next_cursor` of the page before',
  query: z.object({
    unread: z.enum(['true', 'false']).optional().describe('`true`: only those that are unread'),
    cursor: queryNumber(1, Number.MAX_SAFE_INTEGER).describe('where to go on'),
    limit: queryNumber(1, MAX_FEED_PAGE).describe(`notifications, at most; without it ${USUAL_FEED_PAGE}`),
  }),
  response: z.object({
    notifications: z.array(NOTIFICATION),
    next_cursor: z.int().nullable().describe('the `cursor` of the next page; `null`: this is the last one'),
    unread: z.int().describe('unread notifications of the account, on all pages'),
  }),
  async handle({ caller, query, read }) {
    const {
      unread,
      cursor,
      limit = USUAL_FEED_PAGE,
    } = query as {
      readonly unread?: 'true' | 'false';
      readonly cursor?: number;
      readonly limit?: number;
    };
    return read(async (tx) => {
      const page = {
        limit: limit + 1,
        unread: unread === 'true',
        ...(cursor === undefined ? {} : { before: cursor }),
      };
      const found = await tx.notifications.list(caller.account_id, page);
      const rows = found.slice(0, limit);
      return ok({
        notifications: await show(tx, rows),
        next_cursor: found.length > limit ? rows.at(-1)!.id : null,
        unread: await tx.notifications.countUnread(caller.account_id),
      });
    });
  },
});

/** `PATCH /notifications/{notificationId}/read`: the same answer when it was read before. */
export const markRead = operation({
  summary: 'Mark a notification as read',
  response: NOTIFICATION,
  async handle({ caller: { account_id }, params, write }) {
    const id = idOf(params['notificationId']);
    return write(async (w) => {
      const before = await w.tx.notifications.get(account_id, id);
      if (before === null) throw notFound();
      if (w.conditional) w.match((await show(w.tx, [before]))[0]);
      await w.tx.notifications.markRead(account_id, { ids: [id], at: w.now });
      const after = { ...before, read_at: before.read_at ?? w.now };
      return ok((await show(w.tx, [after]))[0]);
    });
  },
});

/** The form of `POST /notifications/read`: ids, or all. */
const readForm = form({
  fields: {
    ids: listOf(idField(), MAX_READ_IDS).optional().describe('the notifications; instead of `all`'),
    all: z.literal(true).optional().describe('every notification of the account; instead of `ids`'),
  },
  ignored: [],
  checks: [
    crossCheck<{ readonly ids?: readonly number[]; readonly all?: true }>(
      ['ids', 'all'],
      ({ ids, all }, scope) => {
        if ((ids === undefined) === (all === undefined))
          scope.error([], { code: 'missing_field', message: 'must have either `ids` or `all`', found: null });
      },
    ),
  ],
  finish: ({ ids }): { readonly ids: readonly number[] | null } => ({ ids: ids ?? null }),
});

/** `POST /notifications/read`: ids of other accounts, and those that are gone, are left out. */
export const markManyRead = operation({
  summary: 'Mark several notifications as read, or all of them',
  body: formBody(readForm),
  response: messageShape,
  async handle({ body: { ids }, caller: { account_id }, write }) {
    return write(async (w) => {
      const marked = await w.tx.notifications.markRead(account_id, { ids, at: w.now });
      return message(`${marked} notification${marked === 1 ? '' : 's'} marked as read`);
    });
  },
});

/** `POST /notifications/test`: a notification on every channel that the account has. */
export const test = operation({
  summary: `Send a test to every contact of the account; at most ${MAX_PER_HOUR.email} e-mails and ${MAX_PER_HOUR.sms} SMS an hour`,
  response: NOTIFICATION,
  status: 202,
  async handle({ caller: { account_id }, write }) {
    return write(async (w) => {
      const [row] = await notify(w.tx, {
        kind: 'account.test',
        data: {},
        domain: null,
        account_id,
        now: w.now,
      });
      return ok((await show(w.tx, [row!]))[0]);
    });
  },
});
