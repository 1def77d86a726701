/** Bounds of what is stored for slow clients, each with its reason. */

/** Octets of one body in memory; what is beyond is written to a file. */
export const MEMORY_OCTETS = 64 * 1024;
/** The same over all bodies: past it every further one is written to its file at once. */
export const ALL_MEMORY_OCTETS = 64 * 1024 * 1024;
/** Octets of one body that wait for its file before the peer that sends it is paused. */
export const WRITE_WINDOW = 1024 * 1024;
/** Octets written to a file at once, and read from it. */
export const WRITE_OCTETS = 256 * 1024;
export const READ_OCTETS = 64 * 1024;
/** Octets of one answer on disk, as nginx's `proxy_max_temp_file_size`. */
export const MAX_ANSWER_OCTETS = 1024 * 1024 * 1024;
/** Octets on disk over all bodies, unless the operator says otherwise. */
export const DISK_OCTETS = 2 * 1024 * 1024 * 1024;
/** The part of the disk that one client network may fill: four hostile ones leave nothing, one leaves most. */
export const NETWORK_SHARE = 1 / 4;
/** Milliseconds without files after one failed: a full disk is not asked again for every body. */
export const REST_MS = 10_000;
/** Milliseconds that a client may hold an answer up before it is taken from the origin for it. */
export const HOLD_UP_MS = 500;
/** Octets of a request's body that are read before a connection to an origin is taken. */
export const BODY_OCTETS = 1024 * 1024;

/** The rate below which a client is ended, and the time it is measured over. */
export interface RateBounds {
  /** Octets a second; 0: any rate will do. */
  readonly minRate: number;
  /** Milliseconds before the first measurement: connections start slowly. */
  readonly graceMs: number;
  /** Milliseconds of one measurement. */
  readonly windowMs: number;
}

/** Apache's mod_reqtimeout asks for 500 octets a second; a phone at the edge of a cell reaches a few thousand. */
export const RATE: RateBounds = { minRate: 1_024, graceMs: 5_000, windowMs: 10_000 };
