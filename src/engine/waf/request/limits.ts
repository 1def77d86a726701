/** Limits of the caches between requests, and of reports. The limits of an inspection's work are in `base/vocabulary/limits.ts`. */

/**
 * Maximum size, in octets, of the cached values in one of two generations. The headers, cookies and argument names of a
 * site take about 100 KiB; a larger cache would only hold values that do not occur again.
 */
export const MAX_CACHED_VALUES = 2_097_152;

/** Octets of a cached value besides its text: three objects and their lists. */
export const CACHED_VALUE_OVERHEAD = 400;

/** Slots for hashes of values that occurred once: as many as some hundred requests have. */
export const ONCE_SLOTS = 8_192;

/**
 * Slots for the values of the current request: several times as many as ordinary requests have, and so few that a request
 * with thousands of values costs the garbage collector little.
 */
export const REQUEST_SLOTS = 1_024;

/** Maximum size, in octets, of a cached value: longer ones hardly occur again, and a few would evict all others. */
export const MAX_CACHED_VALUE = 2_048;

/**
 * Slots for schedules of exact kinds (`schedules.ts`), a power of two: several times as many as the requests of a site
 * need, and a few megabytes when an attacker fills them all.
 */
export const EXACT_SCHEDULES = 1_024;

/** Maximum number of names in one cache of classes or of selected TX variables; a full cache is cleared. */
export const MAX_CACHED_NAMES = 4_096;

/**
 * Maximum number of TX variables that rules write in an ordinary request: some are named after its headers and
 * arguments.
 */
export const MAX_ORDINARY_NAMES = 512;

/** Maximum length, in characters, of the excerpt around a match in a report. */
export const MAX_REPORTED_PIECE = 64;

/** Maximum length, in characters, of a signature's message in a report, which is one line. */
export const MAX_REPORTED_MESSAGE = 200;

/** Maximum number of matches reported per inspection, the first ones; the score includes all. */
export const MAX_REPORTED_MATCHES = 100;
