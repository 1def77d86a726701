/**
 * The repositories of billing and support: why domains are suspended, wallets, invoices, quota notices, tickets. `…Reads` are
 * for every transaction, `…Writes` for writing ones. Times are milliseconds since the epoch; `null` means there is no such row;
 * a method throws `StoreFault` alone.
 */
import type { PageBack } from './customer-repositories.ts';
import type { DomainRow } from './rows.ts';

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

// The rows of billing and support: suspensions, wallets, invoices, quota notices, tickets. The conventions are those of
// `rows.ts`: times are integer milliseconds since the epoch, `…_json` is JSON as text. Amounts of money are whole numbers of
// minor units of a currency (ISO 4217), such as cents.

/**
 * Why a domain is suspended: by the operator, because its account's wallet is below zero, or because its traffic has
 * reached its quota.
 */
export const SUSPENSION_CAUSES = ['operator', 'wallet', 'quota'] as const;
/** One of SUSPENSION_CAUSES. */
export type SuspensionCause = (typeof SUSPENSION_CAUSES)[number];

/** One cause of a domain's suspension; the domain is suspended as long as it has one. */
export interface SuspensionRow {
  readonly domain_id: number;
  readonly cause: SuspensionCause;
  /** Since when. */
  readonly at: number;
}

/** The wallet of an account, as the operator's billing has written it last. */
export interface WalletRow {
  /** Unique. */
  readonly account_id: number;
  /** The id of the line that wrote it, of the operator's billing. */
  readonly ref: string;
  /** Minor units of the currency, such as cents; below zero the account's domains are suspended. */
  readonly balance: number;
  /** ISO 4217, three capital letters. */
  readonly currency: string;
  /** When the balance was true, by the operator's billing. */
  readonly at: number;
}

/** An invoice waits for payment, is paid, or was withdrawn. */
export const INVOICE_STATUSES = ['open', 'paid', 'void'] as const;
/** One of INVOICE_STATUSES. */
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

/** An invoice, as the operator's billing has written it last. */
export interface InvoiceRow {
  readonly id: number;
  /** Its id in the operator's billing. Unique. */
  readonly ref: string;
  readonly account_id: number;
  /** The number that the customer knows it by. */
  readonly number: string;
  /** The name of the domain that it is for, which may be gone; `null`: for the account. */
  readonly domain: string | null;
  readonly status: InvoiceStatus;
  /** ISO 4217. */
  readonly currency: string;
  /** Minor units of the currency. */
  readonly total: number;
  readonly period_start: number | null;
  readonly period_end: number | null;
  readonly issued_at: number;
  readonly due_at: number | null;
  readonly paid_at: number | null;
  /** A list of `{ description, amount }`. */
  readonly lines_json: string;
  /** When it was so, by the operator's billing. */
  readonly at: number;
}

/** A level of a traffic quota that was reported. */
export interface QuotaNoticeRow {
  readonly domain_id: number;
  /** The start of the quota period. */
  readonly period_start: number;
  /** The quota, GB: a larger one is reported again. */
  readonly quota_gb: number;
  /** Percent of the quota. */
  readonly level: number;
  readonly at: number;
}

/** A ticket waits for the operator, for its customer, or for nobody. */
export const TICKET_STATUSES = ['open', 'answered', 'closed'] as const;
/** One of TICKET_STATUSES. */
export type TicketStatus = (typeof TICKET_STATUSES)[number];

/** A support ticket. */
export interface TicketRow {
  readonly id: number;
  readonly account_id: number;
  /** The name of the domain that it is about, which may be gone; `null`: none. */
  readonly domain: string | null;
  readonly subject: string;
  readonly status: TicketStatus;
  readonly created_at: number;
  /** Time of the last message or change of status. */
  readonly updated_at: number;
  readonly closed_at: number | null;
}

/** Who wrote a message of a ticket. */
export const TICKET_AUTHORS = ['customer', 'operator'] as const;
/** One of TICKET_AUTHORS. */
export type TicketAuthor = (typeof TICKET_AUTHORS)[number];

/** A message of a ticket. */
export interface TicketMessageRow {
  readonly id: number;
  readonly ticket_id: number;
  /** The account that wrote it; `null`: the operator. */
  readonly account_id: number | null;
  readonly author: TicketAuthor;
  readonly body: string;
  readonly created_at: number;
}
