/**
 * How an account is notified: its addresses, its webhooks, and which kinds go out on which channel. An address that an
 * account sets gets a code, and is in use once the account has sent the code back.
 */
import { z } from 'zod';
import { filledText, list as listOf } from '../../../rules/model/fields.ts';
import { form } from '../../../rules/model/form.ts';
import { checkCode, emptyContact, readAddress, requestCode } from '../../notices/contact.ts';
import { includesSms } from '../../notices/deliver.ts';
import { KIND_NAMES } from '../../notices/kinds.ts';
import { CODE_MS, MAX_CODE_TRIES, MAX_URL_CHARACTERS, MAX_WEBHOOKS } from '../../notices/limits.ts';
import { type PreferenceChange, preferenceRows } from '../../notices/notify.ts';
import { judgeWebhookUrl, newWebhookSecret } from '../../notices/outlets.ts';
import {
  CONTACT,
  CONTACT_CHANNELS,
  type ContactField,
  NEW_WEBHOOK,
  PREFERENCES,
  showContact,
  showPreferences,
  showWebhook,
  WEBHOOK,
} from '../../notices/shapes.ts';
import { formBody, idOf } from '../operation/read-request.ts';
import { badRequest, conflict, forbidden, notFound, Refusal } from '../operation/refusal.ts';
import { message, ok, operation, type Services, type Writing } from '../operation/route.ts';
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

/** `GET /notifications/contact`. */
export const contact = operation({
  summary: 'The e-mail address and the phone number that notifications are sent to',
  response: CONTACT,
  async handle({ caller, read }) {
    return read(async (tx) => ok(await showContact(tx, caller.account_id)));
  },
});

/** The form of a change of one address. */
const contactForm = form({
  fields: {
    email: filledText(254)
      .nullable()
      .optional()
      .describe('a new address, which gets a code; `null` removes it'),
    phone: filledText(32)
      .nullable()
      .optional()
      .describe('a new number, which gets a code; `null` removes it'),
  },
  ignored: ['operator'],
  finish: (values) => values,
});

/** A code that is to be sent once the change is committed. */
interface PendingCode {
  readonly field: ContactField;
  readonly to: string;
  readonly account: string;
  readonly code: string;
}

/** Sets or removes one address. Returns the code to send; `null`: none. @throws Refusal */
async function changeAddress(
  w: Writing,
  services: Services,
  { field, value }: { readonly field: ContactField; readonly value: string | null },
): Promise<PendingCode | null> {
  const { tx, now, author } = w;
  const account_id = author.account_id!;
  const channel = CONTACT_CHANNELS[field];
  if (value === null) {
    await tx.contacts.remove(account_id, channel);
    return null;
  }
  const read = readAddress(channel, value);
  if ('problem' in read) throw badRequest(`${field}: ${read.problem}`);
  const before = (await tx.contacts.get(account_id, channel)) ?? emptyContact(account_id, channel);
  if (before.address === read.address) return null;
  if (!services.codes?.[channel])
    throw conflict(`this server sends no ${channel === 'sms' ? 'SMS' : 'e-mail'}`);
  const question = { account_id, domain_id: null, tier: services.tier, clock: services.clock };
  if (channel === 'sms' && !(await includesSms(tx, question)))
    throw forbidden('no domain of this account has a plan with SMS');
  const requested = requestCode(before, read.address, now);
  if (!requested.ok) {
    const seconds = Math.ceil(requested.waitMs / 1_000);
    const sentence = `${field}: a code was sent before; another one can be sent in ${seconds} s`;
    throw new Refusal(429, sentence, { 'retry-after': String(seconds) });
  }
  await tx.contacts.put(requested.row);
  const account = (await tx.accounts.get(account_id))?.name ?? '';
  return { field, to: read.address, account, code: requested.code };
}

/** Sends a code. @throws Refusal 503 where the outlet fails; the address waits for its code then */
async function sendCode(services: Services, { field, to, account, code }: PendingCode): Promise<void> {
  const id = `code_${services.clock().toString(36)}_${field}`;
  const outcome = await services.codes?.[CONTACT_CHANNELS[field]]?.({ to, account, code, id });
  if (outcome === undefined || outcome.kind === 'delivered') return;
  throw new Refusal(503, `${field}: the code could not be sent: ${outcome.reason}; set the address again`, {
    'retry-after': '60',
  });
}

/** `PUT /notifications/contact`: an address is in use once its code was sent back (`confirmContact`). */
export const changeContact = operation({
  summary: `Set an address; it gets a code, valid for ${CODE_MS / 60_000} minutes, and is in use once the code was sent back`,
  body: formBody(contactForm),
  response: CONTACT,
  statuses: [409, 429],
  async handle({ body, caller: { account_id }, services, validateOnly, write }) {
    const { answer, codes } = await write(async (w) => {
      if (w.conditional) w.match(await showContact(w.tx, account_id));
      const changes: PendingCode[] = [];
      for (const field of ['email', 'phone'] as const) {
        const value = body[field];
        const code = value === undefined ? null : await changeAddress(w, services, { field, value });
        if (code !== null) changes.push(code);
      }
      return { answer: await showContact(w.tx, account_id), codes: changes };
    });
    // Sent after the commit: a code that is not stored cannot be sent back.
    for (const code of validateOnly ? [] : codes) await sendCode(services, code);
    return ok(answer);
  },
});

/** The form of a code that is sent back. */
const confirmForm = form({
  fields: {
    field: z.enum(['email', 'phone']).describe('the address that got the code'),
    code: filledText(16)
      .describe('the code')
      .meta({ examples: ['04711815'] }),
  },
  ignored: [],
  finish: (values) => values,
});

/** `POST /notifications/contact/confirm`. */
export const confirmContact = operation({
  summary: `Confirm an address by its code; void after ${MAX_CODE_TRIES} wrong ones`,
  body: formBody(confirmForm),
  response: CONTACT,
  statuses: [409],
  async handle({ body: { field, code }, caller: { account_id }, write }) {
    const checked = await write(async (w) => {
      const channel = CONTACT_CHANNELS[field];
      const before = (await w.tx.contacts.get(account_id, channel)) ?? emptyContact(account_id, channel);
      const { row, problem } = checkCode(before, code, w.now);
      await w.tx.contacts.put(row);
      return { problem, answer: await showContact(w.tx, account_id) };
    });
    // Thrown after the commit, which counts the wrong code.
    if (checked.problem !== null) throw conflict(`${field}: ${checked.problem}`);
    return ok(checked.answer);
  },
});
