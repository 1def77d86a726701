/** Bounds of a node's traffic counts, each with its reason. */

/** Milliseconds between drains of a process's counter: what a process that is killed can lose. */
export const DRAIN_MS = 1_000;
/**
 * Milliseconds after its end at which a minute is closed. Workers send what they counted within a second; one that is
 * later opens its minute again, which costs a second entry and loses nothing.
 */
export const CLOSE_MS = 3_000;
/** Milliseconds within which a node begins to send a closed minute, at random: nodes must not all send at once. */
export const SPREAD_MS = 15_000;
/**
 * Maximum size, in octets, of the top lists of all domains and open minutes of a process: forty domains whose six lists are
 * full with long values, or a thousand of common size. Beyond it the lists of the domains with the fewest requests are
 * dropped; their counts are not.
 */
export const MAX_TOPS_OCTETS = 128 * 1024 * 1024;
/** Octets that an entry of a top list takes besides its text: the slot of a hash table, an object and the head of a text. */
export const TOP_ENTRY_OCTETS = 120;
/** Maximum number of domains in one batch: the control plane writes a row for each in one transaction. */
export const MAX_BATCH_DOMAINS = 500;
/** Octets of sealed counts and lists after which a batch gets no further domain: a short request, and a short transaction. */
export const BATCH_OCTETS = 1024 * 1024;
/** Octets of a batch from which it is compressed: below, the head of the request is longer than what is saved. */
export const GZIP_OCTETS = 1_024;
/** Domains that are sealed or merged before other work gets its turn: some milliseconds. */
export const TURN_DOMAINS = 64;
/** Maximum size, in octets, of one frame of a journal or batch file; a longer one is damage. */
export const MAX_FRAME_OCTETS = 256 * 1024 * 1024;
/** Maximum number of batch files: two hours of minutes. Beyond it the oldest are merged into hours. */
export const MAX_BATCH_FILES = 120;
/** Maximum size, in octets, of all batch files: an hour of a node with a thousand busy domains, or weeks of a small one. */
export const MAX_BATCH_FILES_OCTETS = 512 * 1024 * 1024;
/** Maximum number of batch files that are merged in one step: half of them, so that merges are rare. */
export const MERGE_FILES = 60;
/** Maximum size, in octets, of the batch files that are merged in one step; in memory they take some ten times as much. */
export const MERGE_OCTETS = 16 * 1024 * 1024;
/** Maximum number of spans in memory that cannot be written to the disk; beyond it the oldest are merged. */
export const MAX_UNWRITTEN_SPANS = 48;
/**
 * Maximum number of journals whose counts could not be written to a batch file: an hour of minutes. Beyond it the oldest are
 * removed: journals of this node must not be what a full disk is full of.
 */
export const MAX_UNWRITTEN_JOURNALS = 60;
/** Milliseconds between attempts to write what could not be written. */
export const UNWRITTEN_RETRY_MS = 10_000;
/** Maximum size, in octets, of what waits to be appended to journals: a disk that stalls must not fill the memory. */
export const MAX_APPENDING_OCTETS = 32 * 1024 * 1024;
/** Milliseconds between reports of one kind of trouble. */
export const REPORT_TROUBLE_MS = 60_000;
