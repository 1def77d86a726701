/** The bounds of the compute room, each with its reason. */

/**
 * Threads that run long jobs (proofs, analysis, diff, recommendations). Two, so that one slow job never delays every other
 * account; more would take processor time from the API's own thread.
 */
export const LONG_THREADS = 2;
/** Threads that run short jobs (simulation, printing, traffic), which no long job can take. */
export const SHORT_THREADS = 2;
/** Maximum run time of one long job, in milliseconds: the analysis of the largest domain takes about two seconds. */
export const COMPUTE_MS = 10_000;
/** Maximum run time of one short job, in milliseconds: a simulation of the largest domain takes less than one second. */
export const SHORT_MS = 5_000;
/** Milliseconds in which the thread time that an account has used counts half as much for its next turn. */
export const USED_HALF_MS = 60_000;
/** Accounts whose used time is stored; those that used it longest ago are removed first. */
export const MAX_USED_ACCOUNTS = 10_000;
/** Maximum time a job waits for a thread, in milliseconds: longer than one job may run, after which it may be next. */
export const COMPUTE_WAIT_MS = 12_000;
/** Maximum number of jobs per account that wait while another of it runs: what one page load requests at once. */
export const MAX_WAITING_OF_ACCOUNT = 8;
/** Maximum number of jobs of all accounts that wait. Each is a closure: its input is read when its turn comes. */
export const MAX_WAITING_JOBS = 256;
/** Maximum heap of a thread, in MiB; a job that needs more ends its thread, not the process. */
export const COMPUTE_HEAP_MB = 1_024;
/**
 * Maximum size, in octets, of one page of a trace, a diff, an analysis or recommendations: what a browser renders without
 * a visible pause.
 */
export const MAX_RESULT_PAGE_OCTETS = 1_000_000;
