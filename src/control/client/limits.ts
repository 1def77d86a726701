/** Default time limits and retries of the client. */

/**
 * Maximum time, in milliseconds, for one attempt, reading the response included; the server delays `?wait=published` by
 * up to 20 s.
 */
export const TIMEOUT_MS = 30_000;
/** Maximum number of times a request that was answered 429 is sent again. */
export const RETRIES = 3;
/**
 * Maximum `Retry-After` to wait for, in milliseconds. A key's budget is counted per minute, so it never needs a longer
 * wait. The one-hour wait between nameserver checks is not retried automatically; the 429 is returned to the caller.
 */
export const MOST_WAIT_MS = 60_000;
