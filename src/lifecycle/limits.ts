/** The bounds of the lifecycle room, each with its reason. "Given" marks a number that the API document or semantics.md fixes. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// Delegation checks

/** Parent servers that must agree before a delegation counts; a registry with only one server has to do with one. */
export const AGREEING_SERVERS = 2;
/** Milliseconds of one delegation or ownership check, all servers together. */
export const MAX_CHECK_MS = 20 * SECOND;
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
