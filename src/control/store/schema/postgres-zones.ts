/** The tables of zones on PostgreSQL: versions of zones, the steps between them, what waits, and flattened names. */

/** A zone as secondaries transfer it. It has no foreign key: the row of a deleted domain stays until its removal is published. */
const VERSIONS = `
CREATE TABLE zones (
  name text COLLATE "C" PRIMARY KEY,
  domain_id bigint NOT NULL,
  serial bigint NOT NULL,
  primary_name text COLLATE "C" NOT NULL,
  content bytea NOT NULL,
  records bigint NOT NULL,
  settings text COLLATE "C" NOT NULL,
  problems_json text COLLATE "C" NOT NULL,
  updated_at bigint NOT NULL
);
CREATE INDEX zones_by_update ON zones (updated_at);

CREATE TABLE zone_catalogs (
  name text COLLATE "C" PRIMARY KEY,
  serial bigint NOT NULL,
  removed_serial bigint NOT NULL,
  updated_at bigint NOT NULL
);

CREATE TABLE zone_steps (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  from_serial bigint NOT NULL,
  to_serial bigint NOT NULL,
  octets bigint NOT NULL,
  removed bytea NOT NULL,
  added bytea NOT NULL
);
CREATE INDEX zone_steps_by_name ON zone_steps (name, id);
`;

/** Names whose domain or records have changed since their zone was made; a random version identifies the last change. */
const CHANGES = `
CREATE TABLE zone_changes (
  name text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL,
  since bigint NOT NULL,
  renumber smallint NOT NULL DEFAULT 0,
  claimed_until bigint NOT NULL DEFAULT 0
);
`;

/** Targets of ALIAS records with their last answer, and the zones that contain it. */
const FLATTENED = `
CREATE TABLE flattened_targets (
  target text COLLATE "C" PRIMARY KEY,
  addresses_json text COLLATE "C" NOT NULL,
  good_at bigint,
  failures bigint NOT NULL,
  next_at bigint NOT NULL
);
CREATE INDEX flattened_targets_by_next ON flattened_targets (next_at);

CREATE TABLE flattened_uses (
  name text COLLATE "C" NOT NULL,
  target text COLLATE "C" NOT NULL,
  PRIMARY KEY (name, target)
);
CREATE INDEX flattened_uses_by_target ON flattened_uses (target);
`;

/** The DDL of this step. */
export const POSTGRES_ZONES: string = VERSIONS + CHANGES + FLATTENED;
