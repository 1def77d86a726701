/** Limits of the storage for slow clients, each with its reason. */

/** Maximum size, in octets, of the part of one body in memory; further octets are written to a file. */
export const MEMORY_OCTETS = 64 * 1024;
/** Maximum size, in octets, of all bodies in memory; beyond it every further octet is written to a file at once. */
export const ALL_MEMORY_OCTETS = 64 * 1024 * 1024;
/** Maximum number of octets of one body that wait for its file; beyond it the peer that sends the body is paused. */
export const WRITE_WINDOW = 1024 * 1024;
/** Octets written to a file at once. */
export const WRITE_OCTETS = 256 * 1024;
/** Octets read from a file at once. */
export const READ_OCTETS = 64 * 1024;
/** Maximum size, in octets, of one response on disk: nginx's `proxy_max_temp_file_size`. */
export const MAX_ANSWER_OCTETS = 1024 * 1024 * 1024;
/** Maximum size, in octets, of all bodies on disk, by default. */
export const DISK_OCTETS = 2 * 1024 * 1024 * 1024;
/** Maximum part of the disk space that one client network may use: a hostile one leaves three quarters to others. */
export const NETWORK_SHARE = 1 / 4;
/** Milliseconds without files after a failed write: a full disk is not tried again for every body. */
export const REST_MS = 10_000;
/** Maximum time, in milliseconds, that a client may pause its origin before the response is stored for it. */
export const HOLD_UP_MS = 500;
/** Maximum number of octets of a request's body that are read before a connection to an origin is used, by default. */
export const BODY_OCTETS = 1024 * 1024;

/** The rate below which a client is disconnected, and the time over which it is measured. */
export interface RateBounds {
  /** Octets a second; 0: no minimum. */
  readonly minRate: number;
  /** Milliseconds before the first measurement: TCP connections start slowly. */
  readonly graceMs: number;
  /** Milliseconds of one measurement. */
  readonly windowMs: number;
}

/** The default. Apache's mod_reqtimeout requires 500 octets a second; a phone with poor reception has a few thousand. */
export const RATE: RateBounds = { minRate: 1_024, graceMs: 5_000, windowMs: 10_000 };
