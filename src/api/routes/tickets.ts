/**
 * Support tickets of the account: opened, read, continued, closed. Every tier has them. The operator answers with
 * `edgeplan ticket`.
 */
import { z } from 'zod';
import { normalizeName } from '../../base/host.ts';
import { MAX_SUBJECT, MAX_TICKET_MESSAGE } from '../../billing/limits.ts';
import { closeTicket, openTicket, type TicketOutcome, writeToTicket } from '../../billing/tickets.ts';
import { filledText, text } from '../../model/fields.ts';
import { form } from '../../model/form.ts';
import { MAX_PAGE, USUAL_PAGE } from '../../operation/limits.ts';
import { idOf } from '../../operation/paths.ts';
import { queryNumber } from '../../operation/query.ts';
import { formBody } from '../../operation/read-body.ts';
import { badRequest, conflict, notFound } from '../../operation/refusal.ts';
import { ok, operation } from '../../operation/route.ts';
import type { NamedTicket } from '../../store/billing-repositories.ts';
import {
  TICKET_AUTHORS,
  TICKET_STATUSES,
  type TicketMessageRow,
  type TicketRow,
  type TicketStatus,
} from '../../store/billing-rows.ts';
import type { ReadTransaction } from '../../store/store.ts';
import { timeText } from '../domain-shape.ts';
import { nextPage } from '../next-page.ts';

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
const TICKET = z.object(TICKET_FIELDS).meta({ id: 'Ticket' });

/** A ticket with its messages. */
const WHOLE_TICKET = z
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

/** The text of a message. */
const messageText = filledText(MAX_TICKET_MESSAGE)
  .describe('the text of the message')
  .meta({ examples: ['The certificate has expired, and no new one was issued.'] });

const openForm = form({
  fields: {
    subject: filledText(MAX_SUBJECT)
      .describe('what it is about')
      .meta({ examples: ['Certificate of shop.example'] }),
    message: messageText,
    domain: text()
      .nullable()
      .default(null)
      .describe('a domain that the account sees; `null`: the ticket is about none')
      .meta({ examples: ['shop.example'] }),
  },
  ignored: [],
  finish: (values) => values,
});

const messageForm = form({ fields: { message: messageText }, ignored: [], finish: (values) => values });

/** A ticket in the form of the API. */
function show(row: TicketRow): z.output<typeof TICKET> {
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

/** A ticket with its messages in the form of the API. */
function showWhole(row: TicketRow, messages: readonly TicketMessageRow[]): z.output<typeof WHOLE_TICKET> {
  const shown = messages.map(({ id, author, body, created_at }) => ({
    id,
    author,
    body,
    created_at: timeText(created_at),
  }));
  return { ...show(row), messages: shown };
}

/** The account's ticket of a path. @throws Refusal 404, also for another account's */
async function own(
  tx: Pick<ReadTransaction, 'tickets'>,
  { account_id, id }: { readonly account_id: number; readonly id: number },
): Promise<NamedTicket> {
  const ticket = await tx.tickets.get(id);
  if (ticket === null || ticket.account_id !== account_id) throw notFound();
  return ticket;
}

/** The value of an outcome. @throws Refusal 409 */
function accepted<T>(outcome: TicketOutcome<T>): T {
  if (!outcome.ok) throw conflict(outcome.reason);
  return outcome.value;
}

/** `GET /tickets/`: page by page; `Link` leads to the next one. */
export const list = operation({
  summary: 'Support tickets of the account, newest first',
  query: z.object({
    status: z.enum(TICKET_STATUSES).optional().describe('only tickets with this status'),
    limit: queryNumber(1, MAX_PAGE).describe(`tickets, at most; without it ${USUAL_PAGE}`),
    before: queryNumber(1, Number.MAX_SAFE_INTEGER).describe('only tickets with a lower id'),
  }),
  response: z.array(TICKET),
  async handle({ caller: { account_id }, query, read }) {
    const {
      status,
      limit = USUAL_PAGE,
      before,
    } = query as {
      readonly status?: TicketStatus;
      readonly limit?: number;
      readonly before?: number;
    };
    const from = before === undefined ? {} : { before };
    const page = { ...from, limit: limit + 1, status: status ?? null };
    const rows = await read((tx) => tx.tickets.page(account_id, page));
    const shown = rows.slice(0, limit);
    if (rows.length <= limit) return ok(shown.map(show));
    const next = { status, limit, before: shown.at(-1)!.id };
    return { ...ok(shown.map(show)), headers: nextPage({ path: '/tickets/', query: next }) };
  },
});

/** `POST /tickets/`. */
export const open = operation({
  summary: 'Open a support ticket',
  body: formBody(openForm),
  response: WHOLE_TICKET,
  statuses: [409],
  async handle({ body, caller: { account_id }, write }) {
    const {
      subject,
      message,
      domain: named,
    } = body as {
      readonly subject: string;
      readonly message: string;
      readonly domain: string | null;
    };
    return write(async ({ tx, now }) => {
      const domain = named === null ? null : normalizeName(named);
      const seen = domain === null ? null : await tx.domains.seenBy(account_id, domain);
      if (named !== null && (seen === null || seen.role === null))
        throw badRequest('domain: must be a domain that the account sees');
      const made = accepted(await openTicket(tx, { account_id, subject, message, domain, now }));
      return ok(showWhole(made.ticket, made.messages));
    });
  },
});

/** `GET /tickets/{ticketId}`. */
export const read = operation({
  summary: 'One support ticket with its messages',
  response: WHOLE_TICKET,
  async handle({ caller: { account_id }, params, read: inSnapshot }) {
    const id = idOf(params['ticketId']);
    return inSnapshot(async (tx) => {
      const ticket = await own(tx, { account_id, id });
      return ok(showWhole(ticket, await tx.tickets.messages(id)));
    });
  },
});

/** `POST /tickets/{ticketId}/messages`. */
export const addMessage = operation({
  summary: 'Write to a support ticket; a closed one is opened again',
  body: formBody(messageForm),
  response: WHOLE_TICKET,
  statuses: [409],
  async handle({ body, caller: { account_id }, params, write }) {
    const { message } = body as { readonly message: string };
    const id = idOf(params['ticketId']);
    return write(async ({ tx, now }) => {
      const ticket = await own(tx, { account_id, id });
      const written = accepted(await writeToTicket(tx, ticket, { account_id, body: message, now }));
      return ok(showWhole(written.ticket, written.messages));
    });
  },
});

/** `POST /tickets/{ticketId}/close`: a closed ticket stays closed. */
export const close = operation({
  summary: 'Close a support ticket',
  response: TICKET,
  async handle({ caller: { account_id }, params, write }) {
    const id = idOf(params['ticketId']);
    return write(async ({ tx, now }) => {
      const ticket = await own(tx, { account_id, id });
      return ok(show(await closeTicket(tx, ticket, { by: 'customer', now })));
    });
  },
});
