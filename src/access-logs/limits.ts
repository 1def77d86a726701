/** Bounds of reading access logs, each with its reason. */

/**
 * The longest line in octets. nginx writes at most 4 × 32 KiB of request head in its largest usual buffers, each octet as
 * four characters: half of it.
 */
export const LONGEST_LOG_LINE = 1024 * 1024;
/**
 * Requests that wait to be put in order of time. A server logs a request at its end or its start, so lines are out of
 * order by the requests in progress; a batch of Cloudflare has a few thousand lines in no order. Some 8 MB.
 */
export const REORDERED_LINES = 8_192;
/** Logs that are read at once: each has a file descriptor and a chunk of text. */
export const MAX_LOGS = 256;
/** Lines from which the format of a log is detected. */
export const DETECTED_LINES = 32;
