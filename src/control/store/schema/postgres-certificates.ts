/** Certificates of customers on PostgreSQL: chain and sealed key, the digest of each domain's set, and the keys of nodes. */

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
