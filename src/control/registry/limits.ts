/** The bounds of fetches of token issuers' keys and of checks of quotas, each with its reason. */

const MINUTE_MS = 60_000;

/** Octets of a key set, decompressed: a hundred RSA keys with their certificates have less. */
export const MAX_KEY_SET_OCTETS = 262_144;
/** Members of a key set that are read; the others are left out. */
export const MAX_READ_KEYS = 100;
/** Milliseconds between two fetches, at least: a publisher that forbids caching is asked no more often. */
export const SHORTEST_MS = 5 * MINUTE_MS;
/** Milliseconds between two fetches, at most: a key that its publisher has withdrawn is refused a day later. */
export const LONGEST_MS = 24 * 60 * MINUTE_MS;
/** Milliseconds between two fetches where the publisher names no time, and while they fail, at most. */
export const USUAL_MS = 60 * MINUTE_MS;
/** The part of the time that is added at most, so that issuers of one publisher are not fetched at one moment. */
export const SPREAD = 0.1;
/** Characters of a stored reason. */
export const MAX_REASON_CHARACTERS = 500;
/** Characters of a `kid` in the list of keys that are left out. */
export const MAX_KID_CHARACTERS = 64;

/** Fetches in a row that fail before they are notified of: fewer are an outage that passes by itself. */
export const FAILURES_NOTICED = 3;
/** Milliseconds since the last good fetch, at least, before failures are notified of. */
export const OUTAGE_NOTICED_MS = 60 * MINUTE_MS;

// Quotas

/** Milliseconds between two checks of quotas: a part of the time in which nodes report, so that it adds little to it. */
export const QUOTA_POLL_MS = 10_000;
/** Domains that one read lists. */
export const QUOTA_DOMAINS_AT_ONCE = 300;
/**
 * Milliseconds between two notifications of one kind about the consumers of a domain: levels that others reach meanwhile are in the next
 * one, so that many consumers make at most 24 of a day.
 */
export const CONSUMERS_QUIET_MS = 60 * MINUTE_MS;
/** Quotas that one notification names: a letter of more is not read. */
export const NOTIFIED_QUOTAS = 10;
/**
 * Seconds from a request to the refusal of later ones by all nodes that follow: its minute ends and is closed (63), the node spreads
 * its reports (15), quotas are checked (13), the registry is sealed and published (5), nodes fetch it (5), and some of reserve.
 */
export const OVERSHOOT_SEC = 120;
