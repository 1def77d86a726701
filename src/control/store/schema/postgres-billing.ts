/** The tables of billing and support on PostgreSQL: suspensions, wallets, invoices, quota notices, tickets. */

/**
 * Why a domain is suspended: it stays suspended as long as it has a row. A domain that is suspended at this step was
 * suspended by the operator.
 */
const SUSPENSIONS = `
CREATE TABLE suspensions (
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  cause text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (domain_id, cause)
);
CREATE INDEX suspensions_by_cause ON suspensions (cause, domain_id);
INSERT INTO suspensions SELECT id, 'operator', coalesce(suspended_at, updated_at) FROM domains WHERE suspended = 1;
`;

/** What the operator's billing has written: wallets and invoices. Amounts are in minor units of their currency. */
const WALLETS_AND_INVOICES = `
CREATE TABLE wallets (
  account_id bigint PRIMARY KEY REFERENCES accounts,
  ref text COLLATE "C" NOT NULL,
  balance bigint NOT NULL,
  currency text COLLATE "C" NOT NULL,
  at bigint NOT NULL
);
CREATE INDEX wallets_negative ON wallets (account_id) WHERE balance < 0;

CREATE TABLE invoices (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 4294967295) PRIMARY KEY,
  ref text COLLATE "C" NOT NULL CONSTRAINT "invoices.ref" UNIQUE,
  account_id bigint NOT NULL REFERENCES accounts,
  number text COLLATE "C" NOT NULL,
  domain text COLLATE "C",
  status text COLLATE "C" NOT NULL,
  currency text COLLATE "C" NOT NULL,
  total bigint NOT NULL,
  period_start bigint,
  period_end bigint,
  issued_at bigint NOT NULL,
  due_at bigint,
  paid_at bigint,
  lines_json text COLLATE "C" NOT NULL,
  at bigint NOT NULL
);
CREATE INDEX invoices_by_account ON invoices (account_id, issued_at, id);
`;

/** Levels of a traffic quota that were reported, once for each period and each size of the quota. */
const QUOTA_NOTICES = `
CREATE TABLE quota_notices (
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  period_start bigint NOT NULL,
  quota_gb bigint NOT NULL,
  level bigint NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (domain_id, period_start, quota_gb, level)
);
`;

/** Support tickets of accounts. A ticket names its domain, which may be gone. */
const TICKETS = `
CREATE TABLE tickets (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 4294967295) PRIMARY KEY,
  account_id bigint NOT NULL REFERENCES accounts,
  domain text COLLATE "C",
  subject text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  closed_at bigint
);
CREATE INDEX tickets_by_account ON tickets (account_id, id);
CREATE INDEX tickets_by_status ON tickets (status, id);
CREATE INDEX tickets_closed ON tickets (closed_at) WHERE closed_at IS NOT NULL;

CREATE TABLE ticket_messages (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 4294967295) PRIMARY KEY,
  ticket_id bigint NOT NULL REFERENCES tickets ON DELETE CASCADE,
  account_id bigint REFERENCES accounts,
  author text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL
);
CREATE INDEX ticket_messages_by_ticket ON ticket_messages (ticket_id, id);
CREATE INDEX ticket_messages_by_account ON ticket_messages (account_id, created_at) WHERE account_id IS NOT NULL;
`;

/** All of them, as one step. */
export const POSTGRES_BILLING: string = SUSPENSIONS + WALLETS_AND_INVOICES + QUOTA_NOTICES + TICKETS;
