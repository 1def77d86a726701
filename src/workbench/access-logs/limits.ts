/** Bounds of reading access logs, each with its reason. */

/**
 * The longest line in octets. nginx writes at most 4 × 32 KiB of request head in its largest usual buffers, each octet as
 * four characters: half of it.
 */
export const LONGEST_LOG_LINE = 1024 * 1024;
/**
 * Requests that wait to be put in order of time, at most. A server logs a request at its end or its start, so lines are
 * out of order by the requests in progress; a batch of Cloudflare has some ten thousand lines in no order. Some 50 MB.
 */
export const REORDERED_LINES = 65_536;
/**
 * The same at the start of a replay: more wait once a request comes late by half as many. Objects that wait are moved by
 * the garbage collector, at 8,192 for a seventh of all time.
 */
export const FEWEST_REORDERED = 512;
/** Logs that are read at once: each has a file descriptor and a chunk of text. */
export const MAX_LOGS = 256;
/** Lines from which the format of a log is detected. */
export const DETECTED_LINES = 32;
