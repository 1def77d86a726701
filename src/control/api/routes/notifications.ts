/** The feed of an account's notifications: what happened to its domains, keys and nodes, and how it was delivered. */
import { z } from 'zod';
import { id as idField, list as listOf } from '../../../rules/model/fields.ts';
import { crossCheck, form } from '../../../rules/model/form.ts';
import { MAX_FEED_PAGE, MAX_PER_HOUR, MAX_READ_IDS, USUAL_FEED_PAGE } from '../../notices/limits.ts';
import { notify } from '../../notices/notify.ts';
import { NOTIFICATION, showNotifications } from '../../notices/shapes.ts';
import { formBody, idOf, queryNumber } from '../operation/read-request.ts';
import { notFound } from '../operation/refusal.ts';
import { message, ok, operation } from '../operation/route.ts';
import { messageShape } from '../operation/shapes.ts';

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
        notifications: await showNotifications(tx, rows),
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
      if (w.conditional) w.match((await showNotifications(w.tx, [before]))[0]);
      await w.tx.notifications.markRead(account_id, { ids: [id], at: w.now });
      const after = { ...before, read_at: before.read_at ?? w.now };
      return ok((await showNotifications(w.tx, [after]))[0]);
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
      return ok((await showNotifications(w.tx, [row!]))[0]);
    });
  },
});
