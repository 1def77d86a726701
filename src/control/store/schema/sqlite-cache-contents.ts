/** The tables of what caches have stored, on SQLite: the last report of each process of a node about each of its domains. */

/** The DDL of this step. */
export const SQLITE_CACHE_CONTENTS: string = `
CREATE TABLE cache_contents (
  domain_id INTEGER NOT NULL REFERENCES domains ON DELETE CASCADE,
  node_id INTEGER NOT NULL REFERENCES nodes,
  process INTEGER NOT NULL,
  run INTEGER NOT NULL,
  at INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  octets INTEGER NOT NULL,
  disk_files INTEGER NOT NULL,
  disk_octets INTEGER NOT NULL,
  urls_json TEXT NOT NULL,
  PRIMARY KEY (domain_id, node_id, process)
) STRICT, WITHOUT ROWID;
CREATE INDEX cache_contents_by_process ON cache_contents (node_id, process, run);
CREATE INDEX cache_contents_by_age ON cache_contents (at);
`;
