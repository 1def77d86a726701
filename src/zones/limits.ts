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
