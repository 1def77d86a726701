/** Writes the notifications of billing and support, each in the transaction of what it reports. */
import { MAX_BEFORE_TICKETS } from '../notices/limits.ts';
import { notify } from '../notices/notify.ts';
import type { NamedTicket } from '../store/repositories/tickets.ts';
import type { WriteTransaction } from '../store/store.ts';
import type { TicketRow } from '../store/tables/billing.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import { ALERTS_PERIOD_MS, MAX_ALERTING_MESSAGES, MAX_LETTER_ANSWER } from './limits.ts';
import { GIGABYTE, type QuotaUse } from './quota-use.ts';

/** A level of a traffic quota that a domain has reached. */
export interface QuotaNotice {
  readonly domain: DomainRow;
  /** Percent; 100: it is used up. */
  readonly level: number;
  readonly use: QuotaUse;
  /** Milliseconds since the epoch. */
  readonly period_end: number;
  readonly now: number;
}

/** Notifies the people of a domain of a level. A quota of nothing is reached without traffic, which is no news. */
export async function notifyQuota(
  tx: WriteTransaction,
  { domain, level, use, period_end, now }: QuotaNotice,
): Promise<void> {
  const { octets, quota_gb: limit } = use;
  if (limit === null || limit === 0) return;
  const used = Math.floor(octets / (GIGABYTE / 1_000)) / 1_000;
  const data = { quota: 'traffic (GB)', used, limit, period_end: new Date(period_end).toISOString() };
  await notify(tx, { kind: level < 100 ? 'quota.near' : 'quota.reached', data, domain, now });
}

/** A level of a gateway quota that a domain has reached. */
export interface GatewayQuotaNotice extends Pick<QuotaNotice, 'domain' | 'level' | 'now'> {
  /** Admitted requests of the last 30 days. */
  readonly used: number;
  readonly limit: number;
}

/** Notifies the people of a domain of a level of its gateway quota. */
export async function notifyGatewayQuota(
  tx: WriteTransaction,
  { domain, level, used, limit, now }: GatewayQuotaNotice,
): Promise<void> {
  const data = { quota: 'gateway requests (30 days)', used, limit, period_end: null };
  await notify(tx, { kind: level < 100 ? 'quota.near' : 'quota.reached', data, domain, now });
}

/** The fields that all letters about a ticket have. */
function ticketData({ id, subject, domain }: TicketRow) {
  return { ticket_id: id, subject, about: domain };
}

/**
 * Notifies operators that a ticket waits for them. `actor_id`: the account that has written. Beyond `MAX_ALERTING_MESSAGES`
 * the entry is in the feed alone, so that one account does not use up the messages about tickets of others.
 */
export async function notifyTicketWaits(
  tx: WriteTransaction,
  ticket: TicketRow,
  { actor_id, now }: { readonly actor_id: number; readonly now: number },
): Promise<void> {
  const account = (await tx.accounts.get(ticket.account_id))?.name ?? '';
  const data = { ...ticketData(ticket), account };
  const written = await tx.tickets.countWritten(actor_id, now - ALERTS_PERIOD_MS);
  const feedOnly = written > MAX_ALERTING_MESSAGES;
  const common = { kind: 'ticket.opened', data, domain: null, actor_id, now } as const;
  await notify(tx, { ...common, most: MAX_BEFORE_TICKETS, feedOnly });
}

/** Notifies the account of a ticket of the operator's answer. */
export async function notifyTicketAnswered(
  tx: WriteTransaction,
  ticket: NamedTicket,
  { answer, now }: { readonly answer: string; readonly now: number },
): Promise<void> {
  const { account_id } = ticket;
  const characters = [...answer];
  const complete = characters.length <= MAX_LETTER_ANSWER;
  const beginning = complete ? answer : `${characters.slice(0, MAX_LETTER_ANSWER).join('')} …`;
  const data = { ...ticketData(ticket), answer: beginning, complete };
  await notify(tx, { kind: 'ticket.answered', data, domain: null, account_id, now });
}

/** Notifies the account of a ticket that the operator has closed it. */
export async function notifyTicketClosed(
  tx: WriteTransaction,
  ticket: NamedTicket,
  now: number,
): Promise<void> {
  const { account_id } = ticket;
  await notify(tx, { kind: 'ticket.closed', data: ticketData(ticket), domain: null, account_id, now });
}
