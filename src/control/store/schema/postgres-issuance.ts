/** Certificates that the server obtains by ACME, on PostgreSQL: accounts at the CAs, orders, and challenges in zones. */

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
