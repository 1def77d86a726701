/**
 * Bounds on what is accepted from nodes, on the work of the roll-up, on uptime and on the footprint, each with its
 * reason.
 */
import { MAX_REPORTED_DOMAINS, MAX_REPORTED_OCTETS } from '../../base/vocabulary/limits.ts';

/** Milliseconds and minutes of other units. */
export const MINUTE_MS = 60_000;
/** Minutes of an hour. */
export const HOUR = 60;
/** Minutes of a day. */
export const DAY = 24 * HOUR;

/**
 * Maximum number of entries per batch: checking them takes some 20 ms in the thread, and their transaction some milliseconds,
 * so that writes of customers do not wait longer for it than for one another.
 */
export const MAX_ENTRIES = 500;
/** Maximum size, in octets, of a batch after inflation: 500 entries of 16 KiB with 16 KiB of top lists. */
export const MAX_BATCH_OCTETS = 16_777_216;
/** Maximum number of batches that wait for the thread: a thousand nodes that report at one moment send some more than once. */
export const MAX_WAITING_ORDERS = 64;
/** Maximum time, in milliseconds, for one order of the thread, its wait included. A thread that takes longer is replaced. */
export const ORDER_MS = 60_000;
/** Maximum heap of the thread, in MiB: a chunk of the roll-up takes a tenth of it. */
export const THREAD_HEAP_MB = 512;

/**
 * Maximum number of requests that a node can have had per second: ten times what the fastest machine that was measured
 * answers.
 */
export const MAX_NODE_REQUESTS_PER_SEC = 200_000;
/** Maximum number of octets that a node can have sent per second: a network of 100 Gbit/s. */
export const MAX_NODE_OCTETS_PER_SEC = 12_500_000_000;
/** Maximum size, in octets, of one request's body and of its answer: what 10 Gbit/s carry in a quarter of an hour. */
export const MAX_REQUEST_OCTETS = 2 ** 40;
/** Maximum number of requests to origins for one request: one to each origin of the largest pool. */
export const MAX_ORIGIN_REQUESTS = 64;
/**
 * Milliseconds of traffic that a node may report beyond the time since its last accepted report: its minute is over before
 * it is sent, reports are a minute apart give or take, and a long answer is counted when it ends.
 */
export const TRAFFIC_SLACK_MS = 120_000;
/** Maximum time, in milliseconds, that a node's clock may be ahead of the server's. */
export const MAX_CLOCK_AHEAD_MS = 5 * MINUTE_MS;
/** Minutes for which traffic of a node that was away is accepted: a month and the days to look at it. */
export const TAKEN_MINUTES = 35 * DAY;
/**
 * Milliseconds for which the number of an accepted batch is stored: a day longer than its minutes are accepted, so that a
 * batch whose number is gone is refused for its minutes and never counted again.
 */
export const BATCH_STORED_MS = TAKEN_MINUTES * MINUTE_MS + 24 * 3_600_000;

/** Minutes of one row of `traffic_minutes`: a roll-up of ten minutes writes it once, and deflated they take half the octets. */
export const BLOCK_MINUTES = 10;
/**
 * Minutes after which what nodes reported is merged: they report a minute late, and a retry comes within seconds. What comes
 * later is added by the next round.
 */
export const SETTLE_MINUTES = 2;
/** Maximum size, in octets, of the inflated counts or top lists of one block: far above what the limits of `counts/` permit. */
export const MAX_BLOCK_OCTETS = 67_108_864;

/** Slices of the domains, by the remainder of their ids: several API processes roll up one each. */
export const SLICES = 4;
/** Milliseconds after which the lease of a process that died lapses; renewed with every chunk, which takes less than a second. */
export const LEASE_MS = 30_000;
/** Milliseconds between two tries of a round that failed, or of which another process had a slice. */
export const RETRY_MS = 30_000;
/** Maximum number of parts that one transaction merges: on SQLite other writers wait for it, some ten milliseconds. */
export const CHUNK_PARTS = 512;
/** Maximum size, in octets, of the parts that one transaction merges; one part more is always taken. */
export const CHUNK_OCTETS = 4_194_304;
/** Number of parts per read. */
export const READ_PARTS = 64;
/** Number of domains whose day is built in one transaction: 24 hours of each are opened. */
export const CHUNK_DOMAINS = 16;
/** Number of rows that one transaction of the expiry removes: other writers on SQLite wait for it. */
export const EXPIRED_AT_ONCE = 500;
/** Milliseconds between two expiries. */
export const EXPIRE_MS = 3_600_000;
/** Days ahead of which partitions are created: the upkeep may fail for a day. */
export const DAYS_AHEAD = 2;

/** Hours for which traffic is stored by minute unless the operator says otherwise. Given (semantics §10). */
export const MINUTES_FOR_MS = 48 * 3_600_000;
/** The same by hour: 35 days. */
export const HOURS_FOR_MS = 35 * 24 * 3_600_000;
/** The same by day: 400 days, longer than any quota period. */
export const DAYS_FOR_MS = 400 * 24 * 3_600_000;
/** Milliseconds for which the use of consumers is stored by day: the longest period of a quota, and the days to look at it. */
export const CONSUMER_DAYS_FOR_MS = 40 * 24 * 3_600_000;
/** Milliseconds that the stored last use of a key is behind, at most: a busy key is written once in so long. */
export const KEY_USE_STEP_MS = 3_600_000;
/** Minimum time for which traffic is stored by hour: days are built from hours, on the day after. */
export const LEAST_HOURS_FOR_MS = 3 * 24 * 3_600_000;

/** Values that a division of traffic lists by name; the others are summed. What a chart can show apart by colour. */
export const MAX_DIVISION_VALUES = 10;
/** Shadow changes that one rule lists, those with the most requests; their sum covers all. */
export const MAX_RULE_CHANGES = 20;
/** Rules without a stored row that an answer lists, those with the most hits. */
export const MAX_REMOVED_RULES = 100;
/** Characters of the text by which people recognise a rule: what a line of a terminal has room for. */
export const MAX_ABOUT_CHARACTERS = 60;

/** Minutes of the longest `uptime_window_min` (API document): the state has no older minutes. */
export const MAX_WINDOW_MINUTES = 60;
/** Minutes without a request to an origin after which an open incident resolves as `no traffic` (semantics §11). */
export const NO_TRAFFIC_MINUTES = 24 * 60;
/**
 * Minutes that a minute is over before it is judged: nodes report once a minute, and a report that is repeated once still
 * arrives in time. Counts that arrive later do not change what was judged.
 */
export const SETTLING_MINUTES = 3;
/** Minutes that one pass judges at most: after a long absence of all servers, each pass reads a bounded number of rows. */
export const MINUTES_A_PASS = 10;
/** Domains that are judged in one transaction: some milliseconds of the API's thread and of the database's writer. */
export const DOMAINS_AT_ONCE = 200;
/** Milliseconds between two passes; each process adds a jitter, so that one of several is first and the others find no work. */
export const PASS_MS = 20_000;
/** Milliseconds for which resolved incidents are stored: as long as traffic by day (semantics §10). */
export const INCIDENTS_STORED_MS = 400 * 24 * 3_600_000;

/**
 * Milliseconds that a report counts: three times the interval at which nodes repeat the report of a domain that has not
 * changed. What a node that is off has stored is not shown for longer.
 */
export const REPORT_COUNTS_MS = 1_800_000;
/** Maximum number of processes of a node: that of workers. */
export const MAX_PROCESSES = 256;
/** Maximum size, in octets, of all URLs of a report as they are stored: those of a report, and the brackets of each list. */
export const MAX_STORED_OCTETS = MAX_REPORTED_OCTETS + 2 * MAX_REPORTED_DOMAINS;
/** Maximum length, in characters, of a reported URL: that of a purge. */
export const MAX_URL = 2_048;
/** Maximum number of tags of a reported URL. */
export const MAX_URL_TAGS = 30;
/** Maximum size, in characters, of the reported URLs of a domain that one page is made of: some 40 ms of the API's thread. */
export const MAX_MERGED_CHARACTERS = 4_194_304;
/** Maximum number of URLs of a page. */
export const MAX_PAGE_URLS = 1_000;
/** URLs of a page without `limit`. */
export const USUAL_PAGE_URLS = 100;
/** Maximum length, in characters, of a cursor: a URL in Base64. */
export const MAX_CURSOR = 4_096;
