/**
 * Billing and support: suspensions, wallets, invoices, quota notices, tickets. Amounts of money are whole numbers of minor
 * units of a currency (ISO 4217), such as cents.
 */
import { accounts } from './accounts.ts';
import { integer, json, type RowOf, shortId, table, text, time } from './describe.ts';
import { domains } from './domains.ts';

/**
 * Why a domain is suspended: by the operator, because its account's wallet is below zero, or because its traffic has
 * reached its quota.
 */
export const SUSPENSION_CAUSES = ['operator', 'wallet', 'quota'] as const;
/** One of SUSPENSION_CAUSES. */
export type SuspensionCause = (typeof SUSPENSION_CAUSES)[number];

/** Why domains are suspended: a domain stays suspended as long as it has a row. */
export const suspensions = table(
  'suspensions',
  16,
  {
    domain_id: integer().references(domains, 'cascade'),
    cause: text<SuspensionCause>(),
    /** Since when. */
    at: time(),
  },
  {
    key: ['domain_id', 'cause'],
    withoutRowid: true,
    indexes: { suspensions_by_cause: ['cause', 'domain_id'] },
  },
);

/** One cause of a domain's suspension; the domain is suspended as long as it has one. */
export interface SuspensionRow extends RowOf<typeof suspensions> {}

/** Wallets of accounts. */
export const wallets = table(
  'wallets',
  16,
  {
    account_id: integer().key().references(accounts),
    /** The id of the line that wrote it, of the operator's billing. */
    ref: text(),
    /** Minor units of the currency, such as cents; below zero the account's domains are suspended. */
    balance: integer(),
    /** ISO 4217, three capital letters. */
    currency: text(),
    /** When the balance was true, by the operator's billing. */
    at: time(),
  },
  { indexes: { wallets_negative: { on: ['account_id'], where: 'balance < 0' } } },
);

/** The wallet of an account, as the operator's billing has written it last. */
export interface WalletRow extends RowOf<typeof wallets> {}

/** An invoice waits for payment, is paid, or was withdrawn. */
export const INVOICE_STATUSES = ['open', 'paid', 'void'] as const;
/** One of INVOICE_STATUSES. */
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

/** Invoices of accounts. */
export const invoices = table(
  'invoices',
  16,
  {
    id: shortId(),
    /** Its id in the operator's billing. */
    ref: text().unique(),
    account_id: integer().references(accounts),
    /** The number that the customer knows it by. */
    number: text(),
    /** The name of the domain that it is for, which may be gone; `null`: for the account. */
    domain: text().nullable(),
    status: text<InvoiceStatus>(),
    /** ISO 4217. */
    currency: text(),
    /** Minor units of the currency. */
    total: integer(),
    period_start: time().nullable(),
    period_end: time().nullable(),
    issued_at: time(),
    due_at: time().nullable(),
    paid_at: time().nullable(),
    /** A list of `{ description, amount }`. */
    lines_json: json(),
    /** When it was so, by the operator's billing. */
    at: time(),
  },
  { indexes: { invoices_by_account: ['account_id', 'issued_at', 'id'] } },
);

/** An invoice, as the operator's billing has written it last. */
export interface InvoiceRow extends RowOf<typeof invoices> {}

/** Levels of traffic quotas that were reported, once for each period and each size of the quota. */
export const quotaNotices = table(
  'quota_notices',
  16,
  {
    domain_id: integer().references(domains, 'cascade'),
    /** The start of the quota period. */
    period_start: time(),
    /** The quota, GB: a larger one is reported again. */
    quota_gb: integer(),
    /** Percent of the quota. */
    level: integer(),
    at: time(),
  },
  { key: ['domain_id', 'period_start', 'quota_gb', 'level'], withoutRowid: true },
);

/** A level of a traffic quota that was reported. */
export interface QuotaNoticeRow extends RowOf<typeof quotaNotices> {}

/** Levels of `max_gateway_requests_30d` that the requests of the last 30 days have reached, and that were notified of. */
export const gatewayQuotaLevels = table(
  'gateway_quota_levels',
  29,
  {
    domain_id: integer().references(domains, 'cascade'),
    /** Percent of the quota. */
    level: integer(),
    at: time(),
  },
  { key: ['domain_id', 'level'], withoutRowid: true },
);

/** A level of a gateway quota that was notified of. */
export interface GatewayQuotaLevelRow extends RowOf<typeof gatewayQuotaLevels> {}

/** A ticket waits for the operator, for its customer, or for nobody. */
export const TICKET_STATUSES = ['open', 'answered', 'closed'] as const;
/** One of TICKET_STATUSES. */
export type TicketStatus = (typeof TICKET_STATUSES)[number];

/** Support tickets of accounts. */
export const tickets = table(
  'tickets',
  16,
  {
    id: shortId(),
    account_id: integer().references(accounts),
    /** The name of the domain that it is about, which may be gone; `null`: none. */
    domain: text().nullable(),
    subject: text(),
    status: text<TicketStatus>(),
    created_at: time(),
    /** Time of the last message or change of status. */
    updated_at: time(),
    closed_at: time().nullable(),
  },
  {
    indexes: {
      tickets_by_account: ['account_id', 'id'],
      tickets_by_status: ['status', 'id'],
      tickets_closed: { on: ['closed_at'], where: 'closed_at IS NOT NULL' },
    },
  },
);

/** A support ticket. */
export interface TicketRow extends RowOf<typeof tickets> {}

/** Who wrote a message of a ticket. */
export const TICKET_AUTHORS = ['customer', 'operator'] as const;
/** One of TICKET_AUTHORS. */
export type TicketAuthor = (typeof TICKET_AUTHORS)[number];

/** Messages of tickets. */
export const ticketMessages = table(
  'ticket_messages',
  16,
  {
    id: shortId(),
    ticket_id: integer().references(tickets, 'cascade'),
    /** The account that wrote it; `null`: the operator. */
    account_id: integer().nullable().references(accounts),
    author: text<TicketAuthor>(),
    body: text(),
    created_at: time(),
  },
  {
    indexes: {
      ticket_messages_by_ticket: ['ticket_id', 'id'],
      ticket_messages_by_account: { on: ['account_id', 'created_at'], where: 'account_id IS NOT NULL' },
    },
  },
);

/** A message of a ticket. */
export interface TicketMessageRow extends RowOf<typeof ticketMessages> {}
