/** The bounds of the billing room, each with its reason. */

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

// Lines of an import

/**
 * The largest amount in minor units, either sign: ten trillion of a currency with cents, and a sum of a hundred of them is
 * still exact in a JavaScript number.
 */
export const MAX_AMOUNT = 10_000_000_000_000;
/** Characters of an id or a number of the operator's billing: a UUID with a prefix, and as much again. */
export const MAX_REF_CHARACTERS = 100;
/** Lines of one invoice: one for each kind of charge of each domain of a large account. */
export const MAX_INVOICE_LINES = 100;
/** Characters of the description of an invoice's line: two lines of text. */
export const MAX_LINE_TEXT = 200;
/** Lines of one transaction: a few milliseconds of work, and a thousandth of a second of disk for each ten of them. */
export const LINES_AT_ONCE = 500;
/**
 * Octets of a line: the longest valid invoice, with each character of its texts escaped, is half as long. A longer line is
 * not parsed.
 */
export const MAX_LINE_OCTETS = 512 * 1_024;
/**
 * Milliseconds by which `at` may be ahead of this machine's clock: clocks and time zones differ. A later time is a mistake,
 * and all true lines after it would count as older.
 */
export const MAX_AHEAD_MS = DAY_MS;
/**
 * Domains that one transaction suspends or resumes. Each takes about ten statements, so a transaction stays far below the
 * 15 seconds after which the store ends it; the rest of an account follows in further transactions.
 */
export const SETTLED_AT_ONCE = 200;
/** Accounts whose domains the watch settles in one transaction. */
export const ACCOUNTS_AT_ONCE = 20;

// Quotas of traffic and of gateway requests

/**
 * Milliseconds for which a level of a gateway quota is not notified of again: the requests of the last 30 days fall below a level and
 * reach it again within minutes.
 */
export const LEVEL_QUIET_MS = DAY_MS;
/** Milliseconds between two polls: the delay after which an exceeded quota is seen where there are few domains. */
export const BILLING_POLL_MS = 15 * SECOND_MS;
/** Domains whose traffic one poll sums, one at a time: 10,000 domains are checked in about eight minutes. */
export const QUOTAS_AT_ONCE = 300;

// Tickets

/** Characters of a ticket's subject: one line of a list or an e-mail. */
export const MAX_SUBJECT = 200;
/** Characters of a message: some pages of text, or a long log excerpt. */
export const MAX_TICKET_MESSAGE = 10_000;
/** Characters of an answer that its e-mail repeats: a page; the rest is in the ticket. */
export const MAX_LETTER_ANSWER = 4_000;
/**
 * Messages of one ticket with which its customer may write no more, so that reading it is bounded (2 MB); a longer
 * conversation continues in a new ticket.
 */
export const MAX_TICKET_MESSAGES = 200;
/** The same for the operator, who can still answer the customer's last message. */
export const MAX_ANSWERED_MESSAGES = MAX_TICKET_MESSAGES + 10;
/**
 * Tickets of an account that are not closed: more than anyone follows at a time. They are counted without a lock, so that
 * requests of one account do not wait for each other: concurrent ones may exceed it by their number.
 */
export const MAX_OPEN_TICKETS = 50;
/** Messages that an account may write in 24 hours, so that no key fills the disk. */
export const MAX_MESSAGES_PER_DAY = 200;
/** The period of `MAX_MESSAGES_PER_DAY` in milliseconds. */
export const MESSAGES_PERIOD_MS = DAY_MS;
/**
 * Messages of an account within an hour after which operators find its tickets in their feed alone: a third of the e-mails
 * that all accounts together may cause (`MAX_BEFORE_TICKETS` of `notify/`).
 */
export const MAX_ALERTING_MESSAGES = 5;
/** The hour of `MAX_ALERTING_MESSAGES` in milliseconds. */
export const ALERTS_PERIOD_MS = 3_600_000;
/** Milliseconds after which a closed ticket is removed: two years, the usual limit of claims about a service. */
export const CLOSED_TICKET_MS = 730 * DAY_MS;
/** Closed tickets that a new one removes: more than one, so that they do not accumulate. */
export const PRUNED_TICKETS = 10;
