/** Every bound on what a connection may ask of the API, each with its reason. */

/**
 * Octets of a request body. The largest honest ones are 512 KiB of error pages whose JSON writes every character as
 * `\uXXXX`, and a zone file of 10,000 records.
 */
export const MAX_BODY_OCTETS = 4_194_304;
/** Objects and lists inside one another in a JSON body: no request needs more than eight. */
export const MAX_JSON_DEPTH = 32;
/** Octets of all headers of a request: what nginx and Node allow. */
export const MAX_HEADER_OCTETS = 16_384;
/** Characters of one path segment as sent: a domain name with every octet percent-encoded. */
export const MAX_SEGMENT_CHARACTERS = 1_024;
/** Connections at once; more are closed at the door, so that a flood cannot take the process with it. */
export const MAX_CONNECTIONS = 10_000;
/** Milliseconds for all headers of a request, against clients that send one octet at a time. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** Milliseconds for a whole request, body included. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** Milliseconds between two looks for connections past those times: what they may overrun. */
export const CHECK_CONNECTIONS_MS = 2_000;
/** Milliseconds an idle connection stays open: longer than the 60 s of the usual load balancers. */
export const KEEP_ALIVE_MS = 72_000;
/** Milliseconds `?wait=published` waits, at most: a publication takes some tens. */
export const PUBLISH_WAIT_MS = 20_000;
/**
 * Answers kept to be sent again, and the characters of their texts, which are at most two octets each: what a busy
 * installation reads again and again between two writes, in memory nobody misses.
 */
export const MAX_CACHED_RESPONSES = 4_096;
export const MAX_CACHED_CHARACTERS = 8_388_608;
/** Characters of an answer from which on it is sent in gzip: below, it fits a packet as it is. */
export const COMPRESS_FROM = 1_400;
/** Milliseconds between two writings of key uses. */
export const USES_FLUSH_MS = 5_000;
/** Milliseconds requests in flight have left after SIGTERM. */
export const DRAIN_MS = 10_000;
/**
 * Rules that the audit entry of a reorder lists before and after: some 8 KB. All of 10,000 would be 700 KB for each
 * reorder, for good; the published plans have every order.
 */
export const MAX_AUDITED_MOVES = 100;
/** Entries of a page of the audit log, and how many come unasked. */
export const MAX_PAGE = 1_000;
/** Characters of a text that rules are searched for: every rule of the domain is looked through. */
export const MAX_SEARCH = 100;
export const USUAL_PAGE = 100;
/** Findings of a page of the analysis that come unasked. */
export const USUAL_FINDINGS = 1_000;
/**
 * Milliseconds that an accepted change may wait for its revision before the server reports itself not ready: a publication
 * takes some tens, and one that failed is tried again within a minute.
 */
export const MAX_UNPUBLISHED_MS = 300_000;
/** Rules of one batch: each is a transaction, and a client that waits for a hundred of them waits about a second. */
export const MAX_RULE_BATCH = 100;
/**
 * Members and pending invitations of one domain together: an invitation takes its place when it is made, so accepting one
 * needs no count. More people than that are a group, which roles of single accounts do not describe.
 */
export const MAX_SHARED = 200;
/** Days until an invitation lapses. Given (semantics §7). */
export const INVITATION_DAYS = 14;
/**
 * Pending invitations of one name, and those among them to domains of one owner: what a list shows at a glance, of ten
 * owners at least. Counted by name, whether or not there is such an account. Writes of different domains that are under
 * way at once may exceed them by their number.
 */
export const MAX_INVITATIONS = 200;
export const MAX_INVITATIONS_OF_OWNER = 20;
/** Lapsed invitations that a new one removes: more than one, so that they do not add up. */
export const PRUNED_INVITATIONS = 10;
