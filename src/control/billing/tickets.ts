/**
 * Support tickets, as customers write them through the API and the operator through the command line. A ticket is `open` while
 * it waits for the operator, `answered` while it waits for its customer, and `closed` when either side has ended it; a message
 * of the customer opens it again. Every tier has tickets: `dedicated_support_enabled` promises direct support besides. In: a
 * transaction and a ticket that was read in it. Out: the ticket after the change with the notification of the other side, or a
 * sentence why it was refused.
 */
import { z } from 'zod';
import { timeText } from '../../base/text/time.ts';
import { checked, filledText, text } from '../../rules/model/fields.ts';
import { form } from '../../rules/model/form.ts';
import { isOneLine } from '../accounts/keys.ts';
import type { NamedTicket } from '../store/repositories/tickets.ts';
import type { WriteTransaction } from '../store/store.ts';
import {
  TICKET_AUTHORS,
  TICKET_STATUSES,
  type TicketAuthor,
  type TicketMessageRow,
  type TicketRow,
} from '../store/tables/billing.ts';
import {
  CLOSED_TICKET_MS,
  MAX_ANSWERED_MESSAGES,
  MAX_MESSAGES_PER_DAY,
  MAX_OPEN_TICKETS,
  MAX_SUBJECT,
  MAX_TICKET_MESSAGE,
  MAX_TICKET_MESSAGES,
  MESSAGES_PERIOD_MS,
  PRUNED_TICKETS,
} from './limits.ts';
import { notifyTicketAnswered, notifyTicketClosed, notifyTicketWaits } from './notices.ts';

/** The result of a change, or the sentence of its refusal. */
export type TicketOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/** A ticket with all its messages. */
export interface WholeTicket {
  readonly ticket: TicketRow;
  readonly messages: readonly TicketMessageRow[];
}

function refuse(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}

/** A ticket to open. */
export interface NewTicket {
  readonly account_id: number;
  readonly subject: string;
  readonly message: string;
  /** The name of the domain that it is about; `null`: none. */
  readonly domain: string | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Opens a ticket with its first message. */
export async function openTicket(
  tx: WriteTransaction,
  { account_id, subject, message, domain, now }: NewTicket,
): Promise<TicketOutcome<WholeTicket>> {
  const reason = (await judgeOpen(tx, account_id)) ?? (await judgeRate(tx, account_id, now));
  if (reason !== null) return refuse(reason);
  await tx.tickets.prune(now - CLOSED_TICKET_MS, PRUNED_TICKETS);
  const times = { created_at: now, updated_at: now, closed_at: null };
  const ticket = await tx.tickets.insert({ account_id, domain, subject, status: 'open', ...times });
  const row = { ticket_id: ticket.id, account_id, author: 'customer', body: message } as const;
  const messages = [await tx.tickets.addMessage({ ...row, created_at: now })];
  await notifyTicketWaits(tx, ticket, { actor_id: account_id, now });
  return { ok: true, value: { ticket, messages } };
}

/** The sentence when an account has too many tickets that are not closed; `null`: it has not. */
async function judgeOpen(tx: WriteTransaction, accountId: number): Promise<string | null> {
  if ((await tx.tickets.countOpen(accountId)) < MAX_OPEN_TICKETS) return null;
  return `the account has ${MAX_OPEN_TICKETS} tickets that are not closed, and may not have more; close one first`;
}

/** The sentence when an account has written too much in a day; `null`: it has not. */
async function judgeRate(tx: WriteTransaction, accountId: number, now: number): Promise<string | null> {
  const written = await tx.tickets.countWritten(accountId, now - MESSAGES_PERIOD_MS);
  if (written < MAX_MESSAGES_PER_DAY) return null;
  return `the account has written ${MAX_MESSAGES_PER_DAY} messages in 24 hours, and may not write more; write again later`;
}

/** A message of a customer. */
export interface CustomerMessage {
  readonly account_id: number;
  readonly body: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Adds a message of the customer; a closed ticket is opened again, if the account may have one more. Operators are notified
 * when it did not wait for them before.
 */
export async function writeToTicket(
  tx: WriteTransaction,
  { ticket, messages }: WholeTicket,
  { account_id, body, now }: CustomerMessage,
): Promise<TicketOutcome<WholeTicket>> {
  if (messages.length >= MAX_TICKET_MESSAGES) {
    const most = `the ticket has ${messages.length} messages of at most ${MAX_TICKET_MESSAGES}`;
    return refuse(`${most}; open a new one that names it`);
  }
  const full = ticket.status === 'closed' ? await judgeOpen(tx, account_id) : null;
  const reason = full ?? (await judgeRate(tx, account_id, now));
  if (reason !== null) return refuse(reason);
  const at = timeAfter(ticket, now);
  const row = { ticket_id: ticket.id, account_id, author: 'customer', body, created_at: at } as const;
  const message = await tx.tickets.addMessage(row);
  const after = { ...ticket, status: 'open', updated_at: at, closed_at: null } as const;
  await tx.tickets.update(after);
  if (ticket.status !== 'open') await notifyTicketWaits(tx, after, { actor_id: account_id, now });
  return { ok: true, value: { ticket: after, messages: [...messages, message] } };
}

/**
 * When a ticket changes: now, but not before its last change. The operator's command may run on another machine than the
 * server, and a write may have waited for the other side's.
 */
function timeAfter({ updated_at }: TicketRow, now: number): number {
  return Math.max(updated_at, now);
}

/** Adds the operator's answer, also to a closed ticket, and notifies the account. `now` in milliseconds since the epoch. */
export async function answerTicket(
  tx: WriteTransaction,
  ticket: NamedTicket,
  { body, now }: { readonly body: string; readonly now: number },
): Promise<TicketOutcome<NamedTicket>> {
  const count = (await tx.tickets.messages(ticket.id)).length;
  if (count >= MAX_ANSWERED_MESSAGES)
    return refuse(`the ticket has ${count} messages of at most ${MAX_ANSWERED_MESSAGES}; close it`);
  const at = timeAfter(ticket, now);
  const common = { ticket_id: ticket.id, author: 'operator', created_at: at } as const;
  await tx.tickets.addMessage({ ...common, account_id: null, body });
  const after = { ...ticket, status: 'answered', updated_at: at, closed_at: null } as const;
  await tx.tickets.update(after);
  await notifyTicketAnswered(tx, after, { answer: body, now });
  return { ok: true, value: after };
}

/** How a ticket is closed. */
export interface TicketClosing {
  readonly by: TicketAuthor;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Closes a ticket, and notifies the account when the operator does so. One that is closed stays as it is. */
export async function closeTicket(
  tx: WriteTransaction,
  ticket: NamedTicket,
  { by, now }: TicketClosing,
): Promise<NamedTicket> {
  if (ticket.status === 'closed') return ticket;
  const at = timeAfter(ticket, now);
  const after = { ...ticket, status: 'closed', updated_at: at, closed_at: at } as const;
  await tx.tickets.update(after);
  if (by === 'operator') await notifyTicketClosed(tx, after, now);
  return after;
}

// Support tickets as the API takes and answers them: forms, schemas, and rows in their form.

/** Text that has more than blanks. */
function writtenText(most: number): z.ZodString {
  return checked(filledText(most), (value) =>
    value === '' || value.trim() !== '' ? null : { code: 'empty_value', message: 'must not be blank' },
  );
}

/** The text of a message: of any lines, in which control characters (log excerpts with colours) are escaped where it is shown. */
const messageText = writtenText(MAX_TICKET_MESSAGE)
  .describe('the text of the message')
  .meta({ examples: ['The certificate has expired, and no new one was issued.'] });

/** What is wrong with the text of a message; `null`: nothing. */
export function judgeMessage(body: string): string | null {
  return messageText.safeParse(body).error?.issues[0]?.message ?? null;
}

/** A new ticket. */
export interface OpenFields {
  readonly subject: string;
  readonly message: string;
  /** As it was written. */
  readonly domain: string | null;
}

/** The form of a new ticket. */
export const openForm = form({
  fields: {
    subject: checked(writtenText(MAX_SUBJECT), (value) =>
      isOneLine(value) ? null : { code: 'invalid_text', message: 'must be one line of printable text' },
    )
      .describe('what it is about, one line')
      .meta({ examples: ['Certificate of shop.example'] }),
    message: messageText,
    domain: text()
      .nullable()
      .default(null)
      .describe('a domain that the account sees; `null`: the ticket is about none')
      .meta({ examples: ['shop.example'] }),
  },
  ignored: [],
  finish: (values): OpenFields => values,
});

/** The form of a message. */
export const messageForm = form({
  fields: { message: messageText },
  ignored: [],
  finish: (values): { readonly message: string } => values,
});

/** The fields of a ticket. */
const TICKET_FIELDS = {
  id: z
    .int()
    .describe('the id of the ticket')
    .meta({ examples: [12] }),
  subject: z
    .string()
    .describe('what it is about')
    .meta({ examples: ['Certificate of shop.example'] }),
  domain: z.string().nullable().describe('the domain that it is about; `null`: none'),
  status: z
    .enum(TICKET_STATUSES)
    .describe(
      '`open` waits for support, `answered` for the account; a message opens a `closed` ticket again',
    ),
  created_at: z.iso.datetime().describe('when it was opened'),
  updated_at: z.iso.datetime().describe('when it was last written to or closed'),
  closed_at: z.iso.datetime().nullable().describe('when it was closed; `null`: it is not'),
} as const;

/** A ticket in a list. */
export const TICKET = z.object(TICKET_FIELDS).meta({ id: 'Ticket' });

/** A ticket with its messages. */
export const WHOLE_TICKET = z
  .object({
    ...TICKET_FIELDS,
    messages: z
      .array(
        z.object({
          id: z.int().describe('the id of the message'),
          author: z.enum(TICKET_AUTHORS).describe('who wrote it'),
          body: z
            .string()
            .describe('the text')
            .meta({ examples: ['The certificate has expired, and no new one was issued.'] }),
          created_at: z.iso.datetime().describe('when it was written'),
        }),
      )
      .describe('the messages, the oldest first'),
  })
  .meta({ id: 'TicketWithMessages' });

/** A ticket in the form of the API. */
export function showTicket(row: TicketRow): z.output<typeof TICKET> {
  return {
    id: row.id,
    subject: row.subject,
    domain: row.domain,
    status: row.status,
    created_at: timeText(row.created_at),
    updated_at: timeText(row.updated_at),
    closed_at: row.closed_at === null ? null : timeText(row.closed_at),
  };
}

/** A message in the form of the API. */
export function showMessage({
  id,
  author,
  body,
  created_at,
}: TicketMessageRow): z.output<typeof WHOLE_TICKET>['messages'][number] {
  return { id, author, body, created_at: timeText(created_at) };
}

/** A ticket with its messages in the form of the API. */
export function showWholeTicket(
  row: TicketRow,
  messages: readonly TicketMessageRow[],
): z.output<typeof WHOLE_TICKET> {
  return { ...showTicket(row), messages: messages.map(showMessage) };
}
