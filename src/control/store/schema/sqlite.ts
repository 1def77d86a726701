/**
 * The tables in SQLite. Forward only: a step that has landed is never changed; what changes later is a new step at the
 * end. Texts compare by octets (SQLite's default), as `COLLATE "C"` does in `postgres.ts`; constraints and
 * meanings are the same there.
 */
import type { Migration } from './migration.ts';
import {
  SQLITE_BILLING,
  SQLITE_CACHE_CONTENTS,
  SQLITE_CERTIFICATES,
  SQLITE_DRAFTS,
  SQLITE_INVARIANTS,
  SQLITE_ISSUANCE,
  SQLITE_PURGES,
  SQLITE_ZONES,
} from './sqlite-steps.ts';

/** Accounts, keys, domains, and what belongs to a domain. */
const ACCOUNTS_AND_DOMAINS = `
CREATE TABLE accounts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  active INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account_id INTEGER NOT NULL REFERENCES accounts,
  hash TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  read_only INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX api_keys_by_account ON api_keys (account_id);

CREATE TABLE key_uses (
  key_id INTEGER NOT NULL REFERENCES api_keys,
  day INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  PRIMARY KEY (key_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE domains (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  user_id INTEGER NOT NULL REFERENCES accounts,
  status TEXT NOT NULL,
  dns_mode TEXT NOT NULL,
  ever_active INTEGER NOT NULL,
  verification_token TEXT NOT NULL,
  verification_started_at INTEGER,
  verification_expires_at INTEGER,
  verified_at INTEGER,
  pending_since INTEGER,
  moved_since INTEGER,
  next_check_at INTEGER,
  last_manual_ns_check_at INTEGER,
  cache_l2_max_gb INTEGER NOT NULL,
  cache_l2_ttl_days INTEGER NOT NULL,
  cache_cap_mb INTEGER NOT NULL,
  developer_mode_until INTEGER,
  sec_no_sniff INTEGER NOT NULL,
  sec_referrer_policy INTEGER NOT NULL,
  sec_strip_headers INTEGER NOT NULL,
  markdown_for_agents INTEGER NOT NULL,
  outage_alerts INTEGER NOT NULL,
  uptime_threshold_pct INTEGER NOT NULL,
  uptime_window_min INTEGER NOT NULL,
  uptime_min_requests INTEGER NOT NULL,
  uptime_min_active_min INTEGER NOT NULL,
  uptime_recover_min INTEGER NOT NULL,
  suspended INTEGER NOT NULL,
  suspended_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX domains_by_owner ON domains (user_id);
CREATE INDEX domains_by_check ON domains (next_check_at) WHERE next_check_at IS NOT NULL;

CREATE TABLE domain_members (
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  account_id INTEGER NOT NULL REFERENCES accounts,
  role TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (domain_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX domain_members_by_account ON domain_members (account_id);

CREATE TABLE subscriptions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain_id INTEGER NOT NULL UNIQUE REFERENCES domains ON DELETE CASCADE,
  plan_slug TEXT NOT NULL,
  plan_term_id INTEGER,
  active INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  ends_at INTEGER,
  overrides_json TEXT NOT NULL
) STRICT;

CREATE TABLE certificates (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  hostnames_json TEXT NOT NULL,
  status TEXT NOT NULL,
  issued_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX certificates_by_domain ON certificates (domain_id);

CREATE TABLE dns_records (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id <= 4294967295),
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  destination TEXT NOT NULL,
  mx_priority INTEGER,
  proxied INTEGER NOT NULL,
  captcha INTEGER NOT NULL,
  scheme TEXT NOT NULL,
  port INTEGER,
  host_header TEXT NOT NULL,
  monitor INTEGER NOT NULL,
  timeout INTEGER,
  comment TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX dns_records_by_domain ON dns_records (domain_id, id);

CREATE TABLE rules (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id <= 4294967295),
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  type TEXT NOT NULL,
  priority INTEGER NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX rules_in_order ON rules (domain_id, type, priority, id);

CREATE TABLE rule_contents (
  rule_id INTEGER PRIMARY KEY REFERENCES rules ON DELETE CASCADE,
  content TEXT NOT NULL
) STRICT;

CREATE TABLE rule_records (
  rule_id INTEGER NOT NULL REFERENCES rules ON DELETE CASCADE,
  record_id INTEGER NOT NULL,
  PRIMARY KEY (record_id, rule_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_records_by_rule ON rule_records (rule_id);

CREATE TABLE audit_entries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain_id INTEGER NOT NULL,
  domain TEXT NOT NULL,
  account_id INTEGER,
  key_id INTEGER,
  at INTEGER NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  before_json TEXT,
  after_json TEXT
) STRICT;
CREATE INDEX audit_entries_by_domain ON audit_entries (domain_id, id);

CREATE TABLE secrets (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

/** The outbox, revisions, the manifest, nodes and their reports, traffic. */
const PUBLICATION_AND_NODES = `
CREATE TABLE outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain_id INTEGER NOT NULL,
  domain TEXT NOT NULL,
  account_id INTEGER,
  key_id INTEGER,
  at INTEGER NOT NULL,
  reason TEXT NOT NULL,
  claimed_until INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX outbox_by_domain ON outbox (domain_id, id);

CREATE TABLE plan_blobs (
  digest TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;

CREATE TABLE plan_revisions (
  domain TEXT NOT NULL,
  domain_id INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  digest TEXT,
  account_id INTEGER,
  key_id INTEGER,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL,
  through INTEGER NOT NULL,
  PRIMARY KEY (domain, revision)
) STRICT, WITHOUT ROWID;
CREATE INDEX plan_revisions_by_domain ON plan_revisions (domain_id, revision);
CREATE INDEX plan_revisions_by_digest ON plan_revisions (digest);

CREATE TABLE manifest (
  domain TEXT PRIMARY KEY,
  domain_id INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  digest TEXT REFERENCES plan_blobs,
  purge_epoch INTEGER NOT NULL,
  position INTEGER NOT NULL UNIQUE,
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE manifest_position (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  position INTEGER NOT NULL
) STRICT;
INSERT INTO manifest_position VALUES (1, 0);

CREATE TABLE nodes (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id <= 4294967295),
  name TEXT NOT NULL UNIQUE,
  token_hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER,
  revoked_at INTEGER
) STRICT;

CREATE TABLE node_reports (
  node_id INTEGER NOT NULL REFERENCES nodes,
  domain TEXT NOT NULL,
  revision INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (domain, node_id, revision)
) STRICT, WITHOUT ROWID;
CREATE INDEX node_reports_by_node ON node_reports (node_id, domain, revision);

CREATE TABLE usage (
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  minute INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  octets INTEGER NOT NULL,
  gateway_requests INTEGER NOT NULL,
  PRIMARY KEY (domain_id, minute)
) STRICT, WITHOUT ROWID;
`;

/** The last batch of traffic that was accepted from each node, so that a retry counts once. */
const TRAFFIC_BATCHES = `
CREATE TABLE node_batches (
  node_id INTEGER PRIMARY KEY REFERENCES nodes,
  batch INTEGER NOT NULL
) STRICT;
`;

/** How often rules matched, by minute. */
const RULE_HITS = `
CREATE TABLE rule_hits (
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  minute INTEGER NOT NULL,
  type TEXT NOT NULL,
  rule_id INTEGER NOT NULL,
  hits INTEGER NOT NULL,
  PRIMARY KEY (domain_id, minute, type, rule_id)
) STRICT, WITHOUT ROWID;
`;

/** Empty: only PostgreSQL has several processes. The step exists so that version numbers agree. */
const REQUEST_SHARES = '';

/** New domains whose existing records are still to be scanned for. */
const RECORD_SCANS = `
CREATE TABLE record_scans (
  domain_id INTEGER PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
  account_id INTEGER,
  key_id INTEGER,
  run_at INTEGER NOT NULL,
  tries INTEGER NOT NULL
) STRICT;
CREATE INDEX record_scans_by_time ON record_scans (run_at);
`;

/**
 * Totals by domain. Counts existing rules except for their patterns, which have to be compiled: the next write that needs
 * their cost does so.
 */
const RULE_TOTALS = `
ALTER TABLE rules ADD COLUMN addresses INTEGER NOT NULL DEFAULT 0;
UPDATE rules SET addresses = json_array_length(body, '$.ips') WHERE type = 'drop' AND body LIKE '{%"ips":[%' AND json_valid(body);

CREATE TABLE rule_totals (
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  type TEXT NOT NULL,
  rules INTEGER NOT NULL,
  octets INTEGER NOT NULL,
  addresses INTEGER NOT NULL,
  PRIMARY KEY (domain_id, type)
) STRICT, WITHOUT ROWID;
INSERT INTO rule_totals SELECT domain_id, type, count(*),
    sum(octet_length(body) + coalesce(octet_length(content), 0)), sum(addresses)
FROM rules LEFT JOIN rule_contents ON rule_contents.rule_id = rules.id GROUP BY domain_id, type;

CREATE TABLE rule_patterns (
  rule_id INTEGER NOT NULL REFERENCES rules ON DELETE CASCADE,
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  digest TEXT NOT NULL,
  octets INTEGER NOT NULL,
  build INTEGER NOT NULL,
  eighths INTEGER NOT NULL,
  prefix TEXT NOT NULL,
  head TEXT NOT NULL,
  PRIMARY KEY (rule_id, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_patterns_by_digest ON rule_patterns (domain_id, digest);
CREATE INDEX rule_patterns_by_head ON rule_patterns (domain_id, head);

CREATE TABLE pattern_totals (
  domain_id INTEGER PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
  octets INTEGER NOT NULL,
  build INTEGER NOT NULL,
  eighths INTEGER NOT NULL,
  counted INTEGER NOT NULL
) STRICT;
INSERT INTO pattern_totals SELECT DISTINCT domain_id, 0, 0, 0, 0 FROM rules WHERE body LIKE '%"regex"%';
`;

/** The index has only revisions whose plans are stored: pruning reads no others. */
const PRUNED_PLANS = `
ALTER TABLE plan_revisions ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0;
UPDATE plan_revisions SET pruned = 1
WHERE digest IS NOT NULL AND digest NOT IN (SELECT digest FROM plan_blobs);
CREATE INDEX plan_revisions_unpruned ON plan_revisions (domain, revision) WHERE pruned = 0 AND digest IS NOT NULL;
`;

/** An invitation names an account that may not exist, so it refers to none. */
const INVITATIONS = `
CREATE TABLE invitations (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id <= 4294967295),
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  UNIQUE (domain_id, name)
) STRICT;
CREATE INDEX invitations_by_name ON invitations (name, id);
CREATE INDEX invitations_by_end ON invitations (expires_at);
`;

/**
 * A name may have several domains until one is proved. SQLite cannot drop a constraint, so the table is created again and
 * continues the ids of the old one. Domains that are unproved at this step count from now on.
 */
const UNPROVED_NAMES = `
CREATE TABLE domains_next (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  user_id INTEGER NOT NULL REFERENCES accounts,
  status TEXT NOT NULL,
  dns_mode TEXT NOT NULL,
  ever_active INTEGER NOT NULL,
  verification_token TEXT NOT NULL,
  verification_started_at INTEGER,
  verification_expires_at INTEGER,
  verified_at INTEGER,
  pending_since INTEGER,
  moved_since INTEGER,
  next_check_at INTEGER,
  last_manual_ns_check_at INTEGER,
  cache_l2_max_gb INTEGER NOT NULL,
  cache_l2_ttl_days INTEGER NOT NULL,
  cache_cap_mb INTEGER NOT NULL,
  developer_mode_until INTEGER,
  sec_no_sniff INTEGER NOT NULL,
  sec_referrer_policy INTEGER NOT NULL,
  sec_strip_headers INTEGER NOT NULL,
  markdown_for_agents INTEGER NOT NULL,
  outage_alerts INTEGER NOT NULL,
  uptime_threshold_pct INTEGER NOT NULL,
  uptime_window_min INTEGER NOT NULL,
  uptime_min_requests INTEGER NOT NULL,
  uptime_min_active_min INTEGER NOT NULL,
  uptime_recover_min INTEGER NOT NULL,
  suspended INTEGER NOT NULL,
  suspended_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  unproved_since INTEGER
) STRICT;
INSERT INTO domains_next SELECT *, CASE WHEN status IN ('pending', 'unverified') THEN unixepoch() * 1000 END FROM domains;
DELETE FROM sqlite_sequence WHERE name = 'domains_next';
INSERT INTO sqlite_sequence (name, seq) SELECT 'domains_next', seq FROM sqlite_sequence WHERE name = 'domains';
DROP TABLE domains;
ALTER TABLE domains_next RENAME TO domains;
CREATE INDEX domains_by_owner ON domains (user_id);
CREATE INDEX domains_by_check ON domains (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE UNIQUE INDEX domains_proved ON domains (name) WHERE unproved_since IS NULL OR status IN ('active', 'moved');
CREATE UNIQUE INDEX domains_by_name ON domains (name, user_id);
CREATE INDEX domains_unproved ON domains (unproved_since) WHERE unproved_since IS NOT NULL;
`;

/** Tokens that a newer one of their node has replaced, valid until their overlap ends. */
const REPLACED_TOKENS = `
CREATE TABLE node_tokens (
  token_hash TEXT NOT NULL PRIMARY KEY,
  node_id INTEGER NOT NULL REFERENCES nodes,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

/**
 * Groups of nodes and domains as `base/vocabulary/node-groups.ts` writes them; a domain without a row is in `default`. The manifest has
 * those that were published, and those whose nodes must get a tombstone.
 */
const NODE_GROUPS = `
ALTER TABLE nodes ADD COLUMN node_groups TEXT NOT NULL DEFAULT 'default';
ALTER TABLE manifest ADD COLUMN node_groups TEXT NOT NULL DEFAULT 'default';
ALTER TABLE manifest ADD COLUMN left_groups TEXT NOT NULL DEFAULT '';
CREATE TABLE domain_groups (
  domain_id INTEGER PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
  node_groups TEXT NOT NULL
) STRICT;
`;

/** Up to when the traffic that a node has reported takes the time that it had, milliseconds since the epoch. */
const NODE_ALLOWANCES = `
CREATE TABLE node_allowances (
  node_id INTEGER PRIMARY KEY REFERENCES nodes,
  spent_until INTEGER NOT NULL
) STRICT;
`;

/**
 * Traffic: what nodes reported (`traffic_parts`), and what a roll-up merges it into (`traffic_minutes`, ten minutes in each
 * row, `traffic_hours`, `traffic_days`). Times are whole minutes since the epoch. Rows with values of some hundred octets
 * and more have rowids: in the interior pages of an index they would leave room for few entries.
 *
 * The traffic that earlier versions stored by minute becomes sums by hour, or by day where it is older than hours are
 * stored; an empty `counts` has no more than the sums. Hits of rules are not carried over.
 */
const TRAFFIC = `
CREATE TABLE traffic_parts (
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  minute INTEGER NOT NULL,
  node_id INTEGER NOT NULL,
  batch INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  octets_in INTEGER NOT NULL,
  octets_out INTEGER NOT NULL,
  monitored INTEGER NOT NULL,
  monitored_errors INTEGER NOT NULL,
  gateway_requests INTEGER NOT NULL,
  taken_at INTEGER NOT NULL,
  counts BLOB NOT NULL,
  tops BLOB,
  PRIMARY KEY (domain_id, minute, node_id, batch)
) STRICT;

CREATE TABLE traffic_minutes (
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  start INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  octets_in INTEGER NOT NULL,
  octets_out INTEGER NOT NULL,
  monitored INTEGER NOT NULL,
  monitored_errors INTEGER NOT NULL,
  gateway_requests INTEGER NOT NULL,
  monitored_minutes TEXT NOT NULL,
  counts BLOB NOT NULL,
  PRIMARY KEY (domain_id, start)
) STRICT;
CREATE INDEX traffic_minutes_by_start ON traffic_minutes (start);

CREATE TABLE traffic_hours (
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  start INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  octets_in INTEGER NOT NULL,
  octets_out INTEGER NOT NULL,
  monitored INTEGER NOT NULL,
  monitored_errors INTEGER NOT NULL,
  gateway_requests INTEGER NOT NULL,
  counts BLOB NOT NULL,
  tops BLOB,
  PRIMARY KEY (domain_id, start)
) STRICT;
CREATE INDEX traffic_hours_by_start ON traffic_hours (start);

CREATE TABLE traffic_days (
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  start INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  octets_in INTEGER NOT NULL,
  octets_out INTEGER NOT NULL,
  monitored INTEGER NOT NULL,
  monitored_errors INTEGER NOT NULL,
  gateway_requests INTEGER NOT NULL,
  counts BLOB NOT NULL,
  tops BLOB,
  PRIMARY KEY (domain_id, start)
) STRICT;
CREATE INDEX traffic_days_by_start ON traffic_days (start);

CREATE TABLE traffic_slices (
  slice INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,
  until INTEGER NOT NULL,
  days_through INTEGER NOT NULL
) STRICT;

INSERT INTO traffic_hours SELECT domain_id, minute / 60 * 60, sum(requests), 0, sum(octets), 0, 0, sum(gateway_requests), x'', NULL
FROM usage WHERE minute >= (unixepoch() / 86400 - 35) * 1440 GROUP BY domain_id, minute / 60;
INSERT INTO traffic_days SELECT domain_id, minute / 1440 * 1440, sum(requests), 0, sum(octets), 0, 0, sum(gateway_requests), x'', NULL
FROM usage WHERE minute < (unixepoch() / 86400 - 35) * 1440 GROUP BY domain_id, minute / 1440;
DROP TABLE usage;
DROP TABLE rule_hits;

CREATE TABLE node_batches_next (
  node_id INTEGER NOT NULL REFERENCES nodes,
  batch INTEGER NOT NULL,
  taken_at INTEGER NOT NULL,
  PRIMARY KEY (node_id, batch)
) STRICT, WITHOUT ROWID;
INSERT INTO node_batches_next SELECT node_id, batch, unixepoch() * 1000 FROM node_batches;
DROP TABLE node_batches;
ALTER TABLE node_batches_next RENAME TO node_batches;
CREATE INDEX node_batches_by_time ON node_batches (taken_at);
`;

/** Nothing: entries of the decision log are in files of their own (`control/logs/sqlite-days.ts`), in tables on PostgreSQL. */
const DECISION_LOGS = '';

/** Uptime: what was judged of each domain, how far, and incidents. Nothing of it names a plan. */
const UPTIME = `
CREATE TABLE uptime_states (
  domain_id INTEGER PRIMARY KEY REFERENCES domains ON DELETE CASCADE,
  through INTEGER NOT NULL,
  active INTEGER NOT NULL,
  state_json TEXT NOT NULL
) STRICT;
CREATE INDEX uptime_states_active ON uptime_states (domain_id) WHERE active = 1;

CREATE TABLE uptime_progress (
  id INTEGER PRIMARY KEY,
  through INTEGER NOT NULL
) STRICT;

CREATE TABLE incidents (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  began_at INTEGER NOT NULL,
  opened_at INTEGER NOT NULL,
  resolved_at INTEGER,
  resolution TEXT,
  requests INTEGER NOT NULL,
  errors INTEGER NOT NULL
) STRICT;
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
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id <= 4294967295),
  account_id INTEGER NOT NULL REFERENCES accounts,
  domain_id INTEGER,
  domain TEXT NOT NULL,
  kind TEXT NOT NULL,
  data_json TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  read_at INTEGER
) STRICT;
CREATE INDEX notifications_by_account ON notifications (account_id, id);
CREATE INDEX notifications_unread ON notifications (account_id, id) WHERE read_at IS NULL;
CREATE INDEX notifications_by_kind ON notifications (account_id, kind, id);
CREATE INDEX notifications_by_age ON notifications (created_at);

CREATE TABLE notification_deliveries (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id <= 4294967295),
  notification_id INTEGER NOT NULL REFERENCES notifications ON DELETE CASCADE,
  account_id INTEGER NOT NULL REFERENCES accounts,
  channel TEXT NOT NULL,
  target_id INTEGER NOT NULL,
  state TEXT NOT NULL,
  tries INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  leased_until INTEGER NOT NULL,
  last_error TEXT NOT NULL,
  delivered_at INTEGER
) STRICT;
CREATE INDEX notification_deliveries_due ON notification_deliveries (next_at) WHERE state = 'waiting';
CREATE INDEX notification_deliveries_by_target ON notification_deliveries (channel, account_id, target_id)
  WHERE state = 'waiting';
CREATE INDEX notification_deliveries_by_account ON notification_deliveries (account_id, channel, created_at);
CREATE INDEX notification_deliveries_by_notification ON notification_deliveries (notification_id);

CREATE TABLE account_contacts (
  account_id INTEGER NOT NULL REFERENCES accounts,
  channel TEXT NOT NULL,
  address TEXT NOT NULL,
  pending TEXT NOT NULL,
  code_hash TEXT NOT NULL,
  code_expires_at INTEGER NOT NULL,
  code_tries INTEGER NOT NULL,
  sends INTEGER NOT NULL,
  sends_since INTEGER NOT NULL,
  sent_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, channel)
) STRICT;

CREATE TABLE account_webhooks (
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id <= 4294967295),
  account_id INTEGER NOT NULL REFERENCES accounts,
  url TEXT NOT NULL,
  secret TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX account_webhooks_by_account ON account_webhooks (account_id);

CREATE TABLE notification_preferences (
  account_id INTEGER NOT NULL REFERENCES accounts,
  kind TEXT NOT NULL,
  channel TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  PRIMARY KEY (account_id, kind, channel)
) STRICT;

CREATE TABLE operator_accounts (
  account_id INTEGER PRIMARY KEY REFERENCES accounts
) STRICT;

CREATE TABLE node_losses (
  node_id INTEGER PRIMARY KEY REFERENCES nodes,
  seen_at INTEGER NOT NULL
) STRICT;

CREATE TABLE invitation_notices (
  invitation_id INTEGER PRIMARY KEY REFERENCES invitations ON DELETE CASCADE
) STRICT;
`;

/** The steps from an empty file to this version's tables. */
export const SQLITE_MIGRATIONS: readonly Migration[] = [
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
  { version: 16, ddl: SQLITE_BILLING },
  { version: 17, ddl: SQLITE_ZONES },
  { version: 18, ddl: SQLITE_CERTIFICATES },
  { version: 19, ddl: SQLITE_ISSUANCE },
  { version: 20, ddl: SQLITE_PURGES },
  { version: 21, ddl: SQLITE_CACHE_CONTENTS },
  { version: 22, ddl: SQLITE_DRAFTS },
  { version: 23, ddl: SQLITE_INVARIANTS },
];
