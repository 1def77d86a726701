/** Bounds of DNS messages, zone files and the resolver, each with its reason. */

// Zone files

/**
 * Maximum length, in characters, of a zone file: 10,000 records at a generous 400 characters each. Longer ones are
 * refused unread.
 */
export const MAX_ZONE_CHARACTERS = 4_194_304;
/** Maximum size, in octets, of one character string (RFC 1035 §3.3). */
export const MAX_STRING_OCTETS = 255;
/** Maximum TTL, in seconds (RFC 2181 §8). */
export const MAX_TTL_SEC = 2_147_483_647;
/** TTL of the records of a printed zone, in seconds: records of the model have no TTL, and CDNs commonly use 5 minutes. */
export const PRINTED_TTL_SEC = 300;

// Queries

/** Milliseconds until an attempt times out; common resolvers wait one to two seconds for a server. */
export const ASK_TIMEOUT_MS = 1_500;
/** Maximum number of datagrams sent to one server per query: one may be lost. */
export const UDP_ATTEMPTS = 2;
/** The UDP payload size of EDNS, in octets: the largest that is never fragmented (DNS Flag Day 2020). */
export const UDP_PAYLOAD_OCTETS = 1_232;
/**
 * Maximum number of concurrent queries of this process to one authoritative server: the servers of one registry have the
 * delegations of thousands of domains, whose checks come together.
 */
export const SERVER_CONCURRENCY = 4;
/** Maximum number of concurrent queries of this process to one resolver, which serves every check. */
export const RESOLVER_CONCURRENCY = 32;
/** Maximum number of servers considered per zone; the root and the largest registries have 13. */
export const MAX_SERVERS = 13;
/** Maximum number of addresses, of each family, considered per server name. */
export const MAX_ADDRESSES = 4;
/** Maximum number of referrals followed from the first parent zone: a name has few zone cuts, and a loop must end. */
export const MAX_REFERRALS = 8;
/** Maximum number of CNAMEs followed inside one answer: a chain is short, and a loop must end. */
export const MAX_ALIASES = 8;
/** Seconds for which a negative answer without an SOA record is valid; RFC 2308 §5 leaves it open, §7 allows 5 minutes. */
export const NEGATIVE_TTL_SEC = 300;
