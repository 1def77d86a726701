/** The tables of caches on SQLite: purges of single responses, and how far each name's entry of the manifest has them. */

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
