/** Bounds of zones, each with its reason. */

// Content and flattening

/**
 * Maximum number of names outside a domain whose addresses its zone contains: each costs two queries per lookup, and a
 * zone with more of them is a list of other services' hosts.
 */
export const MAX_FLATTENED = 50;
/**
 * Maximum number of addresses, of each family, of one flattened name: an answer with 20 of both fits a datagram of 1,232
 * octets, and no known service has more.
 */
export const MAX_FLATTENED_ADDRESSES = 20;
/** TTL, in seconds, of addresses of a flattened name outside the zone: they change without the customer's doing. */
export const FLATTENED_TTL_SEC = 60;
/** Maximum number of CNAME and ALIAS records followed behind a name inside the zone, as in an answer (`MAX_ALIASES`). */
export const MAX_ALIAS_STEPS = 8;
/** Seconds between two lookups of a target, at least: a TTL of 0 must not cost a query per second. */
export const MIN_LOOKUP_SEC = 30;
/** Seconds between two lookups of a target, at most: as long as the records of the zone are valid. */
export const MAX_LOOKUP_SEC = 300;
/** Milliseconds for which the last answer about a target is served while lookups fail. Given (semantics §9). */
export const LAST_ANSWER_MS = 86_400_000;
/** Lookups that run at once: the resolver answers thousands a second, and a slow one must not get them all together. */
export const LOOKUPS_AT_ONCE = 8;
/** Targets that are read from the store together, enough for some seconds of lookups. */
export const LOOKUP_BATCH = 64;
/** Milliseconds between polls for due targets: short against `MIN_LOOKUP_SEC`. */
export const LOOKUP_POLL_MS = 5_000;
