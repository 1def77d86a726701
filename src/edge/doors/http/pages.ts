/**
 * Pages of decisions already made, at the agent's HTTP listener. In: the target of a request and the header with a ticket.
 * Out: the answer that the ticket names, once; `null` for any other path. Nothing is decided here.
 */
import type { EdgeAnswer } from '../../../base/http/header-fields.ts';
import type { Tickets } from '../tickets.ts';

/** The path at which a proxy fetches the page of a ticket. */
export const PAGE_PATH = '/edgeplan/page';
/** The header with a ticket, in lower case; a proxy may send it in place of the query. */
export const TICKET_HEADER = 'x-edgeplan-ticket';

/**
 * The request behind it was not forwarded, and is not now. 503: the visitor may try again, and the request is decided again.
 */
const GONE: EdgeAnswer = {
  status: 503,
  headers: ['Content-Type', 'text/plain; charset=utf-8', 'Cache-Control', 'no-store'],
  body: 'the page of this decision is over; send the request again\n',
};

/**
 * The answer to a request at the page address.
 * @param target path and query, as sent
 * @param header the value of `TICKET_HEADER`, which comes before the query; `undefined`: the request has none
 */
export function pageOf(
  tickets: Pick<Tickets, 'redeem'>,
  target: string,
  header: string | undefined,
): EdgeAnswer | null | Promise<EdgeAnswer> {
  const mark = target.indexOf('?');
  if ((mark < 0 ? target : target.slice(0, mark)) !== PAGE_PATH) return null;
  const ticket = header ?? (mark < 0 ? null : new URLSearchParams(target.slice(mark)).get('ticket'));
  const page = ticket === null ? null : tickets.redeem(ticket);
  return page instanceof Promise ? page.then((found) => found ?? GONE) : (page ?? GONE);
}
