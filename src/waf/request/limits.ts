/** Bounds of what the runtime keeps between requests; those of an inspection's work are in `base/limits.ts`. */

/**
 * Octets that values seen lately may take in one generation; there are two. A browser's headers, cookies and the
 * names of a site's arguments take some 100 KiB; more would only hold what never comes again.
 */
export const MAX_CACHED_VALUES = 2_097_152;

/** Octets a kept value takes beside its text: three objects and their lists. */
export const CACHED_VALUE_OVERHEAD = 400;

/** Values that came once are remembered by a hash, one a slot: as many as some hundred requests bring. */
export const ONCE_SLOTS = 8_192;

/**
 * Values of a request that are found again within it, one a slot: some times what ordinary requests bring, and so few
 * that a request of thousands leaves the garbage collector little to carry about.
 */
export const REQUEST_SLOTS = 1_024;

/** A longer value is forgotten with its request: it hardly comes again, and a few would push out all others. */
export const MAX_CACHED_VALUE = 2_048;

/**
 * Plans for short values of just the kinds they hold (`schedules.ts`), one a slot, a power of two: some times what the
 * requests of a site ask for, and a few megabytes when an attacker fills them all.
 */
export const EXACT_SCHEDULES = 1_024;

/** Names of members whose class is remembered where the rules tell names apart; then the memory starts anew. */
export const MAX_CACHED_NAMES = 4_096;

/** Variables that the rules write in an ordinary request, at most: they name some after its headers and arguments. */
export const MAX_ORDINARY_NAMES = 512;

/** Characters of the piece of a request that a report shows around a match. */
export const MAX_REPORTED_PIECE = 64;

/** Characters of a signature's message in a report: one line. */
export const MAX_REPORTED_MESSAGE = 200;

/** Matches one inspection reports; the score counts all. A request that trips more is told by the first of them. */
export const MAX_REPORTED_MATCHES = 100;
