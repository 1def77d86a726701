/** The tables of drafts, on SQLite: which domains publish by hand, and the rules that nodes run where the stored ones differ. */

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
