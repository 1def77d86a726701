/** How long the client waits and how often it asks again, unless told otherwise. */

/** Milliseconds one attempt may take, answer included: the server holds `?wait=published` for 20 s at most. */
export const TIMEOUT_MS = 30_000;
/** Times a request that was answered 429 is sent again. */
export const RETRIES = 3;
/**
 * Milliseconds the client waits for `Retry-After`. A key's budget is counted over a minute, so its wait is never
 * longer; the hour between two nameserver checks is for the caller to know about.
 */
export const MOST_WAIT_MS = 60_000;
