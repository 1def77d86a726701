/** The bounds of the management API, each with its reason. */

/**
 * Octets of a request body. The largest honest ones are 512 KiB of error pages whose JSON writes every character as
 * `\uXXXX`, and a zone file of 10,000 records.
 */
export const MAX_BODY_OCTETS = 4_194_304;
/**
 * Octets of a body with entries of a list: 100,000 entries of 150 octets, comments included. Longer ones are sent in parts, the first
 * replacing, the others adding.
 */
export const MAX_LARGE_BODY_OCTETS = 16_777_216;
/** Octets of such a body that are read on the thread of the API, within some milliseconds; more are read in a compute thread. */
export const READ_AT_ONCE_OCTETS = 65_536;
/** Bodies above READ_AT_ONCE_OCTETS in the process at the same time: 256 MiB, with room for as much while they are read. */
export const MAX_LARGE_BODIES = 16;
/** The same of one account, so that one cannot take the place of all others. */
export const MAX_LARGE_BODIES_OF_ACCOUNT = 2;
/** Seconds after which a refused one may be sent again: an upload and its write take a few seconds. */
export const LARGE_BODY_RETRY_S = 5;
/** Octets of the OpenAPI documents of all gateways of a domain: six of the longest, or hundreds of usual ones. */
export const MAX_DOMAIN_SCHEMA_OCTETS = 33_554_432;
/** Rules that the answer for one list has, and that are counted when it cannot be deleted. */
export const MAX_LISTED_USES = 100;
/** Rules that the message of a list in use names. */
export const NAMED_USES = 5;
/**
 * Octets of the fields of all consumers of a domain. Compiled they have four times as many at most, and with the keys and issuers that are
 * possible a registry has less than 32 MiB, so that whatever was accepted can be published.
 */
export const MAX_CONSUMER_OCTETS = 7_340_032;
/** Octets of all headers of a request: what nginx and Node allow. */
export const MAX_HEADER_OCTETS = 16_384;
/** Characters of one path segment as sent: a domain name with every octet percent-encoded. */
export const MAX_SEGMENT_CHARACTERS = 1_024;
/** Concurrent connections; further ones are closed at once, so that a flood cannot exhaust the process. */
export const MAX_CONNECTIONS = 10_000;
/** Milliseconds for all headers of a request, against clients that send one octet at a time. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** Milliseconds for a whole request, body included. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** Milliseconds between two checks for connections past those times, and so the most they can exceed them by. */
export const CHECK_CONNECTIONS_MS = 2_000;
/** Milliseconds an idle connection stays open: longer than the 60 s of the usual load balancers. */
export const KEEP_ALIVE_MS = 72_000;
/** Milliseconds `?wait=published` waits, at most: a publication takes tens of milliseconds. */
export const PUBLISH_WAIT_MS = 20_000;
/**
 * Responses in the response cache, and the characters of their texts, at most two octets each: at most 16 MiB, for what
 * a busy installation reads repeatedly between two writes.
 */
export const MAX_CACHED_RESPONSES = 4_096;
/** See `MAX_CACHED_RESPONSES`. */
export const MAX_CACHED_CHARACTERS = 8_388_608;
/** Characters from which an answer is compressed; a shorter one fits one packet uncompressed. */
export const COMPRESS_FROM = 1_400;
/** Milliseconds between two flushes of key uses. */
export const USES_FLUSH_MS = 5_000;
/** Milliseconds that running requests may take after SIGTERM. */
export const DRAIN_MS = 10_000;
/**
 * Rules that the audit entry of a reorder lists before and after: about 8 KB. All 10,000 would be 700 KB in every reorder,
 * stored forever; the published plans have the full order.
 */
export const MAX_AUDITED_MOVES = 100;
/** Entries of a page of the audit log or of a list, at most. */
export const MAX_PAGE = 1_000;
/** Characters of a search text for rules: a search reads every rule of the domain. */
export const MAX_SEARCH = 100;
/** Entries of a page where the request has no `limit`. */
export const USUAL_PAGE = 100;
/** Findings of a page of the analysis, at most and by default. */
export const USUAL_FINDINGS = 1_000;
/**
 * Milliseconds that an accepted change may wait for its revision before the server reports itself not ready: a publication
 * takes tens of milliseconds, and a failed one is retried within a minute.
 */
export const MAX_UNPUBLISHED_MS = 300_000;
/** Rules of one batch: each is a transaction, and a client that waits for a hundred of them waits about a second. */
export const MAX_RULE_BATCH = 100;
/**
 * Members and pending invitations of one domain together: an invitation counts from its creation, so acceptance needs no
 * check. Larger teams would need groups, which this API does not have.
 */
export const MAX_SHARED = 200;
/** Days until an invitation lapses. Given (semantics §7). */
export const INVITATION_DAYS = 14;
/**
 * Pending invitations of one account name: as many as a list can show at a glance. Counted by name, whether or not the
 * account exists. Concurrent writes of different domains may exceed it by their number.
 */
export const MAX_INVITATIONS = 200;
/** Pending invitations of one account name to domains of one owner, so that one owner cannot use up the bound above. */
export const MAX_INVITATIONS_OF_OWNER = 20;
/** Lapsed invitations that a new one removes: more than one, so that they do not accumulate. */
export const PRUNED_INVITATIONS = 10;
/**
 * Points of an answer about traffic: a day by minute, and 62 days by hour, which is more than a chart has columns. Each
 * has about 400 octets.
 */
export const MAX_TRAFFIC_POINTS = 1_500;
/** Milliseconds of traffic that a request without `from` gets: a day, so that one day is compared with another. */
export const USUAL_TRAFFIC_MS = 86_400_000;
/** Values of a top list, at most: the capacity of a summary is 1,000, and its last values have no useful bounds. */
export const MAX_TOP = 100;
/** Values of a top list where the request has no `limit`. */
export const USUAL_TOP = 10;
/** Domains of a page of subscriptions: each costs a sum over the traffic of its quota period. */
export const MAX_SUBSCRIPTIONS = 50;

/**
 * How often a publication checks its draft again because it was changed meanwhile; more often than that, several clients write at
 * once, and the answer is 409.
 */
export const MAX_CHECKS = 3;
/**
 * Newest entries of the audit log in which the author of each change is searched: about a thousand changes of rules. Without an
 * entry among them, the author of a change is not shown.
 */
export const MAX_SEARCHED_ENTRIES = 1_000;

// Items of one batch of records, at most. Given (semantics §6).

export const MAX_BATCH = 500;
