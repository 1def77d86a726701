/**
 * The repositories of billing and support: why domains are suspended, wallets, invoices, quota notices, tickets. `…Reads` are
 * for every transaction, `…Writes` for writing ones. Times are milliseconds since the epoch; `null` means there is no such row;
 * a method throws `StoreFault` alone.
 */

import type { PageBack } from './customer-repositories.ts';
import type {
  InvoiceRow,
  InvoiceStatus,
  QuotaNoticeRow,
  SuspensionCause,
  SuspensionRow,
  TicketMessageRow,
  TicketRow,
  TicketStatus,
  WalletRow,
} from './tables/billing.ts';
import type { DomainRow } from './tables/domains.ts';

/** Why domains are suspended. */
export interface SuspensionReads {
  /** The causes of a domain's suspension, in the order of SUSPENSION_CAUSES. */
  list(domainId: number): Promise<readonly SuspensionRow[]>;
  /** Domains that an account owns and whose suspension has this cause, by name. Locks none. */
  ofAccount(accountId: number, cause: SuspensionCause): Promise<readonly Pick<DomainRow, 'id' | 'name'>[]>;
  /** Domains above `afterId` whose suspension has this cause, by id, at most `limit`. Locks none. */
  byCause(
    cause: SuspensionCause,
    page: { readonly afterId: number; readonly limit: number },
  ): Promise<readonly number[]>;
  /**
   * Domains of these accounts whose suspension does not fit the wallet, by id, at most `limit`: the balance is below zero and
   * the domain is not suspended for it, or the other way round. Locks none.
   */
  unsettled(question: {
    readonly accountIds: readonly number[];
    readonly limit: number;
  }): Promise<readonly number[]>;
  /** Accounts that have a domain of `unsettled`, by id, at most `limit`. Locks none. */
  unsettledAccounts(limit: number): Promise<readonly number[]>;
  /** How many domains of these accounts `unsettled` would make the edge refuse, and serve again. */
  countUnsettled(accountIds: readonly number[]): Promise<UnsettledCounts>;
}

/** Domains whose `suspended` flag changes when their accounts are settled. */
export interface UnsettledCounts {
  readonly suspended: number;
  readonly resumed: number;
}

/** Changes of the causes of a domain's suspension; `lifecycle` changes the domain with them. */
export interface SuspensionWrites {
  /** True when the domain did not have the cause. */
  put(suspension: SuspensionRow): Promise<boolean>;
  /** True when the domain had the cause. */
  remove(domainId: number, cause: SuspensionCause): Promise<boolean>;
}

/** Wallets of accounts. */
export interface WalletReads {
  get(accountId: number): Promise<WalletRow | null>;
}

/** Changes of wallets. */
export interface WalletWrites {
  /**
   * Locks the accounts until the commit, by id, and returns their wallets. Writes of keys of these accounts wait, so no domain
   * is added meanwhile. INVARIANT: called before any domain is locked.
   */
  lock(accountIds: readonly number[]): Promise<readonly WalletRow[]>;
  /** Replaces the wallets of accounts that `lock` has locked. */
  put(wallets: readonly WalletRow[]): Promise<void>;
}

/** A place in the order of a list of invoices. */
export type InvoicePlace = Pick<InvoiceRow, 'issued_at' | 'id'>;

/** Invoices of accounts. */
export interface InvoiceReads {
  /** The newest first, by time of issue, then id. */
  page(
    accountId: number,
    page: {
      /** The last invoice of the page before; `null`: from the newest on. */
      readonly after: InvoicePlace | null;
      readonly limit: number;
      /** `null`: of any. */
      readonly status: InvoiceStatus | null;
    },
  ): Promise<readonly InvoiceRow[]>;
  /** The account's invoice with this id. */
  get(accountId: number, id: number): Promise<InvoiceRow | null>;
  /** The invoices with these ids of the operator's billing, in any order. */
  byRefs(refs: readonly string[]): Promise<readonly InvoiceRow[]>;
}

/** Changes of invoices; none is ever removed. */
export interface InvoiceWrites {
  /**
   * Inserts the invoices, one statement for all; one that exists is replaced if it is older and of the same account. No `ref`
   * may occur twice. Returns the refs of those that were written.
   */
  put(invoices: readonly Omit<InvoiceRow, 'id'>[]): Promise<readonly string[]>;
}

/** Reported levels of traffic quotas. */
export interface QuotaReads {
  /** The notices of a domain's period, by quota and level. */
  noticed(domainId: number, periodStart: number): Promise<readonly QuotaNoticeRow[]>;
}

/** Records reported levels of traffic quotas. */
export interface QuotaWrites {
  /** Records a level and removes those of earlier periods. True when it was not recorded before. */
  note(notice: QuotaNoticeRow): Promise<boolean>;
}

/** Which tickets a list has: those below an id, the newest first. */
export interface TicketPage extends PageBack {
  /** `null`: of any. */
  readonly status: TicketStatus | null;
}

/** A ticket with the name of its account. */
export interface NamedTicket extends TicketRow {
  readonly account: string;
}

/** Tickets and their messages. */
export interface TicketReads {
  /** In a write the ticket is locked. */
  get(id: number): Promise<NamedTicket | null>;
  /** Tickets of an account, the newest first; `null`: of all accounts. */
  page(accountId: number | null, page: TicketPage): Promise<readonly NamedTicket[]>;
  /** By id. */
  messages(ticketId: number): Promise<readonly TicketMessageRow[]>;
  /** Tickets of the account that are not closed. Locks none: concurrent writes may each see one fewer. */
  countOpen(accountId: number): Promise<number>;
  /** Messages that the account has written since. */
  countWritten(accountId: number, since: number): Promise<number>;
}

/** Changes of tickets. */
export interface TicketWrites {
  insert(ticket: Omit<TicketRow, 'id'>): Promise<TicketRow>;
  /** Changes the status of a ticket. */
  update(ticket: Pick<TicketRow, 'id' | 'status' | 'updated_at' | 'closed_at'>): Promise<void>;
  addMessage(message: Omit<TicketMessageRow, 'id'>): Promise<TicketMessageRow>;
  /** Removes tickets that were closed before a time, with their messages, at most `limit`. */
  prune(closedBefore: number, limit: number): Promise<void>;
}
