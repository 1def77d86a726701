/** Limits of the logs and metrics of a node, each with its reason. */

/** The share of plain forwards that is logged: enough to see traffic by, too few to cost anything. */
export const DEFAULT_RATE = 0.01;
/**
 * Maximum size, in octets, of all queued lines: enough for a disk that stalls for a second at 5,000 blocked requests a
 * second.
 */
export const MAX_WAITING_OCTETS = 8 * 1024 * 1024;
/** Octets of queued lines that start a write at once. */
export const WRITE_OCTETS = 64 * 1024;
/**
 * Maximum time, in milliseconds, that a line waits for others to be written with it: `tail -f` shows it without a
 * noticeable delay.
 */
export const WRITE_MS = 200;
/**
 * Lines of one domain that a node ships to the control plane a second, all its processes together, unless its operator sets
 * another number: enough to follow an attack by, while the worst one costs its node a few megabytes a minute.
 */
export const SHIPPED_PER_SEC = 50;
/** The most that an operator can set: a control plane takes some 1,000 lines a second of a node. */
export const MAX_SHIPPED_PER_SEC = 1_000;
/** Seconds of that rate that are shipped at once. */
export const SHIPPED_BURST_SEC = 10;
/** Domains whose rate is remembered; those above it are dropped until another one has been quiet for some seconds. */
export const MAX_SHIPPED_DOMAINS = 20_000;
/** Milliseconds until a failed write or open is tried again. */
export const RETRY_MS = 1_000;
/** Maximum time, in milliseconds, that the process waits for the last lines when it exits. */
export const FLUSH_ON_STOP_MS = 2_000;
/** Maximum length, in characters, of a target; longer ones are attacks or data, which their start shows. */
export const MAX_TARGET = 2_048;
/**
 * Maximum length, in characters, of one header's value: the longest User-Agents of browsers with their add-ons have half
 * of it.
 */
export const MAX_HEADER = 512;
/** Maximum length, in characters, of a host: no valid one is longer. */
export const MAX_HOST = 255;
/** Maximum number of header names listed under `withheld`. */
export const MAX_WITHHELD = 32;
/** Maximum number of matches logged per decision; `explain` lists all of them. */
export const MAX_MATCHES = 64;
/** Maximum number of distinct values per label (cache results, faults): the code has some twenty. */
export const MAX_WORDS = 32;
