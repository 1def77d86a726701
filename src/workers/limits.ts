/** Bounds of a node of several processes, each with its reason. */

/** Workers at most: more than cores gain nothing, and no machine we know of has more. */
export const MAX_WORKERS = 256;
/** Connections that wait for one worker, while it starts or is behind: what a kernel's own queue holds by default. */
export const MAX_WAITING = 4_096;
/** Milliseconds a connection waits for a worker that is away, before it is given up: clients try again by then. */
export const HOLD_MS = 10_000;
/** Milliseconds between looks for connections that waited too long, and for workers that do not answer. */
export const LOOK_MS = 1_000;
/** Milliseconds between a worker's signs of life. */
export const BEAT_MS = 500;
/** Looks in a row without a sign of life before a worker is replaced: a machine ten times overloaded still lets one by. */
export const MAX_SILENT_LOOKS = 5;
/** Looks until a worker that was started has to be ready, whatever it says: it opens signatures and certificates first. */
export const MAX_STARTING_LOOKS = 60;
/** Milliseconds a worker has to live for its end not to count as one of a row. */
export const STEADY_MS = 10_000;
/** Milliseconds until the second of a row of restarts, doubled with each; the first is at once. */
export const FIRST_BACKOFF_MS = 100;
export const LAST_BACKOFF_MS = 30_000;
/** Milliseconds that workers have to tell their metrics: below the 10 s after which Prometheus gives up. */
export const METRICS_MS = 2_000;
/** Milliseconds between a worker's reports of what it counted. */
export const COUNT_MS = 1_000;
/** Milliseconds a worker has to end beyond the grace its requests are given. */
export const END_MS = 2_000;
/** Milliseconds that requests in flight are given when the primary is gone: nothing starts the worker's successor. */
export const FAREWELL_GRACE_MS = 10_000;
/** Milliseconds until lines that found no room are tried again. */
export const FULL_MS = 20;
