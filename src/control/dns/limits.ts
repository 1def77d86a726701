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

// Names of hosts that the server connects to

/** Milliseconds to resolve one name, the wait for its turn included: a third of the time of one delivery. */
export const HOST_NAME_MS = 5_000;
/** Milliseconds after which a name is late: resolvers answer nearly all names, cached or not, within them. */
export const PROMPT_NAME_MS = 1_000;
/** Milliseconds of one attempt at a prompt name, so that a lost datagram is repeated within `PROMPT_NAME_MS`. */
export const PROMPT_TRY_MS = 500;
/** Milliseconds for the second family, once the first has addresses (RFC 8305 §3). */
export const OTHER_FAMILY_MS = 300;
/** Names of one account that are resolved at once: as many as it has deliveries under way. */
export const NAMES_OF_ACCOUNT = 2;
/** Names of one circle that are resolved at once; each is two queries, so `RESOLVER_CONCURRENCY` is never exceeded. */
export const NAMES_AT_ONCE = RESOLVER_CONCURRENCY / 2;
/** Milliseconds for which a name without a prompt answer, and its account, are late: name servers are repaired in minutes. */
export const FAILING_NAME_MS = 600_000;
/** Names of hosts in each table: above it the least recently used are asked for again. */
export const MAX_HOST_NAMES = 1_000;
/** Bounds of the time, in milliseconds, for which addresses are cached, and names that do not exist. */
export const HOST_TTL_MS = { least: 1_000, most: 60_000 } as const;
/** Maximum number of domains of a search list (glibc reads any number; older resolvers six). */
export const MAX_SEARCH_DOMAINS = 6;
