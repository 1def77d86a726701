/** The bounds of the compute room, each with its reason. */

/**
 * Threads that run long jobs (proofs, analysis, diff, recommendations). Two, so that one slow job never delays every other
 * account; more would take processor time from the API's own thread.
 */
export const LONG_THREADS = 2;
/** Threads that run short jobs (simulation, printing, traffic), which no long job can take. */
export const SHORT_THREADS = 2;
/**
 * Maximum processor time of one long job, in milliseconds: the analysis of the largest domain takes about two seconds. Where
 * the system does not count the processor time of a thread, it limits the run time.
 */
export const COMPUTE_MS = 10_000;
/** The same of one short job: a simulation of the largest domain takes less than one second. */
export const SHORT_MS = 5_000;
/**
 * Maximum run time of one job, in milliseconds: three times the longer limit, for machines that are busy otherwise. With the
 * wait for a thread it stays within a minute, the time-out of most proxies.
 */
export const RUN_MS = 30_000;
/** Milliseconds between looks at the processor time of a job, at least. */
export const LOOK_MS = 50;
/** Maximum time, in milliseconds, until a new thread takes its first job: a few tenths of a second on an idle machine. */
export const START_MS = 60_000;
/** Milliseconds in which the thread time that an account has used counts half as much for its next turn. */
export const USED_HALF_MS = 60_000;
/** Accounts whose used time is stored; those that used it longest ago are removed first. */
export const MAX_USED_ACCOUNTS = 10_000;
/**
 * Maximum time a job waits for a thread, in milliseconds: two long jobs. Less than three waits of a client that is refused
 * (`Retry-After`).
 */
export const COMPUTE_WAIT_MS = 24_000;
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
