/** `edgeplan support`: the support tickets of an account for its customer, at a server. */
import { Command } from 'commander';
import type { TicketStatus } from '../../control/store/tables/billing.ts';
import { type Examples, withExamples } from '../examples.ts';
import { jsonOption, limitOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import {
  messageOption,
  type PrintedMessage,
  type PrintedTicket,
  readMessage,
  readTicketId,
  statusOption,
  ticketsText,
  ticketText,
} from '../print/ticket.ts';
import { callApi, keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';

/** The options of every command, as commander parses them. */
interface Flags extends ServerAccess {
  /** Prints JSON. */
  readonly json?: boolean;
}

/** The options of `list`. */
interface ListFlags extends Flags {
  readonly status?: TicketStatus;
  readonly limit: number;
}

/** The options of `open`. */
interface OpenFlags extends Flags {
  readonly subject: string;
  readonly message: string;
  readonly domain?: string;
}

/** The options of `reply`. */
interface ReplyFlags extends Flags {
  readonly message: string;
}

/** A ticket with its messages. */
type RemoteTicket = PrintedTicket & { readonly messages: readonly PrintedMessage[] };

/** Lists the tickets of the account, newest first. */
async function list(flags: ListFlags): Promise<void> {
  const { limit, status } = flags;
  const only = status === undefined ? '' : `&status=${status}`;
  const { body, headers } = await callApi(flags, { method: 'GET', path: `/tickets/?limit=${limit}${only}` });
  const tickets = body as readonly PrintedTicket[];
  if (flags.json === true) await writeDocument('tickets', { tickets });
  else await write(ticketsText(tickets));
  if (tickets.length === 0)
    note(status === undefined ? 'no tickets; edgeplan support open opens one' : `no tickets are ${status}`);
  if (headers.has('link')) note('there are older ones; --limit lists more');
}

/** Prints a ticket with its messages. */
async function print(body: unknown, { json }: Flags): Promise<void> {
  const ticket = body as RemoteTicket;
  if (json === true) await writeDocument('ticket', ticket);
  else await write(ticketText(ticket, ticket.messages));
}

/** Prints one ticket. */
async function show(id: number, flags: Flags): Promise<void> {
  const { body } = await callApi(flags, { method: 'GET', path: `/tickets/${id}` });
  await print(body, flags);
}

/** Opens a ticket. */
async function open({ subject, message, domain, ...flags }: OpenFlags): Promise<void> {
  const sent = { subject, message: await readMessage(message), domain: domain ?? null };
  const { body } = await callApi(flags, { method: 'POST', path: '/tickets/', body: sent });
  await print(body, flags);
}

/** Writes to a ticket. */
async function reply(id: number, { message, ...flags }: ReplyFlags): Promise<void> {
  const sent = { message: await readMessage(message) };
  const { body } = await callApi(flags, { method: 'POST', path: `/tickets/${id}/messages`, body: sent });
  await print(body, flags);
}

/** Closes a ticket. */
async function close(id: number, flags: ServerAccess): Promise<void> {
  await callApi(flags, { method: 'POST', path: `/tickets/${id}/close` });
  await write(`ticket ${id} is closed\n`);
}

/** Adds the server and its key. */
function atServer(command: Command): Command {
  return command.addOption(serverOption()).addOption(keyOption());
}

/** A command for one ticket. */
function ofOne(name: string, description: string): Command {
  return new Command(name).description(description).argument('<id>', 'the id of the ticket', readTicketId);
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'support list': ['edgeplan support list --status answered', 'edgeplan support list --json'],
  'support show': ['edgeplan support show 12'],
  'support open': [
    "edgeplan support open --subject 'Certificate of example.com' --domain example.com -m 'It has expired.'",
    "curl -sSv https://example.com/ 2>&1 | edgeplan support open --subject 'TLS fails' -m -",
  ],
  'support reply': ["edgeplan support reply 12 -m 'It works now, thank you.'"],
  'support close': ['edgeplan support close 12'],
};

/** Creates the command. */
export function supportCommand(): Command {
  const command = new Command('support')
    .description('Open, read and continue support tickets of your account.')
    .addCommand(
      atServer(
        new Command('list')
          .description('List your tickets, newest first.')
          .addOption(statusOption())
          .addOption(limitOption('tickets'))
          .addOption(jsonOption('tickets')),
      ).action(list),
    )
    .addCommand(
      atServer(ofOne('show', 'Show a ticket with its messages.').addOption(jsonOption('ticket'))).action(
        show,
      ),
    )
    .addCommand(
      atServer(
        new Command('open')
          .description('Open a ticket.')
          .requiredOption('--subject <text>', 'what it is about, one line')
          .addOption(messageOption())
          .option('--domain <name>', 'the domain that it is about')
          .addOption(jsonOption('ticket')),
      ).action(open),
    )
    .addCommand(
      atServer(
        ofOne('reply', 'Write to a ticket; a closed one is opened again.')
          .addOption(messageOption())
          .addOption(jsonOption('ticket')),
      ).action(reply),
    )
    .addCommand(atServer(ofOne('close', 'Close a ticket.')).action(close));
  return withExamples(command, EXAMPLES);
}
