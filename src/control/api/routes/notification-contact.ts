/**
 * The addresses that an account is notified at. An address that an account sets gets a code, and is in use once the account
 * has sent the code back.
 */
import { z } from 'zod';
import { filledText } from '../../../rules/model/fields.ts';
import { form } from '../../../rules/model/form.ts';
import { checkCode, emptyContact, readAddress, requestCode } from '../../notices/contact.ts';
import { includesSms } from '../../notices/deliver.ts';
import { CODE_MS, MAX_CODE_TRIES } from '../../notices/limits.ts';
import { CONTACT, CONTACT_CHANNELS, type ContactField, showContact } from '../../notices/show-settings.ts';
import { formBody } from '../operation/read-body.ts';
import { badRequest, conflict, forbidden, Refusal } from '../operation/refusal.ts';
import { ok, operation, type Writing } from '../operation/route.ts';
import type { Services } from '../operation/services.ts';

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
