/** Bounds of a node as the command starts it, each with its reason. */

/** Octets of opened plans: some tens of thousands of small ones. */
export const OPEN_OCTETS = 512 * 1024 * 1024;
/**
 * Seconds that a node goes on serving after SIGTERM while it reports itself not ready: a load balancer that asks every
 * second and takes three refusals for an answer has moved its traffic by then.
 */
export const DRAIN_SECONDS = 5;
/** Milliseconds that requests in flight get when the node stops. */
export const GRACE_MS = 10_000;
/** Milliseconds between looks at files whose changes were not told. */
export const FILES_MS = 30_000;
/** Milliseconds between passes over the names that certificates are wanted for. */
export const ACME_MS = 12 * 3_600_000;
export const ACME_RETRY_MS = 10 * 60_000;
export const ACME_ASK_MS = 2_000;
