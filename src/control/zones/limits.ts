/** Bounds of zones, each with its reason. */
import type { StepBounds } from '../store/repositories/zones.ts';

// Versions

/**
 * History of one zone: as many steps as a secondary that is away for a busy hour may miss; more octets than the largest
 * zone has are cheaper to transfer whole.
 */
export const ZONE_HISTORY: StepBounds = { steps: 100, octets: 1_048_576 };
/** History of the catalog: a secondary that is away while thousands of domains are added transfers it whole. */
export const CATALOG_HISTORY: StepBounds = { steps: 1_000, octets: 1_048_576 };
/** Zones claimed at once, and those made side by side, so that the disk and the thread both have work. */
export const ZONES_CLAIMED = 32;
export const ZONES_SIDE_BY_SIDE = 4;
/** Milliseconds after which the claim of a process that died lapses, and a zone that failed is tried again. */
export const ZONE_LEASE_MS = 10_000;
/** Milliseconds between two polls of the store, for hints that were lost. */
export const ZONE_POLL_MS = 1_000;
/** Milliseconds from one claim to the next: changes that come in a stream become one version. */
export const ZONE_PACE_MS = 15;
/** Versions made of one name before others have their turn. */
export const ZONE_ATTEMPTS = 8;
/** Milliseconds one zone may take in the thread, waiting included; the largest takes a fraction of a second. */
export const MAKE_ZONE_MS = 60_000;
/** MiB of the thread's heap: 10,000 records with their texts take some 30. */
export const ZONE_HEAP_MB = 512;
/** Zones whose NOTIFY is sent again when the server starts: changes of the last refresh period, the newest first. */
export const NOTIFIED_AT_START = 10_000;
/** Problems that are stored for a zone; `zones show` says how many there are in all. */
export const PROBLEMS_STORED = 50;

// Checks of secondaries

/** Record sets that one check compares at each secondary: seconds on a usual network; the answer says how many it left out. */
export const CHECKED_SETS = 500;
/** Queries of one check that a secondary has at once. */
export const CHECK_CONCURRENCY = 16;
/** Milliseconds of a whole check; what is not answered by then is reported so. */
export const CHECK_MS = 20_000;
/** Differences that a check lists for each secondary. */
export const LISTED_DIFFERENCES = 20;
/** Checks under way in the process, one for each account at most: each has up to 500 queries for every secondary. */
export const CHECKS_AT_ONCE = 8;

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
/** TTL of the TXT records of challenges: an order that follows has other ones. */
export const CHALLENGE_TTL_SEC = 60;
/** Maximum number of CNAME and ALIAS records followed behind a name inside the zone, as in an answer (`MAX_ALIASES`). */
export const MAX_ALIAS_STEPS = 8;
/** Seconds between two lookups of a target, at least: a TTL of 0 must not cost a query per second. */
export const MIN_LOOKUP_SEC = 30;
/** Milliseconds for which one process has a target to look up. */
export const TARGET_CLAIM_MS = 60_000;
/** Seconds between two lookups of a target, at most: as long as the records of the zone are valid. */
export const MAX_LOOKUP_SEC = 300;
/** Milliseconds for which the last answer about a target is served while lookups fail. Given (semantics §9). */
export const LAST_ANSWER_MS = 86_400_000;
/** Lookups that run at once: the resolver answers thousands a second, and a slow one must not get them all together. */
export const LOOKUPS_AT_ONCE = { answering: 8, failing: 2 } as const;
/** Targets that are read from the store together, enough for some seconds of lookups. */
export const LOOKUP_BATCH = 64;
/** Milliseconds between polls for due targets: short against `MIN_LOOKUP_SEC`. */
export const LOOKUP_POLL_MS = 5_000;

// Messages

/** Maximum size, in octets, of a message over TCP: its length has 16 bits (RFC 1035 §4.2.2). */
export const MAX_MESSAGE_OCTETS = 65_535;
/**
 * Maximum size, in octets, of a request over TCP: a header, a question and an SOA record with names of 255 octets each, an
 * OPT record and a TSIG record are below 2,048.
 */
export const MAX_REQUEST_OCTETS = 4_096;
/** Maximum size, in octets, of a datagram for a peer without EDNS (RFC 1035 §4.2.1). */
export const PLAIN_DATAGRAM_OCTETS = 512;
/** Octets of records and header after which a message of a transfer is full: few messages, and little memory for each. */
export const TRANSFER_MESSAGE_OCTETS = 16_384;
/** Maximum size, in octets, of a TSIG record: names of 255 and 13 octets, a MAC of 64, other data of 6, fixed fields. */
export const MAX_TSIG_OCTETS = 384;

// TSIG

/** Seconds by which the clocks of two servers may differ (RFC 8945 §10). */
export const FUDGE_SEC = 300;
/** Minimum size, in octets, of a secret: below it, a MAC can be tried out offline (RFC 8945 §10.2 wants more). */
export const MIN_SECRET_OCTETS = 16;
/** Maximum size, in characters, of a keys file: 1,000 keys with long names. */
export const MAX_KEYS_CHARACTERS = 524_288;

// Requests

/** Milliseconds from the connection to the end of the first request: a secondary sends it at once. */
export const FIRST_REQUEST_MS = 10_000;
/**
 * Milliseconds from an answer to the end of the next request. Servers reuse connections for a few seconds; RFC 7766 §6.2.3
 * wants some seconds at least.
 */
export const IDLE_MS = 30_000;
/** Milliseconds in which a peer closes a connection that this server has ended. */
export const FINISH_MS = 5_000;
/** Milliseconds in which a peer must accept one message of an answer; a slower one would occupy its place for hours. */
export const STALLED_MS = 60_000;
/** Maximum number of connections from one secondary: BIND opens 20 for transfers, Knot and NSD fewer. */
export const CONNECTIONS_PER_SECONDARY = 64;
/** Maximum number of connections from all other addresses together: none of them has work here. */
export const OTHER_CONNECTIONS = 64;
/** Maximum number of connections from one other address, so that one cannot take the places of all. */
export const CONNECTIONS_PER_OTHER = 8;
/**
 * Maximum number of authenticated queries by UDP whose zone is being read: more are dropped, and the secondary repeats
 * them.
 */
export const MAX_UDP_QUERIES = 256;
/** Attempts to find a port that is free for TCP and UDP: a second one is hardly ever needed. */
export const PORT_ATTEMPTS = 16;

// Log lines

/** Milliseconds between two lines about one subject, for example refusals to one address. */
export const LINE_EVERY_MS = 60_000;
/** Subjects that have lines of their own; a stranger can forge any number of source addresses, which share one line. */
export const MAX_LINE_SUBJECTS = 100;

// NOTIFY

/** Milliseconds before NOTIFY is repeated; RFC 1996 §3.6 suggests a minute, which would be the delay of one lost datagram. */
export const NOTIFY_BACKOFF = { first: 1_000, last: 60_000 } as const;
/** Milliseconds for which an attempt occupies one of the places of its secondary. */
export const NOTIFY_ANSWER_MS = 5_000;
/** Maximum number of unanswered NOTIFY messages to one secondary: its socket buffer has room for hundreds. */
export const NOTIFY_CONCURRENCY = 64;
/** Milliseconds without any answer after which the log says that a secondary does not answer: four attempts of one zone. */
export const SILENT_AFTER_MS = 10_000;
