/**
 * The bounds of the domains room, each with its reason. Numbers that the API document or semantics.md fixes are marked
 * "Fixed by".
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// Delegation checks

/**
 * Minimum number of parent servers that must agree before a delegation counts; if a zone has a single server, one is
 * enough.
 */
export const AGREEING_SERVERS = 2;
/** Maximum time, in milliseconds, of one delegation or ownership check, all servers together. */
export const MAX_CHECK_MS = 20 * SECOND;

// Record scan

/** Maximum number of queries per scan. The list of names needs about 250 in a zone in which every name exists. */
export const MAX_SCAN_QUESTIONS = 600;
/** Maximum number of concurrent queries per scan: few enough that no server treats them as an attack. */
export const SCAN_CONCURRENCY = 8;
/** Maximum time, in milliseconds, of one scan; the records found by then are imported. */
export const MAX_SCAN_MS = 30 * SECOND;
/** Maximum number of records imported per scan. */
export const MAX_SCAN_RECORDS = 1_000;

// States and their time limits

/** Milliseconds for which a moved domain is still served. Fixed by semantics §6. */
export const GRACE_MS = 7 * DAY;
/** Milliseconds for which a challenge value is valid. */
export const CHALLENGE_MS = 7 * DAY;
/** Minimum time, in milliseconds, between two requested checks of a domain. Fixed by the API document. */
export const MANUAL_CHECK_MS = HOUR;
/** Milliseconds between checks of a pending domain in its first hour, while its owner waits for the result. */
export const CHECK_FIRST_MS = 5 * MINUTE;
/** Milliseconds that count as the first hour. */
export const CHECK_FIRST_FOR_MS = HOUR;
/** Milliseconds between checks of a pending domain in its first week, and of a moved one during its grace period. */
export const CHECK_SOON_MS = HOUR;
/** Milliseconds that count as the first week. */
export const CHECK_SOON_FOR_MS = 7 * DAY;
/** Milliseconds between checks of every other domain that is checked. */
export const CHECK_LATE_MS = DAY;

// Unproved names

/** Milliseconds after which an unproved domain lapses. Fixed by semantics §7. */
export const UNPROVED_MS = 14 * DAY;
/** Maximum number of unproved domains per name: more accounts than ever have an honest claim to one name. */
export const MAX_UNPROVED_OF_NAME = 20;
/** Maximum number of unproved domains per account: enough for an account that moves its whole portfolio at once. */
export const MAX_UNPROVED_OF_ACCOUNT = 1_000;
/** Maximum number of lapsed domains removed per poll, one after the other: each may have 10,000 rules. */
export const LAPSED_AT_ONCE = 8;

// The scheduler

/** Milliseconds between two polls for due domains: a fraction of the shortest interval between checks. */
export const POLL_MS = 15 * SECOND;
/** Maximum number of concurrent checks per process. */
export const CHECK_CONCURRENCY = 8;
/** Maximum number of due domains that one query returns. */
export const CHECK_BATCH = 64;
/** Milliseconds a claimed domain is reserved for the process that checks it: longer than any check takes. */
export const CLAIM_MS = 2 * MINUTE;
/** Maximum part of an interval by which a check may come earlier, which spreads domains that were added together. */
export const CHECK_SPREAD = 0.1;
/** Milliseconds a claimed scan is reserved for the process that runs it: longer than any scan takes. */
export const SCAN_CLAIM_MS = MAX_SCAN_MS + 15 * SECOND;
/** Maximum number of times a scan is started: its process may crash, or the store may fail. */
export const MAX_SCAN_TRIES = 5;
/** Maximum number of concurrent scans per process. */
export const SCANS_AT_ONCE = 2;
