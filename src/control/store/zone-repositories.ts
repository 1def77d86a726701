/**
 * The repository of zones: versions that secondaries transfer, the steps between them, names that wait for a new version,
 * and answers about targets of ALIAS records. Contents are those of the room `control/zones/` (`wire/records.ts`).
 */

/** A version of a zone without its content. */
export interface ZoneHeadRow {
  readonly name: string;
  /** The domain whose zone it is; it may be deleted already. */
  readonly domain_id: number;
  /** 32 bits (RFC 1982). */
  readonly serial: number;
  /** The first nameserver. */
  readonly primary_name: string;
  /** Records of the content. */
  readonly records: number;
  /** Identifies the settings of the server that the zone was made with. */
  readonly settings: string;
  /** What of the domain's records is not in the zone, as JSON. */
  readonly problems_json: string;
  readonly updated_at: number;
}

/** The current version of a zone. */
export interface ZoneRow extends ZoneHeadRow {
  readonly content: Uint8Array;
}

/** A step from one version to the next. */
export interface ZoneStepRow {
  readonly from_serial: number;
  readonly to_serial: number;
  readonly removed: Uint8Array;
  readonly added: Uint8Array;
}

/** A name whose zone must be made again. */
export interface ZoneChangeRow {
  readonly name: string;
  /** Random; another one after every change. */
  readonly version: number;
  /** When the oldest change was made. */
  readonly since: number;
  /** The zone gets a new serial even if its content is the same. */
  readonly renumber: boolean;
}

/** The catalog zone that lists the zones. */
export interface ZoneCatalogRow {
  readonly name: string;
  readonly serial: number;
  /** The highest serial of a zone that was removed; 0: none. A zone that comes back goes on above it. */
  readonly removed_serial: number;
  readonly updated_at: number;
}

/** What is known of a target of ALIAS records; times in milliseconds since the epoch. */
export interface FlattenedTargetRow {
  /** Canonical. */
  readonly target: string;
  /** A JSON array of addresses. */
  readonly addresses_json: string;
  /** When the last answer came; `null`: none has. */
  readonly good_at: number | null;
  /** Failed lookups since. */
  readonly failures: number;
  /** The time of the next lookup. */
  readonly next_at: number;
}

/** A TXT record that proves to a CA who serves a name (RFC 8555 §8.4). */
export interface ZoneChallengeRow {
  /** The owner of the record, `_acme-challenge.` and the name that is proved. */
  readonly owner: string;
  readonly value: string;
  readonly created_at: number;
}

/** Bounds of the history of a zone. */
export interface StepBounds {
  readonly steps: number;
  /** Octets of what the steps remove and add. */
  readonly octets: number;
}

/** Reads of zones. */
export interface ZoneReads {
  get(name: string): Promise<ZoneRow | null>;
  head(name: string): Promise<ZoneHeadRow | null>;
  /** Steps from the version `fromSerial` on, in order; empty: the history has no step from it. */
  steps(name: string, fromSerial: number): Promise<readonly ZoneStepRow[]>;
  /** All zones by name, for the catalog. */
  members(): Promise<readonly Pick<ZoneRow, 'name' | 'domain_id'>[]>;
  /** Zones whose version is newer than a time, newest first, at most `limit`. */
  changedSince(at: number, limit: number): Promise<readonly ZoneHeadRow[]>;
  /** What waits for a name. */
  change(name: string): Promise<ZoneChangeRow | null>;
  /** Names that wait, and since when the oldest does: for metrics. */
  waiting(): Promise<{ readonly zones: number; readonly since: number | null }>;
  count(): Promise<number>;
  /** In a write it is locked until the commit. */
  catalog(name: string): Promise<ZoneCatalogRow | null>;
  /** The challenges in the zone of a name, by owner and value. */
  challenges(name: string): Promise<readonly ZoneChallengeRow[]>;
  flattened(targets: readonly string[]): Promise<readonly FlattenedTargetRow[]>;
  /** Names of zones that contain the addresses of a target. */
  usersOf(target: string): Promise<readonly string[]>;
}

/** Changes of zones. They lock no domain. */
export interface ZoneWrites {
  /** Marks zones to be made again. Writes of domains and records do so by themselves. */
  mark(names: readonly string[], at: number): Promise<void>;
  /** Marks zones that were made with other settings, and managed domains without a zone. */
  markOthers(settings: string, at: number): Promise<void>;
  /** Removes all history and gives every zone and catalog a new serial: for a store that was restored from a backup. */
  renumberAll(at: number): Promise<void>;
  /** Claims marked names, the longest waiting first, so that no other process claims them before `until`. */
  claim(claim: {
    readonly now: number;
    readonly until: number;
    readonly limit: number;
  }): Promise<readonly ZoneChangeRow[]>;
  /** Ends the claim on a name. */
  release(name: string): Promise<void>;
  /** Removes the mark of a name; false, and nothing is removed, if the name was changed after `version`. */
  take(name: string, version: number): Promise<boolean>;
  /**
   * Stores a version and the step to it; without a step, the history of the zone ends. Steps beyond `bounds` are removed,
   * the oldest first.
   */
  put(zone: ZoneRow, step: ZoneStepRow | null, bounds: StepBounds): Promise<void>;
  /** Stores settings and problems of a zone whose version stays. */
  touch(zone: Pick<ZoneRow, 'name' | 'domain_id' | 'settings' | 'problems_json'>): Promise<void>;
  /** Removes a zone with its history. */
  remove(name: string): Promise<void>;
  putCatalog(catalog: ZoneCatalogRow, step: ZoneStepRow | null, bounds: StepBounds): Promise<void>;
  /** Adds a challenge to the zone of a name and marks the zone. */
  addChallenge(name: string, challenge: ZoneChallengeRow): Promise<void>;
  /** Removes a challenge from the zone of a name and marks the zone. */
  removeChallenge(name: string, challenge: Pick<ZoneChallengeRow, 'owner' | 'value'>): Promise<void>;
  /** Removes challenges that were made before a time, which an ended process has left, and marks their zones. */
  removeOldChallenges(before: number): Promise<void>;
  /** Sets the targets whose addresses a zone contains; targets that no zone uses any more are removed. */
  setTargets(name: string, targets: readonly string[]): Promise<void>;
  /** Answers targets to look up now, those whose last lookup failed or the others; no other process gets them before `until`. */
  claimTargets(claim: {
    readonly now: number;
    readonly until: number;
    readonly limit: number;
    readonly failing: boolean;
  }): Promise<readonly FlattenedTargetRow[]>;
  /** Stores what is known of a target, if a zone uses it. */
  putTarget(row: FlattenedTargetRow): Promise<void>;
}
