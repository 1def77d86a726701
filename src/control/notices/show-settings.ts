/** Where an account is notified and of what, as answers of the API: their schemas, and how rows become them. */
import { z } from 'zod';
import { timeText } from '../../base/text/time.ts';
import type { ContactRow, WebhookRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';
import type { ContactChannel } from './contact.ts';
import { SEVERITIES } from './kind.ts';
import { KIND_NAMES, KINDS } from './kinds.ts';
import { allChoices } from './preferences.ts';

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
