/** Support tickets and their messages. */
import {
  type Builder,
  freeStatement,
  one,
  type PageBack,
  type Session,
  statement,
} from '../database/statement.ts';
import type { TicketMessageRow, TicketRow, TicketStatus } from '../tables/billing.ts';

/** Which tickets a list has: those below an id, the newest first. */
export interface TicketPage extends PageBack {
  /** `null`: of any. */
  readonly status: TicketStatus | null;
}

/** A ticket with the name of its account. */
export interface NamedTicket extends TicketRow {
  readonly account: string;
}

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

/** Tickets and their messages. */
export function ticketReads(session: Session) {
  return {
    /** In a write the ticket is locked. */
    get: (id: number): Promise<NamedTicket | null> => one(session, get, { id }),
    /** Tickets of an account, the newest first; `null`: of all accounts. */
    page: (
      accountId: number | null,
      { before, limit, status }: TicketPage,
    ): Promise<readonly NamedTicket[]> =>
      page(session, { account_id: accountId, status, before: before ?? Number.MAX_SAFE_INTEGER, limit }),
    /** By id. */
    messages: (ticketId: number): Promise<readonly TicketMessageRow[]> =>
      messages(session, { ticket_id: ticketId }),
    /** Tickets of the account that are not closed. Locks none: concurrent writes may each see one fewer. */
    async countOpen(accountId: number): Promise<number> {
      return (await one(session, countOpen, { account_id: accountId }))!.tickets;
    },
    /** Messages that the account has written since. */
    async countWritten(accountId: number, since: number): Promise<number> {
      return (await one(session, countWritten, { account_id: accountId, since }))!.messages;
    },
  };
}

/** Changes of tickets. */
export function ticketWrites(session: Session) {
  return {
    async insert(ticket: Omit<TicketRow, 'id'>): Promise<TicketRow> {
      const [row] = await insert(session, ticket);
      return { ...ticket, id: row!.id };
    },
    /** Changes the status of a ticket. */
    update: async (ticket: Pick<TicketRow, 'id' | 'status' | 'updated_at' | 'closed_at'>): Promise<void> =>
      void (await update(session, ticket)),
    async addMessage(message: Omit<TicketMessageRow, 'id'>): Promise<TicketMessageRow> {
      const [row] = await addMessage(session, message);
      return { ...message, id: row!.id };
    },
    /** Removes tickets that were closed before a time, with their messages, at most `limit`. */
    async prune(closedBefore: number, limit: number): Promise<void> {
      await prune(session, { before: closedBefore, limit });
    },
  };
}
