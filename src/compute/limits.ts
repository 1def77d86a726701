/** The bounds of the compute room, each with its reason. */

/**
 * Threads that run jobs (analysis, diff, simulation, printing, zone files). Two, so that one slow job never delays every
 * other account; more would take processor time from the API's own thread.
 */
export const COMPUTE_THREADS = 2;
/** Milliseconds one job may run: the analysis of the largest domain takes about two seconds. */
export const COMPUTE_MS = 10_000;
/** Milliseconds a job waits for a thread: as long as one job may run. */
export const COMPUTE_WAIT_MS = 10_000;
/** Jobs of one account that may wait while another of it runs: what one page load requests at once. */
export const MAX_WAITING_OF_ACCOUNT = 8;
/** Jobs of all accounts that may wait. Each is a closure: its input is read when its turn comes. */
export const MAX_WAITING_JOBS = 256;
/** MiB of a thread's heap; a job that needs more ends its thread, not the process. */
export const COMPUTE_HEAP_MB = 1_024;
/** Octets of one page of a trace, a diff or an analysis: what a browser renders without a visible pause. */
export const MAX_RESULT_PAGE_OCTETS = 1_000_000;
