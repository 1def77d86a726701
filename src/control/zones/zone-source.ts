/** What the server of zones answers from: versions of zones and the changes between them. */

/** One version of a zone. */
export interface ZoneHead {
  /** Canonical, without a trailing dot. */
  readonly name: string;
  /** The serial of its SOA, 32 bits (RFC 1982). */
  readonly serial: number;
  /** MNAME of its SOA: the first nameserver. */
  readonly primary: string;
}

/** The step from one version to a later one; contents as `wire/records.ts` describes them, without SOA records. */
export interface ZoneStep {
  readonly from: number;
  readonly to: number;
  readonly removed: Uint8Array;
  readonly added: Uint8Array;
}

/** Reads zones. Each method reads one snapshot. @throws StoreFault */
export interface ZoneSource {
  /** `null`: this server has no such zone. */
  head(name: string): Promise<ZoneHead | null>;
  /** The whole content without its SOA. */
  whole(name: string): Promise<{ readonly head: ZoneHead; readonly content: Uint8Array } | null>;
  /**
   * The steps from `serial` to the current version, in order, with no step missing; empty: it is the current one.
   * `steps` is `null` if the history does not reach back so far.
   */
  since(
    name: string,
    serial: number,
  ): Promise<{ readonly head: ZoneHead; readonly steps: readonly ZoneStep[] | null } | null>;
}
