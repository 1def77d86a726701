/** Default time limits and retries of the client. */

/**
 * Milliseconds for one attempt, reading the response included; the server delays `?wait=published` by up to 20 s.
 */
export const TIMEOUT_MS = 30_000;
/** How often a request that was answered 429 is sent again. */
export const RETRIES = 3;
/**
 * The longest `Retry-After` to wait for, in milliseconds. A key's budget is counted per minute, so its wait is
 * never longer; the hour between two nameserver checks is left to the caller.
 */
export const MOST_WAIT_MS = 60_000;
