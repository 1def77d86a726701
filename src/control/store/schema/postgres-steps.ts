/**
 * The tables of single topics in PostgreSQL, as steps of the migration: certificates, issuance, drafts, purges, caches,
 * zones, billing.
 */

/** Rows of versions before have no chain: they say which names are covered, and nodes get nothing of them. */
const CERTIFICATES = `
ALTER TABLE certificates RENAME COLUMN hostnames_json TO names_json;
ALTER TABLE certificates RENAME COLUMN issued_at TO not_before;
ALTER TABLE certificates RENAME COLUMN expires_at TO not_after;
ALTER TABLE certificates ADD COLUMN source text COLLATE "C" NOT NULL DEFAULT 'custom';
ALTER TABLE certificates ADD COLUMN issuer text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE certificates ADD COLUMN key_type text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE certificates ADD COLUMN sha256 text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE certificates ADD COLUMN chain text COLLATE "C";
ALTER TABLE certificates ADD COLUMN sealed_key bytea;
ALTER TABLE certificates ADD COLUMN error text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE certificates ADD COLUMN renew_at bigint;
ALTER TABLE certificates ADD COLUMN noticed text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE certificates ADD COLUMN created_at bigint NOT NULL DEFAULT 0;
UPDATE certificates SET created_at = not_before;
CREATE UNIQUE INDEX certificates_by_leaf ON certificates (domain_id, sha256) WHERE sha256 <> '';
CREATE INDEX certificates_by_end ON certificates (not_after);
`;

/** The digest of the set of a domain; the manifest has it once the domain is published. No row: the domain has no set. */
const SETS = `
CREATE TABLE certificate_sets (
  domain_id bigint PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
  digest text COLLATE "C" NOT NULL
);
ALTER TABLE manifest ADD COLUMN certificates text COLLATE "C";
`;

/** The X25519 key that sets are sealed to, Base64 of 32 octets. */
const NODE_KEYS = `
ALTER TABLE nodes ADD COLUMN box_key text COLLATE "C";
`;

/** The DDL of this step. */
export const POSTGRES_CERTIFICATES: string = CERTIFICATES + SETS + NODE_KEYS;

// The tables of drafts, on PostgreSQL: which domains publish by hand, and the rules that nodes run where the stored ones differ.

/** The DDL of this step. */
export const POSTGRES_DRAFTS: string = `
ALTER TABLE domains ADD COLUMN publish_mode text COLLATE "C" NOT NULL DEFAULT 'automatic';

CREATE TABLE drafts (
  domain_id bigint PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
  edit bigint NOT NULL,
  since bigint
);

CREATE TABLE published_rules (
  rule_id bigint PRIMARY KEY,
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  type text COLLATE "C" NOT NULL,
  priority bigint NOT NULL,
  body text COLLATE "C",
  content text COLLATE "C",
  addresses bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX published_rules_by_domain ON published_rules (domain_id, rule_id);

CREATE TABLE published_patterns (
  rule_id bigint NOT NULL REFERENCES published_rules ON DELETE CASCADE,
  digest text COLLATE "C" NOT NULL,
  octets bigint NOT NULL,
  build bigint NOT NULL,
  eighths bigint NOT NULL,
  prefix text COLLATE "C" NOT NULL,
  head text COLLATE "C" NOT NULL,
  PRIMARY KEY (rule_id, digest)
);
`;

// The table of invariants, on PostgreSQL: what must be proved of a draft before it is published.

/** The DDL of this step. */
export const POSTGRES_INVARIANTS: string = `
CREATE TABLE domain_invariants (
  domain_id bigint PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
  edit bigint NOT NULL,
  body text COLLATE "C" NOT NULL
);
`;

// Certificates that the server obtains by ACME, on PostgreSQL: accounts at the CAs, orders, and challenges in zones.

/** The account at a CA; its private key is encrypted. Orders are taken from an allowance that refills with time. */
const ACCOUNTS = `
CREATE TABLE acme_accounts (
  directory text COLLATE "C" PRIMARY KEY,
  url text COLLATE "C" NOT NULL,
  sealed_key bytea NOT NULL,
  created_at bigint NOT NULL,
  spent_until bigint NOT NULL DEFAULT 0,
  paused_until bigint NOT NULL DEFAULT 0
);
`;

/** What is to be done for each obtained certificate; an order under way has its address and its encrypted private key. */
const ORDERS = `
CREATE TABLE certificate_orders (
  certificate_id bigint PRIMARY KEY REFERENCES certificates ON DELETE CASCADE,
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  names_json text COLLATE "C" NOT NULL,
  due_at bigint NOT NULL,
  failures bigint NOT NULL DEFAULT 0,
  url text COLLATE "C",
  sealed_key bytea,
  window_asked_at bigint NOT NULL DEFAULT 0,
  claim bigint NOT NULL DEFAULT 0,
  claimed_until bigint NOT NULL DEFAULT 0
);
CREATE INDEX certificate_orders_by_due ON certificate_orders (due_at);
CREATE INDEX certificate_orders_by_domain ON certificate_orders (domain_id);
`;

/** TXT records of DNS-01 challenges, in the zone of a name beside its own records. */
const CHALLENGES = `
CREATE TABLE zone_challenges (
  name text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (name, owner, value)
);
CREATE INDEX zone_challenges_by_age ON zone_challenges (created_at);
`;

/** Tokens of HTTP-01 challenges, a JSON list that nodes get with the manifest; NULL: none. */
const TOKENS = `
ALTER TABLE manifest ADD COLUMN challenges text COLLATE "C";
`;

/** The DDL of this step. */
export const POSTGRES_ISSUANCE: string = ACCOUNTS + ORDERS + CHALLENGES + TOKENS;

// The tables of caches on PostgreSQL: purges of single responses, and how far each name's entry of the manifest has them.

/** The DDL of this step. */
export const POSTGRES_PURGES: string = `
ALTER TABLE manifest ADD COLUMN purge_through bigint NOT NULL DEFAULT 0;
ALTER TABLE manifest ADD COLUMN purge_floor bigint NOT NULL DEFAULT 0;
CREATE TABLE cache_purges (
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  kind text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  position bigint NOT NULL,
  PRIMARY KEY (domain_id, kind, value)
);
CREATE INDEX cache_purges_by_position ON cache_purges (domain_id, position);
`;

// The tables of what caches have stored, on PostgreSQL: the last report of each process of a node about each of its domains.

/** The DDL of this step. */
export const POSTGRES_CACHE_CONTENTS: string = `
CREATE TABLE cache_contents (
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  node_id bigint NOT NULL REFERENCES nodes,
  process bigint NOT NULL,
  run bigint NOT NULL,
  at bigint NOT NULL,
  entries bigint NOT NULL,
  octets bigint NOT NULL,
  disk_files bigint NOT NULL,
  disk_octets bigint NOT NULL,
  urls_json text COLLATE "C" NOT NULL,
  PRIMARY KEY (domain_id, node_id, process)
);
CREATE INDEX cache_contents_by_process ON cache_contents (node_id, process, run);
CREATE INDEX cache_contents_by_age ON cache_contents (at);
`;

// The tables of zones on PostgreSQL: versions of zones, the steps between them, what waits, and flattened names.

/** A zone as secondaries transfer it. It has no foreign key: the row of a deleted domain stays until its removal is published. */
const VERSIONS = `
CREATE TABLE zones (
  name text COLLATE "C" PRIMARY KEY,
  domain_id bigint NOT NULL,
  serial bigint NOT NULL,
  primary_name text COLLATE "C" NOT NULL,
  content bytea NOT NULL,
  records bigint NOT NULL,
  settings text COLLATE "C" NOT NULL,
  problems_json text COLLATE "C" NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX zones_by_update ON zones (updated_at);

CREATE TABLE zone_catalogs (
  name text COLLATE "C" PRIMARY KEY,
  serial bigint NOT NULL,
  removed_serial bigint NOT NULL,
  updated_at bigint NOT NULL
);

CREATE TABLE zone_steps (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  from_serial bigint NOT NULL,
  to_serial bigint NOT NULL,
  octets bigint NOT NULL,
  removed bytea NOT NULL,
  added bytea NOT NULL
);
CREATE INDEX zone_steps_by_name ON zone_steps (name, id);
`;

/** Names whose domain or records have changed since their zone was made; a random version identifies the last change. */
const CHANGES = `
CREATE TABLE zone_changes (
  name text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL,
  since bigint NOT NULL,
  renumber smallint NOT NULL DEFAULT 0,
  claimed_until bigint NOT NULL DEFAULT 0
);
`;

/** Targets of ALIAS records with their last answer, and the zones that contain it. */
const FLATTENED = `
CREATE TABLE flattened_targets (
  target text COLLATE "C" PRIMARY KEY,
  addresses_json text COLLATE "C" NOT NULL,
  good_at bigint,
  failures bigint NOT NULL,
  next_at bigint NOT NULL
);
CREATE INDEX flattened_targets_by_next ON flattened_targets (next_at);

CREATE TABLE flattened_uses (
  name text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  PRIMARY KEY (name, target)
);
CREATE INDEX flattened_uses_by_target ON flattened_uses (target);
`;

/** The DDL of this step. */
export const POSTGRES_ZONES: string = VERSIONS + CHANGES + FLATTENED;

// The tables of billing and support on PostgreSQL: suspensions, wallets, invoices, quota notices, tickets.

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
