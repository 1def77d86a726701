/** Certificates that the server obtains by ACME, on SQLite: accounts at the CAs, orders, and challenges in zones. */

/** The account at a CA; its private key is encrypted. Orders are taken from an allowance that refills with time. */
const ACCOUNTS = `
CREATE TABLE acme_accounts (
  directory TEXT PRIMARY KEY,
  url TEXT NOT NULL,
  sealed_key BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  spent_until INTEGER NOT NULL DEFAULT 0,
  paused_until INTEGER NOT NULL DEFAULT 0
) STRICT;
`;

/** What is to be done for each obtained certificate; an order under way has its address and its encrypted private key. */
const ORDERS = `
CREATE TABLE certificate_orders (
  certificate_id INTEGER PRIMARY KEY REFERENCES certificates ON DELETE CASCADE,
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  names_json TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  url TEXT,
  sealed_key BLOB,
  window_asked_at INTEGER NOT NULL DEFAULT 0,
  claim INTEGER NOT NULL DEFAULT 0,
  claimed_until INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX certificate_orders_by_due ON certificate_orders (due_at);
CREATE INDEX certificate_orders_by_domain ON certificate_orders (domain_id);
`;

/** TXT records of DNS-01 challenges, in the zone of a name beside its own records. */
const CHALLENGES = `
CREATE TABLE zone_challenges (
  name TEXT NOT NULL,
  owner TEXT NOT NULL,
  value TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (name, owner, value)
) STRICT;
CREATE INDEX zone_challenges_by_age ON zone_challenges (created_at);
`;

/** Tokens of HTTP-01 challenges, a JSON list that nodes get with the manifest; NULL: none. */
const TOKENS = `
ALTER TABLE manifest ADD COLUMN challenges TEXT;
`;

/** The DDL of this step. */
export const SQLITE_ISSUANCE: string = ACCOUNTS + ORDERS + CHALLENGES + TOKENS;
