/**
 * Support tickets, as customers write them through the API and the operator through the command line. A ticket is `open` while
 * it waits for the operator, `answered` while it waits for its customer, and `closed` when either side has ended it; a message
 * of the customer opens it again. Every tier has tickets: `dedicated_support_enabled` promises direct support besides. In: a
 * transaction and a ticket that was read in it. Out: the ticket after the change, or a sentence why it was refused.
 */
import type { NamedTicket } from '../store/billing-repositories.ts';
import type { TicketMessageRow, TicketRow } from '../store/billing-rows.ts';
import type { WriteTransaction } from '../store/store.ts';
import {
  CLOSED_TICKET_MS,
  MAX_MESSAGES_PER_DAY,
  MAX_OPEN_TICKETS,
  MAX_TICKET_MESSAGES,
  MESSAGES_PERIOD_MS,
  PRUNED_TICKETS,
} from './limits.ts';

/** The result of a change, or the sentence of its refusal. */
export type TicketOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/** A ticket with all its messages. */
export interface WholeTicket {
  readonly ticket: TicketRow;
  readonly messages: readonly TicketMessageRow[];
}

/** Writes the notification of a ticket's new state, in the transaction that changes it. */
export type NotifyTicket = (
  tx: WriteTransaction,
  notice: { readonly ticket: NamedTicket; readonly now: number },
) => Promise<void>;

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
  if ((await tx.tickets.countOpen(account_id)) >= MAX_OPEN_TICKETS) {
    const most = `the account has ${MAX_OPEN_TICKETS} tickets that are not closed, and may not have more`;
    return refuse(`${most}; close one first`);
  }
  const often = await judgeRate(tx, account_id, now);
  if (often !== null) return refuse(often);
  await tx.tickets.prune(now - CLOSED_TICKET_MS, PRUNED_TICKETS);
  const times = { created_at: now, updated_at: now, closed_at: null };
  const ticket = await tx.tickets.insert({ account_id, domain, subject, status: 'open', ...times });
  const row = {
    ticket_id: ticket.id,
    account_id,
    author: 'customer',
    body: message,
    created_at: now,
  } as const;
  return { ok: true, value: { ticket, messages: [await tx.tickets.addMessage(row)] } };
}

/** The sentence when an account has written too much in a day; `null`: it has not. */
async function judgeRate(tx: WriteTransaction, accountId: number, now: number): Promise<string | null> {
  const written = await tx.tickets.countWritten(accountId, now - MESSAGES_PERIOD_MS);
  if (written < MAX_MESSAGES_PER_DAY) return null;
  return `the account has written ${MAX_MESSAGES_PER_DAY} messages in 24 hours, and may not write more; write again later`;
}

/** A message to add. */
export interface NewMessage {
  readonly body: string;
  /** The account that writes; `null`: the operator. */
  readonly account_id: number | null;
  readonly now: number;
}

/** Adds a message. One of the customer opens the ticket again; one of the operator answers it. */
export async function addTicketMessage(
  tx: WriteTransaction,
  ticket: TicketRow,
  { body, account_id, now }: NewMessage,
): Promise<TicketOutcome<WholeTicket>> {
  const messages = await tx.tickets.messages(ticket.id);
  // The operator may always answer what the customer has written.
  if (account_id !== null && messages.length >= MAX_TICKET_MESSAGES)
    return refuse(
      `the ticket has ${messages.length} messages of at most ${MAX_TICKET_MESSAGES}; open a new one that names it`,
    );
  const often = account_id === null ? null : await judgeRate(tx, account_id, now);
  if (often !== null) return refuse(often);
  const author = account_id === null ? 'operator' : 'customer';
  const message = await tx.tickets.addMessage({
    ticket_id: ticket.id,
    account_id,
    author,
    body,
    created_at: now,
  });
  const status = account_id === null ? 'answered' : 'open';
  const after = { ...ticket, status, updated_at: now, closed_at: null } as const;
  await tx.tickets.update(after);
  return { ok: true, value: { ticket: after, messages: [...messages, message] } };
}

/** Closes a ticket. One that is closed stays as it is. `now` in milliseconds since the epoch. */
export async function closeTicket<T extends TicketRow>(
  tx: WriteTransaction,
  ticket: T,
  now: number,
): Promise<T> {
  if (ticket.status === 'closed') return ticket;
  const after = { ...ticket, status: 'closed', updated_at: now, closed_at: now } as const;
  await tx.tickets.update(after);
  return after;
}
