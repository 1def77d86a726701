/**
 * The common parts of the commands of support tickets: arguments, the text of a message, and printing. Texts of others
 * are escaped.
 */
import { Option } from 'commander';
import { judgeMessage } from '../../control/billing/tickets.ts';
import { TICKET_STATUSES, type TicketStatus } from '../../control/store/tables/billing.ts';
import { visible } from '../../workbench/simulation/render-text.ts';
import { inputFault, usageFault } from '../exit.ts';
import { readBytes } from '../input/read-file.ts';
import { idParser } from '../options.ts';
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

/** Parses the id of a ticket. */
export const readTicketId = idParser('the list of tickets has it');

/** `--status`. */
export function statusOption(): Option {
  return new Option('--status <status>', 'only these').choices(TICKET_STATUSES);
}

/** `--message`. */
export function messageOption(): Option {
  return new Option('-m, --message <text>', 'the text; - reads stdin').makeOptionMandatory();
}

/** The text of `--message`, without blank lines around it. @throws CommandFault when it is blank, too long or not UTF-8 */
export async function readMessage(given: string): Promise<string> {
  const text = given === '-' ? decode(await readBytes('-')) : given;
  const message = withoutBlankLines(text);
  const problem = judgeMessage(message);
  if (problem !== null) throw usageFault(`the message ${problem}`);
  return message;
}

/** The text from the first line with words, whose indent stays, to the last word. */
function withoutBlankLines(text: string): string {
  const start = text.length - text.trimStart().length;
  return text.slice(text.lastIndexOf('\n', start - 1) + 1).trimEnd();
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw inputFault('stdin is not UTF-8 text', { cause });
  }
}
