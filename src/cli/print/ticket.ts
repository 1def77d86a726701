/** Prints support tickets: lists as tables, one ticket with its messages. Texts of others are escaped. */

import type { TicketStatus } from '../../control/store/billing-rows.ts';
import { visible } from '../../workbench/simulation/render-text.ts';
import { tableText } from './table.ts';

/** A ticket as the API answers it, and as the operator's commands print it. */
export interface PrintedTicket {
  readonly id: number;
  /** Only for operators. */
  readonly account?: string;
  readonly subject: string;
  readonly domain: string | null;
  readonly status: TicketStatus;
  readonly created_at: string;
  readonly updated_at: string;
  readonly closed_at: string | null;
}

/** A message as the API answers it. */
export interface PrintedMessage {
  readonly author: string;
  readonly body: string;
  readonly created_at: string;
}

/** Tickets as a table. */
export function ticketsText(tickets: readonly PrintedTicket[]): string {
  const named = tickets.some(({ account }) => account !== undefined);
  const rows = tickets.map(({ id, account, status, updated_at, domain, subject }) => [
    String(id),
    status,
    ...(named ? [account ?? ''] : []),
    updated_at,
    domain ?? '',
    subject,
  ]);
  return tableText(['id', 'status', ...(named ? ['account'] : []), 'updated', 'domain', 'subject'], rows);
}

/** One ticket with its messages. */
export function ticketText(ticket: PrintedTicket, messages: readonly PrintedMessage[]): string {
  const { id, account, status, domain, subject } = ticket;
  const head = [`ticket   ${id}, ${visible(status)}`, `subject  ${visible(subject)}`];
  if (account !== undefined) head.push(`account  ${visible(account)}`);
  if (domain !== null) head.push(`domain   ${visible(domain)}`);
  const texts = messages.map(({ author, body, created_at }) => {
    const lines = body
      .split(/\r\n|\r|\n/)
      .map((line) => `  ${visible(line.replaceAll('\t', '    '))}`.trimEnd());
    return `${created_at}  ${visible(author)}\n${lines.join('\n')}`;
  });
  return `${[head.join('\n'), ...texts].join('\n\n')}\n`;
}
