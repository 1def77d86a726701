/** The bounds of the lifecycle room, each with its reason. "Given" marks a number that the API document or semantics.md fixes. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

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
/** Parent servers that must agree before a delegation counts; a registry with only one server has to do with one. */
export const AGREEING_SERVERS = 2;
/** Milliseconds of one delegation or ownership check, all servers together. */
export const MAX_CHECK_MS = 20 * SECOND;
/** CNAMEs followed inside one answer. */
export const MAX_ALIASES = 8;

// Record scan

/** Questions of one scan. The list of names needs about 250 on a zone where every name exists. */
export const MAX_SCAN_QUESTIONS = 600;
/** Questions of one scan under way at once: few enough that no server takes it for an attack. */
export const SCAN_CONCURRENCY = 8;
/** Milliseconds of one scan; what was found until then is imported. */
export const MAX_SCAN_MS = 30 * SECOND;
/** Records of one scan. */
export const MAX_SCAN_RECORDS = 1_000;

// States and their clocks

/** Milliseconds a moved domain keeps serving. Given (semantics §6). */
export const GRACE_MS = 7 * DAY;
/** Milliseconds a verification value can be used. */
export const CHALLENGE_MS = 7 * DAY;
/** Milliseconds between two checks a user asks for. Given (API document). */
export const MANUAL_CHECK_MS = HOUR;
/** A pending domain is checked this often in its first hour, while its owner is looking. */
export const CHECK_FIRST_MS = 5 * MINUTE;
export const CHECK_FIRST_FOR_MS = HOUR;
/** A pending domain is checked this often in its first week; a moved one all through its grace. */
export const CHECK_SOON_MS = HOUR;
export const CHECK_SOON_FOR_MS = 7 * DAY;
/** Every other domain that is checked at all. */
export const CHECK_LATE_MS = DAY;

// Names that nobody has proved

/** Milliseconds a name stays with a domain that is not proved. Given (semantics §7). */
export const UNPROVED_MS = 14 * DAY;
/** Domains of one name that nobody has proved: strangers of one another who all say that it is theirs. */
export const MAX_UNPROVED_OF_NAME = 20;
/** Unproved domains of one account: what is brought in when somebody moves all they have. */
export const MAX_UNPROVED_OF_ACCOUNT = 1_000;
/** Lapsed domains removed at each look for due ones, one after the other: each may have 10,000 rules. */
export const LAPSED_AT_ONCE = 8;

// The scheduler

/** Milliseconds between two looks for due domains: a fraction of the shortest distance between checks. */
export const POLL_MS = 15 * SECOND;
/** Domains checked at once by one process. */
export const CHECK_CONCURRENCY = 8;
/** Due domains fetched at once. */
export const CHECK_BATCH = 64;
/** Milliseconds a domain is left to the process that checks it: longer than any check takes. */
export const CLAIM_MS = 2 * MINUTE;
/** Part of the distance to its next check by which a domain is looked at sooner, so that those that came together part. */
export const CHECK_SPREAD = 0.1;
/** Milliseconds a scan is left to the process that does it: longer than any scan takes. */
export const SCAN_CLAIM_MS = MAX_SCAN_MS + 15 * SECOND;
/** Times a scan is begun: the process, or the store, may fail it. */
export const MAX_SCAN_TRIES = 5;
/** Scans under way at once in one process. */
export const SCANS_AT_ONCE = 2;
