/** Bounds of the history of a zone. */
import type {
  FlattenedTargetRow,
  ZoneCatalogRow,
  ZoneChallengeRow,
  ZoneChangeRow,
  ZoneHeadRow,
  ZoneRow,
  ZoneStepRow,
} from './tables/zones.ts';
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
