/** Support tickets and their messages. */
import type { TicketReads, TicketWrites } from '../../billing-repositories.ts';
import type { TicketMessageRow, TicketRow, TicketStatus } from '../../tables/billing.ts';
import { type Builder, freeStatement, one, type Session, statement } from '../statement.ts';

/** Tickets with the names of their accounts. */
function named(builder: Builder) {
  return builder
    .selectFrom('tickets')
    .innerJoin('accounts', 'accounts.id', 'tickets.account_id')
    .selectAll('tickets')
    .select('accounts.name as account');
}

/** In a write the ticket is locked, so that messages of both sides follow each other. */
const get = statement((builder, p: { id: number }, { locking }) =>
  named(builder)
    .where('tickets.id', '=', p.id)
    .$if(locking, (query) => query.forNoKeyUpdate('tickets')),
);

/** The parameters of a page; `null` leaves its condition out. */
interface PageParameters {
  readonly account_id: number | null;
  readonly status: TicketStatus | null;
  readonly before: number;
  readonly limit: number;
}

/** Its text depends on which conditions are given. */
const page = freeStatement((builder, p: PageParameters) =>
  named(builder)
    .$if(p.account_id !== null, (query) => query.where('tickets.account_id', '=', p.account_id!))
    .$if(p.status !== null, (query) => query.where('tickets.status', '=', p.status!))
    .where('tickets.id', '<', p.before)
    .orderBy('tickets.id', 'desc')
    .limit(p.limit),
);

const messages = statement((builder, p: { ticket_id: number }) =>
  builder.selectFrom('ticket_messages').selectAll().where('ticket_id', '=', p.ticket_id).orderBy('id'),
);

const countOpen = statement((builder, p: { account_id: number }) =>
  builder
    .selectFrom('tickets')
    .select(({ fn }) => fn.countAll<number>().as('tickets'))
    .where('account_id', '=', p.account_id)
    .where('status', '!=', 'closed'),
);

const countWritten = statement((builder, p: { account_id: number; since: number }) =>
  builder
    .selectFrom('ticket_messages')
    .select(({ fn }) => fn.countAll<number>().as('messages'))
    .where('account_id', '=', p.account_id)
    .where('created_at', '>', p.since),
);

const insert = statement((builder, p: Omit<TicketRow, 'id'>) =>
  builder
    .insertInto('tickets')
    .values({
      account_id: p.account_id,
      domain: p.domain,
      subject: p.subject,
      status: p.status,
      created_at: p.created_at,
      updated_at: p.updated_at,
      closed_at: p.closed_at,
    })
    .returning('id'),
);

const update = statement((builder, p: Pick<TicketRow, 'id' | 'status' | 'updated_at' | 'closed_at'>) =>
  builder
    .updateTable('tickets')
    .set({ status: p.status, updated_at: p.updated_at, closed_at: p.closed_at })
    .where('id', '=', p.id),
);

const addMessage = statement((builder, p: Omit<TicketMessageRow, 'id'>) =>
  builder
    .insertInto('ticket_messages')
    .values({
      ticket_id: p.ticket_id,
      account_id: p.account_id,
      author: p.author,
      body: p.body,
      created_at: p.created_at,
    })
    .returning('id'),
);

// A row that another write has locked is left to a later call, so that no two writes wait for each other here.
const prune = statement((builder, p: { before: number; limit: number }, { locking }) =>
  builder.deleteFrom('tickets').where('id', 'in', (row) =>
    row
      .selectFrom('tickets as past')
      .select('past.id')
      .where('past.closed_at', '<', p.before)
      .orderBy('past.closed_at')
      .limit(p.limit)
      .$if(locking, (query) => query.forUpdate().skipLocked()),
  ),
);

/** The repository of a session. */
export function tickets(session: Session): TicketReads & TicketWrites {
  return {
    get: (id) => one(session, get, { id }),
    page: (accountId, { before, limit, status }) =>
      page(session, { account_id: accountId, status, before: before ?? Number.MAX_SAFE_INTEGER, limit }),
    messages: (ticketId) => messages(session, { ticket_id: ticketId }),
    async countOpen(accountId) {
      return (await one(session, countOpen, { account_id: accountId }))!.tickets;
    },
    async countWritten(accountId, since) {
      return (await one(session, countWritten, { account_id: accountId, since }))!.messages;
    },
    async insert(ticket) {
      const [row] = await insert(session, ticket);
      return { ...ticket, id: row!.id };
    },
    update: async (ticket) => void (await update(session, ticket)),
    async addMessage(message) {
      const [row] = await addMessage(session, message);
      return { ...message, id: row!.id };
    },
    async prune(closedBefore, limit) {
      await prune(session, { before: closedBefore, limit });
    },
  };
}
