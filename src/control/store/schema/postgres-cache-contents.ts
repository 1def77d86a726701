/** The tables of what caches have stored, on PostgreSQL: the last report of each process of a node about each of its domains. */

/** The DDL of this step. */
export const POSTGRES_CACHE_CONTENTS: string = `
CREATE TABLE cache_contents (
  domain_id bigint NOT NULL REFERENCES domains ON DELETE CASCADE,
  node_id bigint NOT NULL REFERENCES nodes,
  process bigint NOT NULL,
  run bigint NOT NULL,
  at bigint NOT NULL,
  entries bigint NOT NULL,
  octets bigint NOT NULL,
  disk_files bigint NOT NULL,
  disk_octets bigint NOT NULL,
  urls_json text COLLATE "C" NOT NULL,
  PRIMARY KEY (domain_id, node_id, process)
);
CREATE INDEX cache_contents_by_process ON cache_contents (node_id, process, run);
CREATE INDEX cache_contents_by_age ON cache_contents (at);
`;
