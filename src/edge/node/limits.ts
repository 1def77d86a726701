/** Bounds and intervals of an edge node, each with its reason. */

/** Maximum size, in octets, of all opened plans of a node: some tens of thousands of small ones. */
export const OPEN_OCTETS = 512 * 1024 * 1024;
/**
 * Seconds that a node serves after SIGTERM while it reports itself not ready: a load balancer that probes every second
 * and needs three failures has moved its traffic by then.
 */
export const DRAIN_SECONDS = 5;
/** Most domains with rules that a node warns of, as far as it cannot evaluate them: a log needs no more to act on. */
export const MAX_BLIND_DOMAINS = 1_000;
/** Most rules that one such warning names. */
export const MAX_BLIND_RULES = 5;
/** Milliseconds that running requests get to end when the node stops. */
export const GRACE_MS = 10_000;
/** Milliseconds between polls of watched files: for file systems that report no changes. */
export const FILES_MS = 30_000;
/** Maximum size, in characters, of one certificate of the feed with its issuers and key: more than a control plane takes. */
export const MAX_PAIR_CHARACTERS = 128 * 1024;
/** Milliseconds between checks whether a certificate has to be ordered or renewed: renewals have weeks of time. */
export const ACME_MS = 12 * 3_600_000;
/** Milliseconds until a failed order is tried again: below the hourly failure limits of public authorities. */
export const ACME_RETRY_MS = 10 * 60_000;
/** Milliseconds between polls of a pending order. */
export const ACME_ASK_MS = 2_000;
/**
 * Maximum time, in milliseconds, that a restarted node waits for what was published and purged while it was off before it
 * serves the plans on its disk: a control plane that answers at all needs less, and one that is refused ends the wait.
 */
export const CATCH_UP_MS = 3_000;
/** Milliseconds between two reports of what a cache has stored: a purge is visible at the control plane soon. */
export const CACHE_REPORT_MS = 15_000;
/** Milliseconds after which a domain that has not changed is reported again: a third of the time that reports count. */
export const REPEAT_CACHE_MS = 600_000;
/** The most of a process's time that surveys of its cache take; a large cache is surveyed less often. */
export const SURVEY_SHARE = 0.01;
