/** Bounds of what the node writes down, each with its reason. */

/** Plain forwards that are written down, one in so many: enough to see traffic by, too few to cost anything. */
export const DEFAULT_RATE = 0.01;
/** Octets of lines that wait to be written. A disk that hangs for a second at 5,000 blocked requests a second fits. */
export const MAX_WAITING_OCTETS = 8 * 1024 * 1024;
/** Octets gathered before a write is not put off any longer. */
export const WRITE_OCTETS = 64 * 1024;
/** Milliseconds a line waits for others at most: what `tail -f` shows is as good as now. */
export const WRITE_MS = 200;
/** Milliseconds until a failed write or open is tried again. */
export const RETRY_MS = 1_000;
/** Milliseconds that the end of the process waits for the last lines. */
export const FLUSH_ON_STOP_MS = 2_000;
/** Characters of a target; longer ones are attacks or data, and their start tells which. */
export const MAX_TARGET = 2_048;
/** Characters of one header's value: the longest User-Agents of browsers with their add-ons have half of it. */
export const MAX_HEADER = 512;
/** Characters of a host: no valid one is longer. */
export const MAX_HOST = 255;
/** Names of headers told as left out. */
export const MAX_WITHHELD = 32;
/** Matches told of one decision; domains that match more are read from `explain`. */
export const MAX_MATCHES = 64;
/** Distinct results of the cache, and of faults, that are counted by name; they are words of ours, some twenty. */
export const MAX_WORDS = 32;
