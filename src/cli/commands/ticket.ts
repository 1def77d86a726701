/** `edgeplan ticket`: support tickets of all accounts for the operator, beside a running server. */
import { Command } from 'commander';
import { answerTicket, closeTicket, showMessage, showTicket } from '../../control/billing/tickets.ts';
import type { NamedTicket } from '../../control/store/repositories/tickets.ts';
import type { WriteTransaction } from '../../control/store/store.ts';
import type { TicketStatus } from '../../control/store/tables/billing.ts';
import { visible } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { type StoreFlags, withData, withStore } from '../open-data.ts';
import { jsonOption, limitOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import {
  messageOption,
  type PrintedTicket,
  readMessage,
  readTicketId,
  statusOption,
  ticketsText,
  ticketText,
} from '../print/ticket.ts';

/** The options of `list`, as commander parses them. */
interface ListFlags extends StoreFlags {
  readonly status?: TicketStatus;
  readonly limit: number;
  readonly json?: boolean;
}

/** The options of `show`. */
interface ShowFlags extends StoreFlags {
  readonly json?: boolean;
}

/** The options of `answer`. */
interface AnswerFlags extends StoreFlags {
  readonly message: string;
}

/** A ticket as it is printed: as the API answers it, with the name of its account. */
function shown(row: NamedTicket): PrintedTicket {
  const { id, ...fields } = showTicket(row);
  return { id, account: row.account, ...fields };
}

/** Lists tickets, newest first. */
async function list({ status, limit, json, ...flags }: ListFlags): Promise<void> {
  const rows = await withData(flags, (store) =>
    // One more row shows whether there are older ones.
    store.latest.tickets.page(null, { status: status ?? null, limit: limit + 1 }),
  );
  const tickets = rows.slice(0, limit).map(shown);
  if (json === true) await writeDocument('tickets', { tickets });
  else await write(ticketsText(tickets));
  if (tickets.length === 0) note(status === undefined ? 'no tickets' : `no tickets are ${status}`);
  if (rows.length > limit) note('there are older ones; --limit lists more');
}

/** The fault for an id without a ticket. */
function noTicket(id: number): CommandFault {
  return new CommandFault(EXIT.no, `there is no ticket ${id}`);
}

/** Prints one ticket with its messages. */
async function show(id: number, { json, ...flags }: ShowFlags): Promise<void> {
  const { ticket, messages } = await withData(flags, (store) =>
    store.read(async (tx) => {
      const found = await tx.tickets.get(id);
      if (found === null) throw noTicket(id);
      const messages = (await tx.tickets.messages(id)).map(showMessage);
      return { ticket: shown(found), messages };
    }),
  );
  if (json === true) await writeDocument('ticket', { ...ticket, messages });
  else await write(ticketText(ticket, messages));
}

/** Changes a ticket and prints its status. Returns the ticket before. */
async function change(
  id: number,
  flags: StoreFlags,
  work: (tx: WriteTransaction, ticket: NamedTicket) => Promise<NamedTicket>,
): Promise<NamedTicket> {
  const { before, after } = await withData(flags, (store) =>
    store.write(async (tx) => {
      const ticket = await tx.tickets.get(id);
      if (ticket === null) throw noTicket(id);
      return { before: ticket, after: await work(tx, ticket) };
    }),
  );
  await write(`ticket ${after.id} of ${visible(after.account)} is ${after.status}\n`);
  return before;
}

/** Answers a ticket; its account is notified. */
async function answer(id: number, { message, ...flags }: AnswerFlags): Promise<void> {
  const body = await readMessage(message);
  await change(id, flags, async (tx, ticket) => {
    const outcome = await answerTicket(tx, ticket, { body, now: Date.now() });
    if (!outcome.ok) throw new CommandFault(EXIT.no, outcome.reason);
    return outcome.value;
  });
}

/** Closes a ticket; its account is notified. */
async function close(id: number, flags: StoreFlags): Promise<void> {
  const now = Date.now();
  const { status } = await change(id, flags, (tx, ticket) =>
    closeTicket(tx, ticket, { by: 'operator', now }),
  );
  // The customer may have written since the operator has read it.
  if (status === 'open') note(`its last message was not answered: edgeplan ticket show ${id}`);
  if (status === 'closed') note('it was closed before');
}

/** A command for one ticket. */
function ofOne(name: string, description: string): Command {
  return withStore(
    new Command(name).description(description).argument('<id>', 'the id of the ticket', readTicketId),
  );
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'ticket list': ['edgeplan ticket list --status open', 'edgeplan ticket list --limit 1000 --json'],
  'ticket show': ['edgeplan ticket show 12', 'edgeplan ticket show 12 --json'],
  'ticket answer': [
    "edgeplan ticket answer 12 -m 'A new certificate was issued.'",
    'cat answer.txt | edgeplan ticket answer 12 -m -',
  ],
  'ticket close': ['edgeplan ticket close 12'],
};

/** Creates the command. */
export function ticketCommand(): Command {
  const command = new Command('ticket')
    .description('Read and answer support tickets of customers; works beside a running server.')
    .addCommand(
      withStore(new Command('list').description('List tickets, newest first.'))
        .addOption(statusOption())
        .addOption(limitOption('tickets'))
        .addOption(jsonOption('tickets'))
        .action(list),
    )
    .addCommand(
      ofOne('show', 'Show a ticket with its messages.').addOption(jsonOption('ticket')).action(show),
    )
    .addCommand(
      ofOne('answer', 'Answer a ticket; its account is notified.').addOption(messageOption()).action(answer),
    )
    .addCommand(ofOne('close', 'Close a ticket; its account is notified.').action(close));
  return withExamples(command, EXAMPLES);
}
