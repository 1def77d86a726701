/** Zones: their versions, the steps between them, names that wait for a new one, challenges, and flattened names. */
import { bytes, flag, id, integer, json, type RowOf, table, text, time } from './describe.ts';

/** Zones as secondaries transfer them. They refer to no domain: the row of a deleted one stays until its removal is published. */
export const zones = table(
  'zones',
  17,
  {
    name: text().key(),
    /** The domain whose zone it is; it may be deleted already. */
    domain_id: integer(),
    /** 32 bits (RFC 1982). */
    serial: integer(),
    /** The first nameserver. */
    primary_name: text(),
    content: bytes(),
    /** Records of the content. */
    records: integer(),
    /** Identifies the settings of the server that the zone was made with. */
    settings: text(),
    /** What of the domain's records is not in the zone, as JSON. */
    problems_json: json(),
    updated_at: time(),
  },
  { indexes: { zones_by_update: ['updated_at'] } },
);

/** The current version of a zone. */
export interface ZoneRow extends RowOf<typeof zones> {}

/** A version of a zone without its content. */
export interface ZoneHeadRow extends Omit<ZoneRow, 'content'> {}

/** Catalog zones. */
export const zoneCatalogs = table('zone_catalogs', 17, {
  name: text().key(),
  serial: integer(),
  /** The highest serial of a zone that was removed; 0: none. A zone that comes back goes on above it. */
  removed_serial: integer(),
  updated_at: time(),
});

/** The catalog zone that lists the zones. */
export interface ZoneCatalogRow extends RowOf<typeof zoneCatalogs> {}

/** The steps from one version of a zone to the next. */
export const zoneSteps = table(
  'zone_steps',
  17,
  {
    id: id(),
    name: text(),
    from_serial: integer(),
    to_serial: integer(),
    /** Of what the step removes and adds. */
    octets: integer(),
    removed: bytes(),
    added: bytes(),
  },
  { indexes: { zone_steps_by_name: ['name', 'id'] } },
);

/** A step from one version to the next. */
export interface ZoneStepRow
  extends Pick<RowOf<typeof zoneSteps>, 'from_serial' | 'to_serial' | 'removed' | 'added'> {}

/** Names whose domain or records have changed since their zone was made. */
export const zoneChanges = table('zone_changes', 17, {
  name: text().key(),
  /** Random; another one after every change. */
  version: integer(),
  /** When the oldest change was made. */
  since: time(),
  /** The zone gets a new serial even if its content is the same. */
  renumber: flag().preset(0),
  claimed_until: time().preset(0),
});

/** A name whose zone must be made again. */
export interface ZoneChangeRow extends Omit<RowOf<typeof zoneChanges>, 'claimed_until'> {}

/** TXT records of DNS-01 challenges, in the zone of a name beside its own records. */
export const zoneChallenges = table(
  'zone_challenges',
  19,
  {
    name: text(),
    /** The owner of the record, `_acme-challenge.` and the name that is proved. */
    owner: text(),
    value: text(),
    created_at: time(),
  },
  { key: ['name', 'owner', 'value'], indexes: { zone_challenges_by_age: ['created_at'] } },
);

/** A TXT record that proves to a CA who serves a name (RFC 8555 §8.4). */
export interface ZoneChallengeRow extends Omit<RowOf<typeof zoneChallenges>, 'name'> {}

/** Targets of ALIAS records with their last answer. */
export const flattenedTargets = table(
  'flattened_targets',
  17,
  {
    /** Canonical. */
    target: text().key(),
    /** A JSON array of addresses. */
    addresses_json: json(),
    /** When the last answer came; `null`: none has. */
    good_at: time().nullable(),
    /** Failed lookups since. */
    failures: integer(),
    /** The time of the next lookup. */
    next_at: time(),
  },
  { indexes: { flattened_targets_by_next: ['next_at'] } },
);

/** What is known of a target of ALIAS records. */
export interface FlattenedTargetRow extends RowOf<typeof flattenedTargets> {}

/** The zones that contain the addresses of a target. */
export const flattenedUses = table(
  'flattened_uses',
  17,
  { name: text(), target: text() },
  {
    key: ['name', 'target'],
    withoutRowid: true,
    indexes: { flattened_uses_by_target: ['target'] },
  },
);
