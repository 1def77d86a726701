/**
 * The rows of billing and support: suspensions, wallets, invoices, quota notices, tickets. The conventions are those of
 * `rows.ts`: times are integer milliseconds since the epoch, `…_json` is JSON as text. Amounts of money are whole numbers of
 * minor units of a currency (ISO 4217), such as cents.
 */

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
