/** The bounds of certificates and of issuance, each with its reason. */

/** Certificates of one domain: a set with their chains and keys has at most 2 MB, which a node reads in one answer. */
export const MAX_CERTIFICATES = 50;
/** Characters of an uploaded chain, and of a key: an RSA certificate of 100 names has about 6 KB, a key of 8,192 bits 6.4 KB. */
export const MAX_CHAIN_CHARACTERS = 65_536;
export const MAX_KEY_CHARACTERS = 16_384;
/** Certificates of an uploaded chain: the public CAs issue under one to three. */
export const MAX_CHAIN = 10;
/** Names of a certificate, as the largest public CAs issue. */
export const MAX_NAMES = 250;
/** Characters of the name of an issuer in answers and notifications; longer ones are cut. */
export const MAX_ISSUER_CHARACTERS = 200;
/** Bits of an RSA key (CA/Browser Forum, Baseline Requirements §6.1.5), and the most that a handshake should cost. */
export const LEAST_RSA_BITS = 2_048;
export const MOST_RSA_BITS = 8_192;
/** Milliseconds before its end from which a certificate is `expiring` (semantics §8: 14 days). */
export const EXPIRING_MS = 14 * 86_400_000;
/** Milliseconds that the clock of a CA may be ahead of ours: a certificate that was issued just now is in force. */
export const CLOCK_SKEW_MS = 300_000;
/** Certificates that one step of a rotation, or of the check at the start, reads: some 500 KB. */
export const KEYS_AT_ONCE = 50;

/** Names of one order: what the largest public CAs accept. */
export const MAX_ORDER_NAMES = 100;
/** Obtained certificates of one domain: the others of `MAX_CERTIFICATES` are left for uploads. */
export const MAX_OBTAINED = 30;
/** Orders under way in one process. An account alone has at most half of them, so that others find places. */
export const ORDERS_AT_ONCE = 16;
/** Milliseconds until a claim lapses, which a killed process leaves; renewed three times in it. */
export const CLAIM_MS = 60_000;
/** Milliseconds of work on one order, after which it is left and continued later. */
export const ORDER_MS = 300_000;
/** Milliseconds for one request to the CA. */
export const CA_REQUEST_MS = 30_000;
/** Octets of an answer of the CA: a chain of ten certificates has some 20 KB. */
export const MAX_CA_OCTETS = 262_144;
/** Characters of a reason that a CA gives, in answers and notifications. */
export const MAX_REASON_CHARACTERS = 300;
/** Milliseconds between two polls of an authorization or an order: the first, and the longest. */
export const FIRST_POLL_MS = 500;
export const LAST_POLL_MS = 5_000;
/** Milliseconds for challenges to reach all nodes: a following node gets them within milliseconds, a polling one later. */
export const NODES_MS = 2_000;
/** Milliseconds that name servers have to answer a challenge. */
export const NAMESERVERS_MS = 120_000;
/** Milliseconds between two queries of them. */
export const NAMESERVERS_POLL_MS = 250;
/** Queries in a row without a reply, after which a name server is taken as away: the CA asks another one. */
export const AWAY_AFTER = 3;
/** Milliseconds after which challenges in zones are left-overs of an ended process. */
export const CHALLENGE_MS = 3_600_000;
/** Milliseconds between two searches for them. */
export const SWEEP_MS = 600_000;
/**
 * Milliseconds before another attempt after names were refused. Let's Encrypt accepts five failed validations of a name in
 * an hour; attempts at 0, 15 and 45 minutes are three.
 */
export const REFUSED_RETRY = { first: 900_000, last: 86_400_000 } as const;
/** Milliseconds before another attempt after the CA could not be reached or failed. */
export const FAILED_RETRY = { first: 60_000, last: 21_600_000 } as const;
/** Milliseconds without new orders after requests in a row failed, whatever their names: the CA is away. */
export const CA_AWAY_RETRY = { first: 2_000, last: 300_000 } as const;
/** The longest wait that a CA's `Retry-After` is followed for, in milliseconds. */
export const LONGEST_PAUSE_MS = 86_400_000;
/** Rate limits in a row after which the account pauses as a whole: one alone may concern one domain. */
export const LIMITED_IN_ROW = 3;
/** Orders of an account in three hours, by default: what Let's Encrypt accepts. */
export const USUAL_ORDERS = 300;
export const ALLOWANCE_MS = 10_800_000;
/** The part of the burst above which an account has ordered much, and accounts that are counted. */
export const USUAL_SHARE = 1 / 4;
export const MAX_COUNTED_ACCOUNTS = 10_000;
/** The part of a certificate's life after which it is renewed, where the CA names no window (semantics §8). */
export const RENEW_AT = 2 / 3;
/** The part of a life over which renewals are spread, before that. */
export const RENEW_SPREAD = 1 / 20;
/** Milliseconds between two questions about the renewal window of a certificate. */
export const WINDOW_MS = 21_600_000;
/** Questions of one pass. */
export const WINDOWS_AT_ONCE = 20;
/** Milliseconds between two passes. */
export const ISSUER_POLL_MS = 5_000;
/** Entries of the manifest that are read at once for names without a certificate, and milliseconds of rest after them. */
export const ENTRIES_AT_ONCE = 100;
export const SURVEY_REST_MS = 10;
/** Milliseconds after which all domains are read again: certificates expire without a change. */
export const SURVEY_MS = 21_600_000;
/** Milliseconds before the end of an uploaded certificate from which another is obtained for its names. */
export const UPLOAD_END_MS = 3 * 86_400_000;
/** Failed attempts in a row at which the members of the domain are notified: the second is half an hour after the first. */
export const NOTIFIED_AT = 2;
/** Milliseconds in which a certificate is not issued again on request: CAs limit duplicates. */
export const REISSUE_MS = 86_400_000;
/**
 * Failed attempts after which a request no longer makes the next one due at once, but in this time: with the attempts that
 * are made without a request, at most four in an hour.
 */
export const HASTY_FAILURES = 2;
export const HASTY_MS = 1_800_000;
