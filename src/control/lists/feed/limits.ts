/** The bounds of feeds of lists, each with its reason. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Octets of a fetched body, decompressed: 100,000 entries with a remark each have less than 16 MiB. */
export const MAX_FEED_OCTETS = 16 * 1_024 * 1_024;
/** Minutes between two fetches, at least (semantics §13): publishers of block lists ask for no more. */
export const MIN_EVERY_MIN = 15;
/** Minutes between two fetches, at most: a list that is read once in a month needs no feed. */
export const MAX_EVERY_MIN = 30 * 24 * 60;
/** Characters of an `Authorization` header: longer ones are cut or refused by common servers. */
export const MAX_HEADER_CHARACTERS = 4_096;
/** Characters of a path in the content. */
export const MAX_FEED_PATH_CHARACTERS = 256;
/** Names of a path in JSON: twice the depth of the deepest published list of addresses. */
export const MAX_PATH_NAMES = 16;
/** Columns of a row of CSV. */
export const MAX_COLUMNS = 256;
/** Redirects of one fetch: a name of the publisher, https, and a store of files. */
export const MAX_REDIRECTS = 3;
/** Characters of a stored `ETag` or `Last-Modified`; longer ones are not stored, and the next fetch reads everything. */
export const MAX_VALIDATOR_CHARACTERS = 256;
/** Characters of a stored reason. */
export const MAX_REASON_CHARACTERS = 1_000;

/** Milliseconds of one fetch, from the look-up of the name to the last octet. */
export const FETCH_MS = 30_000;
/** Milliseconds for which a fetch is claimed: the fetch, the wait for a thread and the work there. */
export const CLAIM_MS = 3 * MINUTE_MS;
/** Fetches at once in a process, without those that are slow. */
export const FETCHES_AT_ONCE = 4;
/** Milliseconds after which a fetch is slow: it takes no place of `FETCHES_AT_ONCE` any more, so that it delays no other. */
export const PROMPT_MS = 5_000;
/** Slow fetches at once; one more ends the oldest. */
export const SLOW_FETCHES = 16;
/** Milliseconds between two looks for feeds that are due. */
export const POLL_MS = 5_000;
/** The part of the interval that is added at most, so that lists of one publisher are not fetched at one moment. */
export const SPREAD = 0.1;
/** The interval is doubled with each failure, this many times at most, and not beyond `LONGEST_WAIT_MS` for that. */
export const MAX_DOUBLINGS = 5;
/** See `MAX_DOUBLINGS`. */
export const LONGEST_WAIT_MS = 6 * HOUR_MS;
/** Failures in a row after which a feed that cannot be fetched is notified of: fewer are an outage that passes by itself. */
export const FAILURES_NOTICED = 5;
/** Milliseconds between two fetches that accounts request. */
export const REFRESH_MS = MINUTE_MS;
/** A list with fewer entries may shrink by more than half: its publisher removes some of few. It must not become empty. */
export const SHRINK_FROM = 10;
/** Encrypted headers that one statement reads. */
export const HEADERS_AT_ONCE = 100;
