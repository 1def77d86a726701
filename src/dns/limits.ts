/** Bounds of DNS messages, zone files and the resolver, each with its reason. */

// Zone files

/** Characters of a zone file: 10,000 records at a generous 400 characters each. Longer ones are refused unread. */
export const MAX_ZONE_CHARACTERS = 4_194_304;
/** Octets of one character string (RFC 1035 §3.3). */
export const MAX_STRING_OCTETS = 255;
/** Seconds of the longest TTL (RFC 2181 §8). */
export const MAX_TTL_SEC = 2_147_483_647;
/** TTL of the records of a printed zone, in seconds: records of the model have no TTL, and CDNs commonly use 5 minutes. */
export const PRINTED_TTL_SEC = 300;

// Queries

/** Milliseconds until an attempt times out; common resolvers wait one to two seconds for a server. */
export const ASK_TIMEOUT_MS = 1_500;
/** Datagrams sent to one server for one query: one may be lost. */
export const UDP_ATTEMPTS = 2;
/** The UDP payload size of EDNS, in octets: the largest that is never fragmented (DNS Flag Day 2020). */
export const UDP_PAYLOAD_OCTETS = 1_232;
/**
 * Concurrent queries of this process to one authoritative server: the servers of one registry have the delegations of
 * thousands of domains, whose checks come together.
 */
export const SERVER_CONCURRENCY = 4;
/** Concurrent queries of this process to one resolver, which serves every check. */
export const RESOLVER_CONCURRENCY = 32;
/** Servers of a zone that are considered; the root and the largest registries have 13. */
export const MAX_SERVERS = 13;
/** Addresses of one server's name that are considered, of each family. */
export const MAX_ADDRESSES = 4;
/** Referrals followed from the first parent zone: a name has few zone cuts, and a loop must end. */
export const MAX_REFERRALS = 8;
/** CNAMEs followed inside one answer: a chain is short, and a loop must end. */
export const MAX_ALIASES = 8;
