/** The tables of drafts, on PostgreSQL: which domains publish by hand, and the rules that nodes run where the stored ones differ. */

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
