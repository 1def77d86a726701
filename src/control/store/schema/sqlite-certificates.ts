/** Certificates of customers on SQLite: chain and sealed key, the digest of each domain's set, and the keys of nodes. */

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
