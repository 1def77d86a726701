/** Bounds of sync, each with its reason. */

/** Octets of a page of the manifest and of an event that carries one: 500 names take 100 to 250 KB. */
export const MAX_MANIFEST_OCTETS = 1_048_576;
/** Most names on one page: four times what a control plane sends. */
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
/** Octets of any other answer: the node's identity, and the outcome of a report. */
export const MAX_ANSWER_OCTETS = 64 * 1024;
/** Milliseconds for a whole answer, streams and polls excepted. */
export const ANSWER_MS = 30_000;
/** Plans fetched at once: enough to hide the latency to the control plane, few enough not to load it or the disk. */
export const PARALLEL_FETCHES = 8;
/** Milliseconds without octets before a stream counts as cut: two and a half heartbeats of the control plane. */
export const STALL_MS = 40_000;
/** Milliseconds to a stream's first octet, which a control plane sends at once: a later one means a buffering proxy. */
export const FIRST_OCTET_MS = 10_000;
/** Streams in a row without an octet before the node polls instead. */
export const DEAD_STREAMS = 2;
/** Milliseconds of polling before a stream is tried again. */
export const POLLING_MS = 10 * 60_000;
/** Seconds that the control plane holds an empty poll open: below the idle limits of common proxies. */
export const POLL_SEC = 25;
/** Milliseconds before the second attempt at anything; doubled for each further one, up to the last. */
export const FIRST_RETRY_MS = 500;
export const LAST_RETRY_MS = 30_000;
/** Most milliseconds before a refused plan is tried again: only a change elsewhere can make it good. */
export const LAST_PLAN_RETRY_MS = 300_000;
/** Milliseconds between whole comparisons, plus or minus a fifth: a missed change is found within 12 minutes. */
export const COMPARE_MS = 10 * 60_000;
/** Reports of one batch, of 500 that a control plane takes: with reasons of full length they stay below its body limit. */
export const REPORTS_AT_ONCE = 200;
/** Characters of a reason; a control plane takes as many. */
export const MAX_REASON = 1_000;
/** Milliseconds that a report waits for others to share its batch. */
export const REPORT_MS = 50;
/** Milliseconds that a stop waits for reports being sent. */
export const FLUSH_ON_STOP_MS = 1_000;
/** The journal is compacted at twice the number of names, or twice this where there are fewer names. */
export const MIN_COMPACT_LINES = 10_000;
/** Names reported again after a start: their reports may have been lost when the node was killed. */
export const RECENT_NAMES = 500;
/** Most refused names in the state of sync: enough for a diagnosis, bounded for an endpoint. */
export const MAX_FAILING = 20;
/** Milliseconds between usage reports. */
export const USAGE_MS = 60_000;
/** Rows of one usage report, the control plane's limit. */
export const USAGE_ROWS = 500;
/** Rows buffered while the control plane is away, some 20 MB; beyond, the oldest minutes are merged. */
export const MAX_USAGE_ROWS = 100_000;
