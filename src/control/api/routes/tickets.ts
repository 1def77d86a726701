/**
 * Support tickets of the account: opened, read, continued, closed. Every tier has them. The operator answers with
 * `edgeplan ticket`.
 */
import { z } from 'zod';
import { normalizeName } from '../../../base/addresses/host.ts';
import {
  closeTicket,
  messageForm,
  openForm,
  openTicket,
  showTicket,
  showWholeTicket,
  TICKET,
  type TicketOutcome,
  WHOLE_TICKET,
  writeToTicket,
} from '../../billing/tickets.ts';
import type { ReadTransaction } from '../../store/store.ts';
import { TICKET_STATUSES, type TicketStatus } from '../../store/tables/billing.ts';
import { MAX_PAGE, USUAL_PAGE } from '../operation/limits.ts';
import { formBody, idOf, nextPage, queryNumber } from '../operation/read-request.ts';
import { badRequest, conflict, notFound } from '../operation/refusal.ts';
import { ok, operation } from '../operation/route.ts';

/** The account's ticket of a path, with its messages. @throws Refusal 404, also for another account's */
async function own(
  tx: Pick<ReadTransaction, 'tickets'>,
  { account_id, id }: { readonly account_id: number; readonly id: number },
) {
  const ticket = await tx.tickets.get(id);
  if (ticket === null || ticket.account_id !== account_id) throw notFound();
  return { ticket, messages: await tx.tickets.messages(id) };
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
    if (rows.length <= limit) return ok(shown.map(showTicket));
    const next = { status, limit, before: shown.at(-1)!.id };
    return { ...ok(shown.map(showTicket)), headers: nextPage({ path: '/tickets/', query: next }) };
  },
});

/** `POST /tickets/`. */
export const open = operation({
  summary: 'Open a support ticket',
  body: formBody(openForm),
  response: WHOLE_TICKET,
  statuses: [409],
  async handle({ body: { subject, message, domain: named }, caller: { account_id }, write }) {
    return write(async ({ tx, now }) => {
      const domain = named === null ? null : normalizeName(named);
      const seen = domain === null ? null : await tx.domains.seenBy(account_id, domain);
      if (named !== null && (seen === null || seen.role === null))
        throw badRequest('domain: must be a domain that the account sees');
      const made = accepted(await openTicket(tx, { account_id, subject, message, domain, now }));
      return ok(showWholeTicket(made.ticket, made.messages));
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
      const { ticket, messages } = await own(tx, { account_id, id });
      return ok(showWholeTicket(ticket, messages));
    });
  },
});

/** `POST /tickets/{ticketId}/messages`. `If-Match`: the ETag of the ticket. */
export const addMessage = operation({
  summary: 'Write to a support ticket; a closed one is opened again',
  body: formBody(messageForm),
  response: WHOLE_TICKET,
  statuses: [409],
  async handle({ body: { message }, caller: { account_id }, params, write }) {
    const id = idOf(params['ticketId']);
    return write(async ({ match, now, tx }) => {
      const before = await own(tx, { account_id, id });
      match(showWholeTicket(before.ticket, before.messages));
      const { ticket, messages } = accepted(
        await writeToTicket(tx, before, { account_id, body: message, now }),
      );
      return ok(showWholeTicket(ticket, messages));
    });
  },
});

/** `POST /tickets/{ticketId}/close`: a closed ticket stays closed. `If-Match`: the ETag of the ticket. */
export const close = operation({
  summary: 'Close a support ticket',
  response: TICKET,
  async handle({ caller: { account_id }, params, write }) {
    const id = idOf(params['ticketId']);
    return write(async ({ match, now, tx }) => {
      const { ticket, messages } = await own(tx, { account_id, id });
      match(showWholeTicket(ticket, messages));
      return ok(showTicket(await closeTicket(tx, ticket, { by: 'customer', now })));
    });
  },
});
