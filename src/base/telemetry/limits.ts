/** Bounds of the export to an OpenTelemetry collector. */

/** Milliseconds between two exports of metrics: as often as Prometheus scrapes a job by its usual configuration. */
export const METRICS_MS = 15_000;
/** Milliseconds that spans wait for others: one request to the collector has many. */
export const SPANS_MS = 2_000;
/**
 * Spans that wait for an export; more are dropped, since a collector that does not answer must not grow the memory. A span
 * has about 2 KB: 4 MB in the end.
 */
export const MAX_WAITING_SPANS = 2_048;
/** Spans of one request to the collector, about 300 KB, as the SDK has it by default. */
export const MAX_BATCH_SPANS = 512;
/**
 * Milliseconds for one request to the collector, retries included. The SDK's timers hold the process for so long at its end, if
 * the collector does not answer: with the drain of a node this has to be below the 10 s after which some supervisors kill.
 */
export const EXPORT_MS = 4_000;
/** Requests to the collector at once, of spans and of metrics each: one under way and one that ends the process. */
export const MAX_EXPORTS = 2;
/** Characters of an attribute; longer ones are cut. A visitor chooses the path of a request. */
export const MAX_ATTRIBUTE_CHARACTERS = 512;
/** Milliseconds that a server or node waits for the collector before it closes its store or disk. */
export const FLUSH_MS = 2_000;
