/** Bounds of the uptime room, each with its reason. */

/** Minutes of the longest `uptime_window_min` (API document): the state has no older minutes. */
export const MAX_WINDOW_MINUTES = 60;
/** Minutes without a request to an origin after which an open incident resolves as `no traffic` (semantics §11). */
export const NO_TRAFFIC_MINUTES = 24 * 60;
/**
 * Minutes that a minute is over before it is judged: nodes report once a minute, and a report that is repeated once still
 * arrives in time. Counts that arrive later do not change what was judged.
 */
export const SETTLING_MINUTES = 3;
/** Minutes that one pass judges at most: after a long absence of all servers, each pass reads a bounded number of rows. */
export const MINUTES_A_PASS = 10;
/** Domains that are judged in one transaction: some milliseconds of the API's thread and of the database's writer. */
export const DOMAINS_AT_ONCE = 200;
/** Milliseconds between two passes; each process adds a jitter, so that one of several is first and the others find no work. */
export const PASS_MS = 20_000;
/** Milliseconds for which resolved incidents are stored: as long as traffic by day (semantics §10). */
export const INCIDENTS_STORED_MS = 400 * 24 * 3_600_000;
