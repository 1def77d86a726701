/**
 * The tables of single topics in SQLite, as steps of the migration: certificates, issuance, drafts, purges, caches,
 * zones, billing.
 */

/** Rows of versions before have no chain: they say which names are covered, and nodes get nothing of them. */
const CERTIFICATES = `
ALTER TABLE certificates RENAME COLUMN hostnames_json TO names_json;
ALTER TABLE certificates RENAME COLUMN issued_at TO not_before;
ALTER TABLE certificates RENAME COLUMN expires_at TO not_after;
ALTER TABLE certificates ADD COLUMN source TEXT NOT NULL DEFAULT 'custom';
ALTER TABLE certificates ADD COLUMN issuer TEXT NOT NULL DEFAULT '';
ALTER TABLE certificates ADD COLUMN key_type TEXT NOT NULL DEFAULT '';
ALTER TABLE certificates ADD COLUMN sha256 TEXT NOT NULL DEFAULT '';
ALTER TABLE certificates ADD COLUMN chain TEXT;
ALTER TABLE certificates ADD COLUMN sealed_key BLOB;
ALTER TABLE certificates ADD COLUMN error TEXT NOT NULL DEFAULT '';
ALTER TABLE certificates ADD COLUMN renew_at INTEGER;
ALTER TABLE certificates ADD COLUMN noticed TEXT NOT NULL DEFAULT '';
ALTER TABLE certificates ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
UPDATE certificates SET created_at = not_before;
CREATE UNIQUE INDEX certificates_by_leaf ON certificates (domain_id, sha256) WHERE sha256 <> '';
CREATE INDEX certificates_by_end ON certificates (not_after);
`;

/** The digest of the set of a domain; the manifest has it once the domain is published. No row: the domain has no set. */
const SETS = `
CREATE TABLE certificate_sets (
  domain_id INTEGER PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
  digest TEXT NOT NULL
) STRICT;
ALTER TABLE manifest ADD COLUMN certificates TEXT;
`;

/** The X25519 key that sets are sealed to, Base64 of 32 octets. */
const NODE_KEYS = `
ALTER TABLE nodes ADD COLUMN box_key TEXT;
`;

/** The DDL of this step. */
export const SQLITE_CERTIFICATES: string = CERTIFICATES + SETS + NODE_KEYS;

// The tables of drafts, on SQLite: which domains publish by hand, and the rules that nodes run where the stored ones differ.

/** The DDL of this step. */
export const SQLITE_DRAFTS: string = `
ALTER TABLE domains ADD COLUMN publish_mode TEXT NOT NULL DEFAULT 'automatic';

CREATE TABLE drafts (
  domain_id INTEGER PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
  edit INTEGER NOT NULL,
  since INTEGER
) STRICT;

CREATE TABLE published_rules (
  rule_id INTEGER PRIMARY KEY,
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  type TEXT NOT NULL,
  priority INTEGER NOT NULL,
  body TEXT,
  content TEXT,
  addresses INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX published_rules_by_domain ON published_rules (domain_id, rule_id);

CREATE TABLE published_patterns (
  rule_id INTEGER NOT NULL REFERENCES published_rules ON DELETE CASCADE,
  digest TEXT NOT NULL,
  octets INTEGER NOT NULL,
  build INTEGER NOT NULL,
  eighths INTEGER NOT NULL,
  prefix TEXT NOT NULL,
  head TEXT NOT NULL,
  PRIMARY KEY (rule_id, digest)
) STRICT, WITHOUT ROWID;
`;

// The table of invariants, on SQLite: what must be proved of a draft before it is published.

/** The DDL of this step. */
export const SQLITE_INVARIANTS: string = `
CREATE TABLE domain_invariants (
  domain_id INTEGER PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
  edit INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
`;

// Certificates that the server obtains by ACME, on SQLite: accounts at the CAs, orders, and challenges in zones.

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

// The tables of caches on SQLite: purges of single responses, and how far each name's entry of the manifest has them.

/** The DDL of this step. */
export const SQLITE_PURGES: string = `
ALTER TABLE manifest ADD COLUMN purge_through INTEGER NOT NULL DEFAULT 0;
ALTER TABLE manifest ADD COLUMN purge_floor INTEGER NOT NULL DEFAULT 0;
CREATE TABLE cache_purges (
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  kind TEXT NOT NULL,
  value TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (domain_id, kind, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX cache_purges_by_position ON cache_purges (domain_id, position);
`;

// The tables of what caches have stored, on SQLite: the last report of each process of a node about each of its domains.

/** The DDL of this step. */
export const SQLITE_CACHE_CONTENTS: string = `
CREATE TABLE cache_contents (
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  node_id INTEGER NOT NULL REFERENCES nodes,
  process INTEGER NOT NULL,
  run INTEGER NOT NULL,
  at INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  octets INTEGER NOT NULL,
  disk_files INTEGER NOT NULL,
  disk_octets INTEGER NOT NULL,
  urls_json TEXT NOT NULL,
  PRIMARY KEY (domain_id, node_id, process)
) STRICT, WITHOUT ROWID;
CREATE INDEX cache_contents_by_process ON cache_contents (node_id, process, run);
CREATE INDEX cache_contents_by_age ON cache_contents (at);
`;

// The tables of zones on SQLite: versions of zones, the steps between them, what waits, and flattened names.

/** A zone as secondaries transfer it. It has no foreign key: the row of a deleted domain stays until its removal is published. */
const VERSIONS = `
CREATE TABLE zones (
  name TEXT PRIMARY KEY,
  domain_id INTEGER NOT NULL,
  serial INTEGER NOT NULL,
  primary_name TEXT NOT NULL,
  content BLOB NOT NULL,
  records INTEGER NOT NULL,
  settings TEXT NOT NULL,
  problems_json TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX zones_by_update ON zones (updated_at);

CREATE TABLE zone_catalogs (
  name TEXT PRIMARY KEY,
  serial INTEGER NOT NULL,
  removed_serial INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE zone_steps (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  from_serial INTEGER NOT NULL,
  to_serial INTEGER NOT NULL,
  octets INTEGER NOT NULL,
  removed BLOB NOT NULL,
  added BLOB NOT NULL
) STRICT;
CREATE INDEX zone_steps_by_name ON zone_steps (name, id);
`;

/** Names whose domain or records have changed since their zone was made; a random version identifies the last change. */
const CHANGES = `
CREATE TABLE zone_changes (
  name TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  since INTEGER NOT NULL,
  renumber INTEGER NOT NULL DEFAULT 0,
  claimed_until INTEGER NOT NULL DEFAULT 0
) STRICT;
`;

/** Targets of ALIAS records with their last answer, and the zones that contain it. */
const FLATTENED = `
CREATE TABLE flattened_targets (
  target TEXT PRIMARY KEY,
  addresses_json TEXT NOT NULL,
  good_at INTEGER,
  failures INTEGER NOT NULL,
  next_at INTEGER NOT NULL
) STRICT;
CREATE INDEX flattened_targets_by_next ON flattened_targets (next_at);

CREATE TABLE flattened_uses (
  name TEXT NOT NULL,
  target TEXT NOT NULL,
  PRIMARY KEY (name, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX flattened_uses_by_target ON flattened_uses (target);
`;

/** The DDL of this step. */
export const SQLITE_ZONES: string = VERSIONS + CHANGES + FLATTENED;

// The tables of billing and support on SQLite: suspensions, wallets, invoices, quota notices, tickets.

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
