/** How an account is notified besides its addresses: its webhooks, and which kinds go out on which channel. */
import { z } from 'zod';
import { filledText, list as listOf } from '../../../rules/model/fields.ts';
import { form } from '../../../rules/model/form.ts';
import { KIND_NAMES } from '../../notices/kinds.ts';
import { MAX_URL_CHARACTERS, MAX_WEBHOOKS } from '../../notices/limits.ts';
import { type PreferenceChange, preferenceRows } from '../../notices/preferences.ts';
import {
  NEW_WEBHOOK,
  PREFERENCES,
  showPreferences,
  showWebhook,
  WEBHOOK,
} from '../../notices/show-settings.ts';
import { judgeWebhookUrl, newWebhookSecret } from '../../notices/webhook.ts';
import { idOf } from '../operation/paths.ts';
import { formBody } from '../operation/read-body.ts';
import { badRequest, conflict, notFound } from '../operation/refusal.ts';
import { message, ok, operation } from '../operation/route.ts';
import { messageShape } from '../operation/shapes.ts';

/** `GET /webhooks/`. */
export const webhooks = operation({
  summary: 'Webhooks of the account',
  response: z.array(WEBHOOK),
  async handle({ caller, latest }) {
    return ok((await latest.contacts.webhooks(caller.account_id)).map(showWebhook));
  },
});

/** The form of a new webhook. */
const webhookForm = form({
  fields: {
    url: filledText(MAX_URL_CHARACTERS).describe('http or https; redirects are not followed'),
  },
  ignored: [],
  finish: (values) => values,
});

/** `POST /webhooks/`: signed by the Standard Webhooks scheme. */
export const addWebhook = operation({
  summary: `Add a webhook, at most ${MAX_WEBHOOKS}; requests are signed by the Standard Webhooks scheme`,
  body: formBody(webhookForm),
  response: NEW_WEBHOOK,
  statuses: [409],
  async handle({ body: { url }, caller: { account_id }, write }) {
    return write(async (w) => {
      const problem = judgeWebhookUrl(url, w.specialOrigin);
      if (problem !== null) throw badRequest(`url: ${problem}`);
      const present = await w.tx.contacts.webhooks(account_id);
      if (present.some((row) => row.url === url)) throw conflict('the account has a webhook with this URL');
      if (present.length >= MAX_WEBHOOKS)
        throw conflict(
          `the account has ${present.length} webhooks, and ${MAX_WEBHOOKS} is the most: remove one first`,
        );
      const secret = newWebhookSecret();
      const row = await w.tx.contacts.insertWebhook({ account_id, url, secret, created_at: w.now });
      return ok({ ...showWebhook(row), secret });
    });
  },
});

/** `DELETE /webhooks/{webhookId}`: what waits for it is skipped. */
export const removeWebhook = operation({
  summary: 'Remove a webhook',
  response: messageShape,
  async handle({ caller: { account_id }, params, write }) {
    const id = idOf(params['webhookId']);
    return write(async (w) => {
      const row = await w.tx.contacts.webhook(account_id, id);
      if (row === null) throw notFound();
      w.match(showWebhook(row));
      await w.tx.contacts.removeWebhook(account_id, id);
      return message('webhook removed');
    });
  },
});

/** `GET /notifications/preferences`. */
export const preferences = operation({
  summary: 'Which notifications go out on which channel; the feed has all of them',
  response: PREFERENCES,
  async handle({ caller, read }) {
    return read(async (tx) => ok(await showPreferences(tx, caller.account_id)));
  },
});

/** A channel of a change: absent and `null` change nothing. */
const channel = z.boolean().nullable().optional();

/** The form of a change of preferences. */
const preferencesForm = form({
  fields: {
    preferences: listOf(
      z.strictObject({
        kind: z.enum(KIND_NAMES).describe('the kind of notification'),
        email: channel.describe('send it by e-mail'),
        sms: channel.describe('send it by SMS'),
        webhook: channel.describe('send it to webhooks'),
        meaning: z.string().optional().describe('ignored'),
        severity: z.string().optional().describe('ignored'),
      }),
      KIND_NAMES.length,
    ).describe('the kinds to change; others stay'),
  },
  ignored: [],
  finish: ({ preferences: changes }): readonly PreferenceChange[] =>
    changes.map(({ kind, email, sms, webhook }) => ({ kind, channels: { email, sms, webhook } })),
});

/** `PUT /notifications/preferences`: the named channels of the named kinds; the rest stays. */
export const changePreferences = operation({
  summary: 'Choose which notifications go out on which channel',
  body: formBody(preferencesForm),
  response: PREFERENCES,
  async handle({ body, caller: { account_id }, write }) {
    return write(async (w) => {
      if (w.conditional) w.match(await showPreferences(w.tx, account_id));
      for (const [at, change] of body.entries()) {
        const result = preferenceRows(account_id, change);
        if ('never' in result)
          throw badRequest(
            `preferences[${at}].${result.never}: \`${change.kind}\` never goes out on this channel`,
          );
        for (const row of result.rows) await w.tx.contacts.putPreference(row);
      }
      return ok(await showPreferences(w.tx, account_id));
    });
  },
});
