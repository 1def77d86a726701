/** The tables of zones on SQLite: versions of zones, the steps between them, what waits, and flattened names. */

/** A zone as secondaries transfer it. It has no foreign key: the row of a deleted domain stays until its removal is published. */
const VERSIONS = `
CREATE TABLE zones (
  name TEXT PRIMARY KEY,
  domain_id INTEGER NOT NULL,
  serial INTEGER NOT NULL,
  primary_name TEXT NOT NULL,
  content BLOB NOT NULL,
  records INTEGER NOT NULL,
  settings TEXT NOT NULL,
  problems_json TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX zones_by_update ON zones (updated_at);

CREATE TABLE zone_catalogs (
  name TEXT PRIMARY KEY,
  serial INTEGER NOT NULL,
  removed_serial INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE zone_steps (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  from_serial INTEGER NOT NULL,
  to_serial INTEGER NOT NULL,
  octets INTEGER NOT NULL,
  removed BLOB NOT NULL,
  added BLOB NOT NULL
) STRICT;
CREATE INDEX zone_steps_by_name ON zone_steps (name, id);
`;

/** Names whose domain or records have changed since their zone was made; a random version identifies the last change. */
const CHANGES = `
CREATE TABLE zone_changes (
  name TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  since INTEGER NOT NULL,
  renumber INTEGER NOT NULL DEFAULT 0,
  claimed_until INTEGER NOT NULL DEFAULT 0
) STRICT;
`;

/** Targets of ALIAS records with their last answer, and the zones that contain it. */
const FLATTENED = `
CREATE TABLE flattened_targets (
  target TEXT PRIMARY KEY,
  addresses_json TEXT NOT NULL,
  good_at INTEGER,
  failures INTEGER NOT NULL,
  next_at INTEGER NOT NULL
) STRICT;
CREATE INDEX flattened_targets_by_next ON flattened_targets (next_at);

CREATE TABLE flattened_uses (
  name TEXT NOT NULL,
  target TEXT NOT NULL,
  PRIMARY KEY (name, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX flattened_uses_by_target ON flattened_uses (target);
`;

/** The DDL of this step. */
export const SQLITE_ZONES: string = VERSIONS + CHANGES + FLATTENED;
