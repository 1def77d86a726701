/** Bounds of following the control plane, each with its reason. */

/** Octets of a page of the manifest and of an event that carries one: 500 names take 100 to 250 KB. */
export const MAX_MANIFEST_OCTETS = 1_048_576;
/** Names on one page: four times what a control plane puts there. */
export const MAX_MANIFEST_ENTRIES = 2_000;
/** Secrets of a domain that are accepted beside the current one: twice what a control plane sends. */
export const MAX_PREVIOUS_SECRETS = 4;
/** Octets of a secret. */
export const SECRET_OCTETS = 32;
/** Transitions of keys in one answer: twice what a control plane serves. */
export const MAX_TRANSITIONS = 32;
/** Keys before the trusted one that are stored, by which a key named with `--trust` is known to lead to it. */
export const MAX_PASSED_KEYS = 32;
/** Octets of a sealed plan: twice what the largest rule set within the compiler's limits takes. */
export const MAX_PLAN_OCTETS = 64 * 1024 * 1024;
/** Octets of any other answer: who the node is, and what became of a report. */
export const MAX_ANSWER_OCTETS = 64 * 1024;
/** Milliseconds for any answer but a stream or a poll to be there whole. */
export const ANSWER_MS = 30_000;
/** Plans fetched at once: enough to hide the way to the control plane, few enough to leave it and the disk room. */
export const PARALLEL_FETCHES = 8;
/** Milliseconds of a stream's silence before it counts as cut: two and a half of the control plane's heartbeats. */
export const STALL_MS = 40_000;
/** Milliseconds to a stream's first octet, which a control plane sends at once: a proxy that holds it back holds all. */
export const FIRST_OCTET_MS = 10_000;
/** Streams in a row that brought nothing before the node polls instead. */
export const DEAD_STREAMS = 2;
/** Milliseconds of polling before a stream is tried again. */
export const POLLING_MS = 10 * 60_000;
/** Seconds a poll waits: below the idle limits of common proxies. */
export const POLL_SEC = 25;
/** Milliseconds before the second attempt at anything; doubled for each further one, up to the last. */
export const FIRST_RETRY_MS = 500;
export const LAST_RETRY_MS = 30_000;
/** Milliseconds before a plan that was refused is tried again, at most: it will not get better by itself. */
export const LAST_PLAN_RETRY_MS = 300_000;
/** Milliseconds between comparisons of everything, give or take a fifth. */
export const COMPARE_MS = 10 * 60_000;
/** Reports of one batch, of 500 that a control plane takes: with reasons of full length they stay below its body limit. */
export const REPORTS_AT_ONCE = 200;
/** Characters of a reason; a control plane takes as many. */
export const MAX_REASON = 1_000;
/** Milliseconds that reports wait for company. */
export const REPORT_MS = 50;
/** Milliseconds that stopping waits for reports on their way. */
export const FLUSH_ON_STOP_MS = 1_000;
/** Lines that the list of names may grow by before it is written anew, unless there are more names than that. */
export const MIN_COMPACT_LINES = 10_000;
/** Names answered for once more after a start: those whose answer may have been on its way when the node died. */
export const RECENT_NAMES = 500;
/** Domains with rules that failed listed in the state. */
export const MAX_FAILING = 20;
/** Milliseconds between usage reports. */
export const USAGE_MS = 60_000;
/** Rows of one usage report, as a control plane takes them. */
export const USAGE_ROWS = 500;
/** Rows kept for a control plane that is away; beyond, the oldest minutes become one. Some 20 MB. */
export const MAX_USAGE_ROWS = 100_000;
