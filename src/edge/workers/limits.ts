/** Bounds of a node of several processes, each with its reason. */

/** Maximum number of workers. More workers than cores gain nothing, and common machines have no more than 256 cores. */
export const MAX_WORKERS = 256;
/** Maximum number of connections that wait per worker while it starts or is slow: Linux's default `somaxconn`. */
export const MAX_WAITING = 4_096;
/**
 * Maximum time, in milliseconds, that a connection waits for a worker that is not ready before it is closed: clients
 * retry by then.
 */
export const MAX_WAIT_MS = 10_000;
/** Milliseconds between checks for connections that wait too long and for workers without a heartbeat. */
export const CHECK_MS = 1_000;
/** Milliseconds between a worker's heartbeats: two per check. */
export const BEAT_MS = 500;
/** Milliseconds between heartbeats while first probes are under way: `/readyz` is late by no more. */
export const PROBING_BEAT_MS = 20;
/**
 * Maximum number of checks in a row without a heartbeat before a worker is replaced: ten heartbeats, so that an
 * overloaded machine passes.
 */
export const MAX_SILENT_CHECKS = 5;
/**
 * Maximum number of checks until a started worker has to be ready, with or without heartbeats: it opens signatures and
 * certificates first.
 */
export const MAX_STARTING_CHECKS = 60;
/** Milliseconds after which the end of a worker is not counted as one of a series. */
export const STEADY_MS = 10_000;
/** Milliseconds until the second restart of a series, doubled with each; the first is immediate. */
export const FIRST_BACKOFF_MS = 100;
/** Maximum time, in milliseconds, until a restart. */
export const LAST_BACKOFF_MS = 30_000;
/** Maximum time, in milliseconds, for workers to send their metrics: below the scrape time-out of Prometheus, 10 s. */
export const METRICS_MS = 2_000;
/** Maximum time, in milliseconds, for a worker to exit after the grace of its requests. */
export const END_MS = 2_000;
/** Maximum time, in milliseconds, for running requests when the primary is gone: nothing restarts the worker. */
export const ORPHAN_GRACE_MS = 10_000;
/** Milliseconds until lines that the full log refused are tried again. */
export const FULL_MS = 20;
