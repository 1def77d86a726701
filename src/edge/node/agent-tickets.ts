/**
 * The tickets of an agent, whose pages other processes can answer: the previous and the next process during an upgrade, or all agents
 * of a group. In: the source of the key. Out: tickets for the doors, and the calls by which an upgrade changes the sharing.
 */
import { join } from 'node:path';
import { openSharedPages } from '../doors/shared-pages.ts';
import { createTickets, type SharableTickets, TICKET_MS } from '../doors/tickets.ts';
import type { AgentGroup } from './agent-group.ts';
import type { AgentState } from './agent-handover.ts';
import type { EdgeNodeOptions } from './options.ts';

/** The folder in `data` in which two processes share pages. */
const PAGES_FOLDER = 'tickets';
/** Milliseconds between two removals of pages that killed agents of the group have left. */
const SWEEP_MS = 60_000;

/** Tickets, and the times in which their pages are shared. */
export interface AgentTickets {
  readonly tickets: SharableTickets;
  /** The next process takes over from this one. */
  begin(): void;
  /** The process before has ended. */
  end(): void;
  close(): void;
}

type TicketOptions = Pick<EdgeNodeOptions, 'data' | 'log'>;

/** Where the key of tickets comes from. */
interface TicketOrigin {
  readonly group: AgentGroup | null;
  readonly handed: AgentState | null;
  /** Whether an earlier process still answers tickets. */
  readonly takesOver: boolean;
}

/** Opens the tickets; pages of an earlier run are removed. @throws the system's error when they cannot be */
export function openAgentTickets(options: TicketOptions, { group, ...origin }: TicketOrigin): AgentTickets {
  return group === null ? openOwnTickets(options, origin) : openGroupTickets(options, group);
}

/** The tickets of an agent that is alone on its sockets: shared with the process before and the next one. */
function openOwnTickets(
  { data, log }: TicketOptions,
  { handed, takesOver }: Omit<TicketOrigin, 'group'>,
): AgentTickets {
  const pages = openSharedPages(join(data, PAGES_FOLDER), TICKET_MS);
  const tickets = createTickets({
    key: handed?.ticketKey ?? null,
    shared: pages,
    onFault: noteUnshared(log),
  });
  let removal: NodeJS.Timeout | undefined;
  let isLeaving = false;
  if (takesOver) tickets.share();
  else pages.remove();
  return {
    tickets,
    begin() {
      isLeaving = true;
      clearTimeout(removal);
      tickets.share();
    },
    end() {
      // The next process shares with this one.
      if (isLeaving) return;
      tickets.unshare();
      // Pages that the other process has left can be redeemed while their tickets are valid.
      removal = setTimeout(pages.remove, TICKET_MS).unref();
    },
    close: () => undefined,
  };
}

/** The tickets of an agent of a group: all of them are shared. */
function openGroupTickets({ log }: TicketOptions, { ticketKey, pages: folder }: AgentGroup): AgentTickets {
  const pages = openSharedPages(folder, TICKET_MS);
  const tickets = createTickets({ key: ticketKey, shared: pages, onFault: noteUnshared(log) });
  const sweep = (): void =>
    void pages
      .sweep()
      .catch((error: unknown) => log.warn({ err: error }, 'old pages of the group cannot be removed'));
  const sweeps = setInterval(sweep, SWEEP_MS).unref();
  tickets.share();
  sweep();
  return {
    tickets,
    begin: () => undefined,
    end: () => undefined,
    close: () => clearInterval(sweeps),
  };
}

function noteUnshared(log: EdgeNodeOptions['log']): (error: unknown) => void {
  return (error) =>
    log.error(
      { err: error },
      'a page cannot be shared: only this process of the agent can answer its ticket',
    );
}
