/**
 * Notifications, and where an account gets which of them, as answers of the API: their schemas, and how rows become
 * them.
 */
import { z } from 'zod';
import { timeText } from '../../base/text/time.ts';
import type { ReadTransaction } from '../store/store.ts';
import {
  type ContactRow,
  DELIVERY_STATES,
  type DeliveryRow,
  NOTIFY_CHANNELS,
  type NotificationRow,
  type WebhookRow,
} from '../store/tables/notifications.ts';
import type { ContactChannel } from './contact.ts';
import { SEVERITIES } from './kind.ts';
import { KIND_NAMES, KINDS, publicId, readNotification } from './kinds.ts';
import { allChoices } from './notify.ts';

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
export const NOTIFICATION = z
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
    text: z.array(z.string()).describe('the details, a paragraph each; what a person wrote has its lines'),
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
export async function showNotifications(
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
      text: [...letter.paragraphs, ...(letter.written ?? []).map(({ lines }) => lines.join('\n'))],
      actions: [...letter.steps],
      data: data as Record<string, unknown>,
      created_at: timeText(row.created_at),
      read_at: time(row.read_at),
      deliveries: deliveries.filter(({ notification_id }) => notification_id === row.id).map(showDelivery),
    };
  });
}

/** An address in the form of the API. */
const ADDRESS = z.object({
  address: z.string().nullable().describe('where notifications are sent; `null`: nowhere'),
  pending: z.string().nullable().describe('an address that waits for its code; `null`: none'),
  code_expires_at: z.iso
    .datetime()
    .nullable()
    .describe('until when the code is valid; `null`: none was sent'),
});

/** The addresses of an account. */
export const CONTACT = z
  .object({
    email: ADDRESS.describe('the e-mail address'),
    phone: ADDRESS.describe('the phone number for SMS'),
    operator: z
      .boolean()
      .describe('whether the account receives what concerns operators, such as `node.lost`'),
  })
  .meta({ id: 'NotificationContact' });

/** The channel of each field. */
export const CONTACT_CHANNELS = { email: 'email', phone: 'sms' } as const satisfies Record<
  string,
  ContactChannel
>;
/** A field of the contact. */
export type ContactField = keyof typeof CONTACT_CHANNELS;

/** One address in the form of the API. */
function showAddress(row: ContactRow | undefined): z.output<typeof ADDRESS> {
  const pending = row === undefined || row.pending === '' ? null : row;
  return {
    address: row === undefined || row.address === '' ? null : row.address,
    pending: pending?.pending ?? null,
    code_expires_at: pending === null ? null : timeText(pending.code_expires_at),
  };
}

/** The addresses of an account in the form of the API. */
export async function showContact(tx: ReadTransaction, accountId: number): Promise<z.output<typeof CONTACT>> {
  const rows = await tx.contacts.list(accountId);
  const operators = await tx.contacts.operators();
  return {
    email: showAddress(rows.find(({ channel }) => channel === 'email')),
    phone: showAddress(rows.find(({ channel }) => channel === 'sms')),
    operator: operators.includes(accountId),
  };
}

/** A webhook without its secret. */
export const WEBHOOK = z
  .object({
    id: z.int().describe('the id of the webhook'),
    url: z
      .string()
      .describe('where notifications are sent')
      .meta({ examples: ['https://hooks.example.com/edgeplan'] }),
    created_at: z.iso.datetime().describe('when it was added'),
  })
  .meta({ id: 'Webhook' });

/** A webhook with its secret, in the answer to its creation alone. */
export const NEW_WEBHOOK = WEBHOOK.extend({
  secret: z
    .string()
    .describe('the key of its signatures (Standard Webhooks); it is shown only here')
    .meta({ examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='] }),
}).meta({ id: 'NewWebhook' });

/** A webhook in the form of the API. */
export function showWebhook({ id, url, created_at }: WebhookRow): z.output<typeof WEBHOOK> {
  return { id, url, created_at: timeText(created_at) };
}

/** The channels of one kind. */
const PREFERENCE = z
  .object({
    kind: z.enum(KIND_NAMES).describe('the kind of notification'),
    meaning: z.string().describe('what it reports'),
    severity: z.enum(SEVERITIES).describe('how urgent it is'),
    email: z.boolean().nullable().describe('whether it is sent by e-mail; `null`: never'),
    sms: z.boolean().nullable().describe('whether it is sent by SMS, where the plan has it; `null`: never'),
    webhook: z.boolean().nullable().describe('whether it is sent to webhooks; `null`: never'),
  })
  .meta({ id: 'NotificationPreference' });

/** The preferences of an account. */
export const PREFERENCES = z.object({ preferences: z.array(PREFERENCE) });

/** The preferences of an account in the form of the API. */
export async function showPreferences(
  tx: ReadTransaction,
  accountId: number,
): Promise<z.output<typeof PREFERENCES>> {
  const choices = allChoices(await tx.contacts.preferences(accountId));
  return {
    preferences: choices.map(({ kind, channels }) => {
      const { meaning, severity } = KINDS[kind];
      return { kind, meaning, severity, ...channels };
    }),
  };
}
