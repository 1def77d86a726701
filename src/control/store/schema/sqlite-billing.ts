/** The tables of billing and support on SQLite: suspensions, wallets, invoices, quota notices, tickets. */

/**
 * Why a domain is suspended: it stays suspended as long as it has a row. A domain that is suspended at this step was
 * suspended by the operator.
 */
const SUSPENSIONS = `
CREATE TABLE suspensions (
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  cause TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (domain_id, cause)
) STRICT, WITHOUT ROWID;
CREATE INDEX suspensions_by_cause ON suspensions (cause, domain_id);
INSERT INTO suspensions SELECT id, 'operator', coalesce(suspended_at, updated_at) FROM domains WHERE suspended = 1;
`;

/** What the operator's billing has written: wallets and invoices. Amounts are in minor units of their currency. */
const WALLETS_AND_INVOICES = `
CREATE TABLE wallets (
  account_id INTEGER PRIMARY KEY REFERENCES accounts,
  ref TEXT NOT NULL,
  balance INTEGER NOT NULL,
  currency TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX wallets_negative ON wallets (account_id) WHERE balance < 0;

CREATE TABLE invoices (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id <= 4294967295),
  ref TEXT NOT NULL UNIQUE,
  account_id INTEGER NOT NULL REFERENCES accounts,
  number TEXT NOT NULL,
  domain TEXT,
  status TEXT NOT NULL,
  currency TEXT NOT NULL,
  total INTEGER NOT NULL,
  period_start INTEGER,
  period_end INTEGER,
  issued_at INTEGER NOT NULL,
  due_at INTEGER,
  paid_at INTEGER,
  lines_json TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX invoices_by_account ON invoices (account_id, issued_at, id);
`;

/** Levels of a traffic quota that were reported, once for each period and each size of the quota. */
const QUOTA_NOTICES = `
CREATE TABLE quota_notices (
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  period_start INTEGER NOT NULL,
  quota_gb INTEGER NOT NULL,
  level INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (domain_id, period_start, quota_gb, level)
) STRICT, WITHOUT ROWID;
`;

/** Support tickets of accounts. A ticket names its domain, which may be gone. */
const TICKETS = `
CREATE TABLE tickets (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id <= 4294967295),
  account_id INTEGER NOT NULL REFERENCES accounts,
  domain TEXT,
  subject TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  closed_at INTEGER
) STRICT;
CREATE INDEX tickets_by_account ON tickets (account_id, id);
CREATE INDEX tickets_by_status ON tickets (status, id);
CREATE INDEX tickets_closed ON tickets (closed_at) WHERE closed_at IS NOT NULL;

CREATE TABLE ticket_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id <= 4294967295),
  ticket_id INTEGER NOT NULL REFERENCES tickets ON DELETE CASCADE,
  account_id INTEGER REFERENCES accounts,
  author TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX ticket_messages_by_ticket ON ticket_messages (ticket_id, id);
CREATE INDEX ticket_messages_by_account ON ticket_messages (account_id, created_at) WHERE account_id IS NOT NULL;
`;

/** All of them, as one step. */
export const SQLITE_BILLING: string = SUSPENSIONS + WALLETS_AND_INVOICES + QUOTA_NOTICES + TICKETS;
