/** Bounds of the server of zones and of NOTIFY, each with its reason. */

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
