/**
 * The tables in PostgreSQL. Forward only: a step that has landed is never changed; what changes later is a new step at the
 * end. Texts compare by octets in any locale (`COLLATE "C"`), as they do in SQLite; the tables are those of
 * `sqlite.ts`. Unique constraints are named `<table>.<column>`, which is the `subject` of a fault. Flags are
 * 0 or 1, so that one set of queries serves both.
 */
import type { Migration } from './migration.ts';
import {
  POSTGRES_BILLING,
  POSTGRES_CACHE_CONTENTS,
  POSTGRES_CERTIFICATES,
  POSTGRES_DRAFTS,
  POSTGRES_INVARIANTS,
  POSTGRES_ISSUANCE,
  POSTGRES_PURGES,
  POSTGRES_ZONES,
} from './postgres-steps.ts';

/** Accounts, keys, domains, and what belongs to a domain. */
const ACCOUNTS_AND_DOMAINS = `
CREATE TABLE accounts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL CONSTRAINT "accounts.name" UNIQUE,
  active smallint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);

CREATE TABLE api_keys (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id bigint NOT NULL REFERENCES accounts,
  hash text COLLATE "C" NOT NULL CONSTRAINT "api_keys.hash" UNIQUE,
  name text COLLATE "C" NOT NULL,
  read_only smallint NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint,
  revoked_at bigint
);
CREATE INDEX api_keys_by_account ON api_keys (account_id);

CREATE TABLE key_uses (
  key_id bigint NOT NULL REFERENCES api_keys,
  day bigint NOT NULL,
  requests bigint NOT NULL,
  last_used_at bigint NOT NULL,
  PRIMARY KEY (key_id, day)
);

CREATE TABLE domains (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL CONSTRAINT "domains.name" UNIQUE,
  user_id bigint NOT NULL REFERENCES accounts,
  status text COLLATE "C" NOT NULL,
  dns_mode text COLLATE "C" NOT NULL,
  ever_active smallint NOT NULL,
  verification_token text COLLATE "C" NOT NULL,
  verification_started_at bigint,
  verification_expires_at bigint,
  verified_at bigint,
  pending_since bigint,
  moved_since bigint,
  next_check_at bigint,
  last_manual_ns_check_at bigint,
  cache_l2_max_gb bigint NOT NULL,
  cache_l2_ttl_days bigint NOT NULL,
  cache_cap_mb bigint NOT NULL,
  developer_mode_until bigint,
  sec_no_sniff smallint NOT NULL,
  sec_referrer_policy smallint NOT NULL,
  sec_strip_headers smallint NOT NULL,
  markdown_for_agents smallint NOT NULL,
  outage_alerts smallint NOT NULL,
  uptime_threshold_pct bigint NOT NULL,
  uptime_window_min bigint NOT NULL,
  uptime_min_requests bigint NOT NULL,
  uptime_min_active_min bigint NOT NULL,
  uptime_recover_min bigint NOT NULL,
  suspended smallint NOT NULL,
  suspended_at bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX domains_by_owner ON domains (user_id);
CREATE INDEX domains_by_check ON domains (next_check_at) WHERE next_check_at IS NOT NULL;

CREATE TABLE domain_members (
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  account_id bigint NOT NULL REFERENCES accounts,
  role text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (domain_id, account_id)
);
CREATE INDEX domain_members_by_account ON domain_members (account_id);

CREATE TABLE subscriptions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  domain_id bigint NOT NULL CONSTRAINT "subscriptions.domain_id" UNIQUE REFERENCES domains ON DELETE CASCADE,
  plan_slug text COLLATE "C" NOT NULL,
  plan_term_id bigint,
  active smallint NOT NULL,
  started_at bigint NOT NULL,
  ends_at bigint,
  overrides_json text COLLATE "C" NOT NULL
);

CREATE TABLE certificates (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  hostnames_json text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL,
  issued_at bigint NOT NULL,
  expires_at bigint NOT NULL
);
CREATE INDEX certificates_by_domain ON certificates (domain_id);

CREATE TABLE dns_records (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 4294967295) PRIMARY KEY,
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  destination text COLLATE "C" NOT NULL,
  mx_priority bigint,
  proxied smallint NOT NULL,
  captcha smallint NOT NULL,
  scheme text COLLATE "C" NOT NULL,
  port bigint,
  host_header text COLLATE "C" NOT NULL,
  monitor smallint NOT NULL,
  timeout bigint,
  comment text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX dns_records_by_domain ON dns_records (domain_id, id);

CREATE TABLE rules (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 4294967295) PRIMARY KEY,
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  type text COLLATE "C" NOT NULL,
  priority bigint NOT NULL,
  body text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX rules_in_order ON rules (domain_id, type, priority, id);

CREATE TABLE rule_contents (
  rule_id bigint PRIMARY KEY REFERENCES rules ON DELETE CASCADE,
  content text COLLATE "C" NOT NULL
);

CREATE TABLE rule_records (
  rule_id bigint NOT NULL REFERENCES rules ON DELETE CASCADE,
  record_id bigint NOT NULL,
  PRIMARY KEY (record_id, rule_id)
);
CREATE INDEX rule_records_by_rule ON rule_records (rule_id);

CREATE TABLE audit_entries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  domain_id bigint NOT NULL,
  domain text COLLATE "C" NOT NULL,
  account_id bigint,
  key_id bigint,
  at bigint NOT NULL,
  action text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  before_json text COLLATE "C",
  after_json text COLLATE "C"
);
CREATE INDEX audit_entries_by_domain ON audit_entries (domain_id, id);

CREATE TABLE secrets (
  name text COLLATE "C" PRIMARY KEY,
  value text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL
);
`;

/** The outbox, revisions, the manifest, nodes and their reports, traffic. */
const PUBLICATION_AND_NODES = `
CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  domain_id bigint NOT NULL,
  domain text COLLATE "C" NOT NULL,
  account_id bigint,
  key_id bigint,
  at bigint NOT NULL,
  reason text COLLATE "C" NOT NULL,
  claimed_until bigint NOT NULL DEFAULT 0
);
CREATE INDEX outbox_by_domain ON outbox (domain_id, id);

CREATE TABLE plan_blobs (
  digest text COLLATE "C" PRIMARY KEY,
  created_at bigint NOT NULL,
  bytes bytea NOT NULL
);

CREATE TABLE plan_revisions (
  domain text COLLATE "C" NOT NULL,
  domain_id bigint NOT NULL,
  revision bigint NOT NULL,
  digest text COLLATE "C",
  account_id bigint,
  key_id bigint,
  reason text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  through bigint NOT NULL,
  PRIMARY KEY (domain, revision)
);
CREATE INDEX plan_revisions_by_domain ON plan_revisions (domain_id, revision);
CREATE INDEX plan_revisions_by_digest ON plan_revisions (digest);

CREATE TABLE manifest (
  domain text COLLATE "C" PRIMARY KEY,
  domain_id bigint NOT NULL,
  revision bigint NOT NULL,
  digest text COLLATE "C" REFERENCES plan_blobs,
  purge_epoch bigint NOT NULL,
  position bigint NOT NULL CONSTRAINT "manifest.position" UNIQUE,
  at bigint NOT NULL
);

CREATE TABLE manifest_position (
  id bigint PRIMARY KEY CHECK (id = 1),
  position bigint NOT NULL
);
INSERT INTO manifest_position VALUES (1, 0);

CREATE TABLE nodes (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 4294967295) PRIMARY KEY,
  name text COLLATE "C" NOT NULL CONSTRAINT "nodes.name" UNIQUE,
  token_hash text COLLATE "C" NOT NULL CONSTRAINT "nodes.token_hash" UNIQUE,
  created_at bigint NOT NULL,
  last_seen_at bigint,
  revoked_at bigint
);

CREATE TABLE node_reports (
  node_id bigint NOT NULL REFERENCES nodes,
  domain text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (domain, node_id, revision)
);
CREATE INDEX node_reports_by_node ON node_reports (node_id, domain, revision);

CREATE TABLE usage (
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  minute bigint NOT NULL,
  requests bigint NOT NULL,
  octets bigint NOT NULL,
  gateway_requests bigint NOT NULL,
  PRIMARY KEY (domain_id, minute)
);
`;

/** The last batch of traffic that was accepted from each node, so that a retry counts once. */
const TRAFFIC_BATCHES = `
CREATE TABLE node_batches (
  node_id bigint PRIMARY KEY REFERENCES nodes,
  batch bigint NOT NULL
);
`;

/** How often rules matched, by minute. */
const RULE_HITS = `
CREATE TABLE rule_hits (
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  minute bigint NOT NULL,
  type text COLLATE "C" NOT NULL,
  rule_id bigint NOT NULL,
  hits bigint NOT NULL,
  PRIMARY KEY (domain_id, minute, type, rule_id)
);
`;

/**
 * `holders` is `{ "<process>": { "slots", "until" } }`: one row a key, whose lock orders the processes.
 * Unlogged: shares last a minute or two and cost no disk.
 */
const REQUEST_SHARES = `
CREATE UNLOGGED TABLE request_shares (
  key_id bigint PRIMARY KEY,
  holders jsonb NOT NULL
);
`;

/** New domains whose existing records are still to be scanned for. */
const RECORD_SCANS = `
CREATE TABLE record_scans (
  domain_id bigint PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
  account_id bigint,
  key_id bigint,
  run_at bigint NOT NULL,
  tries bigint NOT NULL
);
CREATE INDEX record_scans_by_time ON record_scans (run_at);
`;

/**
 * Totals by domain. Counts existing rules except for their patterns, which have to be compiled: the next write that needs
 * their cost does so.
 */
const RULE_TOTALS = `
ALTER TABLE rules ADD COLUMN addresses bigint NOT NULL DEFAULT 0;
UPDATE rules SET addresses = json_array_length(body::json -> 'ips') WHERE type = 'drop' AND body LIKE '{%"ips":[%';

CREATE TABLE rule_totals (
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  type text COLLATE "C" NOT NULL,
  rules bigint NOT NULL,
  octets bigint NOT NULL,
  addresses bigint NOT NULL,
  PRIMARY KEY (domain_id, type)
);
INSERT INTO rule_totals SELECT domain_id, type, count(*),
    sum(octet_length(body) + coalesce(octet_length(content), 0)), sum(addresses)
FROM rules LEFT JOIN rule_contents ON rule_contents.rule_id = rules.id GROUP BY domain_id, type;

CREATE TABLE rule_patterns (
  rule_id bigint NOT NULL REFERENCES rules ON DELETE CASCADE,
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  digest text COLLATE "C" NOT NULL,
  octets bigint NOT NULL,
  build bigint NOT NULL,
  eighths bigint NOT NULL,
  prefix text COLLATE "C" NOT NULL,
  head text COLLATE "C" NOT NULL,
  PRIMARY KEY (rule_id, digest)
);
CREATE INDEX rule_patterns_by_digest ON rule_patterns (domain_id, digest);
CREATE INDEX rule_patterns_by_head ON rule_patterns (domain_id, head);

CREATE TABLE pattern_totals (
  domain_id bigint PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
  octets bigint NOT NULL,
  build bigint NOT NULL,
  eighths bigint NOT NULL,
  counted smallint NOT NULL
);
INSERT INTO pattern_totals SELECT DISTINCT domain_id, 0, 0, 0, 0 FROM rules WHERE body LIKE '%"regex"%';
`;

/** The index has only revisions whose plans are stored: pruning reads no others. */
const PRUNED_PLANS = `
ALTER TABLE plan_revisions ADD COLUMN pruned smallint NOT NULL DEFAULT 0;
UPDATE plan_revisions SET pruned = 1
WHERE digest IS NOT NULL AND digest NOT IN (SELECT digest FROM plan_blobs);
CREATE INDEX plan_revisions_unpruned ON plan_revisions (domain, revision) WHERE pruned = 0 AND digest IS NOT NULL;
`;

/** An invitation names an account that may not exist, so it refers to none. */
const INVITATIONS = `
CREATE TABLE invitations (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 4294967295) PRIMARY KEY,
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  CONSTRAINT "invitations.domain_id" UNIQUE (domain_id, name)
);
CREATE INDEX invitations_by_name ON invitations (name, id);
CREATE INDEX invitations_by_end ON invitations (expires_at);
`;

/**
 * A name may have several domains until one is proved. Domains that are unproved at this step count from now on.
 */
const UNPROVED_NAMES = `
ALTER TABLE domains ADD COLUMN unproved_since bigint;
UPDATE domains SET unproved_since = (extract(epoch FROM now()) * 1000)::bigint WHERE status IN ('pending', 'unverified');
ALTER TABLE domains DROP CONSTRAINT "domains.name";
CREATE UNIQUE INDEX "domains.name" ON domains (name) WHERE unproved_since IS NULL OR status IN ('active', 'moved');
CREATE UNIQUE INDEX "domains.name, domains.user_id" ON domains (name, user_id);
CREATE INDEX domains_unproved ON domains (unproved_since) WHERE unproved_since IS NOT NULL;
`;

/** Tokens that a newer one of their node has replaced, valid until their overlap ends. */
const REPLACED_TOKENS = `
CREATE TABLE node_tokens (
  token_hash text COLLATE "C" NOT NULL CONSTRAINT "node_tokens.token_hash" PRIMARY KEY,
  node_id bigint NOT NULL REFERENCES nodes,
  until bigint NOT NULL
);
`;

/**
 * Groups of nodes and domains as `base/vocabulary/node-groups.ts` writes them; a domain without a row is in `default`. The manifest has
 * those that were published, and those whose nodes must get a tombstone.
 */
const NODE_GROUPS = `
ALTER TABLE nodes ADD COLUMN node_groups text COLLATE "C" NOT NULL DEFAULT 'default';
ALTER TABLE manifest ADD COLUMN node_groups text COLLATE "C" NOT NULL DEFAULT 'default';
ALTER TABLE manifest ADD COLUMN left_groups text COLLATE "C" NOT NULL DEFAULT '';
CREATE TABLE domain_groups (
  domain_id bigint PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
  node_groups text COLLATE "C" NOT NULL
);
`;

/** Up to when the traffic that a node has reported takes the time that it had, milliseconds since the epoch. */
const NODE_ALLOWANCES = `
CREATE TABLE node_allowances (
  node_id bigint PRIMARY KEY REFERENCES nodes,
  spent_until bigint NOT NULL
);
`;

/**
 * Traffic: what nodes reported (`traffic_parts`), and what a roll-up merges it into (`traffic_minutes`, ten minutes in each
 * row, `traffic_hours`, `traffic_days`). Times are whole minutes since the epoch.
 *
 * All but the days are partitioned by day, so that what is too old is dropped with its partition. Partitions of days ahead
 * are created while the server runs; rows of all other days are in the default partition. They have no reference to
 * `domains`, since creating and dropping a partition would lock that table: a trigger removes the rows of a domain.
 *
 * The traffic that earlier versions stored by minute becomes sums by hour, or by day where it is older than hours are
 * stored; an empty `counts` has no more than the sums. Hits of rules are not carried over.
 */
const TRAFFIC = `
CREATE TABLE traffic_parts (
  domain_id bigint NOT NULL,
  minute bigint NOT NULL,
  node_id bigint NOT NULL,
  batch bigint NOT NULL,
  requests bigint NOT NULL,
  octets_in bigint NOT NULL,
  octets_out bigint NOT NULL,
  monitored bigint NOT NULL,
  monitored_errors bigint NOT NULL,
  gateway_requests bigint NOT NULL,
  taken_at bigint NOT NULL,
  counts bytea NOT NULL,
  tops bytea,
  PRIMARY KEY (domain_id, minute, node_id, batch)
) PARTITION BY RANGE (minute);
CREATE TABLE IF NOT EXISTS traffic_parts_default PARTITION OF traffic_parts DEFAULT;

CREATE TABLE traffic_minutes (
  domain_id bigint NOT NULL,
  start bigint NOT NULL,
  requests bigint NOT NULL,
  octets_in bigint NOT NULL,
  octets_out bigint NOT NULL,
  monitored bigint NOT NULL,
  monitored_errors bigint NOT NULL,
  gateway_requests bigint NOT NULL,
  monitored_minutes text COLLATE "C" NOT NULL,
  counts bytea NOT NULL,
  PRIMARY KEY (domain_id, start)
) PARTITION BY RANGE (start);
CREATE TABLE IF NOT EXISTS traffic_minutes_default PARTITION OF traffic_minutes DEFAULT;
CREATE INDEX traffic_minutes_default_by_start ON traffic_minutes_default (start);

CREATE TABLE traffic_hours (
  domain_id bigint NOT NULL,
  start bigint NOT NULL,
  requests bigint NOT NULL,
  octets_in bigint NOT NULL,
  octets_out bigint NOT NULL,
  monitored bigint NOT NULL,
  monitored_errors bigint NOT NULL,
  gateway_requests bigint NOT NULL,
  counts bytea NOT NULL,
  tops bytea,
  PRIMARY KEY (domain_id, start)
) PARTITION BY RANGE (start);
CREATE TABLE IF NOT EXISTS traffic_hours_default PARTITION OF traffic_hours DEFAULT;
CREATE INDEX traffic_hours_default_by_start ON traffic_hours_default (start);

CREATE TABLE traffic_days (
  domain_id bigint NOT NULL,
  start bigint NOT NULL,
  requests bigint NOT NULL,
  octets_in bigint NOT NULL,
  octets_out bigint NOT NULL,
  monitored bigint NOT NULL,
  monitored_errors bigint NOT NULL,
  gateway_requests bigint NOT NULL,
  counts bytea NOT NULL,
  tops bytea,
  PRIMARY KEY (domain_id, start)
);
CREATE INDEX traffic_days_by_start ON traffic_days (start);

CREATE TABLE traffic_slices (
  slice bigint PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  until bigint NOT NULL,
  days_through bigint NOT NULL
);

CREATE FUNCTION remove_traffic() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM traffic_parts WHERE domain_id = OLD.id;
  DELETE FROM traffic_minutes WHERE domain_id = OLD.id;
  DELETE FROM traffic_hours WHERE domain_id = OLD.id;
  DELETE FROM traffic_days WHERE domain_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER remove_traffic AFTER DELETE ON domains FOR EACH ROW EXECUTE FUNCTION remove_traffic();

INSERT INTO traffic_hours SELECT domain_id, minute / 60 * 60, sum(requests), 0, sum(octets), 0, 0, sum(gateway_requests), '', NULL
FROM usage WHERE minute >= (extract(epoch FROM now())::bigint / 86400 - 35) * 1440 GROUP BY domain_id, minute / 60;
INSERT INTO traffic_days SELECT domain_id, minute / 1440 * 1440, sum(requests), 0, sum(octets), 0, 0, sum(gateway_requests), '', NULL
FROM usage WHERE minute < (extract(epoch FROM now())::bigint / 86400 - 35) * 1440 GROUP BY domain_id, minute / 1440;
DROP TABLE usage;
DROP TABLE rule_hits;

ALTER TABLE node_batches DROP CONSTRAINT node_batches_pkey;
ALTER TABLE node_batches ADD COLUMN taken_at bigint NOT NULL DEFAULT (extract(epoch FROM now()) * 1000)::bigint;
ALTER TABLE node_batches ALTER COLUMN taken_at DROP DEFAULT;
ALTER TABLE node_batches ADD PRIMARY KEY (node_id, batch);
CREATE INDEX node_batches_by_time ON node_batches (taken_at);
`;

/**
 * Entries of the decision log by day, see `control/logs/postgres-days.ts`: times are milliseconds since the epoch, `line` is JSON text.
 * A partition for each day is made when it is needed.
 */
const DECISION_LOGS = `
CREATE TABLE decision_logs (
  domain_id bigint NOT NULL,
  at bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  node_id bigint NOT NULL,
  action text NOT NULL,
  would text,
  fault boolean NOT NULL,
  ip text,
  path text NOT NULL,
  line text NOT NULL,
  PRIMARY KEY (domain_id, at, id)
) PARTITION BY RANGE (at);
CREATE INDEX decision_logs_by_id ON decision_logs (domain_id, id);
CREATE TABLE decision_log_rules (
  domain_id bigint NOT NULL,
  rule text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  PRIMARY KEY (domain_id, rule, at, id)
) PARTITION BY RANGE (at);
CREATE TABLE decision_log_sizes (
  domain_id bigint NOT NULL,
  day bigint NOT NULL,
  octets bigint NOT NULL,
  dropped bigint NOT NULL,
  PRIMARY KEY (day, domain_id)
);
`;

/** Uptime: what was judged of each domain, how far, and incidents. Nothing of it names a plan. */
const UPTIME = `
CREATE TABLE uptime_states (
  domain_id bigint PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
  through bigint NOT NULL,
  active smallint NOT NULL,
  state_json text COLLATE "C" NOT NULL
);
CREATE INDEX uptime_states_active ON uptime_states (domain_id) WHERE active = 1;

CREATE TABLE uptime_progress (
  id bigint PRIMARY KEY,
  through bigint NOT NULL
);

CREATE TABLE incidents (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 4294967295) PRIMARY KEY,
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  began_at bigint NOT NULL,
  opened_at bigint NOT NULL,
  resolved_at bigint,
  resolution text COLLATE "C",
  requests bigint NOT NULL,
  errors bigint NOT NULL
);
CREATE INDEX incidents_by_domain ON incidents (domain_id, id);
CREATE UNIQUE INDEX "incidents.domain_id" ON incidents (domain_id) WHERE resolved_at IS NULL;
CREATE INDEX dns_records_monitored ON dns_records (domain_id) WHERE monitor = 1 AND proxied = 1;
`;

/**
 * Notifications, what is delivered from them, and where accounts are reached. A notification outlives its domain. The
 * indexes of deliveries have waiting ones only, but for the one that counts those of an hour.
 */
const NOTIFICATIONS = `
CREATE TABLE notifications (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 4294967295) PRIMARY KEY,
  account_id bigint NOT NULL REFERENCES accounts,
  domain_id bigint,
  domain text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  data_json text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  read_at bigint
);
CREATE INDEX notifications_by_account ON notifications (account_id, id);
CREATE INDEX notifications_unread ON notifications (account_id, id) WHERE read_at IS NULL;
CREATE INDEX notifications_by_kind ON notifications (account_id, kind, id);
CREATE INDEX notifications_by_age ON notifications (created_at);

CREATE TABLE notification_deliveries (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 4294967295) PRIMARY KEY,
  notification_id bigint NOT NULL REFERENCES notifications ON DELETE CASCADE,
  account_id bigint NOT NULL REFERENCES accounts,
  channel text COLLATE "C" NOT NULL,
  target_id bigint NOT NULL,
  state text COLLATE "C" NOT NULL,
  tries bigint NOT NULL,
  created_at bigint NOT NULL,
  next_at bigint NOT NULL,
  leased_until bigint NOT NULL,
  last_error text COLLATE "C" NOT NULL,
  delivered_at bigint
);
CREATE INDEX notification_deliveries_due ON notification_deliveries (next_at) WHERE state = 'waiting';
CREATE INDEX notification_deliveries_by_target ON notification_deliveries (channel, account_id, target_id)
  WHERE state = 'waiting';
CREATE INDEX notification_deliveries_by_account ON notification_deliveries (account_id, channel, created_at);
CREATE INDEX notification_deliveries_by_notification ON notification_deliveries (notification_id);

CREATE TABLE account_contacts (
  account_id bigint NOT NULL REFERENCES accounts,
  channel text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  pending text COLLATE "C" NOT NULL,
  code_hash text COLLATE "C" NOT NULL,
  code_expires_at bigint NOT NULL,
  code_tries bigint NOT NULL,
  sends bigint NOT NULL,
  sends_since bigint NOT NULL,
  sent_at bigint NOT NULL,
  PRIMARY KEY (account_id, channel)
);

CREATE TABLE account_webhooks (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 4294967295) PRIMARY KEY,
  account_id bigint NOT NULL REFERENCES accounts,
  url text COLLATE "C" NOT NULL,
  secret text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL
);
CREATE INDEX account_webhooks_by_account ON account_webhooks (account_id);

CREATE TABLE notification_preferences (
  account_id bigint NOT NULL REFERENCES accounts,
  kind text COLLATE "C" NOT NULL,
  channel text COLLATE "C" NOT NULL,
  enabled smallint NOT NULL,
  PRIMARY KEY (account_id, kind, channel)
);

CREATE TABLE operator_accounts (
  account_id bigint PRIMARY KEY REFERENCES accounts
);

CREATE TABLE node_losses (
  node_id bigint PRIMARY KEY REFERENCES nodes,
  seen_at bigint NOT NULL
);

CREATE TABLE invitation_notices (
  invitation_id bigint PRIMARY KEY REFERENCES invitations ON DELETE CASCADE
);
`;

/** The steps from an empty database to this version's tables. */
export const POSTGRES_MIGRATIONS: readonly Migration[] = [
  { version: 1, ddl: ACCOUNTS_AND_DOMAINS },
  { version: 2, ddl: PUBLICATION_AND_NODES },
  { version: 3, ddl: TRAFFIC_BATCHES },
  { version: 4, ddl: RULE_HITS },
  { version: 5, ddl: REQUEST_SHARES },
  { version: 6, ddl: RECORD_SCANS },
  { version: 7, ddl: RULE_TOTALS },
  { version: 8, ddl: PRUNED_PLANS },
  { version: 9, ddl: INVITATIONS + UNPROVED_NAMES },
  { version: 10, ddl: REPLACED_TOKENS },
  { version: 11, ddl: NODE_GROUPS + NODE_ALLOWANCES },
  { version: 12, ddl: TRAFFIC },
  { version: 13, ddl: DECISION_LOGS },
  { version: 14, ddl: NOTIFICATIONS },
  { version: 15, ddl: UPTIME },
  { version: 16, ddl: POSTGRES_BILLING },
  { version: 17, ddl: POSTGRES_ZONES },
  { version: 18, ddl: POSTGRES_CERTIFICATES },
  { version: 19, ddl: POSTGRES_ISSUANCE },
  { version: 20, ddl: POSTGRES_PURGES },
  { version: 21, ddl: POSTGRES_CACHE_CONTENTS },
  { version: 22, ddl: POSTGRES_DRAFTS },
  { version: 23, ddl: POSTGRES_INVARIANTS },
];
