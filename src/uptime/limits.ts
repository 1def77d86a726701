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
