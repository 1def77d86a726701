/** The tables of caches on PostgreSQL: purges of single responses, and how far each name's entry of the manifest has them. */

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
