/** Bounds of DNS messages, zone files and the resolver, each with its reason. */

// Zone files

/** Characters of a zone file: 10,000 records at a generous 400 characters each. Longer ones are refused unread. */
export const MAX_ZONE_CHARACTERS = 4_194_304;
/** Octets of one character string (RFC 1035 §3.3). */
export const MAX_STRING_OCTETS = 255;
/** Seconds of the longest TTL (RFC 2181 §8). */
export const MAX_TTL_SEC = 2_147_483_647;
/** Seconds the records of a printed zone live: records of the model carry no TTL, and five minutes is what edges use. */
export const PRINTED_TTL_SEC = 300;

// Questions to DNS servers

/** Milliseconds until an answer is given up on; resolvers in the field wait one to two seconds for a server. */
export const ASK_TIMEOUT_MS = 1_500;
/** Datagrams sent to one server for one question: one may be lost. */
export const UDP_ATTEMPTS = 2;
/** Octets of the largest datagram asked for: what is never fragmented (DNS Flag Day 2020). */
export const UDP_PAYLOAD_OCTETS = 1_232;
/**
 * Questions to one server of a zone under way at once, whoever asks: a registry's server has a delegation for each of
 * thousands of domains.
 */
export const SERVER_CONCURRENCY = 4;
/** The same of a resolver, which is asked for everything. */
export const RESOLVER_CONCURRENCY = 32;
/** Servers of a zone that are looked at; the root and the largest registries have 13. */
export const MAX_SERVERS = 13;
/** Addresses looked at for one server's name. */
export const MAX_ADDRESSES = 4;
/** Zone cuts followed from the first parent asked: a name has few, and a loop must end. */
export const MAX_REFERRALS = 8;
/** CNAMEs followed inside one answer. */
export const MAX_ALIASES = 8;
